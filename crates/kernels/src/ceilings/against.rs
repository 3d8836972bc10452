//! Each kernel's rate beside what the level's AES, multiplications, loads and stores allow: a kernel
//! that lags at a level, on whatever machine, is seen there.

use std::hint::black_box;

use super::{Ceiling, Unit, slice};
use crate::dispatch::dispatch;
use crate::sizes::{LOCALITY, REGISTER_BLOCKS};
use crate::{ANDS_PER_KEY, Aes128, Block, Kernels, LocalOp, Ntt, RowShape, Scheme, column_bytes};

/// Blocks of the buffers: with what belongs to them they stay in the second-level cache.
const BLOCKS: usize = 1024;
/// A prime as `madrigal-lattice` has them, and its degree.
const PRIME: u64 = 1_125_899_904_679_937;
const DEGREE: usize = 8192;
/// Slices of time for each kernel, and as many for what bounds it.
const TURNS: usize = 12;
/// Times that the blocks in registers are encrypted in one call.
const AES_TIMES: usize = 32;
/// Rows and columns of the matrices.
const SIDE: usize = 128;
/// The table of silent OT's code: 4 MiB, more than the second-level cache of most machines.
const TABLE: usize = 1 << 18;

/// One kernel's rate, and what the level allows.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Against {
    /// Kernel that was measured.
    pub kernel: Ceiling,
    /// The rate at which the units would pass if what [`Against::bound`] names were all the work.
    pub allowed: f64,
    /// Bound of the kernel's rate.
    pub bound: Bound,
}

/// Bounds that the rate of a kernel is held against; each is measured beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// AES-128 under a fixed key of blocks in registers.
    Aes,
    /// Products of words of 64 bits, in registers.
    Products,
    /// Products with a known factor mod a prime below 2^50, in place.
    Scalings,
    /// Bytes of rows XORed into others: two loads and a store each.
    Xors,
    /// Reads of 16 bytes from places of a table that nothing foretells, several under way.
    Reads,
}

impl Bound {
    /// Name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes => "AES",
            Self::Products => "products of 64 bits",
            Self::Scalings => "products mod p",
            Self::Xors => "XORs of rows",
            Self::Reads => "reads from memory",
        }
    }
}

/// Measures the kernels whose names contain `only`, on one thread at the level of `kernels`: all in about
/// a second. Kernel and bound take turns, as a processor that others use changes its speed.
#[must_use]
pub fn measure_kernels(kernels: Kernels, only: &str) -> Vec<Against> {
    let mut bounds = Bounds::new(kernels);
    let mut all = Vec::new();
    let mut add = |name: &'static str,
                   Yardstick { unit, bound, each }: Yardstick,
                   per_call: usize,
                   call: &mut dyn FnMut()| {
        if !name.contains(only) {
            return;
        }
        let (mut rate, mut allowed) = (0_f64, 0_f64);
        for _ in 0..TURNS {
            rate = rate.max(slice(per_call, call));
            allowed = allowed.max(bounds.slice(bound) / each);
        }
        all.push(Against {
            kernel: Ceiling { name, rate, unit },
            allowed,
            bound,
        });
    };
    hashes(kernels, &mut add);
    folds(kernels, &mut add);
    garbling(kernels, &mut add);
    rows(kernels, &mut add);
    rings(kernels, &mut add);
    transforms(kernels, &mut add);
    gather(kernels, &mut add);
    all
}

/// Units of a kernel, and what bounds their rate.
#[derive(Clone, Copy)]
struct Yardstick {
    unit: Unit,
    bound: Bound,
    /// Amount of the bound's work that one unit is.
    each: f64,
}

const fn yardstick(unit: Unit, bound: Bound, each: f64) -> Yardstick {
    Yardstick { unit, bound, each }
}

const STREAM: Yardstick = yardstick(Unit::Blocks, Bound::Aes, 1.0);
const HASHES: Yardstick = yardstick(Unit::Hashes, Bound::Aes, 1.0);
const ONE_XOR: Yardstick = yardstick(Unit::Bytes, Bound::Xors, 1.0);
const TWO_XORS: Yardstick = yardstick(Unit::Bytes, Bound::Xors, 2.0);
const ONE_PRODUCT: Yardstick = yardstick(Unit::Products, Bound::Products, 1.0);
const TWO_PRODUCTS: Yardstick = yardstick(Unit::Products, Bound::Products, 2.0);
const ONE_SCALING: Yardstick = yardstick(Unit::Products, Bound::Scalings, 1.0);
const TWO_SCALINGS: Yardstick = yardstick(Unit::Products, Bound::Scalings, 2.0);

/// Takes a name, the yardstick, the units of one call, and the call.
type Add<'a> = &'a mut dyn FnMut(&'static str, Yardstick, usize, &mut dyn FnMut());

const KEY: Block = Block::new(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);

/// Data that the bounds are measured on.
struct Bounds {
    kernels: Kernels,
    aes: Aes128,
    rows: [Vec<u8>; 2],
    ntt: Ntt,
    values: Vec<u64>,
    table: Vec<Block>,
}

impl Bounds {
    fn new(kernels: Kernels) -> Self {
        Self {
            kernels,
            aes: kernels.aes128(KEY),
            rows: [vec![1; 4096], vec![2; 4096]],
            ntt: kernels.ntt(PRIME, DEGREE / 8),
            values: vec![3; DEGREE / 8],
            table: vec![Block::ONES; TABLE],
        }
    }

    /// Measures a bound for one slice of time.
    fn slice(&mut self, bound: Bound) -> f64 {
        let kernels = self.kernels;
        match bound {
            Bound::Aes => {
                let keys = self.aes.keys_for(0);
                slice(AES_TIMES * REGISTER_BLOCKS, &mut || {
                    black_box(dispatch!(
                        kernels,
                        aes_registers(keys, black_box(AES_TIMES))
                    ));
                })
            }
            Bound::Products => slice(256 * 32, &mut || {
                black_box(dispatch!(kernels, multiply_registers(black_box(3), 256)));
            }),
            Bound::Scalings => slice(self.values.len(), &mut || {
                self.ntt.scale(black_box(&mut self.values), 12345);
            }),
            Bound::Xors => slice(4096, &mut || {
                let [row, other] = &mut self.rows;
                kernels.xor_into(black_box(row), black_box(other));
            }),
            Bound::Reads => slice(BLOCKS, &mut || {
                let mut place = black_box(1_u32);
                let mut sum = Block::ZERO;
                for _ in 0..BLOCKS {
                    place = place.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    sum ^= self.table[place as usize >> 14];
                }
                black_box(sum);
            }),
        }
    }
}

fn hashes(kernels: Kernels, add: Add<'_>) {
    let hash = kernels.row_hash(KEY);
    let x = vec![Block::ONES; BLOCKS];
    let (mut k0, mut k1) = (vec![Block::ZERO; BLOCKS], vec![Block::ZERO; BLOCKS]);
    let mut bits = vec![0_u8; BLOCKS / 8];
    let mut bytes = vec![0_u8; 16 * BLOCKS];
    let mut prg = kernels.prg(KEY);
    add("stream of a generator", STREAM, BLOCKS, &mut || {
        prg.fill(black_box(&mut bytes))
    });
    add("hash of rows", HASHES, BLOCKS, &mut || {
        hash.hash_blocks(0, black_box(&x), black_box(&mut k0))
    });
    add("both hashes of rows", HASHES, 2 * BLOCKS, &mut || {
        hash.hash_pairs(
            0,
            KEY,
            black_box(&x),
            black_box(&mut k0),
            black_box(&mut k1),
        );
    });
    add("hash of rows, one bit", HASHES, BLOCKS, &mut || {
        hash.hash_bits(0, KEY, black_box(&x), black_box(&mut bits))
    });
    let mut stretch = kernels.stretch(KEY, 0);
    add("seeds stretched", STREAM, BLOCKS, &mut || {
        stretch.stretch(0, KEY, black_box(&mut bytes))
    });
}

fn folds(kernels: Kernels, add: Add<'_>) {
    const BYTES: usize = 4096;
    let added = vec![1_u8; BYTES];
    let mut total = vec![0_u8; BYTES];
    // The stride is no multiple of 4096, as in use, which would put all columns into the same cache lines.
    const STRIDE: usize = BYTES + 192;
    let mut columns = vec![0_u8; 8 * STRIDE];
    let names = [
        (1, "streams folded, k = 1"),
        (2, "streams folded, k = 2"),
        (4, "streams folded, k = 4"),
        (8, "streams folded, k = 8"),
    ];
    for (width, name) in names {
        let seeds: Vec<Block> = (0..1 << width).map(|i| Block::new(i, 1)).collect();
        let mut leaves = kernels.leaves(&seeds, 0);
        let blocks = (BYTES / 16) << width;
        add(name, STREAM, blocks, &mut || {
            leaves.fold(
                black_box(&mut columns),
                STRIDE,
                black_box(&added),
                black_box(&mut total),
            );
        });
    }
    // With the rows that come of them in the second-level cache.
    const LONG: usize = 1024;
    let columns = vec![5_u8; 128 * (LONG + 64)];
    let mut blocks = vec![Block::ZERO; 8 * LONG];
    // A bit matrix is read and written once.
    add(
        "transposition of 128 columns",
        ONE_XOR,
        128 * LONG,
        &mut || kernels.transpose_128(black_box(&columns), LONG + 64, black_box(&mut blocks)),
    );
}

/// A value that lies in cache lines of its own.
#[repr(align(64))]
struct InLines<T>(T);

fn garbling(kernels: Kernels, add: Add<'_>) {
    // Labels begin at the start of cache lines, as circuits have them.
    let (a, b) = (
        InLines([Block::ONES; ANDS_PER_KEY]),
        InLines([KEY; ANDS_PER_KEY]),
    );
    let (a, b) = (&a.0, &b.0);
    // Pieces in one call, as many as circuits are garbled by.
    const PIECES: usize = 8;
    const ANDS: usize = PIECES * ANDS_PER_KEY;
    let pieces = [[&a[..], &b[..]]; PIECES];
    let (mut c, coins) = (InLines([Block::ZERO; ANDS]), [KEY; PIECES]);
    let names = [
        (
            Scheme::HalfGates,
            "garbling, half-gates",
            "evaluation, half-gates",
        ),
        (
            Scheme::ThreeHalves,
            "garbling, three halves",
            "evaluation, three halves",
        ),
    ];
    for (scheme, garbling, evaluation) in names {
        let mut table = vec![0_u8; PIECES * scheme.table_bytes(ANDS_PER_KEY)];
        let (mut hash, mut number) = (kernels.gate_hash(KEY), 0);
        let each = scheme.garble_aes() as f64;
        let mut garble = || {
            let (c, table) = (black_box(&mut c.0), black_box(&mut table));
            hash.garble(scheme, number, Block::ONES, &coins, &pieces, c, table);
            number += PIECES as u64;
        };
        add(
            garbling,
            yardstick(Unit::Gates, Bound::Aes, each),
            ANDS,
            &mut garble,
        );
        let (mut hash, mut number) = (kernels.gate_hash(KEY), 0);
        let each = scheme.evaluate_aes() as f64;
        let mut evaluate = || {
            let c = black_box(&mut c.0);
            hash.evaluate(scheme, number, &pieces, black_box(&table), c);
            number += PIECES as u64;
        };
        add(
            evaluation,
            yardstick(Unit::Gates, Bound::Aes, each),
            ANDS,
            &mut evaluate,
        );
    }
    let (mut hash, mut number) = (kernels.gate_hash(KEY), 0);
    let mut column = vec![0_u8; column_bytes(ANDS_PER_KEY)];
    let mut garble = || {
        let table = black_box(&mut column);
        hash.garble_column(number, (0, 1), KEY, [a, b], [a, b, a], None, table);
        number += 1;
    };
    add(
        "garbling, a column of BMR",
        yardstick(Unit::Gates, Bound::Aes, 4.0),
        ANDS_PER_KEY,
        &mut garble,
    );
    let trees = kernels.ggm_trees(KEY);
    let mut nodes = vec![KEY; BLOCKS];
    add(
        "level of GGM trees",
        yardstick(Unit::Blocks, Bound::Aes, 0.5),
        BLOCKS,
        &mut || {
            black_box(trees.expand(black_box(&mut nodes)));
        },
    );
}

fn rows(kernels: Kernels, add: Add<'_>) {
    const BYTES: usize = 2048;
    let r = [
        vec![1_u8; BYTES],
        vec![2; BYTES],
        vec![3; BYTES],
        vec![4; BYTES],
        vec![5; BYTES],
    ];
    let mut z = vec![0_u8; BYTES];
    // Three of the six passes of a row are those of an XOR.
    add(
        "products of bits from triples",
        TWO_XORS,
        BYTES,
        &mut || kernels.beaver_bits(black_box(&mut z), &r[0], &r[1], &r[2], &r[3], &r[4], true),
    );
    add("replicated products of bits", TWO_XORS, BYTES, &mut || {
        kernels.replicated_and([&r[0], &r[1]], [&r[2], &r[3]], black_box(&mut z))
    });
    // Rows of 512 lanes in two components.
    let shape = RowShape {
        components: 2,
        stride: 8,
    };
    let mut arena = vec![1_u64; 64 * shape.width()];
    let ops: Vec<LocalOp> = (0..64)
        .map(|i| LocalOp::Xor {
            dst: i,
            a: (7 * i + 3) % 64,
            b: (11 * i + 5) % 64,
        })
        .collect();
    let bytes = ops.len() * 8 * shape.width();
    add("programs of XORs on rows", ONE_XOR, bytes, &mut || {
        kernels.local_rows(black_box(&mut arena), shape, black_box(&ops), [true, false])
    });
}

fn rings(kernels: Kernels, add: Add<'_>) {
    let r = [
        vec![1_u64; BLOCKS],
        vec![2; BLOCKS],
        vec![3; BLOCKS],
        vec![4; BLOCKS],
        vec![5; BLOCKS],
    ];
    let mut z = vec![0_u64; BLOCKS];
    add(
        "products of 64 bits from triples",
        TWO_PRODUCTS,
        BLOCKS,
        &mut || {
            let (triples, opened) = ([&*r[0], &r[1], &r[2]], [&*r[3], &r[4]]);
            kernels.beaver_products(black_box(&mut z), triples, opened, true);
        },
    );
    add(
        "replicated products of 64 bits",
        TWO_PRODUCTS,
        BLOCKS,
        &mut || {
            let (x, y) = ([&*r[0], &r[1]], [&*r[2], &r[3]]);
            kernels.replicated_products(x, y, &r[4], black_box(&mut z));
        },
    );
    add(
        "replicated inner products, 64 bits",
        TWO_PRODUCTS,
        BLOCKS,
        &mut || {
            let (x, y) = ([&*r[0], &r[1]], [&*r[2], &r[3]]);
            kernels.replicated_dots(x, y, BLOCKS / 4, black_box(&mut z[..4]));
        },
    );
    let (x, y) = (vec![3_u64; SIDE * SIDE], vec![5_u64; SIDE * SIDE]);
    let mut z = vec![0_u64; SIDE * SIDE];
    add(
        "matrix products of 64 bits",
        ONE_PRODUCT,
        SIDE.pow(3),
        &mut || kernels.multiply_add(&x, black_box(&y), black_box(&mut z), SIDE, SIDE),
    );
    let (x, y) = (vec![3_u32; SIDE * SIDE], vec![5_u32; SIDE * SIDE]);
    let mut z = vec![0_u32; SIDE * SIDE];
    add(
        "matrix products of 32 bits",
        ONE_PRODUCT,
        SIDE.pow(3),
        &mut || kernels.multiply_add(&x, black_box(&y), black_box(&mut z), SIDE, SIDE),
    );
}

fn transforms(kernels: Kernels, add: Add<'_>) {
    let ntt = kernels.ntt(PRIME, DEGREE);
    let mut x: Vec<u64> = (0..DEGREE as u64)
        .map(|i| i * i * i * 7919 % PRIME)
        .collect();
    let y: Vec<u64> = x.iter().rev().copied().collect();
    let mut z = vec![0; DEGREE];
    let mut sums = kernels.sums(DEGREE);
    let butterflies = DEGREE / 2 * DEGREE.ilog2() as usize;
    add(
        "butterflies of the transform",
        ONE_SCALING,
        butterflies,
        &mut || ntt.forward(black_box(&mut x)),
    );
    add(
        "butterflies of the inverse",
        ONE_SCALING,
        butterflies,
        &mut || ntt.inverse(black_box(&mut x)),
    );
    add("products mod p", TWO_SCALINGS, DEGREE, &mut || {
        ntt.multiply(black_box(&x), &y, black_box(&mut z))
    });
    add("sums of products mod p", ONE_SCALING, DEGREE, &mut || {
        sums.add(black_box(&x), &y)
    });
}

fn gather(kernels: Kernels, add: Add<'_>) {
    let code = kernels.local_code(KEY, TABLE);
    let table = vec![Block::ONES; TABLE];
    let mut rows = vec![Block::ZERO; BLOCKS];
    let reads = yardstick(Unit::Rows, Bound::Reads, LOCALITY as f64);
    let mut first = 0;
    add("rows of silent OT's code", reads, BLOCKS, &mut || {
        code.encode(first, &table, black_box(&mut rows));
        first += BLOCKS as u64;
    });
}
