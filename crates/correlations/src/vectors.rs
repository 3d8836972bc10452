//! Vector triples: shares of a random bit a, of a random vector b of n bits, and of c = a b, the bit
//! times every bit of the vector. A vector-scalar gate (VS, MOTIF 5.1) masks its bit with a and
//! its vector with b, as an AND gate does with a Boolean triple.
//!
//! One OT of strings of n bits for each ordered pair of parties, whatever n. The sender's b is the
//! XOR of the two masks of its OT with its first peer, and only further peers need a correction, as
//! in [`crate::ot_triples`]: for N = 2 a vector costs no more communication than a bit.
//!
//! Per triple and party: N-1 times 16 bytes (rounded up to 128 triples in each message) and at most
//! N-2 times `ceil(n / 8)` bytes.

use std::ops::Range;

use futures_util::future::{join, try_join_all};
use madrigal_core::{PhaseCost, bits};
use madrigal_kernels::{self as kernels, Block, opaque, stretch};
use madrigal_net::frame::HEADER_BYTES;
use madrigal_net::{Channel, Context, Result, breathe};
use madrigal_ot::{ExtensionReceiver as _, ExtensionSender as _};
use madrigal_ot::{cost, flavour, iknp::message_len};
use zeroize::Zeroizing;

use crate::columns::Columns;
use crate::ot_triples::first_peer;
use crate::pairs::{Base, Pair, Stream, fail};

/// Bytes of strings in one part, unless one string takes more.
const PART_BYTES: usize = 256 << 10;
/// OTs in one part, at most.
const PART_OTS: usize = 8192;
/// Parts under way before the first is waited for.
const AHEAD: usize = 4;

/// One party's shares of vector triples of one length, to be used from the front, each once.
///
/// Not `Clone`, and taking moves the front: none can be had twice. The shares are wiped when the last
/// part is dropped; `Debug` shows counts alone.
pub struct VectorTriples {
    length: usize,
    a: Columns<u8, 1>,
    vectors: Columns<u8, 2>,
}

/// Shares of some vector triples.
#[derive(Clone, Copy)]
pub struct VectorShares<'a> {
    /// Shares of the bits a, 0 or 1 each.
    pub a: &'a [u8],
    /// Shares of the vectors b, packed, each from a new byte on; bits past its end are zero.
    pub b: &'a [u8],
    /// Shares of the vectors c = a b, likewise.
    pub c: &'a [u8],
}

impl std::fmt::Debug for VectorTriples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = self.length;
        write!(f, "VectorTriples({} left of {length} bits)", self.len())
    }
}

impl VectorTriples {
    /// From this party's shares: bits of value 0 or 1, and vectors of `length` bits in
    /// `ceil(length / 8)` bytes each.
    ///
    /// # Panics
    /// If the numbers of bits and vectors differ.
    pub fn new(
        length: usize,
        a: Zeroizing<Vec<u8>>,
        b: Zeroizing<Vec<u8>>,
        c: Zeroizing<Vec<u8>>,
    ) -> Self {
        assert_eq!(
            b.len(),
            a.len() * bits::bytes_for(length),
            "as many vectors as bits"
        );
        Self {
            length,
            a: Columns::new([a]),
            vectors: Columns::new([b, c]),
        }
    }

    /// Bits of a vector.
    pub fn length(&self) -> usize {
        self.length
    }

    /// How many are left.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    /// Whether all are used.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Splits the first `count` off, for a part of the work that runs on its own.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    #[must_use]
    pub fn split_front(&mut self, count: usize) -> Self {
        Self {
            length: self.length,
            a: self.a.split_front(count),
            vectors: self
                .vectors
                .split_front(count * bits::bytes_for(self.length)),
        }
    }

    /// Uses the first `count`.
    ///
    /// # Panics
    /// If there are fewer: then a plan was wrong.
    pub fn take(&mut self, count: usize) -> VectorShares<'_> {
        let [a] = self.a.take(count);
        let [b, c] = self.vectors.take(count * bits::bytes_for(self.length));
        VectorShares { a, b, c }
    }
}

/// Vectors of one length, in a call.
#[derive(Clone, Copy)]
struct Layout {
    length: usize,
}

impl Layout {
    const fn bytes(self) -> usize {
        bits::bytes_for(self.length)
    }

    /// Blocks of a mask: the OT's own block serves if it is long enough, else it is stretched.
    const fn blocks(self) -> usize {
        self.bytes().div_ceil(16)
    }

    const fn stretched(self) -> usize {
        if self.blocks() > 1 { self.blocks() } else { 0 }
    }

    fn parts(self, count: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
        let fit = PART_BYTES / if self.bytes() > 0 { self.bytes() } else { 1 };
        let size = match fit {
            0 => 1,
            1..128 => fit,
            _ => fit.min(PART_OTS) / 128 * 128,
        };
        (0..count)
            .step_by(size)
            .map(move |start| start..count.min(start + size))
    }

    fn direction_cost(self, items: usize) -> cost::Cost {
        let mut total = cost::extension(items as u64) + cost::random(items as u64);
        let stretched = (items * self.stretched()) as u64;
        total.sender_aes += 2 * stretched;
        total.receiver_aes += stretched;
        total
    }

    fn mask(self, seed: Block, out: &mut [u8]) {
        if self.stretched() > 0 {
            stretch(seed, out);
        } else {
            out.copy_from_slice(&seed.to_bytes()[..out.len()]);
        }
    }
}

/// Makes vector triples with all peers; keeps the extensions running between calls.
pub(crate) struct OtVectors {
    context: Context,
    links: Vec<Link>,
}

struct Link {
    pair: Pair,
    extension: Channel,
    corrections: Channel,
}

struct Part {
    items: Range<usize>,
    context: Context,
}

struct Work {
    layout: Layout,
    choices: Zeroizing<Vec<u8>>,
    b: Zeroizing<Vec<u8>>,
    c: Zeroizing<Vec<u8>>,
    rows: Zeroizing<Vec<Block>>,
    masks: [Zeroizing<Vec<Block>>; 2],
    strings: [Zeroizing<Vec<u8>>; 2],
}

impl OtVectors {
    pub(crate) fn new(context: &Context, base: &Base) -> Result<Self> {
        let context = context.step("vector triples");
        let link = |pair: Pair| {
            Ok(Link {
                extension: context.step("extension").channel(pair.peer)?,
                corrections: context.step("corrections").channel(pair.peer)?,
                pair,
            })
        };
        let links = base.open(&context, Stream::Vectors)?.into_iter().map(link);
        Ok(Self {
            links: links.collect::<Result<_>>()?,
            context,
        })
    }

    /// Cost for party number `me` of one [`triples`](Self::triples).
    pub(crate) fn cost(me: usize, parties: usize, length: usize, count: usize) -> PhaseCost {
        let layout = Layout { length };
        let peers = parties as u64 - 1;
        let sent = peers - 1;
        let corrected = |&j: &usize| j != me && first_peer(j) != me;
        let received = (0..parties).filter(corrected).count() as u64;
        let mut total = PhaseCost::default();
        for part in layout.parts(count) {
            let one = layout.direction_cost(part.len());
            let corrections = (part.len() * layout.bytes()) as u64;
            total += PhaseCost {
                rounds: 0,
                bytes_sent: peers * one.receiver_bytes + sent * corrections,
                bytes_received: peers * one.receiver_bytes + received * corrections,
                messages: peers + sent,
                aes_blocks: peers * (one.sender_aes + one.receiver_aes),
            };
        }
        total.rounds = match (count, parties) {
            (0, _) => 0,
            (_, 2) => 1,
            _ => 2,
        };
        total
    }

    /// Makes `count` triples with vectors of `length` bits. One round for two parties, else two.
    pub(crate) async fn triples(
        &mut self,
        length: usize,
        count: usize,
        made: &dyn Fn(usize),
    ) -> Result<VectorTriples> {
        let layout = Layout { length };
        let parts: Vec<Part> = layout
            .parts(count)
            .map(|items| Part {
                items,
                context: self.context.beside(),
            })
            .collect();
        let longest = parts.first().map_or(0, |part| part.items.len());
        let window = self.links.iter().map(|link| link.extension.window()).min();
        // All parties send before they receive: what is sent ahead must fit half a window.
        let half = window.unwrap_or(0) / 2;
        let ahead = (half / (message_len(longest) + HEADER_BYTES)).clamp(1, AHEAD + 1) - 1;
        let later = longest * layout.bytes() + 2 * HEADER_BYTES <= half;
        let mut work = Work::new(&self.context, layout, count, longest);
        for step in 0..parts.len() + ahead + 1 {
            let at = |lag: usize| step.checked_sub(lag).and_then(|index| parts.get(index));
            if let Some(part) = at(0) {
                work.receive_ots(&mut self.links, part).await?;
            }
            if let Some(part) = at(ahead) {
                let corrections = work.send_ots(&mut self.links, part).await?;
                work.exchange(&mut self.links, part, corrections, later)
                    .await?;
            }
            if let Some(part) = at(ahead + 1) {
                if later {
                    work.correct_later(&mut self.links, part).await?;
                }
                self.context.join(&part.context);
                made(part.items.len());
            }
            breathe().await;
        }
        let aes: u64 = parts
            .iter()
            .map(|part| layout.direction_cost(part.items.len()))
            .map(|one| one.sender_aes + one.receiver_aes)
            .sum();
        self.context.count_aes(aes * self.links.len() as u64);
        Ok(work.finish(count))
    }
}

impl Work {
    fn new(context: &Context, layout: Layout, count: usize, longest: usize) -> Self {
        let mut choices = Zeroizing::new(vec![0; bits::bytes_for(count)]);
        context.private_prg().fill(&mut choices);
        let bytes = || Zeroizing::new(vec![0; count * layout.bytes()]);
        let blocks = |count| Zeroizing::new(vec![Block::ZERO; count]);
        Self {
            layout,
            choices,
            b: bytes(),
            c: bytes(),
            rows: blocks(longest),
            masks: [blocks(longest), blocks(longest)],
            strings: [(); 2].map(|()| Zeroizing::new(vec![0; layout.bytes()])),
        }
    }

    fn place(&self, part: &Part) -> Range<usize> {
        let bytes = self.layout.bytes();
        part.items.start * bytes..part.items.end * bytes
    }

    /// Opaque, because it is the same for all bytes of a vector: no branch shall come of it.
    fn bit(&self, item: usize) -> u8 {
        opaque(self.choices[item / 8] >> (item % 8) & 1)
    }

    async fn receive_ots(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let (ots, bytes) = (part.items.len(), self.layout.bytes());
        let mut choices = Zeroizing::new(vec![0; bits::bytes_for(ots)]);
        bits::take(&self.choices, part.items.start, &mut choices, ots);
        for link in links {
            let mut message = vec![0; message_len(ots)];
            let (rows, masks) = (&mut self.rows[..ots], &mut self.masks[0][..ots]);
            link.pair
                .receiver
                .extend(&choices, ots, &mut message, rows)
                .and_then(|tweaks| flavour::receiver_random_blocks(tweaks, rows, masks))
                .map_err(|error| fail(&link.extension, error))?;
            for (item, &mask) in part.items.clone().zip(&*masks) {
                let [string, _] = &mut self.strings;
                self.layout.mask(mask, string);
                let c = &mut self.c[item * bytes..][..bytes];
                kernels::xor_into(c, string);
            }
            link.extension.count_in(&part.context);
            link.extension.send(message).await?;
        }
        Ok(())
    }

    /// The first masks are shares of c; b is the XOR of both with the first peer, and the corrections
    /// for the others say how theirs differs. One message for each link but the first.
    async fn send_ots(&mut self, links: &mut [Link], part: &Part) -> Result<Vec<Vec<u8>>> {
        let (ots, bytes) = (part.items.len(), self.layout.bytes());
        let mut messages = Vec::with_capacity(links.len().saturating_sub(1));
        for (index, link) in links.iter_mut().enumerate() {
            link.extension.count_in(&part.context);
            let message = link.extension.recv(message_len(ots)).await?;
            let rows = &mut self.rows[..ots];
            let [k0, k1] = &mut self.masks;
            let (k0, k1) = (&mut k0[..ots], &mut k1[..ots]);
            let sender = &mut link.pair.sender;
            sender
                .extend(&message, ots, rows)
                .and_then(|tweaks| {
                    flavour::sender_random_blocks(sender.delta(), tweaks, rows, k0, k1)
                })
                .map_err(|error| fail(&link.extension, error))?;
            let mut corrections = vec![0; if index == 0 { 0 } else { ots * bytes }];
            for (i, item) in part.items.clone().enumerate() {
                let [s0, s1] = &mut self.strings;
                self.layout.mask(k0[i], s0);
                self.layout.mask(k1[i], s1);
                let place = item * bytes..(item + 1) * bytes;
                kernels::xor_into(&mut self.c[place.clone()], s0);
                let b = &mut self.b[place];
                if index == 0 {
                    kernels::xor(b, s0, s1);
                    bits::clear_tail(b, self.layout.length);
                } else {
                    let out = &mut corrections[i * bytes..][..bytes];
                    kernels::xor(out, s0, s1);
                    kernels::xor_into(out, b);
                    bits::clear_tail(out, self.layout.length);
                }
            }
            if index > 0 {
                messages.push(corrections);
            }
        }
        Ok(messages)
    }

    /// Sends the corrections. Where they are so long that all sending first could leave all waiting,
    /// the peers' are taken at the same time.
    async fn exchange(
        &mut self,
        links: &mut [Link],
        part: &Part,
        messages: Vec<Vec<u8>>,
        later: bool,
    ) -> Result<()> {
        let me = part.context.me().index();
        if later {
            for (link, message) in links.iter_mut().skip(1).zip(messages) {
                link.corrections.count_in(&part.context);
                link.corrections.send(message).await?;
            }
            return Ok(());
        }
        let expected = self.place(part).len();
        let messages = std::iter::once(None).chain(messages.into_iter().map(Some));
        let each = links.iter_mut().zip(messages).map(|(link, message)| {
            let gets = first_peer(link.pair.peer.index()) != me;
            let channel = &mut link.corrections;
            channel.count_in(&part.context);
            async move {
                let send = async {
                    match message {
                        Some(message) => channel.tx.send(message).await,
                        None => Ok(()),
                    }
                };
                let receive = async {
                    Ok(match gets {
                        true => Some(channel.rx.recv(expected).await?),
                        false => None,
                    })
                };
                let (sent, received) = join(send, receive).await;
                sent.and(received)
            }
        });
        for corrections in try_join_all(each).await?.into_iter().flatten() {
            self.correct(part, &corrections);
        }
        Ok(())
    }

    async fn correct_later(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let me = part.context.me().index();
        let expected = self.place(part).len();
        for link in links {
            if first_peer(link.pair.peer.index()) == me {
                continue;
            }
            link.corrections.count_in(&part.context);
            let corrections = link.corrections.recv(expected).await?;
            self.correct(part, &corrections);
        }
        Ok(())
    }

    /// Where a peer's b was fixed before our OT with it, its corrections count where our a is 1.
    fn correct(&mut self, part: &Part, corrections: &[u8]) {
        let bytes = self.layout.bytes();
        for (i, item) in part.items.clone().enumerate() {
            let mask = self.bit(item).wrapping_neg();
            let c = &mut self.c[item * bytes..][..bytes];
            for (c, d) in c.iter_mut().zip(&corrections[i * bytes..]) {
                *c ^= d & mask;
            }
        }
    }

    fn finish(mut self, count: usize) -> VectorTriples {
        let (bytes, length) = (self.layout.bytes(), self.layout.length);
        let a: Zeroizing<Vec<u8>> = Zeroizing::new((0..count).map(|i| self.bit(i)).collect());
        if bytes > 0 {
            let vectors = self.c.chunks_exact_mut(bytes);
            for ((c, b), a) in vectors.zip(self.b.chunks_exact(bytes)).zip(a.iter()) {
                for (c, b) in c.iter_mut().zip(b) {
                    *c ^= b & a.wrapping_neg();
                }
                bits::clear_tail(c, length);
            }
        }
        VectorTriples::new(length, a, self.b, self.c)
    }
}
