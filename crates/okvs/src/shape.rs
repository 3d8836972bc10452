//! Sizes of a store.

use madrigal_kernels::band::{BAND, STEP};

use crate::OkvsError;

/// Columns beyond one for each key, in 1024ths, for numbers of keys up to a power of two. Chosen so that rows are
/// dependent once in 2^40 stores at most; a test computes that anew.
const MORE: [(u32, u64); 4] = [(16, 80), (20, 88), (24, 94), (28, 101)];

/// Numbers of keys and of columns of a store. Both parties know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    keys: usize,
    columns: usize,
}

impl Shape {
    /// The most keys of a store.
    pub const MOST_KEYS: u64 = 1 << MORE[MORE.len() - 1].0;

    /// The shape for `keys` keys: 256 columns and 1.08 to 1.10 for each key, so that encoding fails once in 2^40 times
    /// at most ([`failure_bits`](crate::failure_bits)).
    ///
    /// # Errors
    /// [`OkvsError::TooManyKeys`] beyond [`MOST_KEYS`](Self::MOST_KEYS).
    pub fn for_keys(keys: u64) -> Result<Self, OkvsError> {
        let more = MORE.iter().find(|(log, _)| keys <= 1 << log);
        let &(_, more) = more.ok_or(OkvsError::TooManyKeys {
            keys,
            most: Self::MOST_KEYS,
        })?;
        let columns = BAND as u64 + (keys * (1024 + more)).div_ceil(1024);
        Ok(Shape {
            keys: keys as usize,
            columns: columns.next_multiple_of(64) as usize,
        })
    }

    /// A shape of a caller's own choice, of which nothing says how often encoding fails but
    /// [`failure_bits`](crate::failure_bits). Failures depend on the keys, so where they are not rare they tell of them.
    ///
    /// # Errors
    /// [`OkvsError::TooManyKeys`] beyond [`MOST_KEYS`](Self::MOST_KEYS); [`OkvsError::Columns`] unless `columns` is a
    /// multiple of 64 from [`BAND`] to 2^31.
    pub fn with_columns(keys: u64, columns: u64) -> Result<Self, OkvsError> {
        if keys > Self::MOST_KEYS {
            let most = Self::MOST_KEYS;
            return Err(OkvsError::TooManyKeys { keys, most });
        }
        if !columns.is_multiple_of(64) || !(BAND as u64..=1 << 31).contains(&columns) {
            return Err(OkvsError::Columns { columns });
        }
        Ok(Shape {
            keys: keys as usize,
            columns: columns as usize,
        })
    }

    /// Keys of the store.
    #[must_use]
    pub const fn keys(&self) -> usize {
        self.keys
    }

    /// Elements that the store consists of.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Places at which a row may begin.
    pub(crate) const fn starts(&self) -> u64 {
        ((self.columns - BAND) / STEP + 1) as u64
    }

    /// Blocks of AES that encoding the store computes, but for those of the caller's generator.
    #[must_use]
    pub const fn encode_aes(&self) -> u64 {
        crate::rows::KEY_BLOCKS + 5 * self.keys as u64
    }

    /// Blocks of AES that decoding `keys` keys computes.
    #[must_use]
    pub const fn decode_aes(keys: u64) -> u64 {
        crate::rows::KEY_BLOCKS + 5 * keys
    }
}
