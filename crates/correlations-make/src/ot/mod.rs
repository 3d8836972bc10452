//! Making by oblivious transfer between all pairs of parties, and triples of products by encryption.
//!
//! A kind has a layout (what a call sends to whom, of which messages and costs follow) and a call (what it makes of the
//! masks): its [recipe](recipe). A [line](line) has the extensions of one thread with all peers, and runs the calls;
//! several [lines](lines) share the items of a call out. The [source](source) is what others see.

mod base;
mod bits;
mod chains;
mod choice;
mod chosen_numbers;
mod costs;
mod elements;
mod extension;
mod gilboa;
mod in_order;
mod layout;
mod ledger;
mod line;
mod lines;
mod links;
mod matrices;
mod portions;
mod precomputed;
mod product_way;
mod recipe;
mod recipes;
mod rings;
mod rows;
mod source;
mod together;
mod vectors;
mod vole;
mod words;

pub use self::choice::Choice;
pub use self::costs::OtCosts;
pub use self::extension::{Extension, ExtensionError};
pub use self::lines::MAX_THREADS;
pub use self::precomputed::{PrecomputedReceiver, PrecomputedSender, precomputed_cost};
pub use self::product_way::Matrices;
pub use self::source::OtSource;
pub use self::vole::{
    Security, VOLE_ANSWER_BYTES, VOLE_CHALLENGE_BYTES, VoleAnswerer, VoleBase, VoleCost, VoleCosts,
    VoleExpected, VoleKeys, VoleKeysBegun, VoleValues,
};
