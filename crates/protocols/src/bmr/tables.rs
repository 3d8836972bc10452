//! Tables: each party garbles its shares, chunk by chunk, and all are added up while more are garbled.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::{BoxFuture, join, try_join_all};
use madrigal_circuit::Layered;
use madrigal_core::Party;
use madrigal_garbling::bmr::{Garbling, Products, Shape};
use madrigal_garbling::{Chunk, Program};
use madrigal_kernels as kernels;
use madrigal_net::{Channel, Context, Result, breathe};
use madrigal_net::{Receiver, Sender};

use super::{CHUNK, FITS};
use crate::Opening;

/// The party that adds up in [`Opening::Relay`].
pub(super) const RELAY: Party = Party::new(0);

/// Bytes of one column in each message. Chunks go together until they have [`CHUNK`] bytes.
pub(super) fn lengths(shape: Shape, layered: &Layered) -> Vec<usize> {
    // Cut as the chunks are, without making a program of the circuit again.
    let program = Program::new(layered);
    parcels(shape, &program)
        .iter()
        .map(|parcel| parcel.bytes)
        .collect()
}

/// What goes in one message.
pub(super) struct Parcel<'c> {
    pub chunks: Vec<Chunk<'c>>,
    /// Of one column.
    pub bytes: usize,
}

/// Also chunks without ANDs, which go with what comes before.
pub(super) fn parcels<'c>(shape: Shape, program: &'c Program<'_>) -> Vec<Parcel<'c>> {
    let mut all: Vec<Parcel<'_>> = Vec::new();
    for chunk in shape.chunks(program, CHUNK) {
        let bytes = shape.column_bytes(chunk.ands.len());
        match all.last_mut() {
            Some(last) if last.bytes < CHUNK || bytes == 0 => {
                last.chunks.push(chunk);
                last.bytes += bytes;
            }
            _ => all.push(Parcel {
                chunks: vec![chunk],
                bytes,
            }),
        }
    }
    all
}

/// The columns of all parties but us, for each parcel a string each: strings of this length the allocator has at
/// hand when the block before has been evaluated, where one for all would be new pages each time.
struct Tables(Mutex<Vec<Vec<Vec<u8>>>>);

impl Tables {
    fn new(columns: usize, parcels: usize) -> Self {
        Self(Mutex::new(vec![vec![Vec::new(); columns]; parcels]))
    }

    fn with(&self, parcel: usize, column: usize, change: impl FnOnce(&mut Vec<u8>)) {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut tables[parcel][column]);
    }

    /// Adds a share, or begins with it.
    fn add(&self, parcel: usize, column: usize, share: &[u8]) {
        self.with(parcel, column, |table| {
            if table.is_empty() {
                *table = share.to_vec();
            } else {
                kernels::xor_into(table, share);
            }
        });
    }

    /// As [`add`](Self::add), of a share that is used for nothing else.
    fn add_owned(&self, parcel: usize, column: usize, share: Vec<u8>) {
        self.with(parcel, column, |table| {
            if table.is_empty() {
                *table = share;
            } else {
                kernels::xor_into(table, &share);
            }
        });
    }

    fn finish(self) -> Vec<Vec<Vec<u8>>> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Our shares, parcel by parcel.
struct Shares<'a> {
    context: Context,
    garbling: &'a mut Garbling,
    products: Products<'a>,
}

impl Shares<'_> {
    /// Garbles a parcel: all columns of it.
    fn garble(&mut self, parcel: &Parcel<'_>) -> Vec<Vec<u8>> {
        let shape = self.garbling.shape();
        let mut columns = vec![vec![0; parcel.bytes]; shape.parties];
        let mut at = 0;
        self.context.metered_now(|| {
            for chunk in &parcel.chunks {
                let end = at + shape.column_bytes(chunk.ands.len());
                let parts = columns.iter_mut().map(|column| &mut column[at..end]);
                let mut parts: Vec<_> = parts.collect();
                let done = self.garbling.garble(chunk, self.products, &mut parts);
                done.expect(FITS);
                at = end;
            }
        });
        columns
    }
}

/// Garbles the circuit with all others: gives, for each parcel, the columns of all but us, in their order.
///
/// Boxed, so that it is compiled here and not in every crate that awaits it.
pub(super) fn add_up<'a>(
    opening: Opening,
    context: &'a Context,
    channels: &'a mut [Channel],
    program: &'a Program<'_>,
    garbling: &'a mut Garbling,
    products: Products<'a>,
) -> BoxFuture<'a, Result<Vec<Vec<Vec<u8>>>>> {
    let shape = garbling.shape();
    let parcels = parcels(shape, program);
    let tables = Tables::new(shape.parties - 1, parcels.len());
    let shares = Shares {
        context: context.clone(),
        garbling,
        products,
    };
    match opening {
        Opening::Direct => Box::pin(directly(context, channels, parcels, shares, tables)),
        Opening::Relay if context.me() == RELAY => {
            Box::pin(as_relay(channels, parcels, shares, tables))
        }
        Opening::Relay => Box::pin(through_relay(context, channels, parcels, shares, tables)),
    }
}

/// The columns that a party needs: all but its own. A column's place among those is that of its party among
/// the party's peers.
fn columns_for(party: Party, parties: usize) -> impl Iterator<Item = usize> + Clone {
    (0..parties).filter(move |&column| column != party.index())
}

/// Each sends each the columns that it needs.
async fn directly(
    context: &Context,
    channels: &mut [Channel],
    parcels: Vec<Parcel<'_>>,
    mut shares: Shares<'_>,
    tables: Tables,
) -> Result<Vec<Vec<Vec<u8>>>> {
    let (me, parties) = (context.me(), context.parties());
    let lengths: Vec<usize> = parcels.iter().map(|parcel| parcel.bytes).collect();
    let (mut senders, receivers) = split(channels);
    let send = async {
        for (at, parcel) in parcels.iter().enumerate() {
            let mut columns = shares.garble(parcel);
            for (place, column) in columns_for(me, parties).enumerate() {
                if parties == 2 {
                    // Nobody else needs it.
                    tables.add_owned(at, place, std::mem::take(&mut columns[column]));
                } else {
                    tables.add(at, place, &columns[column]);
                }
            }
            let columns: Vec<Bytes> = columns.into_iter().map(Bytes::from).collect();
            if parcel.bytes > 0 {
                for (peer, tx) in &mut senders {
                    for column in columns_for(*peer, parties) {
                        tx.send(columns[column].clone()).await?;
                    }
                }
            }
            breathe().await;
        }
        Ok(())
    };
    let receive = receivers.into_iter().map(|(_, rx)| {
        let add = |at, place, bytes: &Bytes| tables.add(at, place, bytes);
        receive_columns(context, rx, &lengths, parties - 1, add)
    });
    let (sent, received) = join(send, try_join_all(receive)).await;
    sent?;
    join_all(context, received?);
    Ok(tables.finish())
}

/// Sends the relay everything, and receives the sums.
async fn through_relay(
    context: &Context,
    channels: &mut [Channel],
    parcels: Vec<Parcel<'_>>,
    mut shares: Shares<'_>,
    tables: Tables,
) -> Result<Vec<Vec<Vec<u8>>>> {
    let parties = context.parties();
    let lengths: Vec<usize> = parcels.iter().map(|parcel| parcel.bytes).collect();
    let relay = channels.iter_mut().find(|channel| channel.peer() == RELAY);
    let Channel { tx, rx } = relay.expect("there is a channel to every peer");
    let send = async {
        for parcel in &parcels {
            let columns = shares.garble(parcel);
            if parcel.bytes > 0 {
                for column in columns {
                    tx.send(column).await?;
                }
            }
            breathe().await;
        }
        Ok(())
    };
    let add = |at, place, bytes: &Bytes| tables.add(at, place, bytes);
    let receive = receive_columns(context, rx, &lengths, parties - 1, add);
    let (sent, received) = join(send, receive).await;
    sent?;
    join_all(context, vec![received?]);
    Ok(tables.finish())
}

/// Adds up what all send, parcel by parcel, and sends each the sums that it needs. The others receive while they
/// send, so nobody waits for ever.
async fn as_relay(
    channels: &mut [Channel],
    parcels: Vec<Parcel<'_>>,
    mut shares: Shares<'_>,
    tables: Tables,
) -> Result<Vec<Vec<Vec<u8>>>> {
    let parties = channels.len() + 1;
    for (at, parcel) in parcels.iter().enumerate() {
        let mut columns = shares.garble(parcel);
        if parcel.bytes == 0 {
            continue;
        }
        for channel in &mut *channels {
            for column in &mut columns {
                let theirs = channel.recv(parcel.bytes).await?;
                kernels::xor_into(column, &theirs);
            }
        }
        for (place, column) in columns_for(RELAY, parties).enumerate() {
            tables.add(at, place, &columns[column]);
        }
        let columns: Vec<Bytes> = columns.into_iter().map(Bytes::from).collect();
        for channel in &mut *channels {
            for column in columns_for(channel.peer(), parties) {
                channel.send(columns[column].clone()).await?;
            }
        }
    }
    Ok(tables.finish())
}

type Ends<'c, T> = Vec<(Party, &'c mut T)>;

fn split(channels: &mut [Channel]) -> (Ends<'_, Sender>, Ends<'_, Receiver>) {
    let ends = channels.iter_mut().map(|channel| {
        let peer = channel.peer();
        let Channel { tx, rx } = channel;
        ((peer, tx), (peer, rx))
    });
    ends.unzip()
}

/// Receives so many columns of each parcel, whose places are told, the parcel's first. What comes before all is sent
/// counts, as far as rounds are concerned, as received after it: by the context that is given back.
async fn receive_columns(
    context: &Context,
    rx: &mut Receiver,
    lengths: &[usize],
    columns: usize,
    add: impl Fn(usize, usize, &Bytes),
) -> Result<Context> {
    let beside = context.beside();
    rx.count_in(&beside);
    for (at, &len) in lengths.iter().enumerate().filter(|(_, len)| **len > 0) {
        for place in 0..columns {
            add(at, place, &rx.recv(len).await?);
        }
    }
    rx.count_in(context);
    Ok(beside)
}

fn join_all(context: &Context, all: Vec<Context>) {
    all.iter().for_each(|beside| context.join(beside));
}
