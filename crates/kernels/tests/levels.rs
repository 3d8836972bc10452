//! Every level of this machine against the portable one, on random data at every small size, around
//! every vector width, and at every alignment.

use std::process::Command;

use madrigal_core::Ring;
use madrigal_kernels::crew::Crew;
use madrigal_kernels::rings::{self, Masks};
use madrigal_kernels::{
    Block, Kernels, LEVEL_VARIABLE, Level, LevelError, LocalOp, MAX_FOLD, ROWS_PER_KEY, RowShape,
    STRETCHED_PER_KEY, SumStep, blocks_as_bytes, level, level_from_env,
};

/// Reproduces a failed run when set to the seed that it printed.
const SEED_VARIABLE: &str = "MADRIGAL_TEST_SEED";

fn portable() -> Kernels {
    Kernels::at(Level::Portable).expect("portable is everywhere")
}

/// The levels to compare with the portable one.
fn others() -> impl Iterator<Item = Kernels> {
    Level::available()
        .filter(|level| *level != Level::Portable)
        .filter_map(Kernels::at)
}

#[allow(
    clippy::print_stdout,
    reason = "the harness shows it when a test fails"
)]
fn note(text: &str) {
    println!("{text}");
}

/// Random bytes (SplitMix64); prints its seed, which the test harness shows on failure.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        let seed = match std::env::var(SEED_VARIABLE) {
            Ok(seed) => seed
                .parse()
                .expect("MADRIGAL_TEST_SEED is a decimal number"),
            Err(_) => std::time::UNIX_EPOCH
                .elapsed()
                .map_or(1, |time| time.as_nanos() as u64),
        };
        #[allow(
            clippy::print_stdout,
            reason = "the harness shows it when the test fails"
        )]
        {
            println!("{SEED_VARIABLE}={seed}");
        }
        Self(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub(crate) fn block(&mut self) -> Block {
        Block::new(self.word(), self.word())
    }

    pub(crate) fn blocks(&mut self, n: usize) -> Vec<Block> {
        (0..n).map(|_| self.block()).collect()
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.word() as u8).collect()
    }
}

/// Lengths around every number of blocks that a kernel takes at once.
fn block_counts() -> impl Iterator<Item = usize> {
    (0..=100).chain([127, 128, 129, 255, 256, 257, 511, 513, 1000, 4099])
}

/// Lengths around every number of bytes that a kernel takes at once.
fn byte_counts() -> impl Iterator<Item = usize> {
    (0..=130).chain([
        191, 192, 193, 255, 256, 257, 319, 511, 512, 513, 1023, 1025, 4099,
    ])
}

#[test]
fn aes() {
    let mut random = Random::new();
    for kernels in others() {
        for n in block_counts() {
            let key = random.block();
            let mut expected = random.blocks(n);
            let mut got = expected.clone();
            portable().aes128(key).encrypt_blocks(&mut expected);
            kernels.aes128(key).encrypt_blocks(&mut got);
            assert!(got == expected, "{}, {n} blocks", kernels.level());
        }
    }
}

#[test]
fn prg() {
    let mut random = Random::new();
    for kernels in others() {
        for n in byte_counts().chain((0..20).map(|i| 2048 - 10 + i)) {
            let (seed, number) = (random.block(), random.word());
            let position = random.word() >> (random.word() % 60 + 1);
            let offset = n % 17;
            let mut expected = random.bytes(offset + n);
            let mut got = expected.clone();
            let mut a = portable().numbered_prg(seed, number);
            let mut b = kernels.numbered_prg(seed, number);
            a.seek(position);
            b.seek(position);
            a.fill(&mut expected[offset..]);
            b.fill(&mut got[offset..]);
            assert!(got == expected, "fill, {}, {n} bytes", kernels.level());
            assert_eq!(a.position(), position + n.div_ceil(16) as u64);
            assert_eq!(a.position(), b.position());
            a.xor_into(&mut expected[offset..]);
            b.xor_into(&mut got[offset..]);
            assert!(got == expected, "xor_into, {}, {n} bytes", kernels.level());
        }
    }
}

#[test]
fn prg_requests_of_whole_blocks_join() {
    let seed = Random::new().block();
    for kernels in Level::available().filter_map(Kernels::at) {
        let mut whole = [Block::ZERO; 200];
        kernels.prg(seed).fill_blocks(&mut whole);
        let mut parts = [Block::ZERO; 200];
        let mut prg = kernels.prg(seed);
        let (a, b) = parts.split_at_mut(77);
        prg.fill_blocks(a);
        prg.fill_blocks(b);
        assert!(whole == parts);
    }
}

#[test]
fn prg_takes_the_last_block_of_its_stream() {
    for kernels in Level::available().filter_map(Kernels::at) {
        // The counter of 64 bits does not carry into the key's number, whatever fills the lanes behind.
        for number in [0, 1, 1 << 63, u64::MAX] {
            for blocks in 1..40 {
                let first = u64::MAX - blocks as u64;
                let mut prg = kernels.numbered_prg(Block::ONES, number);
                prg.seek(first);
                let mut got = vec![Block::ZERO; blocks];
                prg.fill_blocks(&mut got);
                let counters = (first..u64::MAX).map(|position| Block::new(position, number));
                let mut expected: Vec<_> = counters.collect();
                portable().aes128(Block::ONES).encrypt_blocks(&mut expected);
                assert!(got == expected, "{}, {number}", kernels.level());
                assert_eq!(prg.position(), u64::MAX);
            }
        }
    }
}

/// Two keys with different numbers never encrypt one block: what a guess of one key gives at any position says
/// nothing of the other.
#[test]
fn numbers_keep_the_counter_blocks_of_keys_apart() {
    let seed = Random::new().block();
    for kernels in Level::available().filter_map(Kernels::at) {
        let aes = kernels.aes128(seed);
        let stream = |number| {
            let mut blocks = [Block::ZERO; 70];
            kernels.numbered_prg(seed, number).fill_blocks(&mut blocks);
            blocks
        };
        let mut seen = std::collections::HashSet::new();
        for number in [0, 1, 2, 1 << 32, u64::MAX] {
            for (position, block) in (0..).zip(stream(number)) {
                assert!(block == aes.encrypt(Block::new(position, number)));
                // One key for all numbers: equal inputs would show as equal outputs.
                assert!(seen.insert(u128::from(block)), "{number}, {position}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "a PRG stream ends after 2^64 blocks")]
fn a_numbered_prg_does_not_run_into_the_next_number() {
    let mut prg = portable().numbered_prg(Block::ZERO, 7);
    prg.seek(u64::MAX - 1);
    prg.fill(&mut [0; 33]);
}

#[test]
#[should_panic(expected = "a PRG stream ends after 2^64 blocks")]
fn prg_does_not_repeat() {
    let mut prg = portable().prg(Block::ZERO);
    prg.seek(u64::MAX);
    prg.fill(&mut [0; 17]);
}

#[test]
#[should_panic(expected = "transpose_bits: dst: 9 rows of 2 bytes at a stride of 2 bytes")]
fn short_output_is_refused() {
    portable().transpose_bits(&[0; 18], 9, 9, 2, &mut [0; 17], 2);
}

/// Folded columns and total by the definition, from plain generators.
fn plain_fold(
    seeds: &[(usize, Block)],
    number: u64,
    position: u64,
    width: usize,
    bytes: usize,
) -> Vec<Vec<u8>> {
    let mut sums = vec![vec![0; bytes]; width + 1];
    for &(leaf, seed) in seeds {
        let mut prg = portable().numbered_prg(seed, number);
        prg.seek(position);
        let mut stream = vec![0; bytes];
        prg.fill(&mut stream);
        for (i, sum) in sums.iter_mut().enumerate() {
            if i == width || leaf >> i & 1 == 1 {
                portable().xor_into(sum, &stream);
            }
        }
    }
    sums
}

#[test]
fn folds() {
    let mut random = Random::new();
    for kernels in Level::available().filter_map(Kernels::at) {
        for width in 1..=MAX_FOLD {
            let seeds = random.blocks(1 << width);
            let numbered: Vec<_> = seeds.iter().copied().enumerate().collect();
            let number = random.word();
            let mut leaves = kernels.leaves(&seeds, number);
            let mut punctured = kernels.leaves(&seeds[1..], number);
            assert_eq!((leaves.width(), punctured.width()), (width, width));
            assert_eq!(
                (leaves.len(), punctured.len()),
                (1 << width, (1 << width) - 1)
            );
            let mut position = 0;
            // One call after the other, so that the position is tested as well.
            for blocks in [0, 1, 2, 3, 5, 16, 31, 32, 33, 67] {
                let bytes = 16 * blocks;
                let stride = bytes + random.word() as usize % 40;
                let what = format!("{}, {width} columns of {blocks} blocks", kernels.level());
                let added = random.bytes(bytes);
                let mut columns = random.bytes(width * stride + 1);
                let before = columns.clone();
                let mut total = vec![0; bytes];
                // Not aligned.
                leaves.fold(&mut columns[1..], stride, &added, &mut total);
                let mut expected = plain_fold(&numbered, number, position, width, bytes);
                portable().xor_into(&mut expected[width], &added);
                assert!(total == expected[width], "total, {what}");
                for (i, expected) in expected[..width].iter().enumerate() {
                    let start = 1 + i * stride;
                    assert!(columns[start..][..bytes] == *expected, "column {i}, {what}");
                    let (gap, end) = (start + bytes, (start + stride).min(columns.len()));
                    assert!(columns[gap..end] == before[gap..end], "between, {what}");
                }

                let mask = random.word() as u8;
                punctured.fold_punctured(&mut columns[1..], stride, mask, &added);
                let mut expected = plain_fold(&numbered[1..], number, position, width, bytes);
                for i in 0..width {
                    if mask >> i & 1 == 1 {
                        portable().xor_into(&mut expected[i], &added);
                    }
                    let got = &columns[1 + i * stride..][..bytes];
                    assert!(got == expected[i], "punctured column {i}, {what}");
                }
                position += blocks as u64;
                assert_eq!(
                    (leaves.position(), punctured.position()),
                    (position, position)
                );
            }
            // Where leaf 0 is known it is left out.
            let (bytes, mask) = (16 * 67, random.word() as u8);
            let added = random.bytes(bytes);
            let mut columns = vec![0; width * bytes];
            leaves.fold_punctured(&mut columns, bytes, mask, &added);
            let mut expected = plain_fold(&numbered[1..], number, position, width, bytes);
            for (i, expected) in expected[..width].iter_mut().enumerate() {
                if mask >> i & 1 == 1 {
                    portable().xor_into(expected, &added);
                }
            }
            assert!(columns == expected[..width].concat(), "{}", kernels.level());
        }
    }
}

#[test]
#[should_panic(expected = "leaf 0 is missing")]
fn a_punctured_tree_has_no_total() {
    let mut leaves = portable().leaves(&[Block::ZERO; 3], 0);
    leaves.fold(&mut [0; 32], 16, &[0; 16], &mut [0; 16]);
}

#[test]
#[should_panic(expected = "not as 5")]
fn odd_numbers_of_leaves_are_refused() {
    let _ = portable().leaves(&[Block::ZERO; 5], 0);
}

#[test]
#[should_panic(expected = "2 columns of 32 bytes at a stride of 16 bytes do not fit")]
fn short_columns_are_refused() {
    portable()
        .leaves(&[Block::ZERO; 3], 0)
        .fold_punctured(&mut [0; 64], 16, 0, &[0; 32]);
}

#[test]
fn hashes() {
    let mut random = Random::new();
    for kernels in Level::available().filter_map(Kernels::at) {
        let key = random.block();
        let hash = kernels.row_hash(key);
        let level = kernels.level();
        for n in block_counts() {
            // Within a key's rows, across a change of keys within a byte of bits and between two, and
            // where the numbers are large.
            for first in [0, 1000, 1024 - 7, 5 << 40, u64::MAX - 9000] {
                let (x, offset) = (random.blocks(n), random.block());
                // By the definition.
                let group = first / ROWS_PER_KEY;
                let pi: [_; 6] = std::array::from_fn(|later| {
                    Kernels::detect().aes128(key ^ Block::new(group + later as u64, 0))
                });
                let by_cipher = |x: Block, i: usize| {
                    let later = (first + i as u64) / ROWS_PER_KEY - group;
                    pi[later as usize].encrypt(x) ^ x
                };
                let rows = || x.iter().enumerate();
                let plain: Vec<Block> = rows().map(|(i, &x)| by_cipher(x, i)).collect();
                let shifted: Vec<Block> = rows().map(|(i, &x)| by_cipher(x ^ offset, i)).collect();

                let (mut k0, mut k1) = (random.blocks(n), random.blocks(n));
                hash.hash_blocks(first, &x, &mut k0);
                assert!(k0 == plain, "hash, {level}, {n} blocks from {first}");
                hash.hash_shifted(first, offset, &x, &mut k1);
                assert!(k1 == shifted, "shifted, {level}, {n} blocks from {first}");
                let (mut k0, mut k1) = (random.blocks(n), random.blocks(n));
                hash.hash_pairs(first, offset, &x, &mut k0, &mut k1);
                assert!(
                    k0 == plain && k1 == shifted,
                    "pairs, {level}, {n} blocks from {first}"
                );
                hash.hash_same_row(first, &x, &mut k0);
                let same: Vec<Block> = x.iter().map(|&x| by_cipher(x, 0)).collect();
                assert!(k0 == same, "one row, {level}, {n} blocks from {first}");
                let mut bits = random.bytes(n.div_ceil(8));
                hash.hash_bits(first, offset, &x, &mut bits);
                let mut packed = vec![0; n.div_ceil(8)];
                for (i, hash) in shifted.iter().enumerate() {
                    packed[i / 8] |= u8::from(hash.bit(0)) << (i % 8);
                }
                assert_eq!(bits, packed, "bits, {level}, {n} blocks from {first}");
            }
        }
    }
}

/// Keys change where the documentation says, whatever the calls, at most two in turn, and the lengths.
#[test]
fn stretches() {
    let mut random = Random::new();
    for kernels in Level::available().filter_map(Kernels::at) {
        let key = random.block();
        for first in [0, 4000, u64::MAX] {
            for (n, each) in [
                (0, 3),
                (3, 0),
                (1, 1),
                (5, 2),
                (100, 7),
                (2, 300),
                (513, 1),
                (4, 4095),
                (2, 9000),
            ] {
                let seeds = random.blocks(n);
                // By the definition.
                let by_cipher = |i: usize, j: usize| {
                    let place = (u128::from(first) + i as u128) * each as u128 + j as u128;
                    let number = place / u128::from(STRETCHED_PER_KEY);
                    let input = seeds[i] ^ Block::new(j as u64, 0);
                    let pi = Kernels::detect().aes128(key ^ Block::from(number));
                    pi.encrypt(input) ^ input
                };
                let expected: Vec<Block> = (0..n * each)
                    .map(|at| by_cipher(at / each, at % each))
                    .collect();
                let mut stretch = kernels.stretch(key, first);
                let mut out = random.blocks(n * each);
                stretch.stretch_blocks(0, &seeds, each, &mut out);
                let name = format!("{}, {n} x {each} from {first}", kernels.level());
                assert!(out == expected, "{name}");
                let split = n / 3;
                stretch.stretch_blocks(split, &seeds[split..], each, &mut out[split * each..]);
                assert!(out == expected, "{name}, in parts");
                // Any order, and cut off within a block.
                for i in (0..n).rev() {
                    let mut stream = vec![0; (16 * each).saturating_sub(i % 16)];
                    stretch.stretch(i, seeds[i], &mut stream);
                    let blocks = &expected[i * each..][..each];
                    assert!(
                        stream == blocks_as_bytes(blocks)[..stream.len()],
                        "{name}, string {i}"
                    );
                }
            }
        }
    }
}

#[test]
fn transpose_columns() {
    let mut random = Random::new();
    for kernels in Level::available().filter_map(Kernels::at) {
        for n in (0..14).map(|i| 128 * i).chain([2048, 4096 + 128]) {
            for extra in [0, 1, 24] {
                let stride = n / 8 + extra;
                let columns = random.bytes(128 * stride + 3);
                // Once aligned, once not.
                for columns in [&columns[..128 * stride], &columns[3..]] {
                    let mut rows = vec![Block::ONES; n];
                    kernels.transpose_128(columns, stride, &mut rows);
                    for (i, row) in rows.iter().enumerate() {
                        for j in 0..128 {
                            let bit = columns[j * stride + i / 8] >> (i % 8) & 1 == 1;
                            assert_eq!(row.bit(j), bit, "{}, {n} rows", kernels.level());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn transpose_any_size() {
    let mut random = Random::new();
    let sizes: [usize; 21] = [
        0, 1, 2, 7, 8, 9, 16, 31, 32, 63, 64, 65, 127, 128, 129, 200, 256, 257, 640, 1100, 1155,
    ];
    for kernels in Level::available().filter_map(Kernels::at) {
        for (rows, cols) in sizes.iter().flat_map(|&r| sizes.map(|c| (r, c))) {
            if rows * cols > 700_000 {
                continue;
            }
            let (src_stride, dst_stride) =
                (cols.div_ceil(8) + rows % 3, rows.div_ceil(8) + cols % 3);
            let src = random.bytes(src_stride * rows);
            let mut dst = vec![0xa5; dst_stride * cols];
            kernels.transpose_bits(&src, rows, cols, src_stride, &mut dst, dst_stride);
            let what = format!("{}, {rows} x {cols}", kernels.level());
            for (j, row) in dst.chunks(dst_stride.max(1)).enumerate() {
                let (bits, after) = row.split_at(rows.div_ceil(8));
                assert!(
                    after.iter().all(|&byte| byte == 0xa5),
                    "{what}: wrote between rows"
                );
                for i in 0..8 * bits.len() {
                    let expected = i < rows && src[i * src_stride + j / 8] >> (j % 8) & 1 == 1;
                    assert_eq!(
                        bits[i / 8] >> (i % 8) & 1 == 1,
                        expected,
                        "{what} at {i}, {j}"
                    );
                }
            }
        }
    }
}

#[test]
fn rows() {
    let mut random = Random::new();
    for kernels in Level::available().filter_map(Kernels::at) {
        for n in byte_counts() {
            for shift in [0, 1, 13] {
                let inputs: [Vec<u8>; 6] = core::array::from_fn(|_| random.bytes(n + shift));
                let [a, b, c, d, e, z] = inputs.each_ref().map(|row| &row[shift..]);
                let expect = |got: &[u8], f: &dyn Fn(usize) -> u8, what: &str| {
                    let expected: Vec<u8> = (0..n).map(f).collect();
                    assert_eq!(
                        &got[1..],
                        expected,
                        "{what}, {}, {n} bytes",
                        kernels.level()
                    );
                };
                // The output starts one byte into its allocation, whatever the inputs do.
                let mut out = vec![0; n + 1];
                out[1..].copy_from_slice(z);
                kernels.xor_into(&mut out[1..], a);
                expect(&out, &|i| z[i] ^ a[i], "xor_into");
                kernels.not_into(&mut out[1..]);
                expect(&out, &|i| !(z[i] ^ a[i]), "not_into");
                kernels.xor(&mut out[1..], a, b);
                expect(&out, &|i| a[i] ^ b[i], "xor");
                kernels.and(&mut out[1..], a, b);
                expect(&out, &|i| a[i] & b[i], "and");
                kernels.beaver_bits(&mut out[1..], a, b, c, d, e, false);
                let own = |i: usize| c[i] ^ (d[i] & b[i]) ^ (e[i] & a[i]);
                expect(&out, &own, "beaver_bits");
                kernels.beaver_bits(&mut out[1..], a, b, c, d, e, true);
                expect(
                    &out,
                    &|i| own(i) ^ (d[i] & e[i]),
                    "beaver_bits of the leader",
                );
            }
        }
    }
}

/// Run by [`the_environment_lowers_the_level`] in a process of its own.
#[test]
fn environment_is_followed() {
    match (std::env::var("MADRIGAL_EXPECTED_LEVEL"), level_from_env()) {
        (Ok(expected), Ok(asked)) => {
            assert_eq!(asked.name(), expected);
            assert_eq!(level(), asked);
        }
        (Ok(expected), Err(error)) => {
            assert_eq!(expected, "error", "{error}");
            assert!(error.to_string().contains(LEVEL_VARIABLE));
            // The level itself falls back to the best.
            assert_eq!(Some(level()), Level::available().last());
        }
        (Err(_), asked) => assert_eq!(asked, Ok(level())),
    }
    // The free functions work at whatever level that is.
    let mut rows = [Block::ZERO; 128];
    madrigal_kernels::transpose_128(blocks_as_bytes(&[Block::ONES; 128]), 16, &mut rows);
    assert!(rows == [Block::ONES; 128]);
}

#[test]
fn the_environment_lowers_the_level() {
    let run = |value: &str, expected: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "levels::environment_is_followed", "--nocapture"])
            .env(LEVEL_VARIABLE, value)
            .env("MADRIGAL_EXPECTED_LEVEL", expected)
            .output();
        let output = match output {
            // ENOEXEC: an emulator runs this test, and the system does not know to use it again.
            Err(error) if error.raw_os_error() == Some(8) => {
                note("skipped: this process cannot start itself again");
                return;
            }
            output => output.unwrap(),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{value}: {text}"
        );
    };
    for level in Level::ALL {
        run(
            level.name(),
            if level.is_available() {
                level.name()
            } else {
                "error"
            },
        );
    }
    run("fast", "error");
}

#[test]
fn errors_say_what_to_do() {
    let error = LevelError::Unavailable {
        requested: Level::Neon,
        best: Level::AesNi,
    }
    .to_string();
    assert!(error.contains("neon") && error.contains("aesni"), "{error}");
}

#[test]
fn stretched_strings() {
    let mut random = Random::new();
    let (key, seed) = (random.block(), random.block());
    for len in (0..600).chain([1023, 4096, 5000, 70_000]) {
        let mut expected = vec![0; len];
        portable().stretch(key, 3).stretch(4, seed, &mut expected);
        for kernels in others() {
            let mut got = vec![0; len];
            kernels.stretch(key, 3).stretch(4, seed, &mut got);
            assert_eq!(got, expected, "{len} bytes at {}", kernels.level());
        }
    }
}

#[test]
fn ring_strings() {
    let mut random = Random::new();
    for len in 0..70 {
        let mut words = || -> Vec<u64> { (0..len).map(|_| random.word()).collect() };
        let (y, z) = (words(), words());
        let bytes =
            |words: Vec<u64>| -> Vec<u8> { words.into_iter().flat_map(u64::to_le_bytes).collect() };
        let [h0, h1, g0, g1] = [(); 4].map(|()| bytes(words()));
        for bit in [1, 7, 31] {
            let masks = Masks {
                near: [&h0, &h1],
                far: [&g0, &g1],
                far_down: if bit == 7 { 32 } else { 0 },
            };
            let run = |kernels: Kernels| {
                let (mut z, mut out) = (z.clone(), vec![0; 8 * len]);
                kernels.offer_strings(&y, &mut z, masks, bit, &mut out);
                kernels.add_shifted(&mut z, &h0, 3, bit);
                kernels.correct_strings(0x1234_5678_9abc_def1, bit, &out, &mut z);
                (z, out)
            };
            let expected = run(portable());
            for kernels in others() {
                assert_eq!(run(kernels), expected, "{len} words at {}", kernels.level());
            }
        }
    }
}

#[test]
fn elements_of_rings() {
    ring_elements::<u8>();
    ring_elements::<u16>();
    ring_elements::<u32>();
    ring_elements::<u64>();
    ring_elements::<u128>();
}

fn ring_elements<T: Ring>() {
    let mut random = Random::new();
    for n in (0..70).chain([127, 128, 129, 257, 1000]) {
        let mut elements = |count: usize| -> Vec<T> {
            (0..count)
                .map(|_| T::read(&random.bytes(T::BYTES)))
                .collect()
        };
        let [x0, x1, y0, y1, minus, old] = core::array::from_fn(|_| elements(n));
        let lengths: Vec<usize> = [1, 3, 16].into_iter().filter(|len| n % len == 0).collect();
        let bits = random.bytes(n.div_ceil(8));
        for kernels in others().chain([portable()]) {
            let about = format!("{n} elements of {} bits at {}", T::BITS, kernels.level());
            let products = |i: usize| {
                let cross = x0[i].mul(y0[i]).add(x0[i].mul(y1[i]));
                cross.add(x1[i].mul(y0[i]))
            };
            let mut z = old.clone();
            kernels.replicated_products([&x0, &x1], [&y0, &y1], &minus, &mut z);
            let expected = (0..n).map(|i| old[i].sub(minus[i]).add(products(i)));
            assert!(z.iter().copied().eq(expected), "products, {about}");
            for &length in &lengths {
                let mut z = old[..n / length].to_vec();
                kernels.replicated_dots([&x0, &x1], [&y0, &y1], length, &mut z);
                let expected = (0..n / length).map(|j| {
                    (j * length..(j + 1) * length).fold(old[j], |z, i| z.add(products(i)))
                });
                assert!(z.iter().copied().eq(expected), "dots, {about}");
            }
            let mut z = old.clone();
            kernels.add_into(&mut z, &x0);
            kernels.mul_into(&mut z, &y0);
            kernels.sub_into(&mut z, &x1);
            let expected = (0..n).map(|i| old[i].add(x0[i]).mul(y0[i]).sub(x1[i]));
            assert!(z.iter().copied().eq(expected), "sums, {about}");
            kernels.unpack_bits(&bits, &mut z);
            let bit = |i: usize| T::from_u128(u128::from(bits[i / 8] >> (i % 8) & 1));
            assert!(z.iter().copied().eq((0..n).map(bit)), "bits, {about}");
            let mut packed = vec![0xaa; n.div_ceil(8)];
            kernels.pack_bits(&x0, &mut packed);
            for (i, &byte) in packed.iter().enumerate() {
                let lowest = x0[8 * i..].iter().take(8).enumerate();
                let expected = lowest.fold(0, |byte, (i, x)| byte | x.bit(0) << i);
                assert_eq!(byte, expected, "packed bits, {about}");
            }
            let mut z = old.clone();
            kernels.flip_from(&mut z, &x0, &bits);
            for (up, one) in [(0, T::ONE), (T::BITS - 1, T::ZERO), (3, T::ONE)] {
                kernels.add_flipped(&mut z, &y0, &bits, one, up);
            }
            let expected = (0..n).map(|i| {
                let set = bits[i / 8] >> (i % 8) & 1 == 1;
                let flip = |z: T, from: T| if set { from.sub(z) } else { z };
                let (one, zero) = (flip(y0[i], T::ONE), flip(y0[i], T::ZERO));
                let sum = flip(old[i], x0[i]).add(one).add(one.shl(3));
                sum.add(zero.shl(T::BITS - 1))
            });
            assert!(z.iter().copied().eq(expected), "flips, {about}");
            let mut z = old.clone();
            kernels.add_strings::<T>(rings::as_bytes_mut(&mut z), rings::as_bytes(&x0));
            let expected = (0..n).map(|i| old[i].add(x0[i]));
            assert!(z.iter().copied().eq(expected), "strings, {about}");
            beaver(kernels, [&x0, &x1, &minus], [&y0, &y1], &lengths, &about);
            let bytes: Vec<u8> = x0
                .iter()
                .flat_map(|x| x.to_u128().to_le_bytes()[..T::BYTES].to_vec())
                .collect();
            assert_eq!(rings::as_bytes(&x0), bytes);
            rings::as_bytes_mut(&mut z).copy_from_slice(&bytes);
            assert_eq!(z, x0);
        }
    }
}

/// Computes what one party makes of its shares of triples and of what was opened.
fn beaver<T: Ring>(
    kernels: Kernels,
    [a, b, c]: [&[T]; 3],
    [d, e]: [&[T]; 2],
    lengths: &[usize],
    about: &str,
) {
    let n = a.len();
    for leader in [false, true] {
        let lead = T::from_u128(leader.into());
        let product = |i: usize| {
            let masked = d[i].mul(b[i]).add(e[i].mul(a[i]));
            c[i].add(masked).add(d[i].mul(e[i]).mul(lead))
        };
        let mut z = vec![T::ONE; n];
        kernels.beaver_products(&mut z, [a, b, c], [d, e], leader);
        assert!(z.iter().copied().eq((0..n).map(product)), "Beaver, {about}");
        for &length in lengths {
            let mut z = vec![T::ONE; n / length];
            kernels.beaver_dots(&mut z, [a, b, c], [d, e], length, leader);
            let sum =
                |j| (j * length..(j + 1) * length).fold(T::ZERO, |sum, i| sum.add(product(i)));
            assert!(
                z.iter().copied().eq((0..n / length).map(sum)),
                "Beaver dots, {about}"
            );
        }
        let mut z = vec![T::ONE; n];
        kernels.beaver_squares(&mut z, [a, c], d, leader);
        let two = T::from_u128(2);
        let square = |i: usize| {
            let masked = c[i].add(two.mul(d[i]).mul(a[i]));
            masked.add(d[i].mul(d[i]).mul(lead))
        };
        assert!(
            z.iter().copied().eq((0..n).map(square)),
            "Beaver squares, {about}"
        );
    }
}

#[test]
fn matrix_products() {
    let mut random = Random::new();
    for (rows, inner, columns) in [
        (1, 1, 1),
        (3, 5, 7),
        (9, 130, 300),
        (4, 0, 3),
        (5, 257, 2),
        (261, 9, 33),
        (8, 128, 64),
        (130, 70, 90),
        (2, 3000, 120),
    ] {
        let mut words = |count| -> Vec<u64> { (0..count).map(|_| random.word()).collect() };
        let (x, y, z) = (
            words(rows * inner),
            words(inner * columns),
            words(rows * columns),
        );
        let mut expected = z.clone();
        for row in 0..rows {
            for column in 0..columns {
                for k in 0..inner {
                    let product = x[row * inner + k].wrapping_mul(y[k * columns + column]);
                    let place = &mut expected[row * columns + column];
                    *place = place.wrapping_add(product);
                }
            }
        }
        for threads in [1, 3] {
            let crew = Crew::new(threads).expect("threads");
            for kernels in others().chain([portable()]) {
                let mut got = z.clone();
                crew.at_work(|| kernels.multiply_add(&x, &y, &mut got, inner, columns));
                assert!(
                    got == expected,
                    "{rows} x {inner} x {columns} at {} on {threads} threads",
                    kernels.level()
                );
            }
        }
    }
}

#[test]
fn programs_on_rows() {
    let mut random = Random::new();
    for kernels in Level::available().filter_map(Kernels::at) {
        for (components, stride) in [
            (1, 1),
            (1, 5),
            (1, 8),
            (1, 32),
            (2, 1),
            (2, 3),
            (2, 8),
            (2, 24),
            (2, 64),
        ] {
            let shape = RowShape { components, stride };
            let (rows, width) = (7, shape.width());
            let words = |bytes: Vec<u8>| -> Vec<u64> {
                let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
                bytes.chunks_exact(8).map(word).collect()
            };
            let before = words(random.bytes(8 * rows * width));
            let ops = [
                LocalOp::Xor { dst: 2, a: 0, b: 1 },
                LocalOp::Xor { dst: 2, a: 2, b: 3 },
                LocalOp::Not { dst: 4, a: 2 },
                LocalOp::Not { dst: 5, a: 5 },
                LocalOp::Const { dst: 3, bit: true },
                LocalOp::Const { dst: 1, bit: false },
            ];
            let what = format!("{}, {shape:?}", kernels.level());
            for leads in [[false, false], [true, false], [false, true]] {
                let mut arena = before.clone();
                kernels.local_rows(&mut arena, shape, &ops, leads);
                for i in 0..width {
                    let old = |row: usize| before[row * width + i];
                    let flip = if leads[i / stride] { u64::MAX } else { 0 };
                    let sum = old(0) ^ old(1) ^ old(3);
                    let expected = [old(0), 0, sum, flip, sum ^ flip, old(5) ^ flip, old(6)];
                    let got: Vec<u64> = (0..rows).map(|row| arena[row * width + i]).collect();
                    assert_eq!(got, expected, "{what}, word {i}, {leads:?}");
                }
            }
            if components == 2 {
                let steps = [
                    SumStep::Multiply { to: 7, a: 0, b: 1 },
                    SumStep::Keep { to: 0, a: 1, b: 6 },
                    SumStep::Keep { to: 1, a: 5, b: 2 },
                    SumStep::Add { to: 1, a: 3, b: 3 },
                    SumStep::Give { to: 8, a: 1 },
                    SumStep::Multiply { to: 8, a: 4, b: 2 },
                    SumStep::Xor { to: 2, a: 0, b: 1 },
                    SumStep::GiveXor { to: 9, a: 2, b: 3 },
                    SumStep::Xor { to: 2, a: 2, b: 3 },
                ];
                let old = random.bytes(8 * 3 * stride);
                let old_kept = words(random.bytes(8 * 4 * stride));
                let (mut z, mut kept) = (old.clone(), old_kept.clone());
                kernels.replicated_sums(&before, shape, &steps, &mut kept, 7, &mut z);
                let (z, old) = (words(z), words(old));
                for i in 0..stride {
                    let at = |row, component| before[shape.place(row, component).start + i];
                    let product = |a, b| {
                        let [x0, x1, y0, y1] = [at(a, 0), at(a, 1), at(b, 0), at(b, 1)];
                        (x0 & y0) ^ (x0 & y1) ^ (x1 & y0)
                    };
                    let last = old_kept[3 * stride + i];
                    let first = product(1, 6);
                    let second = product(5, 2) ^ product(3, 3);
                    let both = first ^ second;
                    let sums = [product(0, 1), second ^ product(4, 2), both ^ last];
                    for (to, sum) in sums.into_iter().enumerate() {
                        let at = to * stride + i;
                        assert_eq!(z[at], old[at] ^ sum, "{what}, sum {to}");
                    }
                    let expected = [first, second, both ^ last, last];
                    for (to, row) in expected.into_iter().enumerate() {
                        assert_eq!(kept[to * stride + i], row, "{what}, kept row {to}");
                    }
                }
            }
        }
        for n in byte_counts() {
            let [x0, x1, y0, y1, old] = core::array::from_fn(|_| random.bytes(n));
            let mut z = old.clone();
            kernels.replicated_and([&x0, &x1], [&y0, &y1], &mut z);
            for i in 0..n {
                let sum = (x0[i] & y0[i]) ^ (x0[i] & y1[i]) ^ (x1[i] & y0[i]);
                assert_eq!(z[i], old[i] ^ sum, "{}, {n} bytes", kernels.level());
            }
            let [a0, a1] = core::array::from_fn(|_| random.bytes(n));
            let mut z = old.clone();
            kernels.replicated_carry([&x0, &x1], [&a0, &a1], [&y0, &y1], &mut z);
            for i in 0..n {
                let (s0, s1) = (a0[i] ^ y0[i], a1[i] ^ y1[i]);
                let product = (x0[i] & s0) ^ (x0[i] & s1) ^ (x1[i] & s0);
                let expected = old[i] ^ a0[i] ^ product;
                assert_eq!(z[i], expected, "{}, {n} bytes", kernels.level());
            }
        }
    }
}
