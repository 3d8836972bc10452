//! A sealed-bid auction: the highest bid wins, and pays the second highest (Vickrey's auction).

use madrigal_program::{Client, Computation, Program, ProgramError};
use madrigal_program_file::ProgramFile;

use super::{DemoError, in_general};

/// The dimension of submissions.
pub(crate) const BIDDERS: &str = "bidders";
/// The client that learns who has won and what is paid.
pub(crate) const AUCTIONEER: &str = "auctioneer";

/// An auction of any number of sealed bids, each with the number of the bidder's paddle: the auctioneer learns the paddle of the highest bid and the
/// price, which is the second highest. Nobody learns the highest bid itself, or the others; the servers learn nothing. Of equal highest bids one
/// wins, and pays as much. The price of a bidder alone is 0, and a paddle of 0 says that nobody bid above 0.
///
/// # Errors
/// [`DemoError`].
pub fn auction(servers: usize) -> Result<ProgramFile, DemoError> {
    in_general(BIDDERS, |bidders| of_bidders(servers, bidders))
}

fn of_bidders(servers: usize, bidders: usize) -> Result<Computation, ProgramError> {
    let (bidder, auctioneer) = (Client::new("bidder"), Client::new(AUCTIONEER));
    let mut program = Program::new(servers);
    let bids = program.input_named::<u32>("bid", &bidder, [bidders]);
    let paddles = program.input_named::<u32>("paddle", &bidder, [bidders]);
    // A bid of nobody, so that there is a second one always.
    let nobody = program.constant([0_u32]);
    let (bids, paddles) = (bids.join(&nobody, 0), paddles.join(&nobody, 0));
    let (highest, holders) = bids.top_with(2, &paddles);
    program.open_named("winner", &holders.slice(0, ..1), &auctioneer);
    program.open_named("price", &highest.slice(0, 1..), &auctioneer);
    program.finish()
}

#[cfg(test)]
mod tests {
    use madrigal_program::Inputs;

    use super::*;

    #[test]
    fn the_highest_bid_wins_and_pays_the_second() {
        let cases: [(&[u32], &[u32], u32, u32); 4] = [
            (&[300, 700, 500], &[11, 22, 33], 22, 500),
            (&[9, 9, 1], &[1, 1, 2], 1, 9),
            (&[5], &[7], 7, 0),
            (&[0, u32::MAX, 3, 2, 8], &[1, 2, 3, 4, 5], 2, 8),
        ];
        let file = auction(3).unwrap();
        for (bids, paddles, winner, price) in cases {
            let program = file.bind(&[(BIDDERS, bids.len())]).unwrap();
            let inputs = Inputs::new()
                .with_named("bid", bids.to_vec())
                .with_named("paddle", paddles.to_vec());
            let told = program.simulate(&inputs).unwrap();
            assert_eq!(told.named::<u32>("winner").unwrap(), [winner], "{bids:?}");
            assert_eq!(told.named::<u32>("price").unwrap(), [price], "{bids:?}");
        }
    }
}
