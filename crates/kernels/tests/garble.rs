//! Garbled ANDs: right at every level and for every number of them, alike at all levels, and as the
//! papers have them.

use madrigal_kernels::{ANDS_PER_KEY, Block, Kernels, LabelProgram, Level, Scheme, meter};

use crate::levels::Random;

const SCHEMES: [Scheme; 2] = [Scheme::HalfGates, Scheme::ThreeHalves];

/// A piece with random labels of 0.
struct Piece {
    key: Block,
    number: u64,
    offset: Block,
    coins: Block,
    a: Vec<Block>,
    b: Vec<Block>,
}

impl Piece {
    fn random(random: &mut Random, ands: usize) -> Self {
        let mut offset = random.block();
        offset.0[0] |= 1;
        Self {
            key: random.block(),
            number: random.word() >> (random.word() % 64),
            offset,
            coins: random.block(),
            a: random.blocks(ands),
            b: random.blocks(ands),
        }
    }

    /// The products' labels of 0, and the table.
    fn garble(&self, kernels: Kernels, scheme: Scheme) -> (Vec<Block>, Vec<u8>) {
        let n = self.a.len();
        let (mut c, mut table) = (vec![Block::ONES; n], vec![0xa5; scheme.table_bytes(n)]);
        let (a, b) = (&self.a, &self.b);
        kernels.gate_hash(self.key).garble(
            scheme,
            self.number,
            self.offset,
            &[self.coins],
            &[[a, b]],
            &mut c,
            &mut table,
        );
        (c, table)
    }

    fn evaluate(
        &self,
        kernels: Kernels,
        scheme: Scheme,
        [a, b]: [&[Block]; 2],
        table: &[u8],
    ) -> Vec<Block> {
        let mut c = vec![Block::ONES; a.len()];
        let mut hash = kernels.gate_hash(self.key);
        hash.evaluate(scheme, self.number, &[[a, b]], table, &mut c);
        c
    }

    /// The labels of these bits.
    fn labels(&self, zero: &[Block], bits: &[bool]) -> Vec<Block> {
        let label = |(&zero, &bit): (&Block, &bool)| if bit { zero ^ self.offset } else { zero };
        zero.iter().zip(bits).map(label).collect()
    }
}

fn levels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

#[test]
fn products_are_right_and_alike_at_all_levels() {
    let mut random = Random::new();
    let portable = Kernels::at(Level::Portable).expect("portable is everywhere");
    for scheme in SCHEMES {
        for ands in 0..=ANDS_PER_KEY {
            let piece = Piece::random(&mut random, ands);
            let expected = piece.garble(portable, scheme);
            let bits = |random: &mut Random| -> Vec<bool> {
                (0..ands).map(|_| random.word() & 1 == 1).collect()
            };
            let (x, y) = (bits(&mut random), bits(&mut random));
            let products: Vec<bool> = x.iter().zip(&y).map(|(x, y)| x & y).collect();
            let (a, b) = (piece.labels(&piece.a, &x), piece.labels(&piece.b, &y));
            let wanted = piece.labels(&expected.0, &products);
            for kernels in levels() {
                let name = format!("{scheme:?}, {}, {ands} ANDs", kernels.level());
                assert!(piece.garble(kernels, scheme) == expected, "garbled, {name}");
                let got = piece.evaluate(kernels, scheme, [&a, &b], &expected.1);
                assert!(got == wanted, "evaluated, {name}");
            }
        }
    }
}

/// The hash as it is documented, under a key: AES adds no key before its first round and none in its last.
pub(crate) fn gate_hash(key: Block) -> impl Fn(Block, Block) -> Block {
    let aes = Kernels::detect().aes128(key);
    let last = last_round_key(key);
    move |x, tweak| {
        let sigma = |x: u64| x << 32 | (x >> 32 ^ x & 0xffff_ffff);
        let y = Block::new(sigma(x.lo()), sigma(x.hi())) ^ tweak;
        aes.encrypt(y ^ key) ^ last ^ y
    }
}

/// FIPS 197, section 5.2.
fn last_round_key(key: Block) -> Block {
    let double = |x: u8| (x << 1) ^ ((x >> 7) * 0x1b);
    let times = |x: u8, y: u8| {
        (0..8)
            .rev()
            .fold(0, |sum, i| double(sum) ^ ((y >> i & 1) * x))
    };
    let sub = |x: u8| {
        // x^254, the inverse.
        let inverse = (0..7).fold(1, |y, _| times(times(y, y), x));
        let inverse = times(inverse, inverse);
        [0, 1, 2, 3, 4]
            .iter()
            .fold(0x63, |y, &i| y ^ inverse.rotate_left(i))
    };
    let mut words: [[u8; 4]; 4] = [0, 1, 2, 3].map(|i| {
        let bytes = key.to_bytes();
        [0, 1, 2, 3].map(|k| bytes[4 * i + k])
    });
    let mut constant = 1;
    for _ in 0..10 {
        let [a, b, c, d] = words[3].map(sub);
        let mut add = [b ^ constant, c, d, a];
        for word in &mut words {
            for (x, add) in word.iter_mut().zip(add) {
                *x ^= add;
            }
            add = *word;
        }
        constant = double(constant);
    }
    Block::from_bytes(words.concat().try_into().expect("16 bytes"))
}

/// Figure 2 of Zahur, Rosulek and Evans, a label's colour being the complement of its lowest bit.
#[test]
fn half_gates_by_definition() {
    let mut random = Random::new();
    let piece = Piece::random(&mut random, ANDS_PER_KEY);
    let (c, table) = piece.garble(Kernels::detect(), Scheme::HalfGates);
    let hash = gate_hash(piece.key ^ Block::new(piece.number, 0));
    let times = |bit: bool, x: Block| if bit { x } else { Block::ZERO };
    for i in 0..ANDS_PER_KEY {
        let (a, b, r) = (piece.a[i], piece.b[i], piece.offset);
        let number = (i as u64 + 1) << 32;
        let (first, second) = (Block::new(number, 0), Block::new(0, number));
        let generator = hash(a, first) ^ hash(a ^ r, first) ^ times(!b.bit(0), r);
        let evaluator = hash(b, second) ^ hash(b ^ r, second) ^ a;
        assert_eq!(table[16 * i..][..16], generator.to_bytes(), "T_G of {i}");
        let place = 16 * (ANDS_PER_KEY + i);
        assert_eq!(table[place..][..16], evaluator.to_bytes(), "T_E of {i}");
        let product = hash(a, first)
            ^ times(!a.bit(0), generator)
            ^ hash(b, second)
            ^ times(!b.bit(0), evaluator ^ a);
        assert!(c[i] == product, "label {i}");
    }
}

/// Reads the table of a piece of three halves: the halves of an AND, and its control bits.
fn three_halves_of(table: &[u8], ands: usize, i: usize) -> ([u64; 3], [bool; 5]) {
    let word = |place: usize| u64::from_le_bytes(table[place..][..8].try_into().expect("8 bytes"));
    let halves = [word(16 * i), word(16 * i + 8), word(16 * ands + 8 * i)];
    let controls = &table[24 * ands..];
    let each = ands.div_ceil(8);
    assert_eq!(controls.len(), 5 * each);
    let bit = |k: usize| controls[k * each + i / 8] >> (i % 8) & 1 == 1;
    (halves, [0, 1, 2, 3, 4].map(bit))
}

fn times(bit: bool, x: u64) -> u64 {
    if bit { x } else { 0 }
}

/// The evaluator's equations of three halves as they are documented, from the labels and the table alone.
#[test]
fn three_halves_by_definition() {
    let mut random = Random::new();
    for ands in [1, 5, 8, 63, ANDS_PER_KEY] {
        let piece = Piece::random(&mut random, ands);
        let (zero, table) = piece.garble(Kernels::detect(), Scheme::ThreeHalves);
        let hash = gate_hash(piece.key ^ Block::new(piece.number, 0));
        for n in 0..ands {
            let (g, z) = three_halves_of(&table, ands, n);
            let number = (n as u64 + 1) << 32;
            let (first, second) = (Block::new(number, 0), Block::new(0, number));
            for values in 0..4 {
                let [x, y] = [0, 1].map(|k| values >> k & 1 == 1);
                let labels = |zero: Block, bit| if bit { zero ^ piece.offset } else { zero };
                let (a, b) = (labels(piece.a[n], x), labels(piece.b[n], y));
                let (i, j) = (!a.bit(0), !b.bit(0));
                let same = i == j;
                let (h_a, h_b, h) = (hash(a, first), hash(b, second), hash(a ^ b, first ^ second));
                let p = !(h_a.bit(64 + n) ^ h.bit(64 + n) ^ z[0] ^ (i & z[2]) ^ (same & z[4]));
                let q = !(h_b.bit(n) ^ h.bit(64 + n) ^ z[1] ^ (j & z[3]) ^ (same & z[4]));
                let l = h_a.lo() ^ h.lo() ^ times(i, g[0]) ^ times(same, g[2]);
                let r = h_b.hi() ^ h.lo() ^ times(j, g[1]) ^ times(same, g[2]);
                let l = l ^ times(p ^ q, a.lo()) ^ times(p, a.hi());
                let l = l ^ times(p ^ i, b.lo()) ^ times(q, b.hi());
                let r = r ^ times(p, a.lo()) ^ times(q ^ j, a.hi());
                let r = r ^ times(q, b.lo()) ^ times(p ^ q, b.hi());
                let wanted = labels(zero[n], x & y);
                assert!(Block::new(l, r) == wanted, "AND {n} of {ands}: {x} and {y}");
            }
        }
    }
}

/// `G_2` of three halves, which the hash of the sum of both labels masks.
#[test]
fn the_third_half_by_definition() {
    let mut random = Random::new();
    let piece = Piece::random(&mut random, ANDS_PER_KEY);
    let (_, table) = piece.garble(Kernels::detect(), Scheme::ThreeHalves);
    let hash = gate_hash(piece.key ^ Block::new(piece.number, 0));
    let r = piece.offset;
    for i in 0..ANDS_PER_KEY {
        // The labels of colour 0, and the colours of those of 0.
        let of_colour_0 = |x: Block| if x.bit(0) { x } else { x ^ r };
        let (a, b) = (of_colour_0(piece.a[i]), of_colour_0(piece.b[i]));
        let (by_a, by_b) = (!piece.a[i].bit(0), !piece.b[i].bit(0));
        let [p, q] = [!piece.coins.bit(i) ^ by_a, !piece.coins.bit(64 + i) ^ by_b];
        let number = (i as u64 + 1) << 32;
        let tweak = Block::new(number, number);
        // dh(A^B) ^ b (E_p)_L ^ a (E_q)_R ^ P R_L ^ Q R_R
        let e_p = a.lo() ^ a.hi() ^ b.lo();
        let e_q = a.hi() ^ b.lo() ^ b.hi();
        let wanted = (hash(a ^ b, tweak) ^ hash(a ^ b ^ r, tweak)).lo()
            ^ times(by_b, e_p)
            ^ times(by_a, e_q)
            ^ times(p, r.lo())
            ^ times(q, r.hi());
        let ([_, _, got], _) = three_halves_of(&table, ANDS_PER_KEY, i);
        assert_eq!(got, wanted, "G_2 of {i}");
    }
}

/// Whatever a table of the right length holds makes labels, the same at all levels.
#[test]
fn any_table_is_evaluated_alike() {
    let mut random = Random::new();
    for ands in [1, 3, 7, 8, 31, 63, ANDS_PER_KEY] {
        let piece = Piece::random(&mut random, ands);
        for scheme in SCHEMES {
            let tables = [
                random.bytes(scheme.table_bytes(ands)),
                vec![0xff; scheme.table_bytes(ands)],
            ];
            for table in tables {
                let labels = [&*piece.a, &*piece.b];
                let mut got =
                    levels().map(|kernels| piece.evaluate(kernels, scheme, labels, &table));
                let first = got.next();
                assert!(
                    got.all(|labels| Some(labels) == first),
                    "{scheme:?}, {ands}"
                );
            }
        }
    }
}

/// The values that the evaluator sees of one AND of three halves, p and q as the control bits give them, must not
/// tell the colours of the labels of 0: over the coins each pair comes as often.
#[test]
fn control_bits_are_even() {
    let mut random = Random::new();
    for _ in 0..20 {
        let piece = Piece::random(&mut random, 9);
        let at = random.word() as usize % 9;
        let mut first = None;
        for coins in 0..4 {
            let [p, q] = [0, 1].map(|k| coins >> k & 1 == 1);
            let piece = Piece {
                coins: Block::new(u64::from(p) << at, u64::from(q) << at),
                a: piece.a.clone(),
                b: piece.b.clone(),
                ..piece
            };
            let (_, table) = piece.garble(Kernels::detect(), Scheme::ThreeHalves);
            let z = (0..9)
                .map(|i| three_halves_of(&table, 9, i).1)
                .collect::<Vec<_>>();
            // z_L and z_R alone have the coins, one each.
            let mut wanted = first.get_or_insert_with(|| z.clone()).clone();
            wanted[at][0] ^= p;
            wanted[at][1] ^= q;
            assert_eq!(z, wanted);
        }
    }
}

#[test]
fn numbers_may_come_in_any_order() {
    let mut random = Random::new();
    let piece = Piece::random(&mut random, 5);
    for kernels in levels() {
        for scheme in SCHEMES {
            let mut hash = kernels.gate_hash(piece.key);
            for number in [0, 15, 16, 3, u64::MAX, 17, 1 << 40, 16] {
                let (mut c, mut table) = (vec![Block::ZERO; 5], vec![0; scheme.table_bytes(5)]);
                let (a, b) = (&piece.a, &piece.b);
                hash.garble(
                    scheme,
                    number,
                    piece.offset,
                    &[piece.coins],
                    &[[a, b]],
                    &mut c,
                    &mut table,
                );
                let other = Piece {
                    number,
                    a: a.clone(),
                    b: b.clone(),
                    ..piece
                };
                assert!(
                    (c, table) == other.garble(kernels, scheme),
                    "{scheme:?}, {}, piece {number}",
                    kernels.level()
                );
            }
        }
    }
}

/// Several pieces of all sizes at once are what they are one by one, wherever the windows of keys end.
#[test]
fn several_pieces_at_once() {
    let mut random = Random::new();
    let sizes = [
        3, 64, 0, 16, 64, 64, 1, 33, 0, 64, 8, 17, 64, 63, 12, 5, 64, 40, 2, 64,
    ];
    for kernels in levels() {
        for scheme in SCHEMES {
            for first in [0, 7, 15, 1 << 35, u64::MAX - sizes.len() as u64 + 1] {
                let shared = Piece::random(&mut random, 0);
                let numbers = (0..).map(|i| first + i);
                let alone: Vec<_> = sizes
                    .iter()
                    .zip(numbers)
                    .map(|(&ands, number)| Piece {
                        number,
                        key: shared.key,
                        offset: shared.offset,
                        ..Piece::random(&mut random, ands)
                    })
                    .collect();
                let made: Vec<_> = alone.iter().map(|p| p.garble(kernels, scheme)).collect();
                let labels: Vec<_> = made.iter().flat_map(|(c, _)| c.clone()).collect();
                let tables: Vec<_> = made.iter().flat_map(|(_, table)| table.clone()).collect();
                let coins: Vec<_> = alone.iter().map(|p| p.coins).collect();
                let pieces: Vec<_> = alone.iter().map(|p| [&p.a[..], &p.b[..]]).collect();
                let mut hash = kernels.gate_hash(shared.key);
                let (mut c, mut table) = (labels.clone(), tables.clone());
                c.fill(Block::ONES);
                table.fill(0xa5);
                hash.garble(
                    scheme,
                    first,
                    shared.offset,
                    &coins,
                    &pieces,
                    &mut c,
                    &mut table,
                );
                let name = format!("{scheme:?}, {}, from {first}", kernels.level());
                assert!(c == labels && table == tables, "garbled, {name}");
                c.fill(Block::ONES);
                hash.evaluate(scheme, first, &pieces, &table, &mut c);
                let one_by_one = alone
                    .iter()
                    .zip(&made)
                    .flat_map(|(p, (_, table))| p.evaluate(kernels, scheme, [&p.a, &p.b], table));
                assert!(one_by_one.eq(c), "evaluated, {name}");
            }
        }
    }
}

/// Two ANDs of the same labels, in one piece or two, have nothing in common.
#[test]
fn no_tweak_comes_twice() {
    let mut random = Random::new();
    let mut piece = Piece::random(&mut random, ANDS_PER_KEY);
    piece.a = vec![piece.a[0]; ANDS_PER_KEY];
    piece.b = piece.a.clone();
    for scheme in SCHEMES {
        let (mut labels, mut table) = piece.garble(Kernels::detect(), scheme);
        piece.number ^= 1;
        let (more, others) = piece.garble(Kernels::detect(), scheme);
        labels.extend(more);
        table.extend(others);
        let mut words: Vec<_> = labels.iter().map(|label| u128::from(*label)).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 2 * ANDS_PER_KEY, "{scheme:?}: labels");
        let half = table.len() / 2;
        let blocks = [
            &table[..16 * ANDS_PER_KEY],
            &table[half..][..16 * ANDS_PER_KEY],
        ]
        .concat();
        let mut blocks: Vec<&[u8]> = blocks.chunks(8).collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), 4 * ANDS_PER_KEY, "{scheme:?}: tables");
    }
}

#[test]
fn hashes_are_counted() {
    let piece = Piece::random(&mut Random::new(), 7);
    for (scheme, garbled, evaluated) in [(Scheme::HalfGates, 28, 14), (Scheme::ThreeHalves, 42, 21)]
    {
        let (made, blocks) = meter::metered(|| piece.garble(Kernels::detect(), scheme));
        assert_eq!(blocks, garbled);
        let labels = [&*piece.a, &*piece.b];
        let evaluate = || piece.evaluate(Kernels::detect(), scheme, labels, &made.1);
        assert_eq!(meter::metered(evaluate).1, evaluated);
    }
}

#[test]
#[should_panic(expected = "a table of 64 bytes, not 63")]
fn a_short_table_is_refused() {
    let piece = Piece::random(&mut Random::new(), 2);
    let labels = [&*piece.a, &*piece.b];
    piece.evaluate(Kernels::detect(), Scheme::HalfGates, labels, &[0; 63]);
}

#[test]
fn label_rows_are_alike_at_all_levels() {
    let mut random = Random::new();
    for lanes in [1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 32, 33, 64] {
        let flip = random.block();
        let mut arena = random.blocks(6 * lanes);
        arena.extend(vec![Block::ZERO; lanes]);
        arena.extend(vec![flip; lanes]);
        let [zeros, not] = [6, 7];
        let ops = [
            [0, 1, 2, zeros],
            [3, 3, 0, zeros],
            [4, 3, not, zeros],
            [5, 0, 5, 1],
            [1, 1, not, zeros],
            [2, zeros, not, zeros],
        ];
        let mut expected = arena.clone();
        for lane in 0..lanes {
            let [x1, x2, x3, x5] = [1, 2, 3, 5].map(|row| arena[row * lanes + lane]);
            let sum = x1 ^ x2;
            let rows = [
                sum,
                x1 ^ flip,
                flip,
                x3 ^ sum,
                x3 ^ sum ^ flip,
                sum ^ x5 ^ x1,
            ];
            for (row, label) in rows.into_iter().enumerate() {
                expected[row * lanes + lane] = label;
            }
        }
        for kernels in levels() {
            let mut got = arena.clone();
            let program = LabelProgram::new(6, ops);
            kernels.label_rows(&mut got, lanes, program.range(0..2));
            kernels.label_rows(&mut got, lanes, program.range(2..6));
            assert!(got == expected, "{}, {lanes} lanes", kernels.level());
        }
    }
}

#[test]
#[should_panic(expected = "row 6 of an arena of 6")]
fn rows_beyond_the_arena_are_refused() {
    let _ = LabelProgram::new(6, [[6, 0, 7, 6]]);
}

#[test]
#[should_panic(expected = "6 rows and two more of 3 labels are not the arena's 18 blocks")]
fn short_arenas_are_refused() {
    let program = LabelProgram::new(6, [[5, 0, 7, 6]]);
    Kernels::detect().label_rows(&mut [Block::ZERO; 18], 3, program.range(0..1));
}
