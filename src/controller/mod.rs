//! Who plays what, when.
