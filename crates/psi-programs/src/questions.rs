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
    /// The middle of what each party adds to the count.
    middle: Option<u64>,
}

/// A question's program.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The program. Its inputs are, in order: the receiver's tags, the sender's; if a sum of the sender's payloads is asked for, the receiver's
    /// masked payloads, the sender's masks; if one of the receiver's is, its payloads by bins. Each is `[bins]` words of type `u64`. With noise, there
    /// is a single word of the receiver's after that, and one of the sender's: a number from 0 to twice the middle each, drawn at random.
    pub program: Computation,
    /// The number of items in both sets, if it is asked for.
    pub count: Option<Opened<u64>>,
    /// The number with noise that is told in its place, below 0 at times.
    pub noisy_count: Option<Opened<i64>>,
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
            middle: None,
        }
    }

    /// Asks for the count with noise of both parties: each of them draws a number whose mean is `middle`, and the sum of all three, less twice
    /// `middle`, is opened. It is not cut to what a count can be: who learns it may do so. A party that knows the sum and its own number knows
    /// the count and the other's number alone, which hides the other's items. Sums are not asked for along with it: without noise they would
    /// tell what it hides.
    #[must_use]
    pub fn noisy_count(middle: u64) -> Self {
        Self {
            asks: vec![Ask::Count],
            middle: Some(middle),
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
        let (count, noisy_count) = match (count, self.middle) {
            (Some(count), Some(middle)) => {
                let noisy = with_noise(&mut p, parts, count, middle);
                let noisy = p.open_named("count with noise", noisy, to.as_slice());
                (None, Some(noisy))
            }
            (count, _) => {
                let count = count.map(|count| p.open_named("count", count, to.as_slice()));
                (count, None)
            }
        };
        let sum = |payload: Option<Payload>| payload.map(|payload| matched.sum(&payload));
        let mut open =
            |name, sum: Option<Secret<i64>>| sum.map(|sum| p.open_named(name, sum, to.as_slice()));
        let sums = (
            open("sum", sum(sender)),
            open("sum of the receiver's", sum(own)),
        );
        Ok(Asked {
            count,
            noisy_count,
            sum: sums.0,
            own_sum: sums.1,
            program: p.finish()?,
        })
    }
}

/// A count with a number of each party's more, whose mean it is without: numbers are sums of elements, so this takes no round.
fn with_noise(p: &mut Program, parts: Parts, count: Secret<u64>, middle: u64) -> Secret<i64> {
    let receivers = p.input_named::<u64>("noise of the receiver", parts.receiver, []);
    let senders = p.input_named::<u64>("noise of the sender", parts.sender, []);
    (count + receivers + senders - middle.wrapping_mul(2)).cast()
}
