//! Clips and tracks → joint matrices: plain jobs over slices.
