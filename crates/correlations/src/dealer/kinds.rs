//! The kinds of correlations as strings of bytes: independent ones that generators give, and one that
//! depends on them.

use madrigal_core::{Party, Product, Ring, Zeroizing, bits};
use madrigal_kernels as kernels;
use madrigal_net::{Generator, breathe};

use crate::matrices::{Tripled, add_product};

/// A piece of a request: what it holds, and how many.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Bits { count: usize },
    Vectors { length: usize, count: usize },
    Triples { width: usize, count: usize },
    Squares { width: usize, count: usize },
    SharedBits { width: usize, count: usize },
    Product { width: usize, tripled: Tripled },
}

/// One party's shares.
#[derive(Default)]
pub(super) struct Strings {
    pub(super) independent: [Zeroizing<Vec<u8>>; 2],
    pub(super) dependent: Zeroizing<Vec<u8>>,
}

impl Strings {
    /// Room for all of `kind`: growing would take more memory for a while, and leave copies behind.
    pub(super) fn with_room_for(kind: Kind) -> Self {
        let room = |bytes| Zeroizing::new(Vec::with_capacity(bytes));
        Self {
            independent: kind.independent_bytes().map(room),
            dependent: room(kind.dependent_bytes()),
        }
    }

    /// The same, with room for so many times as much.
    pub(super) fn with_room(self, times: usize) -> Self {
        let room = |string: &Zeroizing<Vec<u8>>| {
            let mut all = Zeroizing::new(Vec::with_capacity(times * string.len()));
            all.extend_from_slice(string);
            all
        };
        Self {
            independent: self.independent.each_ref().map(room),
            dependent: room(&self.dependent),
        }
    }

    pub(super) fn append(&mut self, more: &Self) {
        let [a, b] = &mut self.independent;
        let pairs = [
            (a, &more.independent[0]),
            (b, &more.independent[1]),
            (&mut self.dependent, &more.dependent),
        ];
        for (all, more) in pairs {
            debug_assert!(all.capacity() - all.len() >= more.len(), "room was made");
            all.extend_from_slice(more);
        }
    }
}

/// Calls a function for the ring of this many bits; the widths were checked when they were read.
macro_rules! in_ring {
    ($width:expr, $function:ident($($argument:expr),*) $($then:tt)*) => {
        match $width {
            8 => $function::<u8>($($argument),*) $($then)*,
            16 => $function::<u16>($($argument),*) $($then)*,
            32 => $function::<u32>($($argument),*) $($then)*,
            64 => $function::<u64>($($argument),*) $($then)*,
            _ => $function::<u128>($($argument),*) $($then)*,
        }
    };
}

impl Kind {
    /// Bytes of the two independent strings.
    fn independent_bytes(self) -> [usize; 2] {
        match self {
            Self::Bits { count } => [bits::bytes_for(count); 2],
            Self::Vectors { length, count } => [count, count * bits::bytes_for(length)],
            Self::Triples { width, count } => [count * width / 8; 2],
            Self::Squares { width, count } => [count * width / 8, 0],
            Self::SharedBits { .. } => [0; 2],
            Self::Product { width, tripled } => {
                let [left, right, _] = product_lengths(tripled.product);
                [left * width / 8, right * width / 8]
            }
        }
    }

    /// Bytes of the string that depends on the others.
    pub(super) fn dependent_bytes(self) -> usize {
        match self {
            Self::Bits { count } => bits::bytes_for(count),
            Self::Vectors { length, count } => count * bits::bytes_for(length),
            Self::Triples { width, count }
            | Self::Squares { width, count }
            | Self::SharedBits { width, count } => count * width / 8,
            Self::Product { width, tripled } => product_lengths(tripled.product)[2] * width / 8,
        }
    }

    /// Which of the two independent strings `me` has a share of; the other one is zeros.
    fn drawn_by(self, me: Party) -> [bool; 2] {
        match self {
            Self::Product { tripled, .. } => tripled.drawn_by(me),
            _ => [true; 2],
        }
    }

    /// AES blocks of [`expand`](Self::expand) for `me`.
    pub(super) fn aes_blocks(self, me: Party, with_dependent: bool) -> u64 {
        let [left, right] = self.drawn_by(me);
        let [a, b] = self.independent_bytes();
        let [a, b] = [(left, a), (right, b)].map(|(ours, bytes)| if ours { bytes } else { 0 });
        let c = if with_dependent {
            self.dependent_bytes()
        } else {
            0
        };
        [a, b, c]
            .map(|bytes| bytes.div_ceil(16) as u64)
            .iter()
            .sum()
    }

    /// The shares of `me` as its generator gives them; the dependent string, if it is not expanded, is
    /// zero.
    pub(super) fn expand(self, me: Party, prg: &mut Generator, with_dependent: bool) -> Strings {
        let string = |bytes| Zeroizing::new(vec![0; bytes]);
        let mut strings = Strings {
            independent: self.independent_bytes().map(string),
            dependent: string(self.dependent_bytes()),
        };
        for (string, ours) in strings.independent.iter_mut().zip(self.drawn_by(me)) {
            if ours {
                prg.fill(string);
            }
        }
        if with_dependent {
            prg.fill(&mut strings.dependent);
        }
        self.clean(&mut strings);
        strings
    }

    /// Clears the bits that no item has.
    fn clean(self, strings: &mut Strings) {
        let Strings {
            independent: [a, b],
            dependent: c,
        } = strings;
        match self {
            Self::Bits { count } => {
                for string in [a, b, c] {
                    bits::clear_tail(string, count);
                }
            }
            Self::Vectors { length, .. } => {
                a.iter_mut().for_each(|bit| *bit &= 1);
                for string in [b, c] {
                    for vector in string.chunks_exact_mut(bits::bytes_for(length).max(1)) {
                        bits::clear_tail(vector, length);
                    }
                }
            }
            _ => {}
        }
    }

    /// What the corrected party is sent: the value that depends on the sums of all parties' strings,
    /// less all other parties' shares of it. The generators are those of the parties in order.
    pub(super) async fn deal(
        self,
        prgs: &mut [Generator],
        private: &mut Generator,
    ) -> Zeroizing<Vec<u8>> {
        let mut others = Zeroizing::new(vec![0; self.dependent_bytes()]);
        let mut sums = self
            .independent_bytes()
            .map(|bytes| Zeroizing::new(vec![0; bytes]));
        for (party, prg) in prgs.iter_mut().enumerate() {
            let strings = self.expand(Party::new(party), prg, party > 0);
            for (sum, string) in sums.iter_mut().zip(&strings.independent) {
                self.add(sum, string);
            }
            if party > 0 {
                self.add(&mut others, &strings.dependent);
            }
            breathe().await;
        }
        let mut value = self.value(&sums, private).await;
        self.subtract(&mut value, &others);
        value
    }

    fn add(self, sum: &mut [u8], other: &[u8]) {
        match self {
            Self::Bits { .. } | Self::Vectors { .. } => kernels::xor_into(sum, other),
            Self::Triples { width, .. }
            | Self::Squares { width, .. }
            | Self::SharedBits { width, .. }
            | Self::Product { width, .. } => in_ring!(width, add_elements(sum, other)),
        }
    }

    fn subtract(self, sum: &mut [u8], other: &[u8]) {
        match self {
            Self::Bits { .. } | Self::Vectors { .. } => kernels::xor_into(sum, other),
            Self::Triples { width, .. }
            | Self::Squares { width, .. }
            | Self::SharedBits { width, .. }
            | Self::Product { width, .. } => in_ring!(width, subtract_elements(sum, other)),
        }
    }

    /// The dependent value itself.
    async fn value(
        self,
        [a, b]: &[Zeroizing<Vec<u8>>; 2],
        private: &mut Generator,
    ) -> Zeroizing<Vec<u8>> {
        let mut value = Zeroizing::new(vec![0; self.dependent_bytes()]);
        match self {
            Self::Bits { .. } => kernels::and(&mut value, a, b),
            Self::Vectors { length, .. } => {
                let bytes = bits::bytes_for(length).max(1);
                let vectors = value.chunks_exact_mut(bytes).zip(b.chunks_exact(bytes));
                for ((c, b), &bit) in vectors.zip(a.iter()) {
                    let mask = bit.wrapping_neg();
                    c.iter_mut().zip(b).for_each(|(c, &b)| *c = b & mask);
                }
            }
            Self::Triples { width, .. } => in_ring!(width, products(&mut value, a, b)),
            Self::Squares { width, .. } => in_ring!(width, products(&mut value, a, a)),
            Self::SharedBits { width, .. } => in_ring!(width, random_bits(&mut value, private)),
            Self::Product { width, tripled } => {
                in_ring!(width, product_of(&mut value, a, b, tripled.product).await)
            }
        }
        value
    }
}

fn add_elements<T: Ring>(sum: &mut [u8], other: &[u8]) {
    for (sum, other) in sum
        .chunks_exact_mut(T::BYTES)
        .zip(other.chunks_exact(T::BYTES))
    {
        T::read(sum).add(T::read(other)).write(sum);
    }
}

fn subtract_elements<T: Ring>(sum: &mut [u8], other: &[u8]) {
    for (sum, other) in sum
        .chunks_exact_mut(T::BYTES)
        .zip(other.chunks_exact(T::BYTES))
    {
        T::read(sum).sub(T::read(other)).write(sum);
    }
}

fn products<T: Ring>(c: &mut [u8], a: &[u8], b: &[u8]) {
    let factors = a.chunks_exact(T::BYTES).zip(b.chunks_exact(T::BYTES));
    for (c, (a, b)) in c.chunks_exact_mut(T::BYTES).zip(factors) {
        T::read(a).mul(T::read(b)).write(c);
    }
}

fn random_bits<T: Ring>(value: &mut [u8], private: &mut Generator) {
    private.fill(value);
    for element in value.chunks_exact_mut(T::BYTES) {
        T::read(element).and(T::ONE).write(element);
    }
}

/// Of one pair of matrices, or a convolution. A pair without products may be too long for
/// [`Product::lengths`].
fn product_lengths(product: Product) -> [usize; 3] {
    match product {
        Product::Matrices(_, shape) => shape.lengths(),
        Product::Convolution(_) => product.lengths(),
    }
}

/// Products of elements between two breaths, about ten milliseconds' work.
const BREATH: usize = 1 << 23;

/// Piece by piece, and some rows at a time.
async fn product_of<T: Ring>(c: &mut [u8], a: &[u8], b: &[u8], product: Product) {
    if product.multiplications() == 0 {
        return;
    }
    let elements = |string: &[u8]| -> Zeroizing<Vec<T>> {
        Zeroizing::new(string.chunks_exact(T::BYTES).map(T::read).collect())
    };
    let (a, b) = (elements(a), elements(b));
    let mut z = Zeroizing::new(vec![T::ZERO; product_lengths(product)[2]]);
    add_product(product, &a, &b, &mut z, BREATH).await;
    for (place, value) in c.chunks_exact_mut(T::BYTES).zip(z.iter()) {
        value.write(place);
    }
}
