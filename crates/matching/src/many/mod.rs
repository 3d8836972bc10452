//! Lists of three parties and more: which rows have keys that all lists have.
//!
//! Keys are encrypted under a key that nobody knows ([`madrigal_psi_programs::KeyedPlan`]), each party's in an order of its own drawing, and filled up to its bound
//! with digests drawn at random. Who learns the answer gets the tags of all lists, and compares them. It so learns more than the answer: of each of its keys which of the others have
//! it, and how many keys others have in common without it.

mod asked;
mod explain;
mod find;
mod limits;
mod own;
pub(crate) mod protocol;
mod tags;

pub(crate) use asked::Asked;
pub(crate) use explain::explain;
pub use find::find_many;
pub use limits::TooMany;
pub(crate) use own::others;
pub use protocol::ProtocolArg;

use madrigal_core::Party;
use madrigal_operations::Backend;

/// Way in which three parties or more match their lists: beside a [`Task`](crate::Task), the same at all parties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Many {
    /// Those who learn the answer.
    pub to: Vec<Party>,
    /// Protocol that encrypts keys: R or B. R is for three parties, and safe unless two of them put together what they have.
    pub protocol: &'static Backend,
}
