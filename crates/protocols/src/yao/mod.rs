//! Garbled circuits between two parties (protocol Y2; MOTION2NX A.2, which calls it Y): party 0 garbles,
//! party 1 evaluates.
//!
//! A bit's share is a label: the garbler has the one that stands for 0, the evaluator the one that stands
//! for the bit; they are `x` and `x ^ bit R` for the garbler's offset `R`, which is odd. The lowest bits
//! of both labels (their colours) are shares of the bit in Boolean GMW. Secure against semi-honest
//! corruption of one party; for the hash see [`madrigal_garbling`].
//!
//! Two orders of work, for the same shares. **Streamed**, all of it is online: tables travel in messages of [`MESSAGE`]
//! bytes while they are made, and are forgotten when they are used. **Ahead**, the garbler draws labels of 0 before
//! there are inputs, garbles and sends the tables, which the evaluator keeps; online labels travel. Rounds and bytes
//! for a bit, from the garbler (G) and from the evaluator (E):
//!
//! | operation | streamed | ahead: setup | ahead: online |
//! |---|---|---|---|
//! | a bit that the garbler knows | 0: the evaluator's label is drawn from a generator that both have, and the other one follows | 0 | 1: G 16 |
//! | a bit that the evaluator knows, or that both have shares of (B2Y) | 1: E 1/8 | 0 | 2: E 1/8, G 16 |
//! | a number of l bits, shared in A ([`split`](Yao::split)), for each bit | 1: E 1/8 | 0 | 2: E 1/8, G 16 |
//! | the same, shared in alpha | 1: E 1/8 | 1: E 1/8 | 1: G 16 |
//! | XOR, NOT | 0 | 0 | 0 |
//! | AND | 1 for a circuit: G 32 by half-gates, 24.6 by three halves | the same | 0 |
//! | opening | 1: 1/8 to each who gets it | 1: G 1/8 if E gets it | 1: E 1/8 if G gets it |
//! | numbers of l bits in A (Y2A, [`project`](Yao::project)), for all bits | 1: G `ceil(l/8) + ceil((l-1)/8) + .. + 1`, 80 for 32 bits | the same | 0 |
//!
//! A bit that is not the garbler's alone takes a correlated OT. AES blocks: a label that is drawn one, an AND
//! 4 and 2 (6 and 3), a bit of a number 2 and 1, of the garbler's and the evaluator's.
//!
//! **Labels from OTs.** The offset of the OTs is `R`: with `t = q ^ c R`, and `d = c ^ x` from the evaluator, `t` is
//! the label for x if `q ^ d R` is the one for 0. Rows are used once and unhashed; `d` is x under a one-time pad. If
//! the garbler has a share y of the bit, it takes `q ^ (d ^ y) R`. Ahead the label of 0 is there already, `w`, and does
//! not depend on d: the garbler sends `w ^ q ^ (d ^ y) R`, to which the evaluator adds its row: `w ^ (x ^ y) R`. What
//! it is told follows from that label, which is uniform because w is, and from the row: one label of a wire is
//! all that it gets.
//!
//! **Numbers.** A number in A is `x_0 + x_1`, in alpha `(Delta + delta_0) + delta_1`: a sum of one that the garbler knows
//! and one that the evaluator knows. In alpha the latter is there before the inputs are, so its labels are too. In A
//! the evaluator takes the choices of the rows for it, r, whose labels are the rows themselves, and tells the garbler
//! `x_1 - r`, which r masks: so one of two numbers needs labels sent, not both. The other way, numbers come of bits by a
//! row for each ([`Planes`]), without an OT: what MOTION 7.6 masks by a subtraction in the circuit takes 31 ANDs, 992
//! bytes for 32 bits.
//!
//! **Ahead or streamed.** Ahead the evaluator keeps the tables, 32 bytes for each AND; garbling and evaluation are one
//! after the other, where streamed they go on at the same time. So plans stream large circuits unless online time is
//! what is asked for (`PlanSpec::phases` of the engine). Setup and online have an instance of garbling each, of a
//! name of its own: numbers of pieces and rows repeat in neither, and what is kept says under which it was made.
//!
//! **Inputs that come after the tables.** Parties here take part honestly, with inputs that are theirs, not chosen by
//! what they have seen. To simulate tables for an evaluator whose inputs depend on them, the hash must be programmed
//! afterwards: the same argument in the ideal-cipher model, but nothing weaker (Bellare, Hoang and Rogaway, Asiacrypt
//! 2012). BMR needs that, too.
//!
//! Wide values go through a circuit some lanes at a time, so that the labels that are alive stay in the cache.

mod ahead;
mod numbers;
mod split;

pub use ahead::{Garbled, fresh_aes, table_bytes};
pub use madrigal_garbling::Planes;
pub use numbers::{Projected, numbers_aes};
pub use split::bits_of;

use std::ops::Range;

use madrigal_circuit::Layered;
use madrigal_core::{Party, Zeroizing, bits};
use madrigal_garbling::{
    Chunk, Evaluator, Garbler, GarblingError, Instance, Program, Scheme, Shape, colours,
};
use madrigal_kernels::{Block, blocks_as_bytes_mut};
use madrigal_net::{Channel, Context, Error, Generator, Result, breathe};

/// The party that garbles.
pub const GARBLER: Party = Party::new(0);
/// The party that evaluates.
pub const EVALUATOR: Party = Party::new(1);
/// Number of parties.
pub const PARTIES: usize = 2;

/// Bytes of tables that a message has at least, but for the last one of some lanes.
pub const MESSAGE: usize = 64 << 10;

/// Labels of rows, one for each lane of a row.
pub type Labels = Zeroizing<Vec<Block>>;

/// One party of the two at work, on a channel of its own.
pub struct Yao {
    context: Context,
    channel: Channel,
    /// Generator that both have: labels of bits that the garbler knows.
    common: Generator,
    scheme: Scheme,
    instance: Instance,
    /// The number of the next piece of the instance.
    next: u64,
    /// Number of the next row on the way to a number.
    next_row: u64,
}

impl std::fmt::Debug for Yao {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Yao({:?}, {:?})", self.context, self.scheme)
    }
}

impl Yao {
    /// Opens the channel of `context`, which is for two parties. Both name the same scheme.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] in the same cases as [`Context::channel`].
    pub fn new(context: Context, scheme: Scheme) -> Result<Self> {
        let peer = if context.me() == GARBLER {
            EVALUATOR
        } else {
            GARBLER
        };
        let [garbler, evaluator] = [GARBLER, EVALUATOR].map(|party| party.index() as u16);
        Ok(Self {
            channel: context.channel(peer)?,
            common: context.shared_prg(peer)?,
            scheme,
            instance: Instance {
                session: context.public_id(),
                garbler,
                evaluator,
                stream: 0,
            },
            next: 0,
            next_row: 0,
            context,
        })
    }

    /// Counts the rounds from now on in `context`, see [`Channel::count_in`].
    pub fn count_in(&mut self, context: &Context) {
        self.context = context.clone();
        self.channel.count_in(context);
    }

    /// Whether this party garbles.
    pub fn garbles(&self) -> bool {
        self.context.me() == GARBLER
    }

    /// Labels for `count` bits that the garbler knows, packed in `bits` at the garbler; no message.
    ///
    /// # Panics
    /// If the garbler gives fewer bits.
    pub fn share_own(&mut self, offset: &Block, bits: Option<&[u8]>, count: usize) -> Labels {
        let mut labels = Zeroizing::new(vec![Block::ZERO; count]);
        self.common.fill(blocks_as_bytes_mut(&mut labels));
        if let (true, Some(bits)) = (self.garbles(), bits) {
            add_where(&mut labels, bits, *offset);
        }
        labels
    }

    /// Labels for the XOR of `count` bits of the evaluator's and as many of the garbler's, if it has any
    /// (packed; what is past the last bit is ignored), from as many `rows` of correlated OTs. One round.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    ///
    /// # Panics
    /// If there are fewer bits or rows.
    pub async fn share_both(
        &mut self,
        offset: &Block,
        bits: Option<&[u8]>,
        count: usize,
        rows: &[Block],
    ) -> Result<Labels> {
        let mut labels: Labels = rows[..count].to_vec().into();
        if count == 0 {
            return Ok(labels);
        }
        let bytes = bits::bytes_for(count);
        let mut hidden = Zeroizing::new(vec![0; bytes]);
        if let Some(bits) = bits {
            hidden.copy_from_slice(&bits[..bytes]);
        }
        if self.garbles() {
            let theirs = self.channel.recv(bytes).await?;
            if !bits::tail_is_clear(&theirs, count) {
                return Err(self
                    .channel
                    .refuse("the padding of its masked bits is not zero"));
            }
            madrigal_kernels::xor_into(&mut hidden, &theirs);
            add_where(&mut labels, &hidden, *offset);
        } else {
            let mut chosen = Zeroizing::new(vec![0; bytes]);
            colours(&labels, &mut chosen);
            madrigal_kernels::xor_into(&mut hidden, &chosen);
            bits::clear_tail(&mut hidden, count);
            self.channel.send(hidden.to_vec()).await?;
        }
        Ok(labels)
    }

    /// Opens the bits that the labels stand for, packed, at those of the two to whom it is told. One round.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn open(
        &mut self,
        labels: &[Block],
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let mut ours = packed_colours(labels);
        let bytes = ours.len();
        if bytes == 0 {
            return Ok(Some(ours));
        }
        if to.contains(&self.channel.peer()) {
            self.channel.send(ours.to_vec()).await?;
        }
        if !to.contains(&self.context.me()) {
            return Ok(None);
        }
        let theirs = self.channel.recv(bytes).await?;
        self.check_tail(&theirs, labels.len())?;
        madrigal_kernels::xor_into(&mut ours, &theirs);
        Ok(Some(ours))
    }

    fn check_tail(&self, colours: &[u8], count: usize) -> Result<()> {
        match bits::tail_is_clear(colours, count) {
            true => Ok(()),
            false => Err(self
                .channel
                .refuse("the padding of its colours is not zero")),
        }
    }

    /// Evaluates a circuit in `lanes` lanes: `inputs` gives the labels of some lanes of a wire, `outputs`
    /// takes those of an output. Tables go from the garbler to the evaluator.
    ///
    /// # Errors
    /// [`madrigal_net::Error`] of the network.
    pub async fn evaluate<'i>(
        &mut self,
        program: &Program<'_>,
        offset: &Block,
        lanes: usize,
        inputs: impl Fn(usize, Range<usize>) -> &'i [Block],
        mut outputs: impl FnMut(usize, Range<usize>, &[Block]),
    ) -> Result<()> {
        let layered = program.layered();
        let mut side = Side::new(self, offset)?;
        for lanes in blocks(layered, lanes) {
            let shape = shape(self.scheme, layered, lanes.len());
            side.restart(shape, self.next);
            for (row, &wire) in layered.inputs().iter().enumerate() {
                let labels = inputs(wire as usize, lanes.clone());
                side.set(row, labels).map_err(bug)?;
            }
            let mut chunks = program.chunks(shape, MESSAGE).peekable();
            while chunks.peek().is_some() {
                let (message, bytes) = message(&mut chunks, shape);
                self.table(&mut side, &message, bytes).await?;
            }
            self.next += shape.pieces_of(layered);
            for (output, &row) in layered.outputs().iter().enumerate() {
                outputs(output, lanes.clone(), side.labels(row as usize));
            }
        }
        Ok(())
    }

    /// The table of some chunks, in one message; none if they have no ANDs.
    async fn table(&mut self, side: &mut Side, chunks: &[Chunk<'_>], bytes: usize) -> Result<()> {
        match side {
            Side::Garbler(garbler) => self.send_table(garbler, chunks, bytes).await?,
            Side::Evaluator(evaluator) => {
                let table = match bytes {
                    0 => Default::default(),
                    bytes => self.channel.recv(bytes).await?,
                };
                let shape = evaluator.shape();
                let done = self.context.metered_now(|| {
                    let mut rest = &table[..];
                    chunks.iter().try_for_each(|chunk| {
                        let own;
                        (own, rest) = rest.split_at(shape.table_bytes(chunk.ands.len()));
                        evaluator.evaluate(chunk, own)
                    })
                });
                done.map_err(bug)?;
            }
        }
        Ok(())
    }

    /// Garbles some chunks and sends their table, in one message; none if they have no ANDs.
    async fn send_table(
        &mut self,
        garbler: &mut Garbler,
        chunks: &[Chunk<'_>],
        bytes: usize,
    ) -> Result<()> {
        let mut table = vec![0; bytes];
        let shape = garbler.shape();
        self.context
            .metered_now(|| {
                let mut rest = &mut table[..];
                chunks.iter().try_for_each(|chunk| {
                    let own;
                    (own, rest) =
                        std::mem::take(&mut rest).split_at_mut(shape.table_bytes(chunk.ands.len()));
                    garbler.garble(chunk, own)
                })
            })
            .map_err(bug)?;
        if bytes > 0 {
            self.channel.send(table).await?;
            breathe().await;
        }
        Ok(())
    }
}

/// Lengths of the messages with tables of a circuit in `lanes` lanes, in order: how often those of one
/// block of lanes come, and what they are.
pub fn tables(program: &Program<'_>, scheme: Scheme, lanes: usize) -> Vec<(u64, Vec<usize>)> {
    let of = |lanes: usize| {
        let shape = shape(scheme, program.layered(), lanes);
        let mut chunks = program.chunks(shape, MESSAGE).peekable();
        let mut lens = Vec::new();
        while chunks.peek().is_some() {
            lens.push(message(&mut chunks, shape).1);
        }
        lens.retain(|&bytes| bytes > 0);
        lens
    };
    let alike = alike(program.layered(), lanes).into_iter();
    alike.map(|(lanes, times)| (times, of(lanes))).collect()
}

/// AES blocks that a party computes for a circuit in `lanes` lanes.
pub fn evaluate_aes(layered: &Layered, scheme: Scheme, lanes: usize, me: Party) -> u64 {
    let of = |(lanes, times): (usize, u64)| {
        let shape = shape(scheme, layered, lanes);
        let layers = layered.layers().map(|layer| match me {
            GARBLER => shape.garble_aes(layer.ands.len()),
            _ => shape.evaluate_aes(layer.ands.len()),
        });
        times * layers.sum::<u64>()
    };
    // The garbler draws the seed of its coins.
    let seed = u64::from(me == GARBLER);
    alike(layered, lanes).into_iter().map(of).sum::<u64>() + seed
}

/// AES blocks that a party computes to share `count` bits of the garbler's.
pub fn share_own_aes(count: usize) -> u64 {
    count as u64
}

/// The lowest bits of labels.
fn packed_colours(labels: &[Block]) -> Zeroizing<Vec<u8>> {
    let mut packed = Zeroizing::new(vec![0; bits::bytes_for(labels.len())]);
    colours(labels, &mut packed);
    packed
}

/// Gives the shape before the first block.
fn none(scheme: Scheme) -> Shape {
    Shape {
        scheme,
        rows: 0,
        lanes: 0,
    }
}

fn shape(scheme: Scheme, layered: &Layered, lanes: usize) -> Shape {
    Shape {
        scheme,
        rows: layered.rows(),
        lanes,
    }
}

/// The lanes that go through the circuit together.
fn blocks(layered: &Layered, lanes: usize) -> impl Iterator<Item = Range<usize>> {
    let each = Shape::lanes_in_cache(layered.rows());
    (0..lanes)
        .step_by(each)
        .map(move |start| start..lanes.min(start + each))
}

/// Gives the numbers of lanes that go through it together, and how often each comes.
fn alike(layered: &Layered, lanes: usize) -> Vec<(usize, u64)> {
    let each = Shape::lanes_in_cache(layered.rows());
    let all = [(each, (lanes / each) as u64), (lanes % each, 1)];
    let some = |&(lanes, times): &(usize, u64)| lanes > 0 && times > 0;
    all.into_iter().filter(some).collect()
}

/// The next chunks whose tables make up a message, and how long it is.
fn message<'c>(
    chunks: &mut impl Iterator<Item = Chunk<'c>>,
    shape: Shape,
) -> (Vec<Chunk<'c>>, usize) {
    let (mut all, mut bytes) = (Vec::new(), 0);
    for chunk in chunks {
        bytes += shape.table_bytes(chunk.ands.len());
        all.push(chunk);
        if bytes >= MESSAGE {
            break;
        }
    }
    (all, bytes)
}

/// Adds the offset where a bit is 1.
fn add_where(labels: &mut [Block], bits: &[u8], offset: Block) {
    assert!(bits.len() * 8 >= labels.len(), "a bit for each label");
    for (labels, byte) in labels.chunks_mut(8).zip(bits) {
        for (i, label) in labels.iter_mut().enumerate() {
            *label ^= Block::mask(byte >> i & 1 == 1) & offset;
        }
    }
}

/// A party's labels within a circuit.
enum Side {
    Garbler(Box<Garbler>),
    Evaluator(Box<Evaluator>),
}

impl Side {
    fn new(yao: &Yao, offset: &Block) -> Result<Self> {
        if yao.garbles() {
            return Ok(Self::Garbler(Box::new(yao.garbler(offset)?)));
        }
        let evaluator = Evaluator::new(yao.instance, none(yao.scheme), yao.next);
        Ok(Self::Evaluator(Box::new(evaluator)))
    }

    fn restart(&mut self, shape: Shape, first: u64) {
        match self {
            Self::Garbler(garbler) => garbler.restart(shape, first),
            Self::Evaluator(evaluator) => evaluator.restart(shape, first),
        }
    }

    fn set(&mut self, row: usize, labels: &[Block]) -> Result<(), GarblingError> {
        match self {
            Self::Garbler(garbler) => garbler.set(row, labels),
            Self::Evaluator(evaluator) => evaluator.set(row, labels),
        }
    }

    fn labels(&self, row: usize) -> &[Block] {
        match self {
            Self::Garbler(garbler) => garbler.labels(row),
            Self::Evaluator(evaluator) => evaluator.labels(row),
        }
    }
}

/// Lengths of messages are checked where they come in, so that what is left is our own doing.
fn bug(error: GarblingError) -> Error {
    Error::bug(error)
}
