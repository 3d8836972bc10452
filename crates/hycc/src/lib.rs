//! Programs of the HyCC compiler, computed by several parties in a mix of protocols.
//!
//! HyCC compiles C to modules that call each other: arithmetic ones, and Boolean ones for few layers of ANDs
//! (protocol B) or for few ANDs (garbled circuits, Y). A bundle names one variant of each, and with it the
//! protocol: the program's *partition*. [`load`] reads a bundle or a folder, [`Hybrid::new`] makes of it one
//! program of the engine, with conversions wherever a value goes from one protocol to another:
//!
//! * words, their sums and products are in A;
//! * bits and their gates are in B or Y, as the partition says of their module; between two parties Y is Y2,
//!   circuits that party 0 garbles, unless [`Options`] say otherwise;
//! * everything that does not wait for each other is done at once: gates of one protocol are one circuit,
//!   products of one layer one product of vectors, whichever modules they stand in and however often these
//!   are called.
//!
//! [`Values`] are inputs and outputs by name, as HyCC writes them: `INPUT_A := {a: [1, 2, 3];};`.

mod graph;
mod hybrid;
mod load;
mod nodes;
mod stages;
mod text;
mod values;

pub use hybrid::{Hybrid, HybridError, LocalError};
pub use load::{LoadError, Loaded, load};
pub use stages::{BitProtocol, Options};
pub use text::{TextError, TextErrorKind};
pub use values::{Values, ValuesError};

pub use madrigal_circuit::hycc::{BitSharing, Flat, Linked, Type};
