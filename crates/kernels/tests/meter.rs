//! Every way to AES counts the blocks that it computes: no more, no less, and alike at every level.

use madrigal_kernels::ggm::TREES;
use madrigal_kernels::lpn::{LOCALITY, LocalCode};
use madrigal_kernels::meter::{self, metered, unmetered};
use madrigal_kernels::{Aes128, Block, Kernels, Leaves, Level, Prg, RowHash, Stretch};

fn kernels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

fn blocks(n: usize) -> Vec<Block> {
    vec![Block::ONES; n]
}

/// Asserts that `work` counts `expected` blocks.
#[track_caller]
fn counts<R>(expected: usize, work: impl FnOnce() -> R) -> R {
    let (result, counted) = metered(work);
    assert_eq!(counted, expected as u64);
    result
}

/// Lengths around what vectors, batches and buffers hold.
const LENGTHS: [usize; 10] = [0, 1, 2, 7, 8, 31, 33, 64, 257, 1000];

#[test]
fn the_cipher() {
    for kernels in kernels() {
        let aes = counts(0, || kernels.aes128(Block::ZERO));
        counts(1, || aes.encrypt(Block::ZERO));
        for n in LENGTHS {
            counts(n, || aes.encrypt_blocks(&mut blocks(n)));
        }
    }
    let aes = counts(0, || Aes128::new(Block::ZERO));
    counts(1, || aes.encrypt(Block::ZERO));
}

/// Part of a block is a block: the generator drops the rest.
#[test]
fn generators() {
    for kernels in kernels() {
        let mut prg = counts(0, || kernels.prg(Block::ZERO));
        for bytes in LENGTHS {
            counts(bytes.div_ceil(16), || prg.fill(&mut vec![0; bytes]));
            counts(bytes.div_ceil(16), || prg.xor_into(&mut vec![0; bytes]));
            counts(bytes.div_ceil(2), || prg.fill_words(&mut vec![0; bytes]));
            counts(bytes, || prg.fill_blocks(&mut blocks(bytes)));
        }
        counts(1, || prg.next_block());
        counts(0, || prg.seek(1 << 40));
    }
    counts(0, || Prg::new(Block::ZERO).clone());
}

#[test]
fn hashes() {
    let key = Block::ONES;
    let all = kernels().map(|kernels| kernels.row_hash(key));
    for hash in all.chain([RowHash::new(key)]) {
        counts(1, || hash.hash(3, Block::ZERO));
        // Within the rows of a key, across a change, and where bits and keys change apart.
        for first in [0, 1000, 1021] {
            for n in LENGTHS {
                let (x, out) = (blocks(n), &mut blocks(n));
                counts(n, || hash.hash_blocks(first, &x, out));
                counts(n, || hash.hash_shifted(first, Block::ONES, &x, out));
                counts(n, || hash.hash_same_row(first, &x, out));
                counts(2 * n, || {
                    hash.hash_pairs(first, Block::ONES, &x, out, &mut blocks(n));
                });
                counts(n, || {
                    hash.hash_bits(first, Block::ONES, &x, &mut vec![0; n.div_ceil(8)]);
                });
            }
        }
    }
}

#[test]
fn stretching() {
    let key = Block::ONES;
    let all = kernels().map(|kernels| kernels.stretch(key, 1300));
    for mut stretch in all.chain([Stretch::new(key, 1300)]) {
        for n in LENGTHS {
            counts(n.div_ceil(16), || {
                stretch.stretch(7, Block::ZERO, &mut vec![0; n]);
            });
            counts(3 * n, || {
                stretch.stretch_blocks(7, &blocks(n), 3, &mut blocks(3 * n));
            });
            counts(0, || stretch.stretch_blocks(7, &blocks(n), 0, &mut []));
        }
    }
}

#[test]
fn trees() {
    for kernels in kernels() {
        let trees = counts(0, || kernels.ggm_trees(Block::ZERO));
        for parents in [0, 1, 2, 3, 9, 64] {
            let nodes = &mut blocks(2 * TREES * parents);
            counts(TREES * parents, || trees.expand(nodes));
            counts(0, || {
                trees.correct(nodes, &[0; TREES], &[Block::ONES; TREES]);
            });
            counts(0, || trees.mark(nodes, &[0; TREES]));
        }
    }
}

#[test]
fn leaves() {
    for kernels in kernels() {
        for width in 1..=4 {
            let count = 1 << width;
            for rows in [0, 1, 5, 64] {
                let (bytes, stride) = (16 * rows, 16 * rows + 64);
                let (mut columns, added) = (vec![0; width * stride], vec![0; bytes]);
                let mut whole = counts(0, || kernels.leaves(&blocks(count), 1));
                counts(count * rows, || {
                    whole.fold(&mut columns, stride, &added, &mut vec![0; bytes]);
                });
                // Leaf 0 is left out, whether it is there or not.
                for seeds in [count, count - 1] {
                    let mut leaves = kernels.leaves(&blocks(seeds), 1);
                    counts((count - 1) * rows, || {
                        leaves.fold_punctured(&mut columns, stride, 1, &added);
                    });
                }
            }
        }
    }
    counts(0, || Leaves::new(&blocks(4), 1));
}

/// Two rows take five blocks, a last odd row three.
#[test]
fn local_codes() {
    let table = blocks(10);
    for kernels in kernels() {
        let code = counts(0, || kernels.local_code(Block::ZERO, table.len()));
        for rows in LENGTHS {
            counts((rows * LOCALITY).div_ceil(4), || {
                code.encode(0, &table, &mut blocks(rows));
            });
        }
    }
    counts(3, || {
        LocalCode::new(Block::ZERO, 10).encode(0, &table, &mut blocks(1));
    });
}

#[test]
fn what_computes_no_aes_counts_nothing() {
    counts(0, || {
        let mut out = blocks(128);
        madrigal_kernels::transpose_128(&[0; 128 * 16], 16, &mut out);
        madrigal_kernels::xor_into(&mut [0; 100], &[1; 100]);
    });
}

/// Each block is counted once, by the innermost, also after a panic.
#[test]
fn the_innermost_counts() {
    let aes = Aes128::new(Block::ZERO);
    let encrypt = |n: usize| aes.encrypt_blocks(&mut blocks(n));
    let before = meter::shown();
    let ((inner, shown), outer) = metered(|| {
        encrypt(3);
        let ((), inner) = metered(|| encrypt(5));
        unmetered(|| encrypt(7));
        let panicked = std::panic::catch_unwind(|| {
            metered(|| {
                encrypt(11);
                panic!("a test");
            })
        });
        assert!(panicked.is_err());
        encrypt(1);
        meter::add(100);
        (inner, meter::shown())
    });
    assert_eq!((inner, shown, outer), (5, 104, 104));
    assert_eq!(meter::shown(), before);
    encrypt(2);
    assert_eq!(meter::shown(), before + 2);
    let elsewhere = std::thread::spawn(meter::shown).join().expect("a number");
    assert_eq!(elsewhere, 0, "a thread has a meter of its own");
}
