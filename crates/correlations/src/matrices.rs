//! Matrix triples over Z_2^l: shares of random A (m x k), B (k x n), and of C = A B.
//!
//! One extension row serves a whole row of products: for an entry of A at the receiver and the row of
//! B that it meets at the sender, Gilboa's products ([`crate::gilboa`]) have the same choice bits, so
//! each of the l OTs carries a string of n corrections at once, under masks that are stretched from
//! the OT's two ([`madrigal_kernels::Stretch`]). If A has more rows than B has columns, the roles are exchanged
//! (C^T = B^T A^T), so that strings are as long as can be.
//!
//! With p = min(m, n), q = max(m, n), each party sends to each peer, for the whole triple, p k l OTs
//! of 16 bytes and p k q l (l + 1) / 2 bits of corrections (half a word more for each entry if q is
//! odd): per product of elements 16 l / q + l (l + 1) / 16 bytes, 268 for l = 64 and q = 128, where
//! element-wise triples take 1284.
//!
//! Rows of C are made one after the other in parts of about 256 KiB of corrections, so the
//! memory in use beyond the three matrices does not grow with them.

mod encrypted;
mod layout;
mod strings;

use std::ops::Range;

pub use madrigal_core::MatrixShape;
use madrigal_core::{Party, Ring};
use madrigal_kernels::rings::{self, Masks};
use madrigal_net::{Context, Result};
use madrigal_ot::OtError;
use zeroize::Zeroizing;

pub(crate) use self::encrypted::{Encrypted, EncryptedCosts, serves, transforms};
pub(crate) use self::layout::MatrixLayout;
use self::strings::{
    correct_first, correct_half, has_clear_end, offer_first, offer_half, transpose,
};
use crate::extension::Extension;
use crate::kind::Kind;
use crate::layout::Layout;
use crate::links::{Answer, Ask, Call, Links};
use crate::needs::Needs;
use crate::products::pack;
use crate::rings::random;
use crate::supply::Origin;

/// What makes matrix triples. All other correlations are made by oblivious transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matrices {
    /// Additively homomorphic encryption ([`OtSource::with_lattice_matrices`](crate::OtSource::with_lattice_matrices)),
    /// which sends a fraction of the bytes; those of 128-bit elements by oblivious transfer.
    #[default]
    Lattice,
    /// Oblivious transfer.
    Ot,
}

impl std::fmt::Display for Matrices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Lattice => "lattice",
            Self::Ot => "ot",
        })
    }
}

impl Matrices {
    /// What sends fewer bytes for the matrix triples among `needs`, between so many parties. It depends on nothing
    /// else, so that parties that have agreed on these have agreed on it.
    #[must_use]
    pub fn choose(extension: Extension, parties: usize, needs: &Needs) -> Self {
        let mut matrices = Needs::new();
        for (kind, count) in needs.kinds() {
            if matches!(kind, Kind::MatrixTriples(..)) {
                matrices.add(kind, count);
            }
        }
        if matrices.is_empty() || parties < 2 {
            return Self::Ot;
        }
        let bytes = |of: Self| {
            let origin = Origin::Ot {
                extension,
                threads: 1,
                matrices: of,
            };
            let all = Party::all(parties).map(|me| origin.costs(me, parties).fill(&matrices));
            all.map(|cost| cost.bytes_sent).sum::<u64>()
        };
        match bytes(Self::Lattice) < bytes(Self::Ot) {
            true => Self::Lattice,
            false => Self::Ot,
        }
    }
}

/// One party's shares of a matrix triple, all row by row. Not `Clone`; wiped when dropped.
pub struct MatrixTriple<T: Ring> {
    shape: MatrixShape,
    a: Zeroizing<Vec<T>>,
    b: Zeroizing<Vec<T>>,
    c: Zeroizing<Vec<T>>,
}

impl<T: Ring> std::fmt::Debug for MatrixTriple<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MatrixTriple({:?} of {} bits)", self.shape, T::BITS)
    }
}

impl<T: Ring> MatrixTriple<T> {
    /// From this party's shares.
    ///
    /// # Panics
    /// If a matrix has not the size that `shape` says.
    pub fn new(
        shape: MatrixShape,
        a: Zeroizing<Vec<T>>,
        b: Zeroizing<Vec<T>>,
        c: Zeroizing<Vec<T>>,
    ) -> Self {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = shape;
        assert_eq!(
            [a.len(), b.len(), c.len()],
            [rows * inner, inner * columns, rows * columns],
            "the matrices have the sizes of {shape:?}"
        );
        Self { shape, a, b, c }
    }

    /// The sizes.
    pub fn shape(&self) -> MatrixShape {
        self.shape
    }

    /// Uses the triple: the shares of A, B and C.
    pub fn take(self) -> [Zeroizing<Vec<T>>; 3] {
        [self.a, self.b, self.c]
    }
}

/// What takes no messages: the product is empty, or of nothing.
pub(crate) fn empty<T: Ring>(
    context: &Context,
    shape: MatrixShape,
    count: usize,
) -> Vec<MatrixTriple<T>> {
    let mut prg = context.private_prg();
    let MatrixShape {
        rows,
        inner,
        columns,
    } = shape;
    let mut some = |each: usize| random::<T>(&mut prg, count * each);
    let (a, b) = (some(rows * inner), some(inner * columns));
    let c = Zeroizing::new(vec![T::ZERO; count * rows * columns]);
    apart(shape, count, [a, b, c])
}

/// Matrices that lie one after the other, as triples.
fn apart<T: Ring>(
    shape: MatrixShape,
    count: usize,
    [a, b, c]: [Zeroizing<Vec<T>>; 3],
) -> Vec<MatrixTriple<T>> {
    if count == 1 {
        return vec![MatrixTriple::new(shape, a, b, c)];
    }
    let one = |all: &[T], index: usize| {
        let each = all.len() / count;
        Zeroizing::new(all[index * each..(index + 1) * each].to_vec())
    };
    let triple = |index| {
        let [a, b, c] = [&a, &b, &c].map(|all| one(all, index));
        MatrixTriple::new(shape, a, b, c)
    };
    (0..count).map(triple).collect()
}

/// Makes triples, of products that are not empty.
pub(crate) async fn triples<T: Ring>(
    links: &mut Links,
    context: &Context,
    shape: MatrixShape,
    count: usize,
    made: &dyn Fn(usize),
) -> Result<Vec<MatrixTriple<T>>> {
    let layout = MatrixLayout::new::<T>(shape).times(count);
    let MatrixLayout { p, k, q, .. } = layout;
    let mut prg = context.private_prg();
    let x = random::<T>(&mut prg, count * p * k);
    let y = random::<T>(&mut prg, count * k * q);
    let mut z = own_products(count, &x, &y, [p, k, q]);
    let mut work = Work {
        layout,
        x: &x,
        y: &y,
        z: &mut z,
        strings: std::array::from_fn(|_| Zeroizing::new(vec![0; q * T::BYTES])),
    };
    links.run(&mut work, made).await?;
    let swapped = shape.rows > shape.columns;
    Ok(in_shape(shape, count, [p, k, q], swapped, [x, y, z]))
}

/// Z = X Y of what one party holds.
fn own_products<T: Ring>(
    count: usize,
    x: &[T],
    y: &[T],
    [p, k, q]: [usize; 3],
) -> Zeroizing<Vec<T>> {
    let mut z = Zeroizing::new(vec![T::ZERO; count * p * q]);
    let factors = x.chunks_exact(p * k).zip(y.chunks_exact(k * q));
    for ((x, y), z) in factors.zip(z.chunks_exact_mut(p * q)) {
        rings::multiply_add(x, y, z, k, q);
    }
    z
}

/// The triples of X (p x k), Y (k x q) and Z, which lie one after the other: as they are, or, `swapped`,
/// their transposes the other way round.
fn in_shape<T: Ring>(
    shape: MatrixShape,
    count: usize,
    [p, k, q]: [usize; 3],
    swapped: bool,
    [x, y, z]: [Zeroizing<Vec<T>>; 3],
) -> Vec<MatrixTriple<T>> {
    if !swapped {
        return apart(shape, count, [x, y, z]);
    }
    let parts = x.chunks_exact(p * k).zip(y.chunks_exact(k * q));
    let parts = parts.zip(z.chunks_exact(p * q));
    let triple = |((x, y), z)| {
        let (a, b) = (transpose(y, k, q), transpose(x, p, k));
        MatrixTriple::new(shape, a, b, transpose(z, p, q))
    };
    parts.map(triple).collect()
}

/// One call.
struct Work<'a, T: Ring> {
    layout: MatrixLayout,
    x: &'a [T],
    y: &'a [T],
    z: &'a mut [T],
    /// Up to four stretched masks. Secret.
    strings: [Zeroizing<Vec<u8>>; 4],
}

impl<T: Ring> Call for Work<'_, T> {
    fn layout(&self) -> Box<dyn Layout> {
        Box::new(self.layout)
    }

    /// Our choices are the bits of X.
    fn ask(&mut self, _: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError> {
        let bits = self.layout.bits;
        let x = &self.x[items.clone()];
        ots.blocks(
            |ots, out| pack(&x[ots.start / bits..ots.end / bits], bits, out),
            |ots, masks, stretch| {
                for (index, masks) in masks.chunks_exact(bits).enumerate() {
                    let (_, z) = self.layout.place(items.start + ots.start / bits + index);
                    let stretch =
                        |bit, out: &mut [u8]| stretch.stretch(index * bits + bit, masks[bit], out);
                    fold(self.layout, stretch, &mut self.strings[0], &mut self.z[z]);
                }
            },
        )
    }

    fn answer(
        &mut self,
        _: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError> {
        let layout = self.layout;
        let mut out = corrections.chunks_exact_mut(layout.entry_bytes());
        ots.blocks(|ots, k0, k1, stretch| {
            for (index, out) in (0..ots.len() / layout.bits).zip(&mut out) {
                let entry = items.start + ots.start / layout.bits + index;
                let stretch = |which: usize, bit, out: &mut [u8]| {
                    let place = index * layout.bits + bit;
                    stretch.stretch(place, [k0, k1][which][place], out);
                };
                self.offer(entry, stretch, out);
            }
        })
    }

    fn correct(
        &mut self,
        _: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str> {
        let layout = self.layout;
        let MatrixLayout { q, bits, .. } = layout;
        let each = corrections.chunks_exact(layout.entry_bytes());
        for (entry, corrections) in items.clone().zip(each) {
            let (_, z) = layout.place(entry);
            let (x, z) = (self.x[entry], &mut self.z[z]);
            for (bit, unit) in corrections.chunks(q * T::BYTES).enumerate() {
                if bit == 0 {
                    correct_first(x, unit, z);
                } else if bit < bits / 2 {
                    rings::correct_strings(x, bit, unit, z);
                } else if has_clear_end::<T>(q, unit) {
                    correct_half(x, unit, z);
                } else {
                    return Err("its padding is not zero");
                }
            }
        }
        Ok(())
    }

    /// Products of elements.
    fn made(&self, items: &Range<usize>) -> usize {
        items.len() * self.layout.q
    }
}

/// The receiver's shares of the products of one entry, but for corrections: its masks, stretched.
fn fold<T: Ring>(
    layout: MatrixLayout,
    mut stretch: impl FnMut(usize, &mut [u8]),
    string: &mut [u8],
    z: &mut [T],
) {
    let (bits, words) = (layout.bits, layout.words_of_half());
    for bit in 0..bits {
        let string = &mut string[..layout.mask_words(bit) * T::BYTES];
        stretch(bit, string);
        if bit < bits / 2 {
            rings::add_shifted(z, string, 0, bit);
        } else {
            rings::add_shifted(&mut z[..words], string, 0, bit);
            rings::add_shifted(&mut z[words..], string, bits / 2, bit);
        }
    }
}

impl<T: Ring> Work<'_, T> {
    /// Writes the corrections for one entry, in the units of [`crate::gilboa`], each for all q
    /// products; in the last one, product j shares a word with product j + ceil(q / 2). `stretch` makes
    /// one of the two masks of a bit.
    fn offer(
        &mut self,
        entry: usize,
        mut stretch: impl FnMut(usize, usize, &mut [u8]),
        out: &mut [u8],
    ) {
        let layout = self.layout;
        let MatrixLayout { q, bits, .. } = layout;
        let (y, z) = layout.place(entry);
        let (y, z) = (&self.y[y], &mut self.z[z]);
        let full = q * T::BYTES;
        let half = layout.words_of_half() * T::BYTES;
        let [h0, h1, g0, g1] = self.strings.each_mut().map(|string| &mut string[..]);
        let (g0, g1) = (&mut g0[..half], &mut g1[..half]);
        let mut units = out.chunks_mut(full);
        let mut unit = || units.next().unwrap_or_default();

        stretch(0, 0, h0);
        stretch(1, 0, h1);
        offer_first(y, z, [h0, h1], unit());
        for bit in 1..bits / 2 {
            stretch(0, bit, h0);
            stretch(1, bit, h1);
            stretch(0, bits - bit, g0);
            stretch(1, bits - bit, g1);
            let unit = unit();
            let masks = |range: Range<usize>, far_down| Masks {
                near: [&h0[range.clone()], &h1[range]],
                far: [g0, g1],
                far_down,
            };
            let words = layout.words_of_half();
            let (y, z) = (y.split_at(words), z.split_at_mut(words));
            let (first, second) = unit.split_at_mut(half);
            rings::offer_strings(y.0, z.0, masks(0..half, 0), bit, first);
            rings::offer_strings(y.1, z.1, masks(half..full, bits / 2), bit, second);
        }
        stretch(0, bits / 2, g0);
        stretch(1, bits / 2, g1);
        offer_half(y, z, [g0, g1], unit());
    }
}
