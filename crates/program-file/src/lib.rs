//! Programs as files.
//!
//! A file holds what a [`Computation`] means: its operations on tensors, who brings and learns what, names and lines of the
//! source. [`SaveProgram::save`] writes one, [`ProgramFile::read`] reads one, with bounds, and [`ProgramFile::bind`] makes a
//! [`Computation`] of it, whose digest is that of the one that was saved. Lengths of a file may be named *dimensions*, which are
//! given when it is bound.
//!
//! ```
//! use madrigal_program::{Computation, Everyone, Inputs, Party, Program};
//! use madrigal_program_file::SaveProgram;
//! let mut p = Program::new(2);
//! let [x, y] = [0, 1].map(|party| p.input::<u32>(Party::new(party), [3]));
//! p.open_named("sum", (x * y).sum(0), Everyone);
//! let program = p.finish()?;
//! let bytes = program.to_bytes()?;
//! let again = Computation::from_bytes(&bytes)?;
//! assert_eq!(again.digest(), program.digest());
//! let inputs = Inputs::new().with([1u32, 2, 3]).with([4u32, 5, 6]);
//! assert_eq!(again.simulate(&inputs)?.named::<u32>("sum")?, [32]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `schema/PROGRAM.md` defines the format, and `schema/program.proto` its messages.

mod bind;
mod error;
mod file;
mod general;
mod lengths;
mod operation;
pub mod proto;
mod save;
mod scan;

pub use error::{BindError, ReadError, SaveError};
pub use file::{Limits, ProgramFile, SaveProgram, VERSION, fuzz_read};
pub use general::{GeneralError, choices, general};
pub use operation::operations;

#[doc(no_inline)]
pub use madrigal_program::Computation;
