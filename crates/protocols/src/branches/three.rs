//! Masks of three parties from seeds (Masked Triples 6.2, which leaves the protocol open).
//!
//! For a shared bit u each party gets two seeds, so that the XOR of all six expansions is random if u is 1, else 0,
//! and so that no two parties learn u:
//!
//! | | P_0 | P_1 | P_2 |
//! |---|---|---|---|
//! | u = 0 | X, Y | one of X and Y, S | the other one, S |
//! | u = 1 | X, Y | one of X and Y, S | the same one, fresh |
//!
//! P_0 draws X and Y; D is their XOR. With random shared bits s, p, q, P_1 is given B = X ^ s D and a random shared
//! S, exchanged if p is 1; P_2 is given C = X ^ D ^ s D ^ u D and S ^ u F with random shared F, exchanged if q is 1.
//! The products are vector-scalar products by vector triples, whose bits are s, p and q, and whose vector is F.
//!
//! **Why that is secure.** Opened are a sum of u and a triple's bit, and vectors under triples' vectors: uniform
//! strings. Two parties are given, in both cases, four uniform seeds of which one of the first's is
//! one of the second's: which one of each it is, is uniform, because each pair's exchange depends on a
//! share of the third party's that is uniform and used nowhere else (between P_0 and P_1, and P_0 and P_2, s and p, or s and
//! q; between P_1 and P_2, p and q). If u is 1, of the six expansions two are of one seed, and of the other four
//! at least one is of a seed that the two parties have not: S, the fresh one, or that of X and Y which neither
//! P_1 nor P_2 has. So the sum is random to them, AES-128 in counter mode being a PRG.

use madrigal_core::{Party, bits};
use madrigal_correlations::{Needs, Stock};
use madrigal_kernels as kernels;
use madrigal_net::Result;

use super::channels::{Bits, Branches, SEED, packed};

/// Bytes of a seed.
const BYTES: usize = SEED / 8;
/// Bits that are opened for an item beside hot bits, in the first round.
pub(super) const FIRST: usize = 1 + 2 * SEED;
/// Bits that are opened for an item in the second round; and to P_1, and to P_2.
pub(super) const SECOND: usize = 2 * SEED;
/// Number of masks from which on this is less than vectors as long as the masks.
pub(super) const WORTHWHILE: usize = 4096;

/// Correlations for `items` items.
pub(super) fn needs(items: usize, needs: &mut Needs) {
    needs.vector_triples(2 * SEED, items);
    needs.vector_triples(SEED, 3 * items);
}

/// AES blocks that `me` computes for drawing seeds.
pub(super) fn drawn_blocks(me: Party, items: usize) -> usize {
    let drawn = if me.index() == 0 { 3 } else { 1 };
    drawn * items
}

/// A vector triple's strings.
struct Triple {
    a: Bits,
    b: Bits,
    c: Bits,
}

fn taken(stock: &mut Stock, length: usize, items: usize) -> Result<Triple> {
    let mut triples = stock.vector_triples(length, items)?;
    let shares = triples.take(items);
    Ok(Triple {
        a: Bits::new(shares.a.to_vec()),
        b: Bits::new(shares.b.to_vec()),
        c: Bits::new(shares.c.to_vec()),
    })
}

fn sum(x: &[u8], y: &[u8]) -> Bits {
    let mut sum = Bits::new(x.to_vec());
    kernels::xor_into(&mut sum, y);
    sum
}

/// Shares of each item's bit times the vector that was opened under b: c ^ a m.
fn times(triple: &Triple, vectors: usize, opened: &[u8]) -> Bits {
    let mut product = Bits::new(Vec::with_capacity(triple.a.len() * BYTES));
    for (item, a) in triple.a.iter().enumerate() {
        let c = &triple.c[item * vectors * BYTES..][..BYTES];
        let m = &opened[item * BYTES..][..BYTES];
        product.extend(c.iter().zip(m).map(|(c, m)| c ^ (m & a.wrapping_neg())));
    }
    product
}

/// Items on their way: shares of u, 0 or 1 each, and what was drawn.
pub(super) struct Dealing {
    u: Vec<u8>,
    /// P_0's seeds.
    xy: [Bits; 2],
    s: Bits,
    by_u: Triple,
    by_s: Triple,
    by_p: Triple,
    by_q: Triple,
}

impl Dealing {
    /// Takes correlations and draws seeds; `u` has a share of each item's bit.
    pub(super) fn new(branches: &mut Branches, u: Vec<u8>, stock: &mut Stock) -> Result<Self> {
        let items = u.len();
        let mut draw = |wanted: bool| {
            let mut seeds = Bits::new(vec![0; items * BYTES]);
            if wanted {
                branches.random.fill(&mut seeds);
            }
            seeds
        };
        let s = draw(true);
        let first = branches.context.me().index() == 0;
        let branches_xy = [draw(first), draw(first)];
        Ok(Self {
            u,
            xy: branches_xy,
            s,
            by_u: taken(stock, 2 * SEED, items)?,
            by_s: taken(stock, SEED, items)?,
            by_p: taken(stock, SEED, items)?,
            by_q: taken(stock, SEED, items)?,
        })
    }

    /// Appends what is opened first to a string of bits: [`FIRST`] for each item.
    pub(super) fn mask(&self, string: &mut [u8], mut at: usize) {
        let items = self.u.len();
        let hidden: Vec<u8> = self
            .u
            .iter()
            .zip(self.by_u.a.iter())
            .map(|(u, a)| u ^ a)
            .collect();
        bits::put(string, at, &packed(&hidden), items);
        at += items;
        let d = sum(&self.xy[0], &self.xy[1]);
        let b = self.by_u.b.chunks_exact(2 * BYTES);
        let first: Bits = Bits::new(b.flat_map(|b| b[..BYTES].to_vec()).collect());
        for b in [&first, &self.by_s.b] {
            bits::put(string, at, &sum(&d, b), items * SEED);
            at += items * SEED;
        }
    }

    /// Both seeds of each item, from what was opened.
    pub(super) async fn finish(
        self,
        branches: &mut Branches,
        opened: &[u8],
        mut at: usize,
    ) -> Result<[Bits; 2]> {
        let items = self.u.len();
        let mut next = |count: usize| {
            let mut out = Bits::new(vec![0; bits::bytes_for(count)]);
            bits::take(opened, at, &mut out, count);
            at += count;
            out
        };
        let (difference, by_u, by_s) = (next(items), next(items * SEED), next(items * SEED));
        let d = sum(&self.xy[0], &self.xy[1]);
        let sd = times(&self.by_s, 1, &by_s);
        let (mut ud, mut uf) = (times(&self.by_u, 2, &by_u), Bits::default());
        for item in 0..items {
            let place = item * BYTES..(item + 1) * BYTES;
            let whole = item * 2 * BYTES + BYTES..(item + 1) * 2 * BYTES;
            let mut f = self.by_u.c[whole.clone()].to_vec();
            // Known to all: where u is not the triple's bit.
            if difference[item / 8] >> (item % 8) & 1 == 1 {
                kernels::xor_into(&mut ud[place.clone()], &d[place]);
                kernels::xor_into(&mut f, &self.by_u.b[whole]);
            }
            uf.extend_from_slice(&f);
        }
        let b = sum(&self.xy[0], &sd);
        let c = sum(&sum(&b, &d), &ud);
        let pairs = [[b, self.s.clone()], [c, sum(&self.s, &uf)]];
        // The order within a pair is secret to all.
        let count = items * SEED;
        let mut masked = Bits::new(vec![0; 2 * count / 8]);
        for (place, ([one, other], triple)) in
            pairs.iter().zip([&self.by_p, &self.by_q]).enumerate()
        {
            let both = sum(&sum(one, other), &triple.b);
            bits::put(&mut masked, place * count, &both, count);
        }
        let opened = branches.open(&masked, 2 * count).await?;
        let mut mine = self.xy;
        for (place, ([one, other], triple)) in
            pairs.iter().zip([&self.by_p, &self.by_q]).enumerate()
        {
            let exchange = times(triple, 1, &opened[place * count / 8..][..count / 8]);
            let mut shares = sum(one, &exchange);
            shares.extend_from_slice(&sum(other, &exchange));
            let to = Party::new(1 + place);
            let given = branches.gmw.open(&shares, 2 * count, &[to]).await?;
            if let Some(given) = given {
                let (first, second) = given.split_at(count / 8);
                mine = [first, second].map(|seeds| Bits::new(seeds.to_vec()));
            }
        }
        Ok(mine)
    }
}
