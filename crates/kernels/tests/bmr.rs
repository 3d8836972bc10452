//! ANDs garbled by N parties: right at every level and for every number of them, alike at all levels, and as
//! the module's documentation has them.

use madrigal_kernels::{
    ANDS_PER_KEY, Block, Kernels, Level, OwnColumn, SummedColumn, column_bytes, meter,
};

use crate::garble::gate_hash;
use crate::levels::Random;

const PARTIES: [usize; 3] = [2, 3, 5];

fn levels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

fn even(random: &mut Random, n: usize) -> Vec<Block> {
    let mut blocks = random.blocks(n);
    blocks.iter_mut().for_each(|block| block.0[0] &= !1);
    blocks
}

fn times(bit: u64, x: Block) -> Block {
    if bit & 1 == 1 { x } else { Block::ZERO }
}

/// Share of a piece that one party has.
struct Party {
    offset: Block,
    /// Keys of 0 of both operands and of the results.
    a: Vec<Block>,
    b: Vec<Block>,
    c: Vec<Block>,
    /// Shares, for each column, of the products of the column's offset with the three coefficients.
    rows: Vec<[Vec<Block>; 3]>,
    /// Bits that its own column's rows lack.
    bits: [u64; 3],
}

/// A piece, with random keys and masks: bit i of each word is AND i's.
struct Piece {
    key: Block,
    number: u64,
    ands: usize,
    masks: [u64; 3],
    parties: Vec<Party>,
}

impl Piece {
    fn random(random: &mut Random, parties: usize, ands: usize) -> Self {
        let masks = [(); 3].map(|()| random.word());
        let [by_a, by_b, by_c] = masks;
        let coefficients = [by_a & by_b ^ by_c, by_b, by_a];
        let mut all: Vec<Party> = (0..parties)
            .map(|_| Party {
                offset: random.block() ^ Block::ZERO,
                a: even(random, ands),
                b: even(random, ands),
                c: even(random, ands),
                rows: (0..parties)
                    .map(|_| [(); 3].map(|()| random.blocks(ands)))
                    .collect(),
                bits: [(); 3].map(|()| random.word()),
            })
            .collect();
        for party in &mut all {
            party.offset.0[0] |= 1;
        }
        // The last party's rows make each column add up.
        for column in 0..parties {
            let (offset, bits) = (all[column].offset, all[column].bits);
            for k in 0..3 {
                for i in 0..ands {
                    let product = times((coefficients[k] ^ bits[k]) >> i, offset);
                    let sum = all[..parties - 1].iter();
                    let sum = sum.fold(product, |sum, party| sum ^ party.rows[column][k][i]);
                    all[parties - 1].rows[column][k][i] = sum;
                }
            }
        }
        Self {
            key: random.block(),
            number: random.word() >> (random.word() % 64),
            ands,
            masks,
            parties: all,
        }
    }

    /// One party's shares of all columns.
    fn garble(&self, kernels: Kernels, me: usize) -> Vec<Vec<u8>> {
        let party = &self.parties[me];
        let mut hash = kernels.gate_hash(self.key);
        (0..self.parties.len())
            .map(|column| {
                let mut table = vec![0xa5; column_bytes(self.ands)];
                let own = OwnColumn {
                    zero: &party.c,
                    bits: party.bits,
                };
                hash.garble_column(
                    self.number,
                    (me, column),
                    party.offset,
                    [&party.a, &party.b],
                    party.rows[column].each_ref().map(|row| &row[..]),
                    (column == me).then_some(own),
                    &mut table,
                );
                table
            })
            .collect()
    }

    /// Everyone's active keys for these colours.
    fn active(&self, zero: impl Fn(&Party) -> &Vec<Block>, colours: u64) -> Vec<Vec<Block>> {
        let keys = self.parties.iter().map(|party| {
            let keys = zero(party).iter().enumerate();
            keys.map(|(i, &key)| key ^ times(colours >> i, party.offset))
                .collect()
        });
        keys.collect()
    }

    fn evaluate(
        &self,
        kernels: Kernels,
        column: usize,
        [a, b]: [&[Vec<Block>]; 2],
        table: &[u8],
    ) -> Vec<Block> {
        // Keys of all parties in one string, with something between.
        let stride = self.ands + 3;
        let together = |all: &[Vec<Block>]| -> Vec<Block> {
            let padded = all.iter().flat_map(|keys| [&keys[..], &[Block::ONES; 3]]);
            padded.flatten().copied().collect()
        };
        let (a, b) = (together(a), together(b));
        let mut c = vec![Block::ONES; self.ands];
        let mut hash = kernels.gate_hash(self.key);
        let place = (self.parties.len(), column);
        // Some of the ANDs, then the others.
        let cut = self.ands / 3;
        let (first, rest) = c.split_at_mut(cut);
        for (at, c) in [(0, first), (cut, rest)] {
            let operands = [&a[at..], &b[at..]];
            let column = SummedColumn {
                table,
                first: at,
                ahead: &[7; 100],
            };
            hash.evaluate_column(self.number, place, operands, stride, column, c);
        }
        c
    }
}

#[test]
fn keys_are_right_and_alike_at_all_levels() {
    let mut random = Random::new();
    let portable = Kernels::at(Level::Portable).expect("portable is everywhere");
    for parties in PARTIES {
        for ands in (0..=ANDS_PER_KEY).filter(|ands| parties == 2 || ands % 7 < 2) {
            let piece = Piece::random(&mut random, parties, ands);
            let expected: Vec<_> = (0..parties).map(|me| piece.garble(portable, me)).collect();
            let mut tables = expected[0].clone();
            for share in &expected[1..] {
                for (table, share) in tables.iter_mut().zip(share) {
                    table.iter_mut().zip(share).for_each(|(a, b)| *a ^= b);
                }
            }
            let [alpha, beta] = [random.word(), random.word()];
            let [a, b, c] = piece.masks;
            let colours = (a ^ alpha) & (b ^ beta) ^ c;
            let operands = [
                piece.active(|party| &party.a, alpha),
                piece.active(|party| &party.b, beta),
            ];
            let wanted = piece.active(|party| &party.c, colours);
            for kernels in levels() {
                let name = format!("{}, {parties} parties, {ands} ANDs", kernels.level());
                for (me, expected) in expected.iter().enumerate() {
                    assert!(piece.garble(kernels, me) == *expected, "garbled, {name}");
                }
                for column in 0..parties {
                    let operands = operands.each_ref().map(|keys| &keys[..]);
                    let got = piece.evaluate(kernels, column, operands, &tables[column]);
                    assert!(got == wanted[column], "evaluated, {name}");
                    // The column's owner makes the key from what it drew, and the others' colour.
                    let party = &piece.parties[column];
                    let mut own = party.c.clone();
                    own.iter_mut().for_each(|key| key.0[0] |= random.word() & 1);
                    let other = &wanted[(column + 1) % parties];
                    kernels.active_keys(party.offset, other, &mut own);
                    assert!(own == wanted[column], "own keys, {name}");
                }
            }
        }
    }
}

/// Each coefficient, from the hash as it is documented.
#[test]
fn shares_by_definition() {
    let mut random = Random::new();
    let piece = Piece::random(&mut random, 3, ANDS_PER_KEY);
    let hash = gate_hash(piece.key ^ Block::new(piece.number, 0));
    for (me, party) in piece.parties.iter().enumerate() {
        let shares = piece.garble(Kernels::detect(), me);
        for (column, share) in shares.iter().enumerate() {
            for i in 0..ANDS_PER_KEY {
                let number = (i as u64 + 1) << 32;
                let f = |key: Block, lo: u64, hi: u64| {
                    let upper = [column, me].map(|number| (number as u64) << 48);
                    hash(key, Block::new(lo | upper[0], hi | upper[1]))
                };
                let (a, b, offset) = (party.a[i], party.b[i], party.offset);
                let (a, b) = ([a, a ^ offset], [b, b ^ offset]);
                let [a0, a1] = a.map(|key| f(key, number, 0));
                let [b0, b1] = b.map(|key| f(key, 0, number));
                let own = |k: usize| times(party.bits[k] >> i, party.offset);
                let row = |k: usize| party.rows[column][k][i];
                let mine = |x: Block| times(u64::from(column == me), x);
                let wanted = [
                    a0 ^ b0 ^ row(0) ^ mine(own(0) ^ party.c[i]),
                    a0 ^ a1 ^ row(1) ^ mine(own(1)),
                    b0 ^ b1 ^ row(2) ^ mine(own(2) ^ a[0]),
                ];
                for (k, wanted) in wanted.iter().enumerate() {
                    let got = &share[16 * (k * ANDS_PER_KEY + i)..][..16];
                    assert_eq!(got, wanted.to_bytes(), "coefficient {k} of AND {i}");
                }
            }
        }
    }
}

#[test]
fn colours_are_cleared() {
    let mut random = Random::new();
    for n in 0..20 {
        let before = random.blocks(n);
        for kernels in levels() {
            let mut keys = before.clone();
            kernels.clear_colours(&mut keys);
            for (key, before) in keys.iter().zip(&before) {
                assert!(*key == Block::new(before.lo() & !1, before.hi()));
            }
        }
    }
}

#[test]
fn every_hash_is_counted() {
    let mut random = Random::new();
    let piece = Piece::random(&mut random, 3, 41);
    for kernels in levels() {
        let (_, blocks) = meter::metered(|| piece.garble(kernels, 1));
        assert_eq!(blocks, 4 * 3 * 41);
        let keys: Vec<_> = piece.parties.iter().map(|party| party.a.clone()).collect();
        let table = vec![0; column_bytes(41)];
        let (_, blocks) = meter::metered(|| piece.evaluate(kernels, 2, [&keys, &keys], &table));
        assert_eq!(blocks, 2 * 3 * 41);
    }
}
