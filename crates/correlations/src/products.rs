//! Shares of products of ring elements that two parties hold, between all pairs of parties, from
//! oblivious transfer: what ring triples, square pairs and shared bits are made of.
//!
//! A product mod 2^w takes w OTs and w (w + 1) / 2 bits of corrections ([`crate::gilboa`]): one message
//! from the receiver, then one from the sender. All products of a call are made in parts, and a part
//! waits for the peers only up to [`AHEAD`] parts later: latency is paid once per call.

use std::ops::Range;

use madrigal_core::{Party, PhaseCost, Ring};
use madrigal_kernels::Block;
use madrigal_net::frame::HEADER_BYTES;
use madrigal_net::{Channel, Context, Result, breathe};
use madrigal_ot::{ExtensionReceiver as _, ExtensionSender as _};
use madrigal_ot::{cost, flavour, iknp::message_len};
use zeroize::Zeroizing;

use crate::gilboa::{self, Word, correction_bits};
use crate::packing::{BitReader, BitWriter};
use crate::pairs::{Base, Pair, Stream, fail};

/// OTs of one extension, at most: the rows take 128 KiB.
const EXTENSION: usize = 8192;
/// Extensions in one part and direction: the message is one frame of at most 256 KiB.
const EXTENSIONS: usize = 2;
/// OTs hashed at a time: masks that stay in the first-level cache.
const PIECE: usize = 512;
/// Parts under way before the first is waited for, where the channels' windows allow it.
const AHEAD: usize = 4;

/// Which products x_i y_j of parties i and j a call makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pattern {
    /// x_i y_j and x_j y_i.
    Both,
    /// One of the two, for x = y. Of each part, the party with the lower number sends the OTs of
    /// the first half, the other one those of the second, so that both have the same work.
    Once,
}

/// Makes products with all peers; keeps the extensions running between calls.
pub(crate) struct Products {
    context: Context,
    links: Vec<Link>,
    buffers: Buffers,
}

struct Link {
    pair: Pair,
    extension: Channel,
    corrections: Channel,
}

/// Working memory. Secret.
#[derive(Default)]
struct Buffers {
    rows: Zeroizing<Vec<Block>>,
    masks: [Zeroizing<Vec<Block>>; 2],
    choices: Zeroizing<Vec<u8>>,
}

/// What a call is to make: `z[i]` becomes this party's share of the sum over the pairs of parties, plus
/// what it was.
struct Work<'a, T> {
    width: usize,
    pattern: Pattern,
    x: &'a [T],
    y: &'a [T],
    z: &'a mut [T],
}

/// One part of a call.
struct Part {
    items: Range<usize>,
    context: Context,
}

/// Items of one extension: as many as it has room for, so that its columns are whole vectors for the
/// generators; less than one item's OTs are padding.
const fn extension_items(width: usize) -> usize {
    EXTENSION / width
}

const fn part_items(width: usize, pattern: Pattern) -> usize {
    let one_way = EXTENSIONS * extension_items(width);
    match pattern {
        Pattern::Both => one_way,
        Pattern::Once => 2 * one_way,
    }
}

fn parts(count: usize, size: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..count)
        .step_by(size)
        .map(move |start| start..count.min(start + size))
}

impl Pattern {
    /// Of the items of a part, those for which `sender` sends OTs to `receiver`.
    fn sent(self, sender: Party, receiver: Party, items: &Range<usize>) -> Range<usize> {
        let middle = items.start + items.len().div_ceil(2);
        match self {
            Pattern::Both => items.clone(),
            Pattern::Once if sender < receiver => items.start..middle,
            Pattern::Once => middle..items.end,
        }
    }
}

/// One direction of `items` products: the extensions with their masks, and the corrections.
fn direction_cost(width: usize, items: usize) -> cost::Cost {
    let mut total = cost::Cost::default();
    for items in parts(items, extension_items(width)) {
        let ots = (items.len() * width) as u64;
        total = total + cost::extension(ots) + cost::random(ots);
    }
    total.sender_bytes += corrections_len(width, items) as u64;
    total
}

fn extensions_len(width: usize, items: usize) -> usize {
    parts(items, extension_items(width))
        .map(|items| message_len(items.len() * width))
        .sum()
}

fn corrections_len(width: usize, items: usize) -> usize {
    (items * correction_bits(width)).div_ceil(8)
}

impl Products {
    pub(crate) fn new(context: &Context, base: &Base) -> Result<Self> {
        let context = context.step("ring products");
        let link = |pair: Pair| {
            Ok(Link {
                extension: context.step("extension").channel(pair.peer)?,
                corrections: context.step("corrections").channel(pair.peer)?,
                pair,
            })
        };
        let links = base.open(&context, Stream::Rings)?.into_iter().map(link);
        Ok(Self {
            links: links.collect::<Result<_>>()?,
            buffers: Buffers::default(),
            context,
        })
    }

    /// Cost for `me` of [`add`](Self::add).
    pub(crate) fn cost(
        me: Party,
        parties: usize,
        width: usize,
        pattern: Pattern,
        count: usize,
    ) -> PhaseCost {
        let mut total = PhaseCost::default();
        for part in parts(count, part_items(width, pattern)) {
            for peer in me.others(parties) {
                let sent = pattern.sent(me, peer, &part).len();
                let received = pattern.sent(peer, me, &part).len();
                let (sending, receiving) =
                    (direction_cost(width, sent), direction_cost(width, received));
                total += PhaseCost {
                    rounds: 0,
                    bytes_sent: sending.sender_bytes + receiving.receiver_bytes,
                    bytes_received: receiving.sender_bytes + sending.receiver_bytes,
                    messages: u64::from(sent > 0) + u64::from(received > 0),
                    aes_blocks: sending.sender_aes + receiving.receiver_aes,
                };
            }
        }
        total.rounds = if count > 0 { 2 } else { 0 };
        total
    }

    /// All parties send before they receive: what is sent ahead must fit half a window, the half
    /// that a receiver may hold back before it gives new credit.
    fn ahead(&self, width: usize) -> usize {
        let window = self.links.iter().map(|link| link.extension.window()).min();
        let items = EXTENSIONS * extension_items(width);
        let fit = window.unwrap_or(0) / 2 / (extensions_len(width, items) + HEADER_BYTES);
        fit.clamp(1, AHEAD + 1) - 1
    }

    /// Adds to `z` this party's shares of the products of `x` and `y` mod 2^`width` that `pattern`
    /// names, item by item and summed over all pairs of parties. Bits of `z` above `width` become
    /// arbitrary. Two rounds; [`cost`](Self::cost). `made` hears how many more items are done.
    pub(crate) async fn add<T: Ring>(
        &mut self,
        width: usize,
        pattern: Pattern,
        x: &[T],
        y: &[T],
        z: &mut [T],
        made: &dyn Fn(usize),
    ) -> Result<()> {
        let parts: Vec<Part> = parts(x.len(), part_items(width, pattern))
            .map(|items| Part {
                items,
                context: self.context.beside(),
            })
            .collect();
        let ahead = self.ahead(width);
        let mut work = Work {
            width,
            pattern,
            x,
            y,
            z,
        };
        for step in 0..parts.len() + ahead + 1 {
            let at = |lag: usize| step.checked_sub(lag).and_then(|index| parts.get(index));
            if let Some(part) = at(0) {
                work.receive_ots(&mut self.links, &mut self.buffers, part)
                    .await?;
            }
            if let Some(part) = at(ahead) {
                work.send_ots(&mut self.links, &mut self.buffers, part)
                    .await?;
            }
            if let Some(part) = at(ahead + 1) {
                work.correct(&mut self.links, part).await?;
                self.context.join(&part.context);
                made(part.items.len());
            }
            breathe().await;
        }
        let (me, parties) = (self.context.me(), self.context.parties());
        let cost = Self::cost(me, parties, width, pattern, x.len());
        self.context.count_aes(cost.aes_blocks);
        Ok(())
    }
}

impl<T: Ring> Work<'_, T> {
    /// Our choices are the bits of x: the extension message goes out.
    async fn receive_ots(
        &mut self,
        links: &mut [Link],
        buffers: &mut Buffers,
        part: &Part,
    ) -> Result<()> {
        let me = part.context.me();
        for link in links {
            let items = self.pattern.sent(link.pair.peer, me, &part.items);
            if items.is_empty() {
                continue;
            }
            let mut message = vec![0; extensions_len(self.width, items.len())];
            self.extend_receiver(link, buffers, items, &mut message)?;
            link.extension.count_in(&part.context);
            link.extension.send(message).await?;
        }
        Ok(())
    }

    fn extend_receiver(
        &mut self,
        link: &mut Link,
        buffers: &mut Buffers,
        items: Range<usize>,
        mut message: &mut [u8],
    ) -> Result<()> {
        let width = self.width;
        for run in parts(items.len(), extension_items(width)) {
            let run = items.start + run.start..items.start + run.end;
            let ots = run.len() * width;
            buffers.prepare(ots, width);
            pack_choices(&self.x[run.clone()], width, &mut buffers.choices);
            let u;
            (u, message) = message.split_at_mut(message_len(ots));
            let rows = &mut buffers.rows[..ots];
            let choices = &buffers.choices[..ots.div_ceil(8)];
            let mut tweaks = link
                .pair
                .receiver
                .extend(choices, ots, u, rows)
                .map_err(|error| fail(&link.extension, error))?;
            let piece = (PIECE / width).max(1);
            let pieces = self.z[run].chunks_mut(piece);
            for (z, rows) in pieces.zip(rows.chunks(piece * width)) {
                let masks = &mut buffers.masks[0][..rows.len()];
                tweaks
                    .take(rows.len())
                    .and_then(|tweaks| flavour::receiver_random_blocks(tweaks, rows, masks))
                    .map_err(|error| fail(&link.extension, error))?;
                if T::BITS > 64 {
                    fold_all::<T, u128>(width, masks, z);
                } else {
                    fold_all::<T, u64>(width, masks, z);
                }
            }
        }
        Ok(())
    }

    /// The peers' choices are their x: our corrections turn their masks into products with our y.
    async fn send_ots(
        &mut self,
        links: &mut [Link],
        buffers: &mut Buffers,
        part: &Part,
    ) -> Result<()> {
        let me = part.context.me();
        for link in links {
            let items = self.pattern.sent(me, link.pair.peer, &part.items);
            if items.is_empty() {
                continue;
            }
            link.extension.count_in(&part.context);
            let expected = extensions_len(self.width, items.len());
            let message = link.extension.recv(expected).await?;
            let mut corrections = vec![0; corrections_len(self.width, items.len())];
            self.extend_sender(link, buffers, items, &message, &mut corrections)?;
            link.corrections.count_in(&part.context);
            link.corrections.send(corrections).await?;
        }
        Ok(())
    }

    fn extend_sender(
        &mut self,
        link: &mut Link,
        buffers: &mut Buffers,
        items: Range<usize>,
        mut message: &[u8],
        corrections: &mut [u8],
    ) -> Result<()> {
        let width = self.width;
        let mut writer = BitWriter::new(corrections);
        for run in parts(items.len(), extension_items(width)) {
            let run = items.start + run.start..items.start + run.end;
            let ots = run.len() * width;
            buffers.prepare(ots, width);
            let u;
            (u, message) = message.split_at(message_len(ots));
            let rows = &mut buffers.rows[..ots];
            let sender = &mut link.pair.sender;
            let mut tweaks = sender
                .extend(u, ots, rows)
                .map_err(|error| fail(&link.extension, error))?;
            let piece = (PIECE / width).max(1);
            let pieces = self.z[run.clone()]
                .chunks_mut(piece)
                .zip(self.y[run].chunks(piece));
            for ((z, y), rows) in pieces.zip(rows.chunks(piece * width)) {
                let [k0, k1] = &mut buffers.masks;
                let (k0, k1) = (&mut k0[..rows.len()], &mut k1[..rows.len()]);
                tweaks
                    .take(rows.len())
                    .and_then(|tweaks| {
                        flavour::sender_random_blocks(sender.delta(), tweaks, rows, k0, k1)
                    })
                    .map_err(|error| fail(&link.extension, error))?;
                if T::BITS > 64 {
                    offer_all::<T, u128>(width, y, k0, k1, &mut writer, z);
                } else {
                    offer_all::<T, u64>(width, y, k0, k1, &mut writer, z);
                }
            }
        }
        writer.finish();
        Ok(())
    }

    /// The peers' corrections count where our x has a one.
    async fn correct(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let me = part.context.me();
        for link in links {
            let items = self.pattern.sent(link.pair.peer, me, &part.items);
            if items.is_empty() {
                continue;
            }
            link.corrections.count_in(&part.context);
            let expected = corrections_len(self.width, items.len());
            let corrections = link.corrections.recv(expected).await?;
            let (x, z) = (&self.x[items.clone()], &mut self.z[items]);
            if T::BITS > 64 {
                correct_all::<T, u128>(self.width, x, &corrections, z);
            } else {
                correct_all::<T, u64>(self.width, x, &corrections, z);
            }
        }
        Ok(())
    }
}

impl Buffers {
    /// Makes room for an extension of `ots` OTs and the masks of a piece.
    fn prepare(&mut self, ots: usize, width: usize) {
        if self.rows.len() < ots {
            self.rows = Zeroizing::new(vec![Block::ZERO; ots]);
            self.choices = Zeroizing::new(vec![0; ots.div_ceil(8)]);
        }
        let piece = PIECE.max(width);
        for masks in &mut self.masks {
            if masks.len() < piece {
                *masks = Zeroizing::new(vec![Block::ZERO; piece]);
            }
        }
    }
}

/// The lowest `width` bits of each value, packed.
fn pack_choices<T: Ring>(values: &[T], width: usize, out: &mut [u8]) {
    pack(
        values,
        width,
        &mut out[..(values.len() * width).div_ceil(8)],
    );
}

/// The lowest `width` bits of each value, packed; `out` has exactly the bytes for it.
pub(crate) fn pack<T: Ring>(values: &[T], width: usize, out: &mut [u8]) {
    let mut writer = BitWriter::new(out);
    for value in values {
        let value = value.to_u128().low(width);
        if T::BITS > 64 {
            value.push(width, &mut writer);
        } else {
            (value as u64).push(width, &mut writer);
        }
    }
    writer.finish();
}

fn wide<T: Ring, W: Word>(value: T) -> W {
    W::from_u128(value.to_u128())
}

fn narrow<T: Ring, W: Word>(value: W) -> T {
    T::from_u128(value.to_u128())
}

fn fold_all<T: Ring, W: Word>(width: usize, masks: &[Block], z: &mut [T]) {
    for (z, masks) in z.iter_mut().zip(masks.chunks_exact(width)) {
        *z = z.add(narrow(gilboa::fold::<W>(masks)));
    }
}

fn offer_all<T: Ring, W: Word>(
    width: usize,
    y: &[T],
    k0: &[Block],
    k1: &[Block],
    out: &mut BitWriter<'_>,
    z: &mut [T],
) {
    let masks = k0.chunks_exact(width).zip(k1.chunks_exact(width));
    for ((z, &y), (k0, k1)) in z.iter_mut().zip(y).zip(masks) {
        *z = z.sub(narrow(gilboa::offer::<W>(wide(y), k0, k1, out)));
    }
}

fn correct_all<T: Ring, W: Word>(width: usize, x: &[T], corrections: &[u8], z: &mut [T]) {
    let mut reader = BitReader::new(corrections);
    for (z, &x) in z.iter_mut().zip(x) {
        *z = z.add(narrow(gilboa::correct::<W>(wide(x), width, &mut reader)));
    }
}
