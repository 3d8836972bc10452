//! Why a job could not be run.

use madrigal_core::Party;
use madrigal_net::Error;

/// Why a job could not be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The inputs are not those that the plan has for this party.
    #[error(
        "{party} owns {wires} input bits in {lanes} lanes by the plan, and was given {got_wires} in {got_lanes}"
    )]
    Inputs {
        /// This party.
        party: Party,
        /// Input bits that it owns.
        wires: usize,
        /// Lanes of the plan.
        lanes: usize,
        /// Rows given.
        got_wires: usize,
        /// Lanes given.
        got_lanes: usize,
    },
    /// The values are not those that the program has for this party.
    #[error("the values of {party} do not fit the program: {problem}")]
    Values {
        /// This party.
        party: Party,
        /// Expected and given values, in words.
        problem: String,
    },
    /// The session has another number of parties than the plan, helpers counted.
    #[error("the plan is for {plan} parties, helpers counted, the session has {session}")]
    Parties {
        /// Parties of the plan.
        plan: usize,
        /// Parties of the session.
        session: usize,
    },
    /// This party is the plan's helper: it computes nothing.
    #[error(
        "{party} deals correlations by the plan and computes nothing: it calls `serve`, or `deal` in a job of its own, where the others run the plan"
    )]
    Helper {
        /// This party.
        party: Party,
    },
    /// The program requires something of its inputs that does not hold. All parties learn that alike, and nothing was opened.
    #[error(
        "requirements of the program that its inputs do not meet: {requirements}; nothing was opened: have those who brought these inputs bring others"
    )]
    Unmet {
        /// The requirements that do not hold.
        requirements: String,
    },
    /// Something went wrong between the parties.
    #[error(transparent)]
    Net(#[from] Error),
}
