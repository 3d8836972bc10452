//! A sealed-bid auction at the second price: all learn who wins and what is to be paid, and of the other
//! bids nothing but that they are no higher.
//!
//! `cargo run --release -p madrigal-program --example auction -- 120 340 335 90`
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use std::error::Error;

use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party, Program, Secret};

/// The winner's place among the bidders, each of whom is a party, and the price: the second highest bid.
pub(crate) fn auction(bids: &[u32], mix: Mix) -> Result<(usize, u32), Box<dyn Error>> {
    let mut p = Program::new(bids.len());
    let sealed: Vec<Secret<u32>> = Party::all(bids.len())
        .map(|bidder| p.input(bidder, ()))
        .collect();
    let sealed = p.stack(&sealed, 0);
    let bidders = p.constant((0..bids.len() as u32).collect::<Vec<_>>());
    let (highest, bidders) = sealed.top_with(2, &bidders);
    let (winner, price) = p.open((bidders.at(0, 0), highest.at(0, 1)), Everyone);

    let inputs = bids
        .iter()
        .fold(Inputs::new(), |inputs, &bid| inputs.with(bid));
    let outputs = p.finish()?.run_locally(&inputs, mix)?;
    Ok((outputs[0].get(winner)[0] as usize, outputs[0].get(price)[0]))
}

fn main() -> Result<(), Box<dyn Error>> {
    let bids: Vec<u32> = std::env::args()
        .skip(1)
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    if bids.len() < 2 {
        return Err("give the bids of two bidders or more, as numbers below 2^32".into());
    }
    let (winner, price) = auction(&bids, Mix::B)?;
    println!("bidder {winner} wins and pays {price}");
    Ok(())
}
