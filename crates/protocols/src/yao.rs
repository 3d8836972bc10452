//! Garbled circuits between two parties (protocol Y2; MOTION2NX A.2, which calls it Y): party 0 garbles,
//! party 1 evaluates.
//!
//! A bit's share is a label: the garbler has the one that stands for 0, the evaluator the one that stands
//! for the bit; they are `x` and `x ^ bit R` for the garbler's offset `R`, which is odd. The lowest bits
//! of both labels (their colours) are shares of the bit in Boolean GMW. Secure against semi-honest
//! corruption of one party; for the hash see [`madrigal_garbling`].
//!
//! | operation | rounds | bytes |
//! |---|---|---|
//! | a bit that the garbler knows | 0 | 0: the evaluator's label is drawn from a generator that both have, and the other one follows |
//! | a bit that the evaluator knows, or that both have shares of | 1 | a bit from the evaluator, and a correlated OT beforehand |
//! | XOR, NOT | 0 | 0 |
//! | AND | 1 for a whole circuit | 32 bytes from the garbler by half-gates, 24.6 by three halves |
//! | opening | 1 | a bit to each who gets it |
//!
//! Labels for bits that are not the garbler's alone come from correlated OTs whose offset is `R`: with
//! `t = q ^ c R`, and `d = c ^ x` from the evaluator, `t` is the label for x if `q ^ d R` is the one for 0.
//! Rows are used once and unhashed; `d` is x under a one-time pad. If the garbler has a share y of the
//! bit, it takes `q ^ (d ^ y) R`.
//!
//! Garbling and evaluation go on at the same time: tables travel in messages of [`MESSAGE`] bytes, and are
//! forgotten when they are used. Wide values go through a circuit some lanes at a time, so that the
//! labels that are alive stay in the cache.

use std::ops::Range;

use madrigal_circuit::Layered;
use madrigal_core::{Party, bits};
use madrigal_garbling::{
    Chunk, Evaluator, Garbler, GarblingError, Instance, Offset, Program, Scheme, Shape, colours,
};
use madrigal_kernels::{Block, blocks_as_bytes_mut};
use madrigal_net::{Channel, Context, Error, Generator, Result, breathe};
use zeroize::Zeroizing;

/// The party that garbles.
pub const GARBLER: Party = Party::new(0);
/// The party that evaluates.
pub const EVALUATOR: Party = Party::new(1);
/// How many parties there are.
pub const PARTIES: usize = 2;

/// Bytes of tables that a message has at least, but for the last one of some lanes.
pub const MESSAGE: usize = 64 << 10;

/// Labels of rows, each of so many lanes.
pub type Labels = Zeroizing<Vec<Block>>;

/// One party of the two at work, on a channel of its own.
pub struct Yao {
    context: Context,
    channel: Channel,
    /// What both have: labels of bits that the garbler knows.
    common: Generator,
    scheme: Scheme,
    instance: Instance,
    /// The number of the next piece of the instance.
    next: u64,
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
    /// Those of [`Context::channel`].
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
    /// Those of the network.
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

    /// What the labels stand for, packed, at those of the two to whom it is told. One round.
    ///
    /// # Errors
    /// Those of the network.
    pub async fn open(
        &mut self,
        labels: &[Block],
        to: &[Party],
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let bytes = bits::bytes_for(labels.len());
        let mut ours = Zeroizing::new(vec![0; bytes]);
        colours(labels, &mut ours);
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
        if !bits::tail_is_clear(&theirs, labels.len()) {
            return Err(self
                .channel
                .refuse("the padding of its colours is not zero"));
        }
        madrigal_kernels::xor_into(&mut ours, &theirs);
        Ok(Some(ours))
    }

    /// Evaluates a circuit in `lanes` lanes: `inputs` gives the labels of some lanes of a wire, `outputs`
    /// takes those of an output. Tables go from the garbler to the evaluator.
    ///
    /// # Errors
    /// Those of the network.
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
            Side::Garbler(garbler) => {
                let mut table = vec![0; bytes];
                let shape = garbler.shape();
                self.context
                    .metered_now(|| {
                        let mut rest = &mut table[..];
                        chunks.iter().try_for_each(|chunk| {
                            let own;
                            (own, rest) = std::mem::take(&mut rest)
                                .split_at_mut(shape.table_bytes(chunk.ands.len()));
                            garbler.garble(chunk, own)
                        })
                    })
                    .map_err(bug)?;
                if bytes > 0 {
                    self.channel.send(table).await?;
                    breathe().await;
                }
            }
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
}

/// The lengths of the messages with tables of a circuit in so many lanes, in order: how often those of one
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

/// AES blocks that a party computes for a circuit in so many lanes.
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

/// AES blocks that a party computes to share so many bits of the garbler's.
pub fn share_own_aes(count: usize) -> u64 {
    count as u64
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

/// How many lanes go through it together, and how often.
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
        let none = Shape {
            scheme: yao.scheme,
            rows: 0,
            lanes: 0,
        };
        if !yao.garbles() {
            let evaluator = Evaluator::new(yao.instance, none, yao.next);
            return Ok(Self::Evaluator(Box::new(evaluator)));
        }
        let offset = Offset::from_block(*offset).map_err(bug)?;
        let seed = Zeroizing::new(yao.context.private_prg().next_block());
        let garbler = Garbler::new(yao.instance, none, yao.next, &offset, *seed);
        Ok(Self::Garbler(Box::new(garbler)))
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
    Error::Ended {
        reason: format!("a bug in madrigal: {error}"),
    }
}
