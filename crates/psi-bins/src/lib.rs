//! Local parts of private set intersection whose results are shares: items put into bins, and hints by which a receiver finds, for the
//! item in each of its bins, something that tells nobody whether the sender has it too.
//!
//! A *receiver* puts its items into [`Bins`], at most one into each, and a *sender* puts each of its items into all bins where the
//! receiver may have put it. Both evaluate a pseudorandom function under the keys of items in bins, which the receiver does obliviously:
//! that part is not here, and takes blocks and gives *pads*. The sender draws [`Targets`] for each bin, and encodes them, under the
//! pads, in three stores, one for each of an item's bins: the [`Hints`]. What the receiver [finds](Found) for a bin is the bin's tag if the sender has the item,
//! and random otherwise. Whether two tags are equal is for a program on secrets.
//!
//! ```
//! use madrigal_kernels::{Aes128, Block};
//! use madrigal_psi_bins::{Bins, CHOICES, Found, Shape, Targets};
//! # use madrigal_ot::SeededRng;
//! # fn main() -> Result<(), madrigal_psi_bins::BinsError> {
//! # let mut rng = SeededRng::from_seed(Block::new(0, 1));
//! # let function = Aes128::new(Block::new(5, 6));
//! # let pads_of = |keys: &[Block]| { let mut pads = keys.to_vec(); function.encrypt_blocks(&mut pads); pads };
//! // Digests of items, under a salt of both parties, and payloads of the sender's.
//! let [ours, theirs] = [[1, 2], [2, 3]].map(|items| items.map(|item| Block::new(item, 7)));
//! let payloads = [20, 30];
//!
//! // The receiver, which tells the sender the seed.
//! let (seed, _, placed) = Bins::for_receiver(Shape::for_items(2)?, &ours, &mut rng)?;
//!
//! // The sender.
//! let bins = Bins::new(Shape::for_items(2)?, seed);
//! let spread = bins.spread(&theirs);
//! let targets = Targets::draw(bins.shape(), &mut rng);
//!
//! // The receiver, which knows how many items the sender has, and gets three stores of hints.
//! let pads = pads_of(&placed.keys);
//! let mut found = Found::nothing(&placed, true, &mut rng);
//! for choice in 0..CHOICES {
//!     let hints = targets.hints_with(&spread, choice, &payloads, &pads_of(&spread.keys[choice]), &mut rng)?;
//!     found.find_with(&placed, choice, 2, &hints, &pads)?;
//! }
//!
//! // A program on secrets.
//! let both = found.tags.iter().zip(targets.tags.iter()).zip(found.masked.iter().zip(targets.masks.iter()));
//! let sum: u64 = both.filter(|((a, t), _)| a == t).map(|(_, (z, w))| z.wrapping_sub(*w)).sum();
//! assert_eq!(sum, 20);
//! # Ok(())
//! # }
//! ```
//!
//! # Sources
//! Pinkas, Schneider, Tkachenko and Yanai, "Efficient Circuit-Based PSI with Linear Communication" (EUROCRYPT 2019, ePrint 2019/241);
//! Rindal and Schoppmann, "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE" (EUROCRYPT 2021, ePrint 2021/266), section 5; Raghuraman and
//! Rindal, "Blazing Fast PSI from Improved OKVS and Subfield VOLE" (CCS 2022, ePrint 2022/320). Deviations: the three bins of
//! an item are distinct, for which [`failure_bits`] has a proof of how rarely a receiver's items fit into no bins; and bins that stay
//! empty ask for nothing, because the function has one key for all bins and the number of items is public: the receiver
//! draws for itself what it would have found.
//!
//! # Side channels
//! Bins are addresses, and follow from a party's own items. Who sees the addresses that a party uses, or how long
//! placing takes, learns of its items; nobody at the other end of the network does. Tags, payloads and pads become addresses or
//! branches nowhere.

mod bins;
mod error;
mod failure;
mod hints;
mod place;
mod shape;

pub use bins::{Bins, Placed, Spread};
pub use error::BinsError;
pub use failure::failure_bits;
pub use hints::{Found, Hints, Targets};
pub use shape::Shape;

/// Bins where an item may be.
pub const CHOICES: usize = 3;
