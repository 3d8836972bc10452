//! Circuits as jobs of parties: what the flags mean, each party's part, and all parties on this machine.

mod clients;
mod fault;
pub mod flags;
pub mod local;
mod party;
mod source;
mod statistics;
mod task;

pub use clients::{asked_of_clients, dealt_shares, lanes_of};
pub use fault::{Misuse, PartyFailure};
pub use party::{Handed, PartyOutcome, PartyOutput, Prepared, Runs};
pub use source::{ReadCircuit, Source, read_circuit};
pub use statistics::{CircuitFigures, Statistics};
pub use task::{
    BranchWay, Input, Job, Own, PlannedCircuit, Precomputation, Task, bits_of, check_correlations,
    check_room,
};
