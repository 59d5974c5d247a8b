//! What the command-line tool, the tests, the benchmarks and the fuzz targets use besides the public items: parsers and
//! writers of single formats, the steps from clips to a pose, rig solvers. It has no promise of stability, and may change in
//! any release.

#[cfg(feature = "bevy")]
pub mod character {
    pub use crate::character::internals::*;
}
pub mod controller {
    pub use crate::controller::internals::*;
}
pub mod format {
    pub use crate::format::internals::*;

    pub mod m3d {
        pub use crate::format::m3d::*;
    }
    pub mod md5 {
        pub use crate::format::md5::*;
    }
}
pub mod import {
    pub use crate::import::internals::*;
}
pub mod model {
    pub use crate::model::internals::*;
}
pub mod plural {
    pub use crate::plural::*;
}
pub mod pose {
    pub use crate::pose::internals::*;
}
pub mod record {
    pub use crate::record::internals::*;
}
pub mod rig {
    pub use crate::rig::internals::*;
}
pub mod spelling {
    pub use crate::spelling::did_you_mean;
}
