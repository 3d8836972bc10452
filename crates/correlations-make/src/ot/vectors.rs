//! Vector triples: shares of a random bit a, of a random vector b of n bits, and of c = a b, the bit
//! times every bit of the vector.
//!
//! One OT of strings of n bits for each ordered pair of parties, whatever n. The sender's b is the
//! XOR of the two masks of its OT with its first peer, and only further peers need a correction, as
//! in [`bits`](crate::ot::bits): for N = 2 a vector costs no more communication than a bit.
//!
//! Per triple and party: N-1 times 16 bytes (rounded up to 128 triples in each message) and at most
//! N-2 times `ceil(n / 8)` bytes.

use std::ops::Range;

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::{AnyShares, VectorTriples};
use madrigal_kernels::{self as kernels, Block, Stretch, opaque};
use madrigal_net::Context;
use madrigal_ot::OtError;

use crate::ot::base::Group;
use crate::ot::bits::first_peer;
use crate::ot::elements::random_blocks;
use crate::ot::extension::Batch;
use crate::ot::layout::{self, CallLayout, Parts};
use crate::ot::links::{Answer, Ask, OtCall};
use crate::ot::recipe::{Making, Recipe};

/// Says how vector triples of `length` bits are made.
pub(crate) fn recipe(length: usize) -> Recipe {
    Recipe {
        group: Group::Vectors,
        // Worth of the work for a triple, whose masks are stretched.
        ots: 8 + length / 128,
        layout: Box::new(move |_, count| Box::new(VectorLayout { length, count })),
        call: Box::new(move |context, count| {
            Box::new(VectorCall::new(context, VectorLayout { length, count }))
        }),
    }
}

/// Bytes of strings in one part, unless one string takes more.
const PART_BYTES: usize = 256 << 10;
/// OTs in one part, at most.
const PART_OTS: usize = 8192;

/// The vectors of one call.
#[derive(Clone, Copy)]
struct VectorLayout {
    length: usize,
    count: usize,
}

impl VectorLayout {
    const fn bytes(self) -> usize {
        bits::bytes_for(self.length)
    }

    /// Blocks to which a mask is stretched; the OT's own block serves if it is long enough.
    const fn stretched(self) -> usize {
        match self.bytes().div_ceil(16) {
            0 | 1 => 0,
            blocks => blocks,
        }
    }

    /// The string of the OT at `index` of those that `stretch` is for.
    fn mask(self, stretch: &mut Stretch, index: usize, seed: Block, out: &mut [u8]) {
        if self.stretched() > 0 {
            stretch.stretch(index, seed, out);
        } else {
            out.copy_from_slice(&seed.to_bytes()[..out.len()]);
        }
    }

    fn place(self, item: usize) -> Range<usize> {
        item * self.bytes()..(item + 1) * self.bytes()
    }
}

impl CallLayout for VectorLayout {
    fn parts(&self) -> Box<dyn Parts> {
        let size = match PART_BYTES / self.bytes().max(1) {
            0 => 1,
            fit @ 1..128 => fit,
            fit => fit.min(PART_OTS) / 128 * 128,
        };
        layout::parts(self.count, size)
    }

    /// The bits of a.
    fn drawn(&self) -> u64 {
        random_blocks(bits::bytes_for(self.count), 1)
    }

    fn batch(&self, _: Party, _: Party, items: &Range<usize>) -> Batch {
        Batch {
            ots: items.len(),
            unit: 1,
            free: false,
        }
    }

    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize> {
        (first_peer(sender) != receiver).then(|| items.len() * self.bytes())
    }

    fn stretch_blocks(&self, items: &Range<usize>) -> u64 {
        (items.len() * self.stretched()) as u64
    }
}

/// The vectors of one call on their way.
struct VectorCall {
    me: Party,
    layout: VectorLayout,
    choices: Zeroizing<Vec<u8>>,
    b: Zeroizing<Vec<u8>>,
    c: Zeroizing<Vec<u8>>,
    strings: [Zeroizing<Vec<u8>>; 2],
}

impl VectorCall {
    fn new(context: &Context, layout: VectorLayout) -> Self {
        let mut choices = Zeroizing::new(vec![0; bits::bytes_for(layout.count)]);
        context.private_prg().fill(&mut choices);
        let bytes = |count| Zeroizing::new(vec![0; count * layout.bytes()]);
        Self {
            me: context.me(),
            layout,
            choices,
            b: bytes(layout.count),
            c: bytes(layout.count),
            strings: [bytes(1), bytes(1)],
        }
    }

    /// Opaque, because it is the same for all bytes of a vector: no branch shall come of it.
    fn bit(&self, item: usize) -> u8 {
        opaque(self.choices[item / 8] >> (item % 8) & 1)
    }
}

impl Making for VectorCall {
    fn finish(mut self: Box<Self>) -> AnyShares {
        let VectorLayout { length, count } = self.layout;
        let bytes = self.layout.bytes();
        let a: Zeroizing<Vec<u8>> = Zeroizing::new((0..count).map(|i| self.bit(i)).collect());
        if bytes > 0 {
            let vectors = self.c.chunks_exact_mut(bytes);
            for ((c, b), a) in vectors.zip(self.b.chunks_exact(bytes)).zip(a.iter()) {
                for (c, b) in c.iter_mut().zip(b) {
                    *c ^= b & a.wrapping_neg();
                }
                bits::clear_tail(c, length);
            }
        }
        let Self { b, c, .. } = *self;
        AnyShares::new(VectorTriples::new(length, a, b, c))
    }
}

impl OtCall for VectorCall {
    fn layout(&self) -> Box<dyn CallLayout> {
        Box::new(self.layout)
    }

    fn ask(&mut self, _: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let layout = self.layout;
        let [string, _] = &mut self.strings;
        ots.blocks(
            |ots, out| bits::take(&self.choices, items.start + ots.start, out, ots.len()),
            |ots, masks, stretch| {
                for (index, &mask) in masks.iter().enumerate() {
                    layout.mask(stretch, index, mask, string);
                    let item = items.start + ots.start + index;
                    kernels::xor_into(&mut self.c[layout.place(item)], string);
                }
            },
        )
    }

    /// The first masks are shares of c; b is the XOR of both with the first peer, and the corrections
    /// for the others say how theirs differs.
    fn answer(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError> {
        let layout = self.layout;
        let is_first = first_peer(self.me) == peer;
        let [s0, s1] = &mut self.strings;
        ots.blocks(|ots, k0, k1, stretch| {
            let first = ots.start;
            for ((index, &k0), &k1) in ots.zip(k0).zip(k1) {
                layout.mask(stretch, index - first, k0, s0);
                layout.mask(stretch, index - first, k1, s1);
                let place = layout.place(items.start + index);
                kernels::xor_into(&mut self.c[place.clone()], s0);
                let b = &mut self.b[place];
                if is_first {
                    kernels::xor(b, s0, s1);
                    bits::clear_tail(b, layout.length);
                } else {
                    let out = &mut corrections[layout.place(index)];
                    kernels::xor(out, s0, s1);
                    kernels::xor_into(out, b);
                    bits::clear_tail(out, layout.length);
                }
            }
        })
    }

    /// Where a peer's b was fixed before our OT with it, its corrections count where our a is 1.
    fn correct(
        &mut self,
        _: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str> {
        let layout = self.layout;
        for (index, item) in items.clone().enumerate() {
            let d = &corrections[layout.place(index)];
            if !bits::tail_is_clear(d, layout.length) {
                return Err("its padding is not zero");
            }
            let mask = self.bit(item).wrapping_neg();
            for (c, d) in self.c[layout.place(item)].iter_mut().zip(d) {
                *c ^= d & mask;
            }
        }
        Ok(())
    }
}
