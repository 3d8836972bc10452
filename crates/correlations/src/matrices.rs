//! Matrix triples over Z_2^l: shares of random A (m x k), B (k x n), and of C = A B.
//!
//! One extension row serves a whole row of products: for an entry of A at the receiver and the row of
//! B that it meets at the sender, Gilboa's products ([`crate::gilboa`]) have the same choice bits, so
//! each of the l OTs carries a string of n corrections at once, under masks that are stretched from
//! the OT's two ([`madrigal_kernels::stretch`]). If A has more rows than B has columns, the roles are exchanged
//! (C^T = B^T A^T), so that strings are as long as can be.
//!
//! With p = min(m, n), q = max(m, n), each party sends to each peer, for the whole triple, p k l OTs
//! of 16 bytes and p k q l (l + 1) / 2 bits of corrections (half a word more for each entry if q is
//! odd): per product of elements 16 l / q + l (l + 1) / 16 bytes, 268 for l = 64 and q = 128, where
//! element-wise triples take 1284.
//!
//! Rows of C are made one after the other in parts of about 256 KiB of corrections, so the
//! memory in use beyond the three matrices does not grow with them.

mod layout;
mod strings;

use std::ops::Range;

use futures_util::future::join;
use madrigal_core::{PhaseCost, Ring};
use madrigal_kernels::rings::{self, Masks};
use madrigal_kernels::{Block, stretch};
use madrigal_net::frame::HEADER_BYTES;
use madrigal_net::{Channel, Context, Result, breathe};
use madrigal_ot::{ExtensionReceiver as _, ExtensionSender as _};
use madrigal_ot::{flavour, iknp::message_len};
use zeroize::Zeroizing;

use self::layout::Layout;
use self::strings::{correct_first, correct_half, offer_first, offer_half, transpose};
use crate::pairs::{Base, Pair, Stream, fail};
use crate::products::pack;
use crate::rings::random;

/// Parts under way before the first is waited for.
const AHEAD: usize = 4;

/// The sizes of a matrix product: m x k times k x n.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MatrixShape {
    /// m: rows of A and C.
    pub rows: usize,
    /// k: columns of A, rows of B.
    pub inner: usize,
    /// n: columns of B and C.
    pub columns: usize,
}

/// One party's shares of a matrix triple, all row by row. Not `Clone`; wiped when dropped.
pub struct MatrixTriple<T: Ring> {
    shape: MatrixShape,
    a: Zeroizing<Vec<T>>,
    b: Zeroizing<Vec<T>>,
    c: Zeroizing<Vec<T>>,
}

impl<T: Ring> std::fmt::Debug for MatrixTriple<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MatrixTriple({:?} of {} bits)", self.shape, T::BITS)
    }
}

impl<T: Ring> MatrixTriple<T> {
    /// From this party's shares.
    ///
    /// # Panics
    /// If a matrix has not the size that `shape` says.
    pub fn new(
        shape: MatrixShape,
        a: Zeroizing<Vec<T>>,
        b: Zeroizing<Vec<T>>,
        c: Zeroizing<Vec<T>>,
    ) -> Self {
        let MatrixShape {
            rows,
            inner,
            columns,
        } = shape;
        assert_eq!(
            [a.len(), b.len(), c.len()],
            [rows * inner, inner * columns, rows * columns],
            "the matrices have the sizes of {shape:?}"
        );
        Self { shape, a, b, c }
    }

    /// The sizes.
    pub fn shape(&self) -> MatrixShape {
        self.shape
    }

    /// Uses the triple: the shares of A, B and C.
    pub fn take(self) -> [Zeroizing<Vec<T>>; 3] {
        [self.a, self.b, self.c]
    }
}

/// Makes matrix triples with all peers; keeps the extensions running between calls.
pub(crate) struct OtMatrices {
    context: Context,
    links: Vec<Link>,
}

struct Link {
    pair: Pair,
    extension: Channel,
    corrections: Channel,
}

struct Part {
    entries: Range<usize>,
    context: Context,
}

/// One call.
struct Work<'a, T: Ring> {
    layout: Layout,
    x: &'a [T],
    y: &'a [T],
    z: &'a mut [T],
    buffers: Buffers,
}

/// Working memory. Secret.
#[derive(Default)]
struct Buffers {
    rows: Zeroizing<Vec<Block>>,
    masks: [Zeroizing<Vec<Block>>; 2],
    choices: Zeroizing<Vec<u8>>,
    /// Up to four stretched masks.
    strings: [Zeroizing<Vec<u8>>; 4],
}

impl OtMatrices {
    pub(crate) fn new(context: &Context, base: &Base) -> Result<Self> {
        let context = context.step("matrix triples");
        let link = |pair: Pair| {
            Ok(Link {
                extension: context.step("extension").channel(pair.peer)?,
                corrections: context.step("corrections").channel(pair.peer)?,
                pair,
            })
        };
        let links = base.open(&context, Stream::Matrices)?.into_iter().map(link);
        Ok(Self {
            links: links.collect::<Result<_>>()?,
            context,
        })
    }

    /// Cost of one [`triple`](Self::triple) for one of `parties` parties: they all spend the same.
    pub(crate) fn cost<T: Ring>(parties: usize, shape: MatrixShape) -> PhaseCost {
        let layout = Layout::new::<T>(shape);
        let peers = parties as u64 - 1;
        let mut total = PhaseCost::default();
        for part in layout.parts() {
            let one = layout.direction_cost(part.len());
            let bytes = peers * (one.sender_bytes + one.receiver_bytes);
            total += PhaseCost {
                rounds: 0,
                bytes_sent: bytes,
                bytes_received: bytes,
                messages: 2 * peers,
                aes_blocks: peers * (one.sender_aes + one.receiver_aes),
            };
        }
        total.rounds = if total.messages > 0 { 2 } else { 0 };
        total
    }

    /// Makes one triple. Two rounds; [`cost`](Self::cost). `made` hears how many more products of
    /// elements are done.
    pub(crate) async fn triple<T: Ring>(
        &mut self,
        shape: MatrixShape,
        made: &dyn Fn(usize),
    ) -> Result<MatrixTriple<T>> {
        let layout = Layout::new::<T>(shape);
        let Layout { p, k, q, .. } = layout;
        let mut prg = self.context.private_prg();
        let (x, y) = (random::<T>(&mut prg, p * k), random::<T>(&mut prg, k * q));
        let mut z = Zeroizing::new(vec![T::ZERO; p * q]);
        rings::multiply_add(&x, &y, &mut z, k, q);
        self.products(layout, &x, &y, &mut z, made).await?;
        let swapped = shape.rows > shape.columns;
        Ok(if swapped {
            let (a, b) = (transpose(&y, k, q), transpose(&x, p, k));
            MatrixTriple::new(shape, a, b, transpose(&z, p, q))
        } else {
            MatrixTriple::new(shape, x, y, z)
        })
    }

    /// Adds to z the shares of the products with all peers.
    async fn products<T: Ring>(
        &mut self,
        layout: Layout,
        x: &[T],
        y: &[T],
        z: &mut [T],
        made: &dyn Fn(usize),
    ) -> Result<()> {
        let parts: Vec<Part> = layout
            .parts()
            .map(|entries| Part {
                entries,
                context: self.context.beside(),
            })
            .collect();
        let Some(longest) = parts.first().map(|part| part.entries.len()) else {
            return Ok(());
        };
        let window = self.links.iter().map(|link| link.extension.window()).min();
        // All parties send before they receive: what is sent ahead must fit half a window.
        let half = window.unwrap_or(0) / 2;
        let ahead = half / (message_len(longest * layout.bits) + HEADER_BYTES);
        let ahead = ahead.clamp(1, AHEAD + 1) - 1;
        let later = longest * layout.entry_bytes() + 2 * HEADER_BYTES <= half;
        let mut work = Work {
            layout,
            x,
            y,
            z,
            buffers: Buffers::new(layout, longest),
        };
        for step in 0..parts.len() + ahead + 1 {
            let at = |lag: usize| step.checked_sub(lag).and_then(|index| parts.get(index));
            if let Some(part) = at(0) {
                work.receive_ots(&mut self.links, part).await?;
            }
            if let Some(part) = at(ahead) {
                work.send_ots(&mut self.links, part, later).await?;
            }
            if let Some(part) = at(ahead + 1) {
                if later {
                    work.correct_later(&mut self.links, part).await?;
                }
                self.context.join(&part.context);
                made(part.entries.len() * layout.q);
            }
            breathe().await;
        }
        let aes: u64 = parts
            .iter()
            .map(|part| layout.direction_cost(part.entries.len()))
            .map(|one| one.sender_aes + one.receiver_aes)
            .sum();
        self.context.count_aes(aes * self.links.len() as u64);
        Ok(())
    }
}

impl Buffers {
    fn new(layout: Layout, entries: usize) -> Self {
        let ots = entries * layout.bits;
        let blocks = |count| Zeroizing::new(vec![Block::ZERO; count]);
        Self {
            rows: blocks(ots),
            masks: [blocks(ots), blocks(ots)],
            choices: Zeroizing::new(vec![0; ots.div_ceil(8)]),
            strings: std::array::from_fn(|_| Zeroizing::new(vec![0; layout.q * layout.bits / 8])),
        }
    }
}

impl<T: Ring> Work<'_, T> {
    /// The place of entry `entry` of X in the product: the row of Y that it meets, the row of Z.
    fn place(&self, entry: usize) -> (Range<usize>, Range<usize>) {
        let Layout { k, q, .. } = self.layout;
        let (row, column) = (entry / k, entry % k);
        (column * q..(column + 1) * q, row * q..(row + 1) * q)
    }

    async fn receive_ots(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let bits = self.layout.bits;
        let ots = part.entries.len() * bits;
        for link in links {
            let mut message = vec![0; message_len(ots)];
            let buffers = &mut self.buffers;
            let choices = &mut buffers.choices[..ots.div_ceil(8)];
            pack(&self.x[part.entries.clone()], bits, choices);
            let (rows, masks) = (&mut buffers.rows[..ots], &mut buffers.masks[0][..ots]);
            link.pair
                .receiver
                .extend(choices, ots, &mut message, rows)
                .and_then(|tweaks| flavour::receiver_random_blocks(tweaks, rows, masks))
                .map_err(|error| fail(&link.extension, error))?;
            for (index, entry) in part.entries.clone().enumerate() {
                let (_, z) = self.place(entry);
                let z = &mut self.z[z];
                let [string, ..] = &mut self.buffers.strings;
                let words = self.layout.words_of_half();
                for bit in 0..bits {
                    let string = &mut string[..self.layout.mask_words(bit) * T::BYTES];
                    stretch(self.buffers.masks[0][index * bits + bit], string);
                    if bit < bits / 2 {
                        rings::add_shifted(z, string, 0, bit);
                    } else {
                        rings::add_shifted(&mut z[..words], string, 0, bit);
                        rings::add_shifted(&mut z[words..], string, bits / 2, bit);
                    }
                }
            }
            link.extension.count_in(&part.context);
            link.extension.send(message).await?;
        }
        Ok(())
    }

    /// Corrects the peers' masks. Where the corrections are so long that both sides sending could
    /// wait for each other, the peers' are taken while ours go.
    async fn send_ots(&mut self, links: &mut [Link], part: &Part, later: bool) -> Result<()> {
        let ots = part.entries.len() * self.layout.bits;
        let bytes = part.entries.len() * self.layout.entry_bytes();
        for link in links {
            link.extension.count_in(&part.context);
            let message = link.extension.recv(message_len(ots)).await?;
            let buffers = &mut self.buffers;
            let rows = &mut buffers.rows[..ots];
            let [k0, k1] = &mut buffers.masks;
            let sender = &mut link.pair.sender;
            sender
                .extend(&message, ots, rows)
                .and_then(|tweaks| {
                    let (k0, k1) = (&mut k0[..ots], &mut k1[..ots]);
                    flavour::sender_random_blocks(sender.delta(), tweaks, rows, k0, k1)
                })
                .map_err(|error| fail(&link.extension, error))?;
            drop(message);
            let mut corrections = vec![0; bytes];
            let each = corrections.chunks_exact_mut(self.layout.entry_bytes());
            for ((index, entry), out) in part.entries.clone().enumerate().zip(each) {
                self.offer(index, entry, out);
            }
            link.corrections.count_in(&part.context);
            if later {
                link.corrections.send(corrections).await?;
            } else {
                let channel = &mut link.corrections;
                let both = join(channel.tx.send(corrections), channel.rx.recv(bytes));
                let (sent, received) = both.await;
                let received = sent.and(received)?;
                self.correct(part, &received);
            }
        }
        Ok(())
    }

    async fn correct_later(&mut self, links: &mut [Link], part: &Part) -> Result<()> {
        let bytes = part.entries.len() * self.layout.entry_bytes();
        for link in links {
            link.corrections.count_in(&part.context);
            let corrections = link.corrections.recv(bytes).await?;
            self.correct(part, &corrections);
        }
        Ok(())
    }

    /// Writes the corrections for one entry, in the units of [`crate::gilboa`], each for all q
    /// products; in the last one, product j shares a word with product j + ceil(q / 2).
    fn offer(&mut self, index: usize, entry: usize, out: &mut [u8]) {
        let layout = self.layout;
        let Layout { q, bits, .. } = layout;
        let (y, z) = self.place(entry);
        let (y, z) = (&self.y[y], &mut self.z[z]);
        let Buffers { masks, strings, .. } = &mut self.buffers;
        let full = q * T::BYTES;
        let half = layout.words_of_half() * T::BYTES;
        let [h0, h1, g0, g1] = strings.each_mut().map(|string| &mut string[..]);
        let (g0, g1) = (&mut g0[..half], &mut g1[..half]);
        let mask = |which: usize, bit: usize| masks[which][index * bits + bit];
        let mut units = out.chunks_mut(full);
        let mut unit = || units.next().unwrap_or_default();

        stretch(mask(0, 0), h0);
        stretch(mask(1, 0), h1);
        offer_first(y, z, [h0, h1], unit());
        for bit in 1..bits / 2 {
            stretch(mask(0, bit), h0);
            stretch(mask(1, bit), h1);
            stretch(mask(0, bits - bit), g0);
            stretch(mask(1, bits - bit), g1);
            let unit = unit();
            let masks = |range: Range<usize>, far_down| Masks {
                near: [&h0[range.clone()], &h1[range]],
                far: [g0, g1],
                far_down,
            };
            let words = layout.words_of_half();
            let (y, z) = (y.split_at(words), z.split_at_mut(words));
            let (first, second) = unit.split_at_mut(half);
            rings::offer_strings(y.0, z.0, masks(0..half, 0), bit, first);
            rings::offer_strings(y.1, z.1, masks(half..full, bits / 2), bit, second);
        }
        stretch(mask(0, bits / 2), g0);
        stretch(mask(1, bits / 2), g1);
        offer_half(y, z, [g0, g1], unit());
    }

    fn correct(&mut self, part: &Part, corrections: &[u8]) {
        let Layout { q, bits, .. } = self.layout;
        let each = corrections.chunks_exact(self.layout.entry_bytes());
        for (entry, corrections) in part.entries.clone().zip(each) {
            let (_, z) = self.place(entry);
            let (x, z) = (self.x[entry], &mut self.z[z]);
            for (bit, unit) in corrections.chunks(q * T::BYTES).enumerate() {
                if bit == 0 {
                    correct_first(x, unit, z);
                } else if bit < bits / 2 {
                    rings::correct_strings(x, bit, unit, z);
                } else {
                    correct_half(x, unit, z);
                }
            }
        }
    }
}
