//! Digests of keys: the first 128 bits of SHA-256.

use madrigal_core::Wipe as _;
use madrigal_core::domains::{LIST_KEY, LIST_OTHER_KEY};
use madrigal_kernels::Block;
use sha2::block_api::compress256;

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;
/// Bytes at the end of the last block that tell the length in bits.
const LENGTH: usize = 8;
/// Initial value of SHA-256 (FIPS 180-4, section 5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Hashes keys under a salt. The first block of what is hashed has the domain, the number of the key's columns and the
/// salt, so it is put in once; a key of up to 55 bytes takes one block more.
pub(crate) struct Digester {
    state: [u32; 8],
    block: [u8; BLOCK],
}

impl Digester {
    /// Begins with the place of a key among a row's, the number of its columns, and the salt.
    pub(crate) fn new(salt: &[u8; 32], key: u8, columns: u8) -> Self {
        let mut block = [0; BLOCK];
        let (begin, rest) = block.split_at_mut(BLOCK - salt.len() - 1);
        match key {
            0 => begin.copy_from_slice(LIST_KEY),
            key => {
                begin[..LIST_OTHER_KEY.len()].copy_from_slice(LIST_OTHER_KEY);
                begin[LIST_OTHER_KEY.len()] = key;
            }
        }
        rest[0] = columns;
        rest[1..].copy_from_slice(salt);
        let mut state = INITIAL;
        compress256(&mut state, &[block]);
        Self { state, block }
    }

    /// The digest of a key. The first byte of the hash is the block's most significant one, so blocks are ordered as
    /// hashes are.
    #[inline]
    pub(crate) fn digest(&mut self, key: &[u8]) -> Block {
        let mut state = self.state;
        let (whole, rest) = key.as_chunks::<BLOCK>();
        compress256(&mut state, whole);
        let block = &mut self.block;
        block[..rest.len()].copy_from_slice(rest);
        block[rest.len()] = 0x80;
        if rest.len() + 1 > BLOCK - LENGTH {
            block[rest.len() + 1..].fill(0);
            compress256(&mut state, &[*block]);
            block.fill(0);
        } else {
            block[rest.len() + 1..BLOCK - LENGTH].fill(0);
        }
        let bits = 8 * (BLOCK + key.len()) as u64;
        block[BLOCK - LENGTH..].copy_from_slice(&bits.to_be_bytes());
        compress256(&mut state, &[*block]);
        let word = |at: usize| u64::from(state[at]) << 32 | u64::from(state[at + 1]);
        Block::new(word(2), word(0))
    }
}

impl Drop for Digester {
    fn drop(&mut self) {
        self.block.wipe();
    }
}

/// The digest of one key: of the values of a row's columns, in their normal form, under a salt. The digest is the first 128 bits of
/// SHA-256, the first byte being the most significant one, over: the domain; one byte, the number of columns; the salt; and of
/// one column its value, of several each value after its length (64 bits, least significant byte first).
///
/// # Panics
/// If there are more than [`crate::MOST_COLUMNS`] columns.
pub fn digest(salt: &[u8; 32], columns: &[&[u8]]) -> Block {
    digest_of(salt, 0, columns)
}

/// The digest of one of several keys of a row, by its place among them. The first one's is that of [`digest`]. Others have another domain, a byte shorter,
/// and after it one byte, the place.
///
/// # Panics
/// If there are more than [`crate::MOST_COLUMNS`] columns, or more than [`crate::MOST_KEYS_OF_ROW`] keys.
pub fn digest_of(salt: &[u8; 32], key: usize, columns: &[&[u8]]) -> Block {
    assert!(
        key < crate::MOST_KEYS_OF_ROW,
        "a row has that many keys at most"
    );
    assert!(
        columns.len() <= crate::MOST_COLUMNS,
        "a key has that many columns at most"
    );
    let mut digester = Digester::new(salt, key as u8, columns.len() as u8);
    match columns {
        [one] => digester.digest(one),
        several => {
            let mut joined = madrigal_core::Zeroizing::new(Vec::new());
            several.iter().for_each(|value| join(&mut joined, value));
            digester.digest(&joined)
        }
    }
}

/// Appends a column's value to a key of several.
pub(crate) fn join(key: &mut Vec<u8>, value: &[u8]) {
    key.extend_from_slice(&(value.len() as u64).to_le_bytes());
    key.extend_from_slice(value);
}

/// The partition of a digest, of `partitions`: its upper 64 bits, taken as a fraction of 1, times their number. Both parties must do just that.
#[inline]
pub fn partition_of(digest: Block, partitions: u32) -> u32 {
    ((u128::from(digest.hi()) * u128::from(partitions)) >> 64) as u32
}
