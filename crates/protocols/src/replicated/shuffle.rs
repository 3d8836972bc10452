//! Shuffles: rows in an order that no party knows (Araki et al., CCS 2021, section 4).
//!
//! Each two parties have a random permutation from their generator, and the rows go through all three, so that each party lacks
//! one. Before each, the two that know it hold the rows in two summands, each of which they permute; then they mask them, and one
//! of the two hands its summand on.
//!
//! | | P_0 | P_1 | P_2 |
//! |---|---|---|---|
//! | permutation of P_0 and P_1 | v_0 + v_1 + r, to P_2 | v_2 - r | |
//! | of P_1 and P_2 | | less s, to P_0 | plus s |
//! | of P_2 and P_0 | plus t, to P_1 as component 1 | | less t and u, to P_1 as component 2 |
//!
//! with masks r, s, and t and u, of the pair at work; u is component 0 of the result. A party receives nothing that is not masked by a
//! generator that it lacks. Bits are masked by XOR, numbers by sums.
//!
//! | operation, n rows | rounds | elements sent |
//! |---|---|---|
//! | [`draw_shuffle`](ReplicatedRings::draw_shuffle) | 0 | 0 |
//! | [`shuffle`](ReplicatedRings::shuffle), each column | 2 | 2 n by P_0, n by each other |
//!
//! Two parties index memory by a permutation that they know and the third one does not: who watches the caches of a party learns
//! of two permutations, as who watches its memory does.

use std::fmt;

use madrigal_core::{Ring, Zeroizing};
use madrigal_correlations::Width;
use madrigal_kernels::{crew, rings};
use madrigal_net::{Channel, Context, Generator, Result};

use super::flow::{Flow, Pool};
use super::{Masking, Neighbours, ReplicatedBits, ReplicatedRings, RingShares};
use crate::permutations::permutation;

/// Elements that a thread permutes at least where several do.
const LEAST: usize = 1 << 14;

/// Random permutations of a number of rows that this party has in common with each other one: what is shuffled with one of these
/// is shuffled alike. Wiped when dropped.
pub struct Shuffle {
    rows: usize,
    /// Old place of each row; in the order in which this party needs them.
    permutations: [Zeroizing<Vec<u32>>; 2],
}

impl fmt::Debug for Shuffle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shuffle({} rows)", self.rows)
    }
}

impl Shuffle {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

macro_rules! columns {
    ($($ring:ident $variant:ident)*) => {
        /// A column of a table: an element for each row, numbers or words of bits.
        #[derive(Clone)]
        pub enum Column {
            $(
                #[doc = concat!("Elements of `", stringify!($ring), "`.")]
                $variant(Masking, RingShares<$ring>),
            )*
        }

        impl Column {
            /// Number of rows.
            pub fn rows(&self) -> usize {
                match self {
                    $(Self::$variant(_, shares) => shares.len(),)*
                }
            }

            async fn shuffled(self, strand: &mut ReplicatedBits, by: &Shuffle) -> Result<Self> {
                match self {
                    $(Self::$variant(masking, shares) => {
                        let shuffled = strand.shuffle(shares.into_components(), masking, by).await?;
                        Ok(Self::$variant(masking, shuffled))
                    })*
                }
            }

            /// Puts the rows into an order that all know, which gives the old place of each new row. No message.
            ///
            /// # Panics
            /// If there is no such row.
            pub fn reorder(&mut self, order: &[u32]) {
                match self {
                    $(Self::$variant(_, shares) => {
                        for part in &mut shares.components {
                            *part = gather(part, order);
                        }
                    })*
                }
            }

            /// Width of the elements.
            pub fn width(&self) -> Width {
                match self {
                    $(Self::$variant(..) => Width::of::<$ring>(),)*
                }
            }
        }

        $(impl TryFrom<Column> for RingShares<$ring> {
            type Error = Column;

            fn try_from(column: Column) -> std::result::Result<Self, Column> {
                match column {
                    Column::$variant(_, shares) => Ok(shares),
                    other => Err(other),
                }
            }
        })*

        $(impl From<(Masking, RingShares<$ring>)> for Column {
            fn from((masking, shares): (Masking, RingShares<$ring>)) -> Self {
                Self::$variant(masking, shares)
            }
        })*
    };
}
columns!(u8 U8 u16 U16 u32 U32 u64 U64 u128 U128);

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Column({} rows)", self.rows())
    }
}

impl ReplicatedRings {
    /// Draws the permutations of a shuffle of `rows` rows. No message.
    ///
    /// # Panics
    /// If there are 2^32 rows or more.
    pub fn draw_shuffle(&mut self, rows: usize) -> Shuffle {
        assert!(u32::try_from(rows).is_ok(), "{rows} rows are too many");
        let zeros = &mut self.strand.zeros;
        let [first, second] =
            [&mut zeros.first, &mut zeros.second].map(|pair| permutation(pair, rows));
        let permutations = match self.strand.context.me().index() {
            // P_0 and P_1 permute before P_2 and P_0 do.
            0 => [second, first],
            // No message comes between the two of P_1.
            1 => [gather(&first, &second), Zeroizing::default()],
            _ => [first, second],
        };
        Shuffle { rows, permutations }
    }

    /// Shuffles columns, all alike. Two rounds.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If a column has not as many rows as the shuffle.
    pub async fn shuffle(&mut self, by: &Shuffle, columns: Vec<Column>) -> Result<Vec<Column>> {
        for column in &columns {
            assert_eq!(column.rows(), by.rows, "rows of a column");
        }
        let number = columns.len();
        let columns = columns.into_iter().enumerate();
        let each = columns.map(|(place, column)| (place..place + 1, column));
        let work = async |strand: &mut ReplicatedBits, _, column: Column| {
            column.shuffled(strand, by).await
        };
        let mut done = self.side_by_side(each, work).await?;
        done.sort_by_key(|(place, _)| place.start);
        assert_eq!(done.len(), number);
        Ok(done.into_iter().map(|(_, column)| column).collect())
    }
}

/// The elements at these places.
pub(super) fn gather<T: Ring>(from: &[T], places: &[u32]) -> Zeroizing<Vec<T>> {
    let mut to = Zeroizing::zeros(places.len());
    crew::each(crew::slices(&mut to, 1, LEAST), |(first, to)| {
        gather_into(from, &places[first..][..to.len()], to);
    });
    to
}

pub(super) fn gather_into<T: Ring>(from: &[T], places: &[u32], to: &mut [T]) {
    for (to, &place) in to.iter_mut().zip(places) {
        *to = from[place as usize];
    }
}

/// Both ways to one party.
fn with<'a>(context: &'a Context, channel: &'a mut Channel, pool: &'a mut Pool) -> Flow<'a> {
    let Channel { tx, rx } = channel;
    Flow {
        context,
        to: tx,
        from: rx,
        pool,
    }
}

/// Sends elements, and receives others.
async fn exchange<T: Ring>(flow: Flow<'_>, sent: &[T], received: &mut [T]) -> Result<()> {
    flow.run::<T>(
        sent.len(),
        |piece, send| send(&sent[piece]),
        received.len(),
        |piece, bytes| rings::as_bytes_mut(&mut received[piece]).copy_from_slice(bytes),
    )
    .await
}

impl ReplicatedBits {
    /// [`ReplicatedRings::shuffle`], for a column.
    async fn shuffle<T: Ring>(
        &mut self,
        [first, second]: [Zeroizing<Vec<T>>; 2],
        masking: Masking,
        by: &Shuffle,
    ) -> Result<RingShares<T>> {
        let rows = by.rows;
        let [earlier, later] = by.permutations.each_ref().map(|part| part.as_slice());
        let Self {
            context,
            neighbours: Neighbours { previous, next },
            zeros,
            pool,
            ..
        } = self;
        let draw = |pair: &mut Generator| {
            let mut mask = Zeroizing::<Vec<T>>::zeros(rows);
            pair.fill(rings::as_bytes_mut(&mut mask));
            mask
        };
        let components = match context.me().index() {
            0 => {
                let mut mine = draw(&mut zeros.second);
                masking.add(&mut mine, &first);
                masking.add(&mut mine, &second);
                let (sent, mut theirs) = (gather(&mine, earlier), second);
                let flow = Flow {
                    context,
                    to: &mut previous.tx,
                    from: &mut next.rx,
                    pool,
                };
                exchange(flow, &sent, &mut theirs).await?;
                let own = draw(&mut zeros.first);
                let mut sent = draw(&mut zeros.first);
                masking.add(&mut sent, &gather(&theirs, later));
                exchange(with(context, next, pool), &sent, &mut []).await?;
                [own, sent]
            }
            1 => {
                let mut mine = second;
                masking.sub(&mut mine, &draw(&mut zeros.first));
                let mut sent = gather(&mine, earlier);
                masking.sub(&mut sent, &draw(&mut zeros.second));
                exchange(with(context, previous, pool), &sent, &mut []).await?;
                let mut parts = [first, mine];
                let heard = [context.beside(), context.beside()];
                for ((part, channel), heard) in parts.iter_mut().zip([previous, next]).zip(&heard) {
                    exchange(with(heard, channel, pool), &[], part).await?;
                    channel.count_in(context);
                }
                heard.iter().for_each(|heard| context.join(heard));
                parts
            }
            _ => {
                let mut theirs = first;
                exchange(with(context, next, pool), &[], &mut theirs).await?;
                let mut mine = gather(&theirs, earlier);
                masking.add(&mut mine, &draw(&mut zeros.first));
                let own = draw(&mut zeros.second);
                let mut sent = gather(&mine, later);
                masking.sub(&mut sent, &own);
                masking.sub(&mut sent, &draw(&mut zeros.second));
                exchange(with(context, previous, pool), &sent, &mut []).await?;
                [sent, own]
            }
        };
        Ok(RingShares { components })
    }
}
