//! ANDs of a layer that have an operand in common, as products of a bit and a vector: a multiplexer's choice bit times
//! all bits that it chooses, a row of a product.
//!
//! A vector triple takes one OT for each ordered pair of parties, however long the vectors are, where as many Boolean triples
//! take one for each bit; and of a product of a bit and n bits n + 1 bits are opened, not 2 n.

use std::collections::BTreeMap;
use std::ops::Range;

use madrigal_circuit::{And, Layered};

/// The fewest ANDs that become a vector. A vector triple takes as long to make as 13 Boolean triples (Zen 5, SoftSpoken with k =
/// 4, docs/BENCHMARKS.md).
const FEWEST: usize = 12;

/// The ANDs of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VectorLayer {
    /// Products of bits and vectors, for each length of triples.
    pub(crate) products: Vec<VectorAnds>,
    /// ANDs that take Boolean triples.
    pub(crate) single: Vec<And>,
}

/// Products that take triples of one length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VectorAnds {
    /// Bits of the vectors of a triple: few lengths are in use, since each is made in a call of its own.
    pub(crate) length: usize,
    /// ANDs of each product, in all of which `a` is the bit: at most `length`, and most in the first product.
    pub(crate) products: Vec<Vec<And>>,
}

impl VectorAnds {
    /// The longest vector.
    pub(crate) fn columns(&self) -> usize {
        self.products.first().map_or(0, Vec::len)
    }

    /// The ANDs at this place of the products that are as long, which are the first ones.
    pub(crate) fn column(&self, place: usize) -> impl Iterator<Item = &And> {
        self.products.iter().map_while(move |ands| ands.get(place))
    }

    /// Number of them.
    pub(crate) fn column_len(&self, place: usize) -> usize {
        self.products.partition_point(|ands| ands.len() > place)
    }

    /// ANDs of all products.
    pub(crate) fn count(&self) -> usize {
        self.products.iter().map(Vec::len).sum()
    }
}

/// Finds the products of all layers; none if there is none in any.
pub(crate) fn layers(layered: &Layered) -> Option<Vec<VectorLayer>> {
    let layers: Vec<VectorLayer> = layered.layers().map(|layer| of(layer.ands)).collect();
    let any = layers.iter().any(|layer| !layer.products.is_empty());
    any.then_some(layers)
}

/// Takes the row that most ANDs have in common, and so on: the first of equal ones.
fn of(ands: &[And]) -> VectorLayer {
    let mut uses: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, and) in ands.iter().enumerate() {
        uses.entry(and.a).or_default().push(place);
        if and.b != and.a {
            uses.entry(and.b).or_default().push(place);
        }
    }
    let mut rows: Vec<(u32, Vec<usize>)> = uses.into_iter().collect();
    rows.retain(|(_, places)| places.len() >= FEWEST);
    rows.sort_by_key(|(_, places)| usize::MAX - places.len());
    let mut taken = vec![false; ands.len()];
    let mut found: BTreeMap<usize, Vec<Vec<And>>> = BTreeMap::new();
    for (row, places) in rows {
        let left: Vec<usize> = places.into_iter().filter(|&place| !taken[place]).collect();
        for (piece, length) in pieces(left.len()) {
            let product = left[piece].iter().map(|&place| {
                taken[place] = true;
                let And { dst, a, b } = ands[place];
                let b = if a == row { b } else { a };
                And { dst, a: row, b }
            });
            found.entry(length).or_default().push(product.collect());
        }
    }
    let single = ands.iter().zip(taken).filter(|(_, taken)| !taken);
    let products = found.into_iter();
    VectorLayer {
        single: single.map(|(and, _)| *and).collect(),
        products: products
            .map(|(length, mut products)| {
                products.sort_by_key(|ands| usize::MAX - ands.len());
                VectorAnds { length, products }
            })
            .collect(),
    }
}

/// Cuts a vector into some for which there are triples, with their lengths: powers of two, of which at most a quarter is left
/// unused. A short rest is left.
fn pieces(len: usize) -> Vec<(Range<usize>, usize)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while len - start >= FEWEST {
        let left = len - start;
        let above = left.next_power_of_two();
        let (count, length) = match 4 * left >= 3 * above {
            true => (left, above),
            false => (above / 2, above / 2),
        };
        pieces.push((start..start + count, length));
        start += count;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_cut_into_few_lengths() {
        let lengths = |len| -> Vec<_> {
            let pieces = pieces(len).into_iter();
            pieces
                .map(|(piece, length)| (piece.len(), length))
                .collect()
        };
        assert_eq!(lengths(11), []);
        assert_eq!(lengths(12), [(12, 16)]);
        assert_eq!(lengths(17), [(16, 16)]);
        assert_eq!(lengths(40), [(32, 32)]);
        assert_eq!(lengths(45), [(32, 32), (13, 16)]);
        assert_eq!(lengths(512), [(512, 512)]);
        assert_eq!(lengths(513), [(512, 512)]);
        for len in 0..2000 {
            let pieces = pieces(len);
            let mut end = 0;
            for (piece, length) in &pieces {
                assert_eq!(piece.start, end, "{len}");
                assert!(piece.len() <= *length && length.is_power_of_two());
                assert!(4 * piece.len() >= 3 * length && piece.len() >= FEWEST);
                end = piece.end;
            }
            assert!(end <= len && len - end < FEWEST);
        }
    }

    /// Each AND is once in a product or alone, and the bit of a product is an operand of all of its ANDs.
    #[test]
    fn every_and_is_there_once() {
        // A product of 16 by 20 bits beside ANDs of rows that nothing else has.
        let grid = (0..16).flat_map(|x| (0..20).map(move |y| (x, 100 + y)));
        let alone = (0..30).map(|i| (200 + i, 300 + i));
        let pairs = grid.chain(alone).enumerate();
        let ands: Vec<And> = pairs
            .map(|(place, (a, b))| match place % 3 {
                0 => (place, b, a),
                _ => (place, a, b),
            })
            .map(|(place, a, b)| And {
                dst: 1000 + place as u32,
                a,
                b,
            })
            .collect();
        let layer = of(&ands);
        let mut all = layer.single.clone();
        for products in &layer.products {
            for product in &products.products {
                assert!(product.iter().all(|and| and.a == product[0].a));
                assert!(product.len() <= products.length);
                all.extend(product);
            }
        }
        let key = |and: &And| (and.dst, and.a.min(and.b), and.a.max(and.b));
        let sorted = |ands: &[And]| {
            let mut keys: Vec<_> = ands.iter().map(key).collect();
            keys.sort_unstable();
            keys
        };
        assert_eq!(sorted(&all), sorted(&ands));
        // Rows in common: 20 ANDs have 16, of which 4 are left each, and these have 4.
        assert_eq!(layer.single.len(), 30);
        let of: Vec<_> = layer.products.iter().map(|of| of.products.len()).collect();
        assert_eq!(of, [20]);
    }
}
