//! Names that are cheap to clone.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, ops::Deref, sync::Arc};

/// The name of a clip, a mask or a callback. Cloning shares the text.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "bevy", derive(bevy::reflect::Reflect))]
pub struct AnimationName(Arc<str>);

impl AnimationName {
    /// Creates a name from a `&str`, a `String` or an `Arc<str>`.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Returns the shared text.
    pub fn as_arc(&self) -> &Arc<str> {
        &self.0
    }

    /// Returns `true` if the text is the same. Fast if the memory is shared.
    pub(crate) fn is(&self, text: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.0, text) || self.0 == *text
    }

    /// Adopts the memory of equal text, so that the next comparison is fast.
    pub(crate) fn share(&mut self, text: &Arc<str>) {
        if !Arc::ptr_eq(&self.0, text) && self.0 == *text {
            self.0 = text.clone();
        }
    }
}

impl Deref for AnimationName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AnimationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for AnimationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<&str> for AnimationName {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<Arc<str>> for AnimationName {
    fn from(text: Arc<str>) -> Self {
        Self(text)
    }
}

impl PartialEq<str> for AnimationName {
    fn eq(&self, text: &str) -> bool {
        **self == *text
    }
}

impl PartialEq<&str> for AnimationName {
    fn eq(&self, text: &&str) -> bool {
        **self == **text
    }
}

// By hand, because serde's feature `rc` is off.
impl Serialize for AnimationName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for AnimationName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
