//! Lists.

mod csv;
mod decimal;
mod digest;
mod error;
mod matches;
mod normal;
mod part;
mod read;
mod source;
mod store;
mod write;

#[doc(hidden)]
pub use csv::each_record;
pub use digest::{digest, partition_of};
pub use error::{ListError, Names, Place, Problem};
pub use matches::Matches;
pub use normal::{Normal, NormalError};
pub use part::Part;
pub use read::{Listed, Progress, Watch, read};
pub use source::{Duplicates, Empty, Format, Key, Payload, Source};
pub use store::Room;
pub use write::{Extra, Keep};

/// Columns that a key may have.
pub const MOST_COLUMNS: usize = 64;
/// Bytes of the longest value of a key's column, before its normal form is made.
pub const MOST_KEY: usize = 1 << 20;
/// Bytes of the longest record of a CSV file.
pub const MOST_RECORD: usize = 16 << 20;
/// Rows of the longest list.
pub const MOST_ROWS: u32 = u32::MAX;
/// Partitions that a list may have.
pub const MOST_PARTITIONS: u32 = 1 << 16;
