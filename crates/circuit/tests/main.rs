//! The tests of this crate, in one executable: linking many takes longer than running them.

mod aby;
mod blocks;
mod branch_text;
mod branches;
mod errors;
mod floats;
mod hycc;
mod known_answers;
mod networks;
mod random;
mod sizes;
mod sums;
mod values;
