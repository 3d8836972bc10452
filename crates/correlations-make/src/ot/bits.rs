//! Boolean triples from oblivious transfer (MOTION 5.2.2).
//!
//! With a = XOR a_i and b = XOR b_i, c = a & b is the XOR of all a_i & b_j. A product of two
//! parties' bits is one random OT: P_i receives with choice a_i, P_j sends; of the masks k_0, k_1
//! P_i learns k_{a_i}, and k_{a_i} ^ k_0 = a_i & (k_0 ^ k_1). So with b_j = k_0 ^ k_1 the masks
//! themselves are the shares of the product.
//!
//! The paper uses a correlated OT (one more bit) for every product. That bit is needed only where
//! b_j is already fixed: here b_j *is* k_0 ^ k_1 of P_j's OTs with its first peer, and each further
//! peer gets the correction k_0 ^ k_1 ^ b_j. To a peer that knows only k_{a_i} the other mask is
//! pseudorandom, so the correction tells it nothing about b_j, also together with other peers.
//!
//! Where the extension gives random choices (silent), they *are* a_i for N = 2. Further parties need
//! OTs with the same a_i, so for N > 2 all choices are given, at a bit each.
//!
//! Per triple and party, with SoftSpoken: N-1 times 128 / k bits (rounded up to 128 triples in each
//! message) and, with the corrections, at most N-2 bits. For N = 2 there are no corrections, and the
//! whole is one message each way.

use std::ops::Range;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{AnyShares, BitTriples};
use madrigal_kernels as kernels;
use madrigal_net::Context;
use madrigal_ot::{OtError, softspoken::CHUNK};

use crate::ot::base::Group;
use crate::ot::elements::random_blocks;
use crate::ot::extension::Batch;
use crate::ot::layout::{CallLayout, Parts, parts};
use crate::ot::links::{Answer, Ask, OtCall};
use crate::ot::recipe::{Making, Recipe};

/// Says how Boolean triples are made.
pub(crate) fn recipe() -> Recipe {
    Recipe {
        group: Group::Bits,
        ots: 1,
        layout: Box::new(|parties, count| Box::new(BitLayout { parties, count })),
        call: Box::new(|context, count| Box::new(BitCall::new(context, count))),
    }
}

/// Triples made at once: with k = 4 their extension message is one frame of 64 KiB.
pub(crate) const PART: usize = CHUNK;

/// The peer whose OTs define a party's b.
pub(crate) fn first_peer(party: Party) -> Party {
    Party::new(usize::from(party.index() == 0))
}

/// The triples of one call.
#[derive(Clone, Copy)]
struct BitLayout {
    parties: usize,
    count: usize,
}

impl CallLayout for BitLayout {
    /// Parts begin at bytes.
    fn parts(&self) -> Box<dyn Parts> {
        parts(self.count, PART)
    }

    /// The bits of a.
    fn drawn(&self) -> u64 {
        random_blocks(bits::bytes_for(self.count), 1)
    }

    fn batch(&self, _: Party, _: Party, items: &Range<usize>) -> Batch {
        Batch {
            ots: items.len(),
            unit: 1,
            free: self.parties == 2,
        }
    }

    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize> {
        (first_peer(sender) != receiver).then(|| bits::bytes_for(items.len()))
    }
}

/// The triples of one call on their way.
pub(crate) struct BitCall {
    me: Party,
    layout: BitLayout,
    a: Zeroizing<Vec<u8>>,
    b: Zeroizing<Vec<u8>>,
    /// The shares of the products with peers; a & b of our own comes on top at the end.
    c: Zeroizing<Vec<u8>>,
    masks: [Zeroizing<Vec<u8>>; 2],
    /// Function that takes each part when it is done; without one, all are kept to the end.
    taker: Option<Taker>,
}

/// Function that takes the triples of one part.
pub(crate) type Taker = Box<dyn Fn(BitTriples)>;

fn bytes(items: &Range<usize>) -> Range<usize> {
    let start = items.start / 8;
    start..start + bits::bytes_for(items.len())
}

impl BitCall {
    fn new(context: &Context, count: usize) -> Self {
        let layout = BitLayout {
            parties: context.parties(),
            count,
        };
        let string = |count| Zeroizing::new(vec![0; bits::bytes_for(count)]);
        let mut a = string(layout.count);
        context.private_prg().fill(&mut a);
        Self {
            me: context.me(),
            layout,
            a,
            b: string(layout.count),
            c: string(layout.count),
            masks: [string(PART), string(PART)],
            taker: None,
        }
    }

    /// Begins a call of which `taker` gets part after part, in order, as soon as it is there; nothing is left to
    /// [`finish`](Making::finish).
    pub(crate) fn in_parts(context: &Context, count: usize, taker: Taker) -> Self {
        Self {
            taker: Some(taker),
            ..Self::new(context, count)
        }
    }
}

impl Making for BitCall {
    fn finish(mut self: Box<Self>) -> AnyShares {
        let mut own = Zeroizing::new(vec![0; self.a.len()]);
        kernels::and(&mut own, &self.a, &self.b);
        kernels::xor_into(&mut self.c, &own);
        let Self {
            a, b, c, layout, ..
        } = *self;
        AnyShares::new(BitTriples::new(a, b, c, layout.count))
    }
}

impl OtCall for BitCall {
    fn layout(&self) -> Box<dyn CallLayout> {
        Box::new(self.layout)
    }

    /// Our choices are a, the masks k_a are our shares.
    fn ask(&mut self, _: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let place = bytes(items);
        let mask = &mut self.masks[0][..place.len()];
        ots.bits(&mut self.a[place.clone()], mask)?;
        kernels::xor_into(&mut self.c[place], mask);
        Ok(())
    }

    /// The peers' choices are their a: the masks k_0 are our shares, b is k_0 ^ k_1 with the first
    /// peer, and the others learn how theirs differs.
    fn answer(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError> {
        let place = bytes(items);
        let [k0, k1] = &mut self.masks;
        let (k0, k1) = (&mut k0[..place.len()], &mut k1[..place.len()]);
        ots.bits(k0, k1)?;
        kernels::xor_into(&mut self.c[place.clone()], k0);
        let b = &mut self.b[place];
        if first_peer(self.me) == peer {
            kernels::xor(b, k0, k1);
        } else {
            kernels::xor(corrections, k0, k1);
            kernels::xor_into(corrections, b);
        }
        Ok(())
    }

    fn done(&mut self, items: &Range<usize>) {
        let Some(taker) = &self.taker else {
            return;
        };
        let place = bytes(items);
        let copy = |string: &[u8]| Zeroizing::new(string[place.clone()].to_vec());
        let (a, b, mut c) = (copy(&self.a), copy(&self.b), copy(&self.c));
        let own = &mut self.masks[0][..place.len()];
        kernels::and(own, &a, &b);
        kernels::xor_into(&mut c, own);
        taker(BitTriples::new(a, b, c, items.len()));
    }

    /// Where a peer's b was fixed before our OT with it, its correction counts where our a is 1.
    fn correct(
        &mut self,
        _: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str> {
        let place = bytes(items);
        if !bits::tail_is_clear(corrections, items.len()) {
            return Err("its padding is not zero");
        }
        let product = &mut self.masks[0][..place.len()];
        kernels::and(product, &self.a[place.clone()], corrections);
        kernels::xor_into(&mut self.c[place], product);
        Ok(())
    }
}
