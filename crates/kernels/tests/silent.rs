//! GGM trees and local codes: every level against the definition written out in plain words.

use madrigal_kernels::{
    Block, Kernels, Level,
    ggm::TREES,
    lpn::{LOCALITY, LocalCode},
};

fn kernels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

/// Blocks that differ from one another (AES in counter mode).
fn blocks(seed: u64, n: usize) -> Vec<Block> {
    let mut out = vec![Block::ZERO; n];
    madrigal_kernels::Prg::new(Block::new(seed, 0)).fill_blocks(&mut out);
    out
}

fn tree_hash(key: Block, x: Block) -> Block {
    let x = Block::new(x.hi(), x.lo() ^ x.hi());
    madrigal_kernels::Aes128::new(key).encrypt(x) ^ x
}

#[test]
fn trees_grow_as_defined() {
    for kernels in kernels() {
        for parents in [0, 1, 2, 3, 7, 8, 9, 64, 129] {
            let key = Block::new(9, parents as u64);
            let trees = kernels.ggm_trees(key);
            let mut nodes = blocks(parents as u64, 2 * TREES * parents);
            let before = nodes.clone();
            let sums = trees.expand(&mut nodes);
            let mut expected = [Block::ZERO; TREES];
            for (i, &parent) in before[..TREES * parents].iter().enumerate() {
                let left = tree_hash(key, parent);
                assert!(nodes[i] == left, "{}, node {i}", kernels.level());
                assert!(nodes[TREES * parents + i] == left ^ parent);
                expected[i % TREES] ^= left;
            }
            assert!(sums == expected, "{}, {parents} parents", kernels.level());
        }
    }
}

#[test]
fn corrections_and_marks_hit_their_places() {
    for kernels in kernels() {
        let trees = kernels.ggm_trees(Block::ZERO);
        for parents in [1, 2, 5, 64] {
            let before = blocks(7, 2 * TREES * parents);
            let corrections: [Block; TREES] = blocks(8, TREES).try_into().unwrap();
            let places = [0, parents as u64 - 1, parents as u64 / 2, u64::MAX >> 1];
            let mut nodes = before.clone();
            trees.correct(&mut nodes, &places, &corrections);
            for (i, (&node, &old)) in nodes.iter().zip(&before).enumerate() {
                let hit = places[i % TREES] == (i / TREES % parents) as u64;
                let add = corrections[i % TREES] & Block::mask(hit);
                assert!(node == old ^ add, "{}, node {i}", kernels.level());
            }
            trees.mark(&mut nodes, &places);
            for (i, node) in nodes.iter().enumerate() {
                assert_eq!(node.bit(0), places[i % TREES] == (i / TREES) as u64);
            }
        }
    }
}

#[test]
fn values_are_added_at_their_places() {
    for kernels in kernels() {
        for nodes_each in [1, 2, 5, 64] {
            let before = blocks(7, TREES * nodes_each);
            let values: [Block; TREES] = blocks(8, TREES).try_into().unwrap();
            let places = [
                0,
                nodes_each as u64 - 1,
                nodes_each as u64 / 2,
                u64::MAX >> 1,
            ];
            let mut nodes = before.clone();
            kernels.ggm_add(&mut nodes, &places, &values);
            let mut words: Vec<u64> = before.iter().map(|block| block.lo()).collect();
            kernels.ggm_add(&mut words, &places, &values.map(Block::lo));
            for (i, &old) in before.iter().enumerate() {
                let hit = places[i % TREES] == (i / TREES) as u64;
                let new = old ^ (values[i % TREES] & Block::mask(hit));
                assert!(
                    nodes[i] == new && words[i] == new.lo(),
                    "{}, node {i}",
                    kernels.level()
                );
            }
        }
    }
}

#[test]
fn codes_add_what_their_stream_names() {
    for kernels in kernels() {
        for (dimension, rows, first) in [(1, 3, 0), (10, 128, 2), (999, 129, 4), (5000, 700, 0)] {
            let (table, before) = (blocks(1, dimension), blocks(2, rows));
            let mut encoded = before.clone();
            let code = kernels.local_code(Block::new(9, 9), dimension);
            code.encode(first, &table, &mut encoded);
            let low = |blocks: &[Block]| blocks.iter().map(|block| block.lo()).collect();
            let (words_of_table, mut words_encoded): (Vec<u64>, Vec<u64>) =
                (low(&table), low(&before));
            code.encode(first, &words_of_table, &mut words_encoded);
            assert!(words_encoded == low(&encoded), "{}", kernels.level());
            let mut stream = vec![0; (first as usize + rows + 1) * LOCALITY * 4];
            madrigal_kernels::Prg::new(Block::new(9, 9)).fill(&mut stream);
            let words: Vec<u64> = stream
                .as_chunks()
                .0
                .iter()
                .map(|&word| u64::from(u32::from_le_bytes(word)))
                .collect();
            for (i, &row) in encoded.iter().enumerate() {
                let words = &words[(first as usize + i) * LOCALITY..][..LOCALITY];
                let expected = words.iter().fold(before[i], |sum, word| {
                    sum ^ table[((word * dimension as u64) >> 32) as usize]
                });
                assert!(row == expected, "{}, row {i}", kernels.level());
            }
        }
    }
}

#[test]
#[should_panic(expected = "a local code of 5 inputs was given 4")]
fn a_short_table_is_refused() {
    LocalCode::new(Block::ZERO, 5).encode(0, &[Block::ZERO; 4], &mut [Block::ZERO]);
}
