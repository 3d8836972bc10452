//! Tables: each party garbles its shares, chunk by chunk, and all are added up while more are garbled.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures_channel::mpsc;
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, join, join3, try_join_all};
use madrigal_circuit::Layered;
use madrigal_core::Party;
use madrigal_garbling::bmr::{Garbling, Products, Shape};
use madrigal_garbling::{Chunk, Program};
use madrigal_kernels as kernels;
use madrigal_net::{Channel, Context, Result, breathe};
use madrigal_net::{Receiver, Sender};

use super::{CHUNK, FITS};
use crate::Opening;

/// Bytes that a party must save by having each column added up once for it to be worth a round: what a line of
/// 1 Gbit/s carries in 34 ms.
const WORTH_A_ROUND: usize = 4 << 20;

/// Whether each column is added up by one party, which sends the sum to the others that need it, instead of by all of
/// these. Between two parties that is the same.
pub(super) fn adds_once(opening: Opening, shape: Shape, layered: &Layered) -> bool {
    let column = shape.column_bytes(layered.and_count());
    let saved = columns_sent(false, shape.parties) - columns_sent(true, shape.parties);
    match opening {
        Opening::Relay => saved > 0,
        Opening::Direct => saved * column >= WORTH_A_ROUND,
    }
}

/// Columns that a party sends, and receives, in all.
pub(super) fn columns_sent(once: bool, parties: usize) -> usize {
    let peers = parties - 1;
    match once {
        true => peers + parties.saturating_sub(2),
        false => peers * peers,
    }
}

/// Party whose column a party adds up: the one before it.
pub(super) fn adds(party: Party, parties: usize) -> Party {
    Party::new((party.index() + parties - 1) % parties)
}

/// Bytes of one column in each message. Chunks go together until they have [`CHUNK`] bytes.
pub(super) fn lengths(shape: Shape, layered: &Layered) -> Vec<usize> {
    // Cut as the chunks are, without making a program of the circuit again.
    let program = Program::new(layered);
    parcels(shape, &program)
        .iter()
        .map(|parcel| parcel.bytes)
        .collect()
}

/// Chunks that go in one message.
pub(super) struct Parcel<'c> {
    pub chunks: Vec<Chunk<'c>>,
    /// Bytes of one column.
    pub bytes: usize,
}

/// Makes parcels, also of chunks without ANDs, which go with what comes before.
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

/// The columns of all parties but us, in their order, for each parcel a string each: strings of this length the
/// allocator has at hand when the block before has been evaluated, where one for all would be new pages each time.
pub(super) type Columns = Vec<Vec<Bytes>>;

/// Shares of a column of a parcel, one or the sum of several.
enum Summand {
    /// Column of ours, which nobody else reads.
    Own(Vec<u8>),
    /// Column that a peer has sent, or that we send to several.
    Told(Bytes),
}

impl Summand {
    /// Adds in memory of one of them, where that is ours.
    fn add(self, other: Self) -> Self {
        let (mut sum, more) = match (self, other) {
            (Self::Own(sum), Self::Own(more)) => (sum, more.into()),
            (Self::Own(sum), Self::Told(more)) | (Self::Told(more), Self::Own(sum)) => (sum, more),
            (Self::Told(share), Self::Told(more)) => (share.to_vec(), more),
        };
        kernels::xor_into(&mut sum, &more);
        Self::Own(sum)
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Own(bytes) => bytes.into(),
            Self::Told(bytes) => bytes,
        }
    }
}

/// The columns while they are added up.
struct Tables(Mutex<Vec<Vec<Option<Summand>>>>);

impl Tables {
    fn new(columns: usize, parcels: usize) -> Self {
        let parcel = || (0..columns).map(|_| None).collect();
        Self(Mutex::new((0..parcels).map(|_| parcel()).collect()))
    }

    /// Adds a share, or begins with it.
    fn add(&self, parcel: usize, column: usize, share: Summand) {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let table = &mut tables[parcel][column];
        *table = Some(match table.take() {
            Some(sum) => sum.add(share),
            None => share,
        });
    }

    fn finish(self) -> Columns {
        let tables = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let bytes = |share: Option<Summand>| share.map_or_else(Bytes::new, Summand::into_bytes);
        let columns = |columns: Vec<_>| columns.into_iter().map(bytes).collect();
        tables.into_iter().map(columns).collect()
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
        let columns = (0..shape.parties).map(|_| vec![0; parcel.bytes]);
        let mut columns: Vec<_> = columns.collect();
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

/// The channels of a circuit's tables.
pub(super) struct Wires<'a> {
    pub shares: &'a mut [Channel],
    /// Channels of columns that one party has added up.
    pub sums: &'a mut [Channel],
}

/// Garbles the circuit with all others: gives, for each parcel, the columns of all but us, in their order.
///
/// Boxed, so that it is compiled here and not in every crate that awaits it.
pub(super) fn add_up<'a>(
    opening: Opening,
    context: &'a Context,
    wires: Wires<'a>,
    program: &'a Program<'_>,
    garbling: &'a mut Garbling,
    products: Products<'a>,
) -> BoxFuture<'a, Result<Columns>> {
    let shape = garbling.shape();
    let parcels = parcels(shape, program);
    let shares = Shares {
        context: context.clone(),
        garbling,
        products,
    };
    if adds_once(opening, shape, program.layered()) {
        Box::pin(once(context, wires, parcels, shares))
    } else {
        Box::pin(each_for_itself(context, wires.shares, parcels, shares))
    }
}

/// The columns that a party needs: all but its own. A column's place among those is that of its party among
/// the party's peers.
fn columns_for(party: Party, parties: usize) -> impl Iterator<Item = usize> + Clone {
    (0..parties).filter(move |&column| column != party.index())
}

/// Each sends each its shares of the columns that it needs.
async fn each_for_itself(
    context: &Context,
    channels: &mut [Channel],
    parcels: Vec<Parcel<'_>>,
    mut shares: Shares<'_>,
) -> Result<Columns> {
    let (me, parties) = (context.me(), context.parties());
    let tables = Tables::new(parties - 1, parcels.len());
    let lengths: Vec<usize> = parcels.iter().map(|parcel| parcel.bytes).collect();
    let (mut senders, receivers) = split(channels);
    let send = async {
        for (at, parcel) in parcels.iter().enumerate() {
            let mut columns = shares.garble(parcel);
            if parties == 2 {
                // Neither sends what it needs itself.
                let column = std::mem::take(&mut columns[1 - me.index()]);
                tables.add(at, 0, Summand::Own(column));
            }
            let columns: Vec<Bytes> = columns.into_iter().map(Bytes::from).collect();
            if parties > 2 {
                for (place, column) in columns_for(me, parties).enumerate() {
                    tables.add(at, place, Summand::Told(columns[column].clone()));
                }
            }
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
        let add = |at, place, bytes| tables.add(at, place, Summand::Told(bytes));
        receive_columns(context, rx, &lengths, parties - 1, add)
    });
    let (sent, received) = join(send, try_join_all(receive)).await;
    sent?;
    join_all(context, received?);
    Ok(tables.finish())
}

/// Each sends each its share of one column, adds up those of [the column that is its to add](adds), and sends the sum
/// to the others that need it. Less than half of the bytes with five parties, a fifth with ten.
async fn once(
    context: &Context,
    wires: Wires<'_>,
    parcels: Vec<Parcel<'_>>,
    mut shares: Shares<'_>,
) -> Result<Columns> {
    let (me, parties) = (context.me(), context.parties());
    let whose = adds(me, parties);
    let lengths: Vec<usize> = parcels.iter().map(|parcel| parcel.bytes).collect();
    let filled = || lengths.iter().copied().filter(|&len| len > 0);
    let filled = &filled;
    let (mut senders, mut receivers) = split(wires.shares);
    let (mut sums_to, sums_from) = split(wires.sums);
    sums_to.retain(|(peer, _)| *peer != whose);

    let (own, mut own_shares) = mpsc::unbounded();
    let garble = async move {
        for parcel in &parcels {
            let mut columns = shares.garble(parcel);
            if parcel.bytes > 0 {
                // First, so that the peers' shares are taken while ours are sent, though a message be longer than a
                // window. It is taken until all is over.
                let _ = own.unbounded_send(std::mem::take(&mut columns[whose.index()]));
                for (peer, tx) in &mut senders {
                    let column = adds(*peer, parties).index();
                    tx.send(std::mem::take(&mut columns[column])).await?;
                }
            }
            breathe().await;
        }
        Ok(())
    };

    // Messages that are received while shares are still sent count, as far as rounds are concerned, after them; what is sent
    // on, after that.
    let beside = context.beside();
    receivers
        .iter_mut()
        .for_each(|(_, rx)| rx.count_in(&beside));
    sums_to.iter_mut().for_each(|(_, tx)| tx.count_in(&beside));
    let add = async {
        let mut added = Vec::new();
        for len in filled() {
            let Some(mut sum) = own_shares.next().await else {
                // Garbling has failed.
                break;
            };
            let theirs = receivers.iter_mut().map(|(_, rx)| rx.recv(len));
            for share in try_join_all(theirs).await? {
                kernels::xor_into(&mut sum, &share);
            }
            let sum = Bytes::from(sum);
            for (_, tx) in &mut sums_to {
                tx.send(sum.clone()).await?;
            }
            added.push(sum);
        }
        Ok(added)
    };

    let receive = sums_from
        .into_iter()
        .filter(|(peer, _)| adds(*peer, parties) != me)
        .map(|(peer, rx)| async move {
            let (sums, counted) = receive_sums(context, rx, filled()).await?;
            Ok((adds(peer, parties), sums, counted))
        });
    let (sent, added, received) = join3(garble, add, try_join_all(receive)).await;
    sent?;
    let mut columns = vec![Vec::new(); parties];
    columns[whose.index()] = added?;
    let mut counted = vec![beside];
    for (owner, sums, context) in received? {
        columns[owner.index()] = sums;
        counted.push(context);
    }
    receivers
        .iter_mut()
        .for_each(|(_, rx)| rx.count_in(context));
    sums_to.iter_mut().for_each(|(_, tx)| tx.count_in(context));
    join_all(context, counted);

    columns.remove(me.index());
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let parcel = |len: &usize| {
        let of = |column: &mut std::vec::IntoIter<Bytes>| match len {
            0 => Bytes::new(),
            _ => column.next().expect("a sum for each parcel"),
        };
        columns.iter_mut().map(of).collect()
    };
    Ok(lengths.iter().map(parcel).collect())
}

/// Receives a column of each parcel, and counts rounds as [`receive_columns`] does.
async fn receive_sums(
    context: &Context,
    rx: &mut Receiver,
    lengths: impl Iterator<Item = usize>,
) -> Result<(Vec<Bytes>, Context)> {
    let beside = context.beside();
    rx.count_in(&beside);
    let mut sums = Vec::new();
    for len in lengths {
        // A message is a piece of a larger buffer, which would be kept with it.
        sums.push(Bytes::copy_from_slice(&rx.recv(len).await?));
    }
    rx.count_in(context);
    Ok((sums, beside))
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

/// Receives the columns of each parcel, whose places are told, the parcel's first. A column that comes before all is sent
/// counts, as far as rounds are concerned, as received after it: by the context that is given back.
async fn receive_columns(
    context: &Context,
    rx: &mut Receiver,
    lengths: &[usize],
    columns: usize,
    add: impl Fn(usize, usize, Bytes),
) -> Result<Context> {
    let beside = context.beside();
    rx.count_in(&beside);
    for (at, &len) in lengths.iter().enumerate().filter(|(_, len)| **len > 0) {
        for place in 0..columns {
            add(at, place, rx.recv(len).await?);
        }
    }
    rx.count_in(context);
    Ok(beside)
}

fn join_all(context: &Context, all: Vec<Context>) {
    all.iter().for_each(|beside| context.join(beside));
}
