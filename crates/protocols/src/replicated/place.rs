//! Rows put at secret places, without anybody learning which row went where.
//!
//! The rows are shuffled together with their places. These are then opened, and all parties move the rows there.
//!
//! | operation, n rows | rounds | sent by each |
//! |---|---|---|
//! | [`place`](ReplicatedRings::place) | 3 | a shuffle of places and columns; a number of 32 bits for each row |
//!
//! Places are a permutation. Shuffled ones are uniform whatever they were, as the shuffle's order is and no party knows that: opened
//! they tell nothing. Places of which two are alike would be seen to be alike, and that is an error.

use madrigal_core::Party;
use madrigal_net::Result;

use super::{Column, PARTIES, ReplicatedRings};
use crate::sorting::inverse;

impl ReplicatedRings {
    /// Puts each row of columns where `places` says, which has numbers of 32 bits from 0 on, each once. Three rounds.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network, and places that are no permutation: a party's shares are wrong then.
    ///
    /// # Panics
    /// If places have another width, columns are not as long, or there are 2^32 rows or more.
    pub async fn place(&mut self, places: Column, columns: Vec<Column>) -> Result<Vec<Column>> {
        let shuffle = self.draw_shuffle(places.rows());
        let all = std::iter::once(places).chain(columns).collect();
        let mut moved = self.shuffle(&shuffle, all).await?.into_iter();
        drop(shuffle);
        let Some(Column::U32(masking, places)) = moved.next() else {
            panic!("places are numbers of 32 bits")
        };
        let all: Vec<Party> = Party::all(PARTIES).collect();
        let opened = self.open_masked((&places).into(), masking, &all).await?;
        let Some(order) = inverse(&opened.expect("opened to all")) else {
            let from = &self.strand.neighbours.previous;
            return Err(from.refuse("two rows with the same place, or one beyond the last"));
        };
        let mut columns: Vec<Column> = moved.collect();
        columns.iter_mut().for_each(|column| column.reorder(&order));
        Ok(columns)
    }
}
