//! The policy of a server: a file of its own, beside the service's, that says which kinds it takes part in. What no rule allows is refused.

mod file;
mod spending;
mod verdict;

pub use file::{Batches, Policy, PolicyClients, Rule, Subject};
pub(crate) use spending::Spending;
pub(crate) use verdict::in_words;
pub use verdict::{Allowed, Budget, Refusal, Verdict};
