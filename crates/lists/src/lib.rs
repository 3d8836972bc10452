//! Lists that are matched with others' lists: [`read()`] makes digests of a file's keys, in partitions and in order, and
//! [`Listed::write_rows`] writes the rows that matched. The protocol that finds these is another's business; nothing here is sent.
//!
//! ```
//! use std::ops::ControlFlow;
//! use madrigal_lists::{Extra, Keep, Matches, Room, Source, read};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("customers.csv");
//! std::fs::write(&path, "mail,city\n Ann@x.org,Ulm\nbob@x.org,Bonn\nann@x.org ,Ulm\n")?;
//! let source = Source::new(&path, ["mail"])?.normal(&"lower,trim".parse()?);
//! assert_eq!(source.normal_text(), "lower,trim"); // all parties' must be the same
//! let salt = [7; 32]; // of this job, known to all parties, drawn when lists are settled
//! let room = Room { memory: 1 << 30, folder: folder.path().into() };
//! let mut watch = |_| ControlFlow::Continue(());
//! let listed = read(&source, &salt, 4, &room, &mut watch)?;
//! assert_eq!((listed.rows(), listed.keys()), (3, 2));
//!
//! // The protocol compares partition p with the others' partition p. Here one key matches:
//! let ann = madrigal_lists::digest(&salt, &[b"ann@x.org"]);
//! let mut matches = Matches::with_values(&listed, &room);
//! let part = listed.partition(madrigal_lists::partition_of(ann, 4))?;
//! for place in 0..part.len() {
//!     if part.digests()[place] == ann {
//!         for &row in part.rows(place) {
//!             matches.set(row, 1250)?;
//!         }
//!     }
//! }
//! let extra = Extra { name: "spent".into(), places: 2 };
//! let mut out = Vec::new();
//! listed.write_rows(&matches, Keep::All, Some(&extra), &mut out, &mut watch)?;
//! assert_eq!(out, b"mail,city,spent\n Ann@x.org,Ulm,12.50\nbob@x.org,Bonn,\nann@x.org ,Ulm,12.50\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Files
//! CSV with the names of the columns in the first line, as the crate `csv` reads it by default, and Parquet (feature `parquet`). Names of columns
//! count without white space around them. Keys are bytes: they need be no UTF-8, unless a [`Normal`] form is asked for. Lines of CSV
//! without a byte are no rows. A Parquet value is the text that a CSV file would have: integers in decimal, decimals with all their
//! places, days as `2024-01-31`, truth as `true` and `false`.
//!
//! # Keys
//! A key is the values of one column or of several, each in its normal form. Its digest is described at [`digest()`], its
//! partition at [`partition_of`]: parties that do just that, in whatever program, find the same. A key that is empty, or of
//! several columns has an empty one, matches nothing unless [`Empty`] says otherwise: the number of such rows is told. Rows of one key
//! are one element of the list; all of them match if the key does.
//!
//! A row may have several keys ([`Source::or`]), which the other list has in the same places: e-mail beside e-mail, phone beside phone. They are elements
//! of the list each, told apart by their places ([`digest_of`]), and a row matches by the first that does. Whoever learns which elements match so learns of each of its keys
//! whether the other list has it.
//!
//! # Properties
//! - *Digests* have 128 bits. Two different keys of n have the same one with a chance of n^2 2^-129: 2^-82 for 10^7 keys. The salt must not be
//!   known to whoever can choose keys: otherwise they find two of one digest in 2^64 steps.
//! - *Digests hide nothing by themselves*: who knows the salt tries all phone numbers. They are the party's own, and are wiped
//!   when they are dropped.
//! - *Files on the disk*: what memory does not hold goes to a file without a name (on Windows one that the system removes when it is closed) that its owner
//!   alone may read: digests, numbers of rows, payloads, in the clear, as the list itself is.
//! - *A file that changes* while a job runs is noticed by its length and time.
//!
//! # One thread
//! One core reads 10^7 rows in a good second, two thirds of it hashing. Files could be cut at line ends for several; quotes make it
//! uncertain which line ends are some. Hashing alone can be shared out with the bytes of a buffer at a time.

mod csv;
mod decimal;
mod digest;
mod error;
mod file;
mod listed;
mod matches;
mod normal;
#[cfg(feature = "parquet")]
mod parquet;
mod part;
mod read;
mod sink;
mod source;
mod store;
mod write;

#[doc(hidden)]
pub use csv::each_record;
pub use digest::{digest, digest_of, partition_of};
pub use error::{ListError, Names, Place, Problem};
pub use file::{Progress, Watch};
pub use listed::Listed;
pub use matches::Matches;
pub use normal::{Normal, NormalError};
pub use part::Part;
pub use read::read;
pub use source::{Duplicates, Empty, Format, Key, Payload, Source};
pub use store::Room;
pub use write::{Extra, Keep};

/// Columns that a key may have.
pub const MOST_COLUMNS: usize = 64;
/// Columns that a CSV file may have.
pub const MOST_FIELDS: usize = 1 << 16;
/// Keys that a row may have, of which the first that matches counts.
pub const MOST_KEYS_OF_ROW: usize = 16;
/// Bytes of the longest value of a key's column, before its normal form is made.
pub const MOST_KEY: usize = 1 << 20;
/// Bytes of the longest record of a CSV file.
pub const MOST_RECORD: usize = 16 << 20;
/// Rows of the longest list.
pub const MOST_ROWS: u32 = u32::MAX;
/// Partitions that a list may have.
pub const MOST_PARTITIONS: u32 = 1 << 16;
