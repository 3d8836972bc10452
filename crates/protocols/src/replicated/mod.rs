//! Replicated sharing among three parties with an honest majority (protocol R).
//!
//! # Sharing
//! v = v_0 + v_1 + v_2 (for bits: XOR), and party P_i holds the two components v_i and v_{i+1}, its
//! *first* and *second* (numbers mod 3). Two components of three are uniform whatever v is, so one
//! party learns nothing; any two parties can open. This is the replicated form of Araki et al. (CCS
//! 2016), which sends as much as theirs, needs no division by 3 and carries over to dot products.
//!
//! # Keys
//! Each pair of parties has a generator per step ([`Context::shared_prg`]); the one of P_{i-1} and P_i
//! is called k_i, so that P_i has k_i (with its *previous* party) and k_{i+1} (with its *next*). A
//! sharing of zero is a_i = F(k_i) - F(k_{i+1}): each k occurs once with either sign. A generator
//! belongs to one step of one job of one session and only moves forward, so no part of its stream
//! masks two things; all three parties ask for the same lengths in the same order.
//!
//! # Model
//! `docs/FUNCTIONALITIES.md` says what each operation computes and what it tells whom, with what hides
//! each message from its receiver. One tells more than its result:
//! [`truncate_probabilistic`](ReplicatedRings::truncate_probabilistic).
//!
//! Semi-honest, one corrupted party. All that a party receives in a product is a component that its
//! sender has masked with a fresh a_i, of which the receiver P_{i-1} knows k_i but not k_{i+1}: it is
//! pseudorandom to it whatever the inputs are. Inputs come under a mask that their receiver lacks.
//!
//! Sorts are outside of what follows: they open results of comparisons, and a server that moves a key learns where it went.
//!
//! The argument does not change if the receiver deviates: what it sends moves the honest parties' shares, but
//! each message to it is still masked afresh by a generator it has no part in. So with inputs and
//! outputs outside of the servers (Araki et al., section 4, Theorem 4.2), one *malicious* server sees the same
//! distribution whatever the inputs are; `SECURITY.md` lists the conditions. This gives privacy alone. Such a server can falsify outputs; and
//! where it learns an output, or merely whether its owner was content, a falsified one may tell it
//! about inputs.
//!
//! # Rings
//! [`ReplicatedRings`] computes on batches over Z_{2^l}, l = 8 to 128, and between them and bits. Each
//! operation declares its cost in [`Tally`]. `examples/shared_numbers.rs` multiplies, compares and
//! truncates shared numbers and opens the results. Where a sum of bits is needed, x is cut in two: a = x_0 +
//! x_1, which P_0 knows and puts in, and b = x_2, which P_1 and P_2 know, so that its bits are shared
//! without a message; one binary adder then makes x of the two.

mod bits;
mod carries;
mod compare;
mod convert;
mod cost;
mod counting;
mod error;
mod flow;
mod keys;
mod masking;
mod matrices;
mod pairs;
mod place;
mod products;
mod random;
mod rings;
mod shares;
mod shuffle;
mod sort;
mod truncate;
mod view;

pub use bits::{ReplicatedBits, ReplicatedInputs, Shared};
pub use carries::Depth;
pub use cost::Tally;
pub use counting::{BY_DIGITS, COUNTED};
pub use error::SharesError;
pub use flow::Draft;
pub use keys::{Keys, Sorted};
pub use madrigal_core::{Convolution, MatrixShape, Product};
pub use masking::Masking;
pub use rings::ReplicatedRings;
pub use shares::{BitShares, RingShares, combine, deal};
pub use shuffle::{Column, Shuffle};
pub use view::RingView;

use bytes::Bytes;
use madrigal_core::Party;
use madrigal_net::{Channel, Context, Generator, Result, exchange_one};

/// Number of parties.
pub const PARTIES: usize = 3;

/// The party that sends us components of products' complements: P_{i+1}.
pub(crate) const fn next(party: Party) -> Party {
    Party::new((party.index() + 1) % PARTIES)
}

/// P_{i-1}.
pub(crate) const fn previous(party: Party) -> Party {
    Party::new((party.index() + PARTIES - 1) % PARTIES)
}

/// Says for each of a party's components whether it is v_0, the one that public constants are added to.
pub const fn leads(me: Party) -> [bool; 2] {
    [me.index() == 0, me.index() == PARTIES - 1]
}

/// The ways to the two other parties.
struct Neighbours {
    previous: Channel,
    next: Channel,
}

impl Neighbours {
    fn new(context: &Context) -> Result<Self> {
        assert_eq!(
            context.parties(),
            PARTIES,
            "protocol R is for three parties"
        );
        let me = context.me();
        Ok(Self {
            previous: context.channel(previous(me))?,
            next: context.channel(next(me))?,
        })
    }

    fn count_in(&mut self, context: &Context) {
        self.previous.count_in(context);
        self.next.count_in(context);
    }

    /// Sends `message` backwards and receives as much from the next party: the exchange of a product.
    async fn reshare(&mut self, message: Bytes) -> Result<Bytes> {
        let expected = message.len();
        exchange_one(&mut self.previous.tx, message, &mut self.next.rx, expected).await
    }
}

/// Both generators of a party for one step: k_i and k_{i+1}.
struct ZeroKeys {
    first: Generator,
    second: Generator,
}

impl ZeroKeys {
    fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            first: context.shared_prg(previous(context.me()))?,
            second: context.shared_prg(next(context.me()))?,
        })
    }

    /// Overwrites `bits` with this party's share of zeros, for XOR. Two AES blocks for each 16 bytes.
    fn fill_bits(&mut self, bits: &mut [u8]) {
        self.first.fill(bits);
        self.second.xor_into(bits);
    }
}
