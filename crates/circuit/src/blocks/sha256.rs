//! The compression function of SHA-256 (FIPS 180-4). Values are strings of bytes, each byte with its
//! lowest bit first.

use crate::builder::{Builder, Goal, Wire};

/// State that the hash of any message starts from.
const INITIAL: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// The rounds' constants: the first 32 bits after the point of the cube roots of the first 64 primes.
const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

impl Builder {
    /// The state that a message's first block is compressed into, 256 constant bits.
    pub fn sha256_start(&mut self) -> Vec<Wire> {
        let words: Vec<_> = INITIAL.iter().map(|&word| self.word(word)).collect();
        words.iter().flat_map(|word| bytes(word)).collect()
    }

    /// Compresses a block of 512 bits into a state of 256: all of SHA-256 but the padding of messages.
    /// Sums of several words are added up in columns, which takes some ANDs less than one after the
    /// other. About 22,300 ANDs.
    ///
    /// # Panics
    /// If state or block have another length.
    pub fn sha256_block(&mut self, state: &[Wire], block: &[Wire]) -> Vec<Wire> {
        assert_eq!(state.len(), 256, "bits of a state of SHA-256");
        assert_eq!(block.len(), 512, "bits of a block of SHA-256");
        let mut schedule: Vec<_> = block.chunks(32).map(bytes).collect();
        for at in 16..64 {
            let near = self.spread(&schedule[at - 2], [17, 19], 10);
            let far = self.spread(&schedule[at - 15], [7, 18], 3);
            let sum = [&near, &schedule[at - 7], &far, &schedule[at - 16]].map(Vec::clone);
            let word = self.add_words(&sum);
            schedule.push(word);
        }
        let start: Vec<_> = state.chunks(32).map(bytes).collect();
        let mut words = start.clone();
        for (word, constant) in schedule.iter().zip(ROUNDS) {
            let [a, b, c, d, e, f, g, h] = &words[..] else {
                unreachable!("eight words of state")
            };
            let chosen = self.select_each(e, f, g);
            let most: Vec<_> = (0..32).map(|i| self.majority(a[i], b[i], c[i])).collect();
            let (e_mixed, a_mixed) = (self.mix(e, [6, 11, 25]), self.mix(a, [2, 13, 22]));
            let constant = self.word(constant);
            let d = d.clone();
            let mut first = vec![h.clone(), e_mixed, chosen, constant, word.clone()];
            // One carry chain after another, or all that makes a word in one.
            if self.goal() == Goal::Size {
                first = vec![self.add_words(&first)];
            }
            let below = self.add_words(&[&first[..], &[d]].concat());
            let above = self.add_words(&[&first[..], &[a_mixed, most]].concat());
            words.insert(0, above);
            words[4] = below;
            words.pop();
        }
        let mut next = Vec::with_capacity(256);
        for (word, start) in words.iter().zip(&start) {
            next.extend(bytes(&self.add(word, start)));
        }
        next
    }

    fn word(&mut self, value: u32) -> Vec<Wire> {
        self.number(value.into(), 32)
    }

    fn select_each(&mut self, which: &[Wire], ones: &[Wire], zeros: &[Wire]) -> Vec<Wire> {
        let differ = self.xor_all(ones, zeros);
        let change = self.and_all(which, &differ);
        self.xor_all(&change, zeros)
    }

    fn add_words(&mut self, words: &[Vec<Wire>]) -> Vec<Wire> {
        let column = |bit: usize| words.iter().map(|word| word[bit]).collect();
        let columns = (0..32).map(column).collect();
        self.add_columns(columns)
    }

    /// The XOR of a word rotated right by three amounts.
    fn mix(&mut self, word: &[Wire], by: [usize; 3]) -> Vec<Wire> {
        let bit = |i: usize| by.map(|by| word[(i + by) % 32]);
        (0..32).map(|i| self.sum_of_bits(&bit(i))).collect()
    }

    /// The XOR of a word rotated right by two amounts and shifted right by a third.
    fn spread(&mut self, word: &[Wire], by: [usize; 2], shift: usize) -> Vec<Wire> {
        let mut mixed = Vec::with_capacity(32);
        for i in 0..32 {
            let mut bits = by.map(|by| word[(i + by) % 32]).to_vec();
            bits.extend(word.get(i + shift));
            mixed.push(self.sum_of_bits(&bits));
        }
        mixed
    }

    fn sum_of_bits(&mut self, bits: &[Wire]) -> Wire {
        let zero = self.constant(false);
        bits.iter().fold(zero, |sum, &bit| self.xor(sum, bit))
    }
}

/// Four bytes, highest first, as a word, lowest bit first; and back.
fn bytes(word: &[Wire]) -> Vec<Wire> {
    word.chunks(8).rev().flatten().copied().collect()
}
