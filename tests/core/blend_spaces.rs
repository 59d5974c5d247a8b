//! Blend spaces: what they play, and that it doesn't depend on how time is divided into steps.

mod playing;
mod points;
mod poses;
mod ranges;
mod steps;
mod support;
