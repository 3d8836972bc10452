//! The operations of each protocol, and what a protocol does to have them.
//!
//! Graphs of operations are planned and run by the crate `madrigal-engine`; [`CircuitJob`] makes those of one circuit.
//!
//! | operation | of values in | in |
//! |---|---|---|
//! | inputs, openings, public constants | every sharing | `edges.rs` |
//! | Boolean circuits | every [`Boolean`] protocol | `netlist.rs` |
//! | circuits with secret branches | B | `branches/` |
//! | secret branches of sums and products | A, with the number of the active one in B | `ring_branches/` |
//! | sums, products, dot products | A, R, alpha | `ring.rs` |
//! | products of matrices, convolutions; in A of two parties with an operand that one of them knows | A, R, alpha | `matrices.rs` |
//! | signs, tests for zero, quotients by powers of two | R | `replicated/` |
//! | shuffles and sorts of rows | R; B of two parties, with columns in A | `replicated/tables.rs`; `boolean_gmw/tables.rs` |
//! | loops | every sharing | [`Repeat`], of the engine |
//! | conversions | A to B, B to A, within R, between alpha and beta; between B and Y2, Y2 to A; between B and Y, Y to A; between A and alpha, B and beta | `convert.rs`; `yao/`; `bmr/`; `over_shares.rs`, `garbled.rs` |
//! | random bits that nobody knows | R, B | `joint.rs` |
//! | rearrangements, broadcasts | every sharing | `local.rs` |
//! | sums along an axis | every sharing | `sums.rs` |
//!
//! Each protocol has a record of what it can do, [`Backend`].

mod aby2;
mod arena;
mod arithmetic_gmw;
mod backend;
mod backends;
mod bmr;
mod boolean_gmw;
mod branches;
mod circuit;
mod circuit_job;
mod convert;
mod dealing;
mod edges;
mod garbled;
mod hand_out;
mod joint;
mod local;
mod matrices;
mod netlist;
mod order;
mod ots;
mod over_shares;
mod parts;
mod protocol;
mod registry;
mod replicated;
mod ring;
mod ring_branches;
mod rows;
mod shared;
mod stepped;
mod sums;
mod truncate;
mod variants;
mod varied;
mod vectors;
mod when_met;
mod yao;

use madrigal_engine::with_ring;

pub use aby2::{AlphaTool, BetaTool, MulBits};
pub use arena::Arena;
pub use arithmetic_gmw::{ArithmeticGmwTool, ComposeMasked, KnownBitTimes, KnownProduct};
pub use backend::{
    Backend, Bits, Chain, CircuitSupply, Circuits, DynOperation, Edges, Keeping, Numbers,
    RingOperations, RowSort, SortRounds,
};
pub use backends::{ALL as BACKENDS, THREE_HALVES};
pub use bmr::{BmrTool, ComposeKeys, FromKeys, ShareToKeys, ToKeys};
pub use boolean_gmw::{BooleanGmwTool, PlaceTable, ShuffleTable, SortTable};
pub use branches::{Branch, BranchTool, Scheme};
pub use circuit::Circuit;
pub use circuit_job::{CircuitJob, JobError};
pub use convert::{Addends, BitTimes, Compose};
pub use dealing::CombineError;
pub use edges::{Constant, Open, Public, Share};
pub use garbled::{ComposeGarbled, Garbled, Numbers as GarbledNumbers};
pub use hand_out::{HandOut, ZeroTool};
pub use joint::{Joint, JointBits};
pub use local::{Concat, Layout, Narrow, Rearrange, Row};
pub use madrigal_engine::Repeat;
pub use madrigal_protocols::arithmetic::Side;
pub use madrigal_protocols::replicated::Depth;
pub use matrices::MatrixProduct;
pub use netlist::Netlist;
pub use order::KeyOrder;
pub use over_shares::{FromShares, Mask, OverShares, ToShares, Unmask};
pub use parts::Parts;
pub use protocol::{Boolean, Protocol, RingStep, Rings};
pub use replicated::{
    PlaceRows, Predicate, ReplicatedTool, Rounding, ShuffleRows, SortRows, Test, Truncate,
};
pub use ring::{Dot, Linear, Mul, MulPublic, Square};
pub use ring_branches::{Formula, FormulaStep, Formulas, Gated, RingBranch, RingBranchTool};
pub use rows::{Brought, RowsOutput, evaluate_rows, input_bits_of, run_rows, run_shared_rows};
pub use stepped::{Described, Stepped};
pub use sums::SumAxis;
pub use truncate::{ShiftShares, TruncateLocally};
pub use variants::{Ands, Conversion, Gates, Variants};
pub use varied::varied;
pub use when_met::WhenMet;
pub use yao::{
    ComposeLabels, FromLabels, Garbling, HalfGates, SplitLabels, ThreeHalves, ToLabels, YaoTool,
};
