//! Arithmetic GMW (protocol A; MOTION 6.1): an element of Z_{2^l} is the sum of the parties' shares, for
//! l = 8, 16, 32, 64, 128.
//!
//! Secure against semi-honest corruption of all parties but one. Everything works on vectors: one call
//! opens, or multiplies, as many elements as there are. Shares are slices of the caller's, for all
//! widths alike; each operation says how many correlations it uses, and takes exactly these.
//!
//! n elements of l bits; messages go as in [`BooleanGmw`](crate::gmw::BooleanGmw), each interactive
//! operation in one opening, that is 1 round ([`Opening::Direct`]) or 2:
//!
//! | operation | uses | opens |
//! |---|---|---|
//! | input ([`InputSharing::share_elements`]), linear operations | - | - |
//! | [`open`](ArithmeticGmw::open) | - | n elements |
//! | [`mul`](ArithmeticGmw::mul) | n triples | 2 n elements |
//! | [`square`](ArithmeticGmw::square) | n square pairs | n elements |
//! | [`dot`](ArithmeticGmw::dot) of n pairs of vectors of length k | n k triples | 2 n k elements |
//! | [`products`](ArithmeticGmw::products) of matrices, m x k times k x n | a matrix triple each | m k + k n elements each |
//! | [`known_products`](ArithmeticGmw::known_products) of two parties, of which one knows an operand | a split triple each | that operand to one, the other operand to the other party |
//! | the same of [convolutions](madrigal_core::Convolution) | a triple of it | filters and images as they are |
//! | [`mask`](ArithmeticGmw::mask) of a left matrix | a matrix triple | m k elements |
//! | [`masked_product`](ArithmeticGmw::masked_product) of it | columns of the same | k elements a column |
//! | [`inject`](ArithmeticGmw::inject) of n bits | n shared bits | n bits |
//! | [`compose`](ArithmeticGmw::compose) of n numbers of w bits | n w shared bits | n w bits |
//! | [`bit_times`](ArithmeticGmw::bit_times) | n shared bits, n triples | 2 n elements, n bits |
//! | [`bit_times_known`](ArithmeticGmw::bit_times_known), numbers that one party knows | n chosen numbers | that party n elements, the others n bits, to each other party |
//!
//! Linear operations are those of [`madrigal_kernels::rings`] on shares (`add_into`, `sub_into`; `mul_into`
//! with public factors), and [`scale`]; public constants are added by the leader alone
//! ([`add_constants`]).
//!
//! From A to B, each party puts its own share into B ([`share_addend`]), and a Boolean circuit adds up
//! (MOTION 7.5).

mod conversions;
mod known_bits;
mod linear;
mod masked;
mod matrices;
mod products;

pub use crate::inputs::{InputSharing, share_aes_blocks};
pub use conversions::share_addend;
pub use linear::{add_constant, add_constants, scale};
pub use madrigal_core::{Convolution, MatrixShape, Product};
pub use masked::MaskedMatrix;
pub use matrices::Side;
pub(crate) use matrices::{add_all, multiply_matrices};
pub(crate) use products::{OpensDifferences, dot, multiply, square};

use madrigal_core::{Party, PhaseCost, Ring, Zeroizing};
use madrigal_kernels::{self as kernels, marks, rings};
use madrigal_net::{Channel, Context, Result};

use crate::Opening;
use crate::opening::Rule;

/// The party that adds public constants.
pub const LEADER: Party = crate::gmw::LEADER;

/// The interactive operations of one piece of work, on channels of its own.
pub struct ArithmeticGmw {
    context: Context,
    channels: Vec<Channel>,
    opening: Opening,
    everyone: Vec<Party>,
}

impl std::fmt::Debug for ArithmeticGmw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ArithmeticGmw({:?}, {})", self.context, self.opening)
    }
}

impl ArithmeticGmw {
    /// Opens the channels of `context`.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channels`].
    pub fn new(context: Context, opening: Opening) -> Result<Self> {
        Ok(Self {
            channels: context.channels()?,
            everyone: Party::all(context.parties()).collect(),
            context,
            opening,
        })
    }

    /// Counts the rounds from now on in `context`, see [`Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.channels
            .iter_mut()
            .for_each(|channel| channel.count_in(context));
    }

    /// The elements that `share` shares, for the parties in `to`; `None` for the others.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network; so with all operations.
    pub async fn open<T: Ring>(
        &mut self,
        share: &[T],
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<T>>>> {
        let mut sum = Zeroizing::new(share.to_vec());
        let opened = self.opening.add_up(
            &rings::add_strings::<T>,
            &self.context,
            &mut self.channels,
            rings::as_bytes_mut(&mut sum),
            to,
        );
        Ok(opened.await?.then(|| {
            // From here on it is its receiver's to look at.
            marks::public(sum.as_mut_slice());
            sum
        }))
    }

    /// Cost for party `me` of one [`open`](Self::open) of `count` elements, but for rounds.
    pub fn open_cost<T: Ring>(
        opening: Opening,
        me: Party,
        parties: usize,
        count: usize,
        to: &[Party],
    ) -> PhaseCost {
        opening.cost(me, parties, (count * T::BYTES) as u64, to)
    }

    /// Opens to all parties what is masked: uniform to everybody, whatever it masks.
    async fn open_masked(&mut self, rule: Rule<'_>, masked: &mut [u8]) -> Result<()> {
        let to = &self.everyone;
        let opened = self
            .opening
            .add_up(rule, &self.context, &mut self.channels, masked, to);
        opened.await.map(drop)
    }

    /// Adds to our shares of masked elements, and of whole bytes of masked bits, everyone else's, so that they
    /// become what is shared, known to the parties in `to` alone: one message. For the others they stay what
    /// they are.
    pub(crate) async fn open_strings<T: Ring>(
        &mut self,
        elements: &mut [T],
        bits: &mut [u8],
        to: &[Party],
    ) -> Result<()> {
        let first = elements.len() * T::BYTES;
        let mut message = Zeroizing::new(Vec::with_capacity(first + bits.len()));
        message.extend_from_slice(rings::as_bytes(elements));
        message.extend_from_slice(bits);
        let rule = move |sum: &mut [u8], theirs: &[u8]| {
            let ((sum, bits), (theirs, their_bits)) =
                (sum.split_at_mut(first), theirs.split_at(first));
            rings::add_strings::<T>(sum, theirs);
            kernels::xor_into(bits, their_bits);
        };
        let (opening, context) = (self.opening, &self.context);
        let opened = opening.add_up(&rule, context, &mut self.channels, &mut message, to);
        if opened.await? {
            let (sum, opened) = message.split_at(first);
            rings::as_bytes_mut(elements).copy_from_slice(sum);
            bits.copy_from_slice(opened);
        }
        Ok(())
    }
}

/// Cost for party `me` of opening `bytes` bytes to all parties.
fn opening_cost(opening: Opening, me: Party, parties: usize, bytes: usize) -> PhaseCost {
    let all: Vec<Party> = Party::all(parties).collect();
    opening.cost(me, parties, bytes as u64, &all)
}
