//! From the intermediate representation to steps that protocols do.

mod mix;

pub use mix::{Mix, MixError, Sharing};
