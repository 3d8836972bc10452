//! Measures the most that this machine can do: short measurements that rates of whole protocols can be held
//! against. Nothing is printed; the program shows them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::{Block, Kernels, Level};

mod against;
mod cores;

pub use against::{Against, Bound, measure_kernels};
pub use cores::Cores;

/// Time of each measurement.
const BUDGET: Duration = Duration::from_millis(50);

/// The shortest time that counts as a measurement: many calls of most kernels.
const SLICE: Duration = Duration::from_millis(1);

/// Units that a [`Ceiling`] counts per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// AES blocks of 16 bytes.
    Blocks,
    /// Bytes (read, for operations that read and write the same number).
    Bytes,
    /// Hashes of one block each.
    Hashes,
    /// ANDs of garbled circuits.
    Gates,
    /// Products of numbers.
    Products,
    /// Rows of a code.
    Rows,
}

impl Unit {
    /// The unit with "per second", for people: `B/s`, `blocks/s`, `hashes/s`.
    #[must_use]
    pub const fn per_second(self) -> &'static str {
        match self {
            Self::Blocks => "blocks/s",
            Self::Bytes => "B/s",
            Self::Hashes => "hashes/s",
            Self::Gates => "ANDs/s",
            Self::Products => "products/s",
            Self::Rows => "rows/s",
        }
    }
}

/// One measured rate, on one thread.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ceiling {
    /// Name of the measurement, for people.
    pub name: &'static str,
    /// The rate in units per second.
    pub rate: f64,
    /// The unit of `rate`, per second.
    pub unit: Unit,
}

/// The rates of one thread of this machine at one level.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ceilings {
    /// The level that was measured.
    pub level: Level,
    /// Fixed-key AES-128 in place, data in the first-level cache.
    pub aes: Ceiling,
    /// Expansion of a seed ([`crate::Prg::fill`]), in cache.
    pub prg: Ceiling,
    /// The hash of rows ([`crate::RowHash::hash_blocks`]), in cache.
    pub hash: Ceiling,
    /// Hashes cut to one bit ([`crate::RowHash::hash_bits`]), in cache.
    pub hash_bits: Ceiling,
    /// Transposition of 128 columns ([`crate::transpose_128`]), in cache.
    pub transpose: Ceiling,
    /// Products from triples ([`crate::beaver_bits`]), bytes of `z`, in cache.
    pub beaver: Ceiling,
    /// Memory copy of buffers much larger than the caches; bytes copied, so twice that is moved.
    pub copy: Ceiling,
}

impl Ceilings {
    /// All rates, in a sensible order for a table.
    #[must_use]
    pub fn all(&self) -> [Ceiling; 7] {
        [
            self.aes,
            self.prg,
            self.hash,
            self.hash_bits,
            self.transpose,
            self.beaver,
            self.copy,
        ]
    }
}

/// Measures one thread of this machine at the level of `kernels`, in about half a second. Takes
/// 256 MiB of memory for the copy while it runs. Other work on the machine lowers the rates.
#[must_use]
pub fn measure(kernels: Kernels) -> Ceilings {
    const BLOCKS: usize = 1024;
    let key = Block::new(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
    let aes = kernels.aes128(key);
    let hash = kernels.row_hash(key);
    let mut prg = kernels.prg(key);
    let mut x = vec![Block::ONES; BLOCKS];
    let mut y = vec![Block::ZERO; BLOCKS];
    let mut bytes = vec![0_u8; 16 * BLOCKS];
    let rows: Vec<Vec<u8>> = (0_u8..5).map(|i| vec![i; 4096]).collect();
    let mut z = vec![0_u8; 4096];
    let ceiling = |name, unit, per_call: usize, call: &mut dyn FnMut()| Ceiling {
        name,
        rate: rate(per_call, call),
        unit,
    };
    Ceilings {
        level: kernels.level(),
        aes: ceiling("AES-128, fixed key", Unit::Blocks, BLOCKS, &mut || {
            aes.encrypt_blocks(black_box(&mut x));
        }),
        prg: ceiling(
            "PRG (AES-128 in counter mode)",
            Unit::Bytes,
            16 * BLOCKS,
            &mut || {
                prg.fill(black_box(&mut bytes));
            },
        ),
        hash: ceiling("hash of rows", Unit::Hashes, BLOCKS, &mut || {
            hash.hash_blocks(0, black_box(&x), black_box(&mut y));
        }),
        hash_bits: ceiling("hash of rows, one bit", Unit::Hashes, BLOCKS, &mut || {
            hash.hash_bits(0, key, black_box(&x), black_box(&mut bytes[..BLOCKS / 8]));
        }),
        transpose: ceiling(
            "transpose 128 columns",
            Unit::Bytes,
            16 * BLOCKS,
            &mut || {
                kernels.transpose_128(black_box(&bytes), BLOCKS / 8, black_box(&mut y));
            },
        ),
        beaver: ceiling(
            "triple products, in cache",
            Unit::Bytes,
            z.len(),
            &mut || {
                let [a, b, c, d, e] = [&rows[0], &rows[1], &rows[2], &rows[3], &rows[4]];
                kernels.beaver_bits(black_box(&mut z), a, b, c, d, e, true);
            },
        ),
        copy: copy_rate(),
    }
}

fn copy_rate() -> Ceiling {
    const COPIED: usize = 128 << 20;
    // Written with a non-zero byte first, so that the pages exist before the clock starts.
    let src = vec![1_u8; COPIED];
    let mut dst = vec![2_u8; COPIED];
    let mut chunk = 0;
    let part = COPIED / 16;
    let rate = rate(part, &mut || {
        let range = chunk * part..(chunk + 1) * part;
        black_box(&mut dst[range.clone()]).copy_from_slice(black_box(&src[range]));
        chunk = (chunk + 1) % 16;
    });
    Ceiling {
        name: "memory copy, out of cache",
        rate,
        unit: Unit::Bytes,
    }
}

/// Units per second of `call`, which does `per_call` units: the best of short slices of the budget, which
/// other work on the machine leaves some of alone.
fn rate(per_call: usize, call: &mut dyn FnMut()) -> f64 {
    call();
    let mut best = 0_f64;
    let start = Instant::now();
    while start.elapsed() < BUDGET {
        best = best.max(slice(per_call, call));
    }
    best
}

fn slice(per_call: usize, call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0_usize;
    while start.elapsed() < SLICE {
        for _ in 0..8 {
            call();
        }
        calls += 8;
    }
    (calls * per_call) as f64 / start.elapsed().as_secs_f64()
}
