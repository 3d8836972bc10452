//! Programs of the HyCC compiler, computed by several parties in a mix of protocols.
//!
//! HyCC compiles C to modules that call each other: arithmetic ones, and Boolean ones for few layers of ANDs
//! (protocol B) or for few ANDs (garbled circuits, Y). A bundle names one variant of each, and with it the
//! protocol: the program's *partition*. [`load`] reads a bundle or a folder, [`Hybrid::new`] makes of it one
//! program of the engine, with conversions wherever a value goes from one protocol to another:
//!
//! * words, their sums and products are in A;
//! * bits and their gates are in B or Y, as the partition says of their module; between two parties Y is Y2,
//!   circuits that party 0 garbles;
//! * [`Options`] put another protocol in the place of each of these: alpha of A, beta of B, Y of Y2, or R of all;
//! * everything that does not wait for each other is done at once: gates of one protocol are one circuit,
//!   products of one layer one product of vectors, whichever modules they stand in and however often these
//!   are called.
//!
//! [`Values`] are inputs and outputs by name, as HyCC writes them: `INPUT_A := {a: [1, 2, 3];};`.
//!
//! ```no_run
//! use madrigal_circuit::Limits;
//! use madrigal_core::Party;
//! use madrigal_engine::Plan;
//! use madrigal_hycc::{Hybrid, Options, Values, load};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let loaded = load("biomatch64".as_ref(), Some("yaohybrid"), &Limits::default())?;
//! let everyone: Vec<Party> = Party::all(2).collect();
//! let hybrid = Hybrid::new(&loaded.flat, &Options::default(), 2, 1, &everyone)?;
//! let plan = Plan::new(hybrid.spec())?; // with its costs, before anything is sent
//! let mut inputs = hybrid.inputs().iter();
//! let sample = inputs.find(|input| input.name == "INPUT_B_sample").ok_or("another program")?;
//! let mut mine = Values::new(1);
//! mine.set(0, &sample.name, &sample.ty, "[1, 2, 3, 4]")?;
//! let given = hybrid.given(Party::new(1), &mine)?; // for `madrigal_engine::run_program`
//! # drop((plan, given));
//! # Ok(())
//! # }
//! ```

mod form;
mod graph;
mod hybrid;
mod load;
mod make;
mod nodes;
mod stages;
mod sums;
mod text;
mod values;

pub use hybrid::{Hybrid, HybridError, LocalError};
pub use load::{LoadError, Loaded, load};
pub use stages::{Options, OptionsError};
pub use text::{TextError, TextErrorKind};
pub use values::{Values, ValuesError};

pub use madrigal_circuit::hycc::{BitSharing, Flat, Linked, Type};
pub use madrigal_engine::Sharing;
