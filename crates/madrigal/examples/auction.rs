//! A sealed-bid auction at the second price: all learn who wins and what is to be paid, and of the other
//! bids nothing but that they are no higher. Each bidder is a party.
//!
//! `cargo run --release --example auction -- --local 3 -i bid0=120 -i bid1=340 -i bid2=335`

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::App;
use madrigal::program::lower::Mix;
use madrigal::program::{Everyone, Opened, Secret};

pub(crate) fn command() -> App<(Opened<u32>, Opened<u32>)> {
    App::new(
        "auction",
        "Who bids most, and the second highest bid, which the winner pays; each party is a bidder",
        |p, _| {
            let bidders = p.parties();
            let bids: Vec<Secret<u32>> = Party::all(bidders)
                .map(|bidder| p.input_named(&format!("bid{}", bidder.index()), bidder, ()))
                .collect();
            let bids = p.stack(&bids, 0);
            let places = p.constant((0..bidders as u32).collect::<Vec<_>>());
            let (highest, places) = bids.top_with(2, &places);
            (
                p.open_named("winner", places.at(0, 0), Everyone),
                p.open_named("price", highest.at(0, 1), Everyone),
            )
        },
    )
    .parties(3)
    .mix(Mix::B)
    .telling(|&(winner, price), outputs, _| {
        let (winner, price) = (outputs.get(winner)[0], outputs.get(price)[0]);
        format!("bidder {winner} wins and pays {price}")
    })
}

fn main() -> ExitCode {
    command().main()
}
