//! From A to B through Y: the shares of a number are added in a garbled circuit, in a number of rounds that does not grow with
//! the number's bits, and labels become shares of bits without a message (MOTION, 7.5). In B the sum takes more rounds for
//! more bits.
//!
//! `cargo run --release --example through_garbled`

#![allow(clippy::print_stdout, reason = "an example shows what it did")]

use madrigal::Party;
use madrigal::circuit::Goal;
use madrigal::program::lower::{Mix, Sharing};
use madrigal::program::{Everyone, Number, Program};

/// Rounds online of numbers of a type that go from A to B, directly or through Y.
fn rounds<T: Number>(
    parties: usize,
    through: &[Sharing],
) -> Result<u64, Box<dyn std::error::Error>> {
    let mut p = Program::new(parties);
    let mut x = p.input::<T>(Party::new(0), [10]).to(Sharing::A);
    for &sharing in through {
        x = x.to(sharing);
    }
    let _ = p.open(x, Everyone);
    let mix: Mix = "A+B+Y".parse()?;
    let planned = p.finish()?.executable(mix, Goal::Depth)?.plan()?;
    let rounds = Party::all(parties).map(|party| planned.cost(party).online.rounds);
    Ok(rounds.max().unwrap_or(0))
}

/// Rounds of numbers of 8, 32 and 128 bits, directly and through Y.
pub(crate) fn table(parties: usize) -> Result<[[u64; 2]; 3], Box<dyn std::error::Error>> {
    let (direct, garbled) = (&[Sharing::B][..], &[Sharing::Y, Sharing::B][..]);
    Ok([
        [
            rounds::<u8>(parties, direct)?,
            rounds::<u8>(parties, garbled)?,
        ],
        [
            rounds::<u32>(parties, direct)?,
            rounds::<u32>(parties, garbled)?,
        ],
        [
            rounds::<u128>(parties, direct)?,
            rounds::<u128>(parties, garbled)?,
        ],
    ])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for parties in [2, 3, 5] {
        for (bits, [direct, garbled]) in [8, 32, 128].into_iter().zip(table(parties)?) {
            println!("{parties} parties, {bits} bits: {direct} rounds in B, {garbled} through Y");
        }
    }
    Ok(())
}
