//! Boolean netlists: readers of Bristol's, ABY's and HyCC's formats, writers of Bristol's, circuits of
//! operators, layering, evaluation.
//!
//! ```
//! use madrigal_circuit::{Layered, Limits, Netlist, values};
//!
//! let text = b"1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n";
//! let netlist = Netlist::read("and.txt", text, &Limits::default())?;
//! assert_eq!(netlist.stats().and, 1);
//!
//! // Four lanes, one line each, two values of one bit.
//! let inputs = values::read("inputs", b"0 0\n0 1\n1 0\n1 1\n", &[1, 1], &Default::default())?;
//! let program = Layered::compile(&netlist);
//! assert_eq!((program.depth(), program.and_count()), (1, 1));
//! let outputs = program.interpret(&inputs)?;
//! assert_eq!(values::write(&outputs, &[1])?, b"0\n0\n0\n1\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From the file to the protocol: [`Netlist::read`] takes both Bristol formats and ABY's, [`Layered::compile`]
//! turns the gates into layers of local operations and of ANDs over as few rows as are alive at
//! once, [`values`] turns lines of hexadecimal numbers into bit-sliced [`Rows`] and back.
//! [`Netlist::evaluate`] is the plain oracle that everything else is compared with.

mod aby;
pub mod blocks;
pub mod branches;
mod bristol;
mod builder;
mod compile;
mod error;
mod eval;
pub mod hycc;
mod layered;
mod netlist;
mod networks;
mod rounds;
mod rows;
mod stats;
mod sums;
mod text;
pub mod values;

pub use bristol::Limits;
pub use builder::{Builder, Goal, Wire};
pub use error::{
    AbyError, GateError, HeaderError, ReadError, ReadErrorKind, ShapeError, WidthsError, WriteError,
};
pub use layered::{And, Layer, Layered, LocalOp};
pub use netlist::{Format, Gate, Mand, MandGate, Netlist};
pub use networks::{CarryBit, CarryNetwork, CarryStep, Passing, carry_network};
pub use rounds::{Round, Rounds, Take, Takes};
pub use rows::Rows;
pub use stats::Stats;
pub use sums::{SumLayer, SumStep, Sums};
