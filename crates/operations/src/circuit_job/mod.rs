//! Jobs of one circuit: the owner of each input value shares it, the circuit is evaluated in each lane, its outputs
//! are opened.
//!
//! A [`CircuitPlan`] is made from a [`CircuitJob`] without any network, is the same at all parties, and knows
//! the exact number of triples, rounds, messages and bytes. [`run`] carries it out in a session.

mod plan;
mod protocol;
mod report;
mod run;

pub use madrigal_garbling::Scheme;
pub use plan::{CircuitJob, CircuitPlan, JobError};
pub use protocol::Protocol;
pub use report::Report;
pub use run::{Brought, evaluate, run};
