//! Correlated OTs of each party with all others, in both directions, as operations of N parties take them.

use madrigal_core::{Party, Zeroizing, bits};
use madrigal_correlations::Direction;
use madrigal_engine::Bill;
use madrigal_garbling::colours;
use madrigal_kernels::Block;
use madrigal_protocols::bmr::PeerRows;

/// Adds `count` OTs of each direction to what is needed.
pub(crate) fn needs(bill: &mut Bill, count: usize) {
    let parties = bill.parties();
    for from in Party::all(parties) {
        for to in from.others(parties) {
            bill.needs().correlated_ots(from, to, count);
        }
    }
}

/// Correlated OTs with all peers: our choices, which are the same with all, and rows.
pub(crate) struct CommonOts<'a> {
    pub(crate) choices: Zeroizing<Vec<u8>>,
    pub(crate) rows: Vec<PeerRows<'a>>,
}

impl<'a> CommonOts<'a> {
    /// Takes the rows of all directions that there are.
    pub(crate) fn new(me: Party, parties: usize, ots: &[(Direction, &'a [Block])]) -> Self {
        let of = |way| {
            let found = ots.iter().find(|(other, _)| *other == way);
            found.map_or(&[][..], |&(_, rows)| rows)
        };
        let with = |peer| PeerRows {
            sent: of((me, peer)),
            received: of((peer, me)),
        };
        let rows: Vec<_> = me.others(parties).map(with).collect();
        let received = rows.first().map_or(&[][..], |with| with.received);
        let mut choices = Zeroizing::new(vec![0; bits::bytes_for(received.len())]);
        colours(received, &mut choices);
        Self { choices, rows }
    }
}
