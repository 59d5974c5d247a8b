//! Writing `.m3d`, in the DX12 dialect.

use super::M3d;

/// The model as text; [`parse`](super::parse) reads it back as it was.
pub fn write(_model: &M3d) -> String {
    todo!()
}
