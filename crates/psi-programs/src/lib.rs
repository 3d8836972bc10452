//! Programs on items that two parties have in common, of which nobody learns which they are.
//!
//! A *receiver* and a *sender* have put their items into bins, and each has a word for each bin, its *tag*: the two are equal just
//! if the receiver's item in this bin is one of the sender's. [`Matched`] takes these as inputs of a program, and gives
//! what all else is made of: secret bits that say whether a bin's item is in [both sets](Matched::in_both), numbers that belong to
//! it, sums of them. Nothing is opened but what the program opens.
//!
//! ```
//! use madrigal_psi_programs::{Matched, Parts};
//! use madrigal_program::{Everyone, Inputs, Party, Program};
//! let mut p = Program::new(2);
//! let parts = Parts::new(4, Party::new(0), Party::new(1)); // the receiver, the sender
//! let matched = Matched::new(&mut p, parts);
//! let payload = matched.payload(&mut p);
//! let (count, sum) = (matched.count(), matched.sum(&payload));
//! let (count, sum) = p.open((count, sum), Everyone);
//!
//! // Tags of both in order, then masked payloads and masks: the first and the last bin match.
//! let inputs = Inputs::new().with([1u64, 2, 3, 4]).with([1u64, 7, 8, 4]).with([15u64, 2, 3, 5]).with([10u64, 6, 6, 6]);
//! let outputs = p.finish()?.simulate(&inputs)?;
//! assert_eq!((outputs.get(count), outputs.get(sum)), (vec![2], vec![4])); // 5 and -1
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why sums are cheap
//! A payload is the difference of two numbers, one of each party's, and so a sum of payloads that secret bits choose is the
//! difference of two sums of numbers that one party knows: of each bit an OT in either direction, and no triple. What is
//! left are the ANDs of each bin's comparison, one less than it has bits: 60 for a million bins.
//!
//! # Chances
//! Tags of different items agree in b bits once in 2^b times: in any of m bins with probability m 2^-b. As many bits are compared as make this 2^-40
//! ([`Parts::tag_bits`]).

mod keyed;
mod matched;
mod payloads;
mod questions;

pub use keyed::{Keyed, KeyedError, KeyedPlan, OwnPart, SharedAes, Tags};
pub use matched::{Matched, Parts, Payload};
pub use payloads::{PayloadError, check_payloads};
pub use questions::{Ask, Asked, Question};
