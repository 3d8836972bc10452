//! Lowering: from the intermediate representation to steps that protocols do.
//!
//! [`Computation::lower`] decides for each operation whether it is done on ring elements or on bits, converts
//! values where they are needed otherwise, and makes one circuit of operators on bits that follow each
//! other. Shares of a ring element enter such a circuit as numbers to be added up, so that of `a + b < c`
//! nothing is computed but carries.
//!
//! The rules, where the program does not say it with [`Secret::to`](crate::Secret::to): sums and products are
//! done in the sharing that the [`Mix`] has for arithmetic, all else on bits. Choices by a secret bit, shifts
//! by public amounts and what only moves elements stay where their operands are. So do sums of values that
//! are there as bits if nothing needs the result in the ring. A party's input is shared in each way that
//! it is needed in.
//!
//! Where a mix has several sharings of bits, a value may be there in each of them. An operation on bits is done where its operands
//! are because the program says so, else where the plan has put it, else in the mix's first one; what it takes from elsewhere is
//! brought there (`held.rs`).
//!
//! Conditionals on secrets ([`Program::if_secret`](crate::Program::if_secret)) become one operation in `B`, whose
//! branches share their cost, where all that branches do is done to the lanes of the condition one by one:
//! then arithmetic is done on bits there, too. Where branches are sums and products alone, and arithmetic is in
//! `A`, they can become one operation there. All others become all their branches and a choice of each
//! element, by operations that any mix has; their branches are lowered like anything else.

mod bits;
mod branches;
mod choose;
mod circuits;
mod clients;
mod compare;
mod conditionals;
mod domain;
mod draft;
mod ending;
mod executable;
mod forms;
mod formulas;
mod held;
mod known;
mod lowering;
mod manner;
mod mix;
mod ranges;
mod ring;
mod rows;
mod stages;
mod state;
mod steps;
mod tournament;
mod units;
mod vectors;
mod ways;

use madrigal_circuit::Goal;
use madrigal_operations::{Backend, Variants};

use crate::computation::Computation;
use crate::error::ProgramError;
use crate::ir::{Graph, Node, Op};

pub(crate) use circuits::one_hot;
pub use executable::{Executable, ExecuteError};
pub use madrigal_engine::Sharing;
pub use madrigal_operations::SortRounds;
pub(crate) use manner::{Manner, OneOperation};
pub use mix::{Mix, MixError};
pub(crate) use ranges::{Range, ranges_of};
#[cfg(feature = "generator")]
pub(crate) use ranges::{all, of_outputs};
pub use steps::{Action, Body, Lowered, Places, Slot, Step};
pub(crate) use units::Unit;
pub use ways::{Conditional, Way, Why};

use draft::KnownCircuits;
use state::{Lowering, Ports};

impl Computation {
    /// The steps of the program in a mix of sharings, with circuits that save what `goal` says.
    ///
    /// # Errors
    /// A sharing that the mix does not have; where the mix is [manual](Mix::manual) a value that is not in
    /// the sharing that its operator needs.
    pub fn lower(&self, mix: Mix, goal: Goal) -> Result<Lowered, ProgramError> {
        self.lower_with(mix, &Manner::usual(goal, OneOperation::Both))
    }

    /// Lowers the program in one of the ways that there are.
    pub(crate) fn lower_with(&self, mix: Mix, manner: &Manner) -> Result<Lowered, ProgramError> {
        let Manner { goal, kept, .. } = *manner;
        let graph = self.graph().without_maps().optimised();
        let bits = mix.with_branches().unwrap_or(mix.bits());
        let shares = Backend::of(bits).bits().branches;
        let mut multiplexed = Vec::new();
        let mut keep = |_: &Graph, node: &Node| {
            let bits = shares.is_ok();
            let keep = kept.rings() && formulas::is_on_rings(node, mix)
                || kept.bits() && bits && branches::circuits(node, goal).is_some();
            if let (Op::Choose(branches), false) = (&node.op, keep) {
                multiplexed.push(Conditional {
                    at: node.at,
                    branches: branches.len(),
                    elements: node.outputs[0].shape.elements(),
                    way: Way::Multiplexed,
                    why: match (shares, kept) {
                        (Err(why), _) => Some(Why::Sharing(why)),
                        (Ok(()), OneOperation::Both) => Some(Why::Form),
                        (Ok(()), _) => Some(Why::Slower),
                    },
                });
            }
            keep
        };
        // A graph that is simpler afterwards may need another choice, and what is chosen last must stay as it is.
        let graph = graph.with_choices(&mut keep).optimised();
        let graph = graph.with_choices(&mut keep).alive();
        let mut circuits = KnownCircuits::default();
        let lowering = Lowering::new(
            &graph,
            mix,
            self.parties(),
            Ports {
                inputs: self.inputs(),
                taken: self.taken_values(),
            },
            manner.clone(),
        );
        let (body, units) = lowering.program(self, &mut circuits)?;
        Ok(Lowered {
            parties: self.parties(),
            mix,
            body,
            outputs: self.outputs().to_vec(),
            requirements: self.requirements().to_vec(),
            pairs: false,
            vectors: false,
            // Others are tried from the best plan on, where the line has latency.
            sort_rounds: SortRounds::Many,
            variants: Variants::default(),
            multiplexed,
            round: manner.round,
            units,
            nodes: graph.nodes().len(),
        })
    }
}
