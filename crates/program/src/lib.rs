//! Programs on typed secrets: recorded once, checked, simulated in the clear, lowered to protocols.
//!
//! ```
//! use madrigal_program::{Inputs, Party, Program};
//! const SERVER: Party = Party::new(0);
//! const CLIENT: Party = Party::new(1);
//!
//! let mut p = Program::new(2);
//! let table = p.input::<u32>(SERVER, [3, 2]);
//! let query = p.input::<u32>(CLIENT, [2]);
//! let distance = (table - query).square().sum(1); // arithmetic
//! let (least, place) = distance.min_with_place(); // comparisons
//! let (least, place) = p.open((least, place), CLIENT);
//!
//! let program = p.finish()?;
//! let inputs = Inputs::new().with([[1u32, 2], [30, 40], [5, 5]]).with([4u32, 7]);
//! let outputs = program.simulate(&inputs)?;
//! assert_eq!((outputs.get(least), outputs.get(place)), (vec![5], vec![2]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Program`] is passed around and hands out [`Secret`]s, tensors of `bool`, integers or [`Fixed`]-point
//! numbers, whose operators record themselves in it. What cannot be (shapes that do not fit, a value of
//! another program) is no panic: [`Program::finish`] gives the first such operator with its line in the
//! source.
//!
//! | to | use |
//! |---|---|
//! | compute | `+ - * / % & \| ^ ! << >>`, with secrets, public elements and arrays on either side; [`Secret::square`], [`Secret::sqrt`], [`Secret::abs`], [`Secret::count_ones`], ... |
//! | use functions of networks | [`Secret::relu`], [`Secret::gelu`], [`Secret::sigmoid`], [`Secret::exp`], [`Secret::reciprocal`], [`Secret::softmax`], [`Secret::layer_norm`], [`Secret::max_pool`], ...: with their bounds in `docs/FUNCTIONS.md` |
//! | compare | [`Secret::lt`] and its kin give `Secret<bool>`, [`Secret::select`] chooses by it |
//! | put together | [`Secret::sum`], [`Secret::least`], [`Secret::min_with_place`], [`Secret::all`], [`Secret::dot`], [`Secret::matmul`], [`Secret::prefix_sums`] |
//! | order and look up | [`Secret::sort`], [`Secret::top`], [`Tensor::sort_by`], [`Tensor::shuffle`], [`Permutation`], [`Secret::look_up`], [`Secret::join_on`] |
//! | move without cost | [`Secret::reshape`], [`Secret::slice`], [`Secret::permute`], [`Program::concat`], ... |
//! | change types | [`Secret::cast`], [`Secret::to_fixed`], [`Secret::floor`] |
//! | loop | [`Program::repeat`], [`Program::map`]: one node each, however often the body runs |
//! | branch on secrets | [`Program::if_secret`], [`Program::match_secret`]: in `B` at hardly more than the largest branch's cost |
//! | say who computes how | [`Secret::to`], [`Program::with_default`] |
//! | take values from, and give them to, those who do not compute | [`Client`] |
//! | check what others bring, before anything is opened | [`Program::require`], [`Secret::within`] |
//! | let opened values decide what is computed next | [`Stages`], [`Program::keep`], [`Program::kept`] |
//!
//! A finished [`Computation`] runs in the clear ([`Computation::simulate`]; [`Computation::check`] also finds
//! numbers that leave their range) and, on trial, by all parties in one process
//! ([`Computation::run_locally`]), is planned for a network and run by one party ([`Computation::plan`],
//! [`Planned::run`]), has a digest that is equal for equal programs, and is lowered to steps
//! that protocols do ([`lower`]).

mod array;
mod clear;
mod computation;
mod dealing;
mod draw;
mod element;
mod error;
mod front;
mod function;
#[cfg(feature = "generator")]
pub mod generator;
mod holder;
pub mod ir;
mod local;
pub mod lower;
mod noise;
mod of_circuit;
mod opening;
mod pieces;
mod planned;
mod ports;
mod privacy;
mod program;
mod recorder;
mod requirement;
mod secret;
mod shape;
mod simulate;
mod source;
mod stages;
mod tensor_type;

pub use array::{Array, IntoArray};
pub use computation::Computation;
pub use element::{
    Bits, Fixed, FixedWord, Integer, Number, Plain, Signed, Type, TypeError, Unsigned,
};
pub use error::{Fault, ProgramError, Source};
pub use holder::{Client, Holder};
pub use ir::{Elementwise, Rounding};
pub use local::LocalError;
pub use lower::{Executable, ExecuteError};
#[doc(no_inline)]
pub use madrigal_core::Party;
#[doc(no_inline)]
pub use madrigal_operations::CombineError;
pub use of_circuit::{OfCircuit, OfCircuitError};
pub use opening::{Everyone, Open, Opener, Receivers};
pub use pieces::ArrayPieces;
pub use planned::{Considered, Ended, Held, Planned};
pub use ports::{InputPort, Opened, OutputPort};
pub use privacy::{Exposed, Privacy};
pub use program::Program;
pub use requirement::Requirement;
pub use secret::{Beside, Index, Operand, Part, Permutation, Secret, State, Tensor, Window};
pub use shape::{IntoShape, MAX_ELEMENTS, MAX_RANK, Shape, View};
pub use simulate::{
    Checked, InputError, InputShare, Inputs, Mistake, OutputError, Outputs, Overflow, TextError,
};
pub use stages::{Kept, KeptTensor, StageError, StageMaker, StageReport, Stages};
pub use tensor_type::TensorType;
