//! Kernels that the levels with vectors share, written once, as macros over a vector type and its
//! instructions, because `#[target_feature]` takes no generic argument.

pub(crate) mod bmr;
pub(crate) mod choice;
pub(crate) mod crc;
pub(crate) mod fold;
pub(crate) mod garble;
pub(crate) mod ggm;
pub(crate) mod lpn;
pub(crate) mod modes;
pub(crate) mod rings;
pub(crate) mod rows;
pub(crate) mod three;
pub(crate) mod unpack;
