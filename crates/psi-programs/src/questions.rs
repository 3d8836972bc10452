//! The usual questions, as programs of their own.

use madrigal_program::{Computation, Opened, Program, ProgramError, Receivers, Secret};

use crate::{Matched, Parts, Payload};

/// Numbers that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Number of the items in both sets.
    Count,
    /// The sum of the sender's payloads over these.
    Sum,
    /// The sum of the receiver's own payloads over these.
    OwnSum,
}

/// Questions that are answered at once. Who asks for sums and the count gets means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    asks: Vec<Ask>,
}

/// A question's program.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The program. Its inputs are, in order: the receiver's tags, the sender's; if a sum of the sender's payloads is asked for, the receiver's
    /// masked payloads, the sender's masks; if one of the receiver's is, its payloads by bins. Each is `[bins]` words of type `u64`.
    pub program: Computation,
    /// The number of items in both sets, if it is asked for.
    pub count: Option<Opened<u64>>,
    /// The sum of the sender's payloads, if it is asked for.
    pub sum: Option<Opened<i64>>,
    /// The sum of the receiver's payloads, if it is asked for.
    pub own_sum: Option<Opened<i64>>,
}

impl Question {
    /// Asks for these, in any order.
    #[must_use]
    pub fn new(asks: impl IntoIterator<Item = Ask>) -> Self {
        Self {
            asks: asks.into_iter().collect(),
        }
    }

    /// Whether a number is asked for.
    #[must_use]
    pub fn has(&self, ask: Ask) -> bool {
        self.asks.contains(&ask)
    }

    /// The program, whose results `to` learns.
    ///
    /// # Errors
    /// A program that cannot be: parties that there are not, or too many bins.
    pub fn program(&self, parts: Parts, to: impl Receivers) -> Result<Asked, ProgramError> {
        let mut p = Program::new(2);
        let to = to.receivers(2);
        let matched = Matched::new(&mut p, parts);
        let sender = self.has(Ask::Sum).then(|| matched.payload(&mut p));
        let own = self.has(Ask::OwnSum).then(|| matched.own_payload(&mut p));
        let count = self.has(Ask::Count).then(|| matched.count());
        let count = count.map(|count| p.open_named("count", count, to.as_slice()));
        let sum = |payload: Option<Payload>| payload.map(|payload| matched.sum(&payload));
        let mut open =
            |name, sum: Option<Secret<i64>>| sum.map(|sum| p.open_named(name, sum, to.as_slice()));
        let sums = (
            open("sum", sum(sender)),
            open("sum of the receiver's", sum(own)),
        );
        Ok(Asked {
            count,
            sum: sums.0,
            own_sum: sums.1,
            program: p.finish()?,
        })
    }
}
