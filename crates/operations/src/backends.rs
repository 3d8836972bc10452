//! The list of the protocols' records. Each record lies in its protocol's folder.

use crate::aby2::{AlphaTool, BetaTool};
use crate::arithmetic_gmw::ArithmeticGmwTool;
use crate::backend::Backend;
use crate::bmr::BmrTool;
use crate::boolean_gmw::BooleanGmwTool;
use crate::replicated::ReplicatedTool;
use crate::yao::{HalfGates, ThreeHalves, YaoTool};

/// All protocols: those of ring elements first, in the order in which mixes are listed.
pub static ALL: [Backend; 7] = [
    ArithmeticGmwTool::RECORD,
    AlphaTool::RECORD,
    ReplicatedTool::RECORD,
    BooleanGmwTool::RECORD,
    BmrTool::RECORD,
    YaoTool::<HalfGates>::RECORD,
    BetaTool::RECORD,
];

/// Garbled circuits of two parties with three-halves gates: [`ALL`] has them with half-gates, which programs in Y2 use.
pub static THREE_HALVES: Backend = YaoTool::<ThreeHalves>::RECORD;
