//! OTs with all peers over any extension, part by part: who sends what when, for every kind of
//! correlation.
//!
//! A kind says how its items are cut into parts, how many OTs each takes and how long corrections are
//! ([`Layout`], of which its cost follows), and what it makes of masks ([`Call`]). A part goes through
//! four steps:
//!
//! 1. *Offer*: a silent sender offers OTs.
//! 2. *Ask*: the receiver sends the extension's message for its choices.
//! 3. *Answer*: the sender takes it, and sends corrections if the kind has any.
//! 4. *Correct*: the receiver takes those.
//!
//! In the first call the extensions' first messages go ahead, in both directions.
//!
//! A step waits for the peers only some parts after they sent ([`AHEAD`]): latency is paid once per
//! call.

use std::ops::Range;

use bytes::Bytes;
use futures_util::future::{join, try_join_all};
use madrigal_core::{Party, PhaseCost};
use madrigal_kernels::Block;
use madrigal_net::frame::HEADER_BYTES;
use madrigal_net::{Channel, Context, Error, Result, breathe};
use madrigal_ot::silent::{QueuedReceiver, QueuedSender, SilentReceiver, SilentSender};
use madrigal_ot::softspoken::{SoftSpokenReceiver, SoftSpokenSender};
use madrigal_ot::{
    Delta, ExtensionReceiver, ExtensionSender, Instance, OtError, SeededRng, flavour,
};
use rand_core::Rng as _;
use zeroize::Zeroizing;

use crate::base::{Base, BasePair, Stream, bug, direction, fail, stream_cost};
use crate::extension::{Batch, Extension, Meter, SILENT, SILENT_BASE};

/// Parts under way before the first is waited for, where the channels' windows allow it.
const AHEAD: usize = 4;
/// OTs hashed at a time: masks that stay in the first-level cache.
const PIECE: usize = 512;

/// How the items of a call are cut, and what goes over the network for them.
pub(crate) trait Layout: Copy {
    /// The items, part by part, the longest part first.
    fn parts(&self) -> impl ExactSizeIterator<Item = Range<usize>>;

    /// The OTs for some items that `sender` sends to `receiver`.
    fn batch(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Batch;

    /// Bytes of the corrections that follow them; `None` where there is no such message.
    fn corrections(&self, sender: Party, receiver: Party, items: &Range<usize>) -> Option<usize>;

    /// AES blocks to stretch the masks of the receiver; the sender has twice as many.
    fn stretch_blocks(&self, _items: &Range<usize>) -> u64 {
        0
    }
}

/// `count` items in parts of `size`.
pub(crate) fn parts(count: usize, size: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..count)
        .step_by(size)
        .map(move |start| start..count.min(start + size))
}

/// What a call makes of its OTs: the round functions, without the network.
pub(crate) trait Call {
    type Layout: Layout;

    fn layout(&self) -> Self::Layout;

    /// As the receiver of OTs from `peer`, for items of one part.
    fn ask(&mut self, peer: Party, items: &Range<usize>, ots: Ask<'_>) -> Result<(), OtError>;

    /// As the sender of OTs to `peer`, with corrections to write as long as the layout says.
    fn answer(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        ots: Answer<'_>,
        corrections: &mut [u8],
    ) -> Result<(), OtError>;

    /// As the receiver: the corrections of `peer`, of the length that the layout says, or what is
    /// wrong with them.
    fn correct(
        &mut self,
        peer: Party,
        items: &Range<usize>,
        corrections: &[u8],
    ) -> Result<(), &'static str>;

    /// What a part counts for in progress.
    fn made(&self, items: &Range<usize>) -> usize {
        items.len()
    }
}

/// The extensions of one kind of correlation with all peers, in both directions. They go on from call
/// to call.
pub(crate) struct Links {
    context: Context,
    extension: Extension,
    links: Vec<Link>,
    space: Space,
    /// Whether the first call has come.
    started: bool,
    /// A call is under way, or did not come to its end: then the parties are out of step.
    broken: bool,
}

struct Link {
    peer: Party,
    sender: Sending,
    receiver: Receiving,
    /// What the peer's sender waits for; sent in the first call.
    setup: Option<Vec<u8>>,
    /// OTs that we send, OTs that we receive.
    meters: [Meter; 2],
    extension: Channel,
    offers: Channel,
    corrections: Channel,
}

/// The OTs that we send.
enum Sending {
    /// The peer's first message has not come yet.
    Waiting(Waiting),
    SoftSpoken(Box<SoftSpokenSender>),
    Silent(Box<QueuedSender>),
    /// The first message was no good.
    Failed,
}

struct Waiting {
    instance: Instance,
    delta: Delta,
    keys: Zeroizing<Vec<Block>>,
    rng: SeededRng,
}

/// The OTs that we receive.
enum Receiving {
    SoftSpoken(Box<SoftSpokenReceiver>),
    Silent(Box<QueuedReceiver>),
}

/// Working memory. Secret.
struct Space {
    rows: Zeroizing<Vec<Block>>,
    masks: [Zeroizing<Vec<Block>>; 2],
    choices: Zeroizing<Vec<u8>>,
}

/// One part of a call.
struct Part {
    items: Range<usize>,
    /// Rounds are counted by part: they do not wait for each other.
    context: Context,
}

/// How many parts after its offer a part goes through the other steps.
struct Lags {
    ask: usize,
    answer: usize,
    /// Whether corrections are received one part after ours are sent, else at the same time.
    later: bool,
}

impl Links {
    /// Starts the extensions. Local.
    pub(crate) fn new(
        context: &Context,
        base: &Base,
        extension: Extension,
        stream: Stream,
    ) -> Result<Self> {
        let context = context.step(stream.name());
        let link = |base| Link::new(&context, base, extension, stream);
        let links = base.peers().map(link).collect::<Result<_>>()?;
        Ok(Self {
            links,
            extension,
            space: Space::new(),
            started: false,
            broken: false,
            context,
        })
    }

    /// In whose rounds the calls are counted.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Makes all items of a call. `made` hears how many more are done.
    pub(crate) async fn run(&mut self, call: &mut impl Call, made: &dyn Fn(usize)) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            let reason = "an earlier call for correlations failed or was given up; start a new job";
            return Err(Error::Ended {
                reason: reason.into(),
            });
        }
        let layout = call.layout();
        let parts: Vec<Part> = layout
            .parts()
            .map(|items| Part {
                items,
                context: self.context.beside(),
            })
            .collect();
        let Some(first) = parts.first() else {
            self.broken = false;
            return Ok(());
        };
        let lags = self.lags(&layout, &first.items);
        let begins = !std::mem::replace(&mut self.started, true);
        if begins {
            self.begin(&first.context).await?;
        }
        for step in 0..parts.len() + lags.answer + 1 {
            let at = |lag: usize| step.checked_sub(lag).and_then(|index| parts.get(index));
            if let Some(part) = at(0) {
                self.offer(&layout, part).await?;
            }
            if let Some(part) = at(lags.ask) {
                self.ask(call, part).await?;
            }
            if begins && step == lags.answer {
                self.hear(&first.context).await?;
            }
            if let Some(part) = at(lags.answer) {
                self.answer(call, part, lags.later).await?;
            }
            if let Some(part) = at(lags.answer + 1) {
                if lags.later {
                    self.correct(call, part).await?;
                }
                self.context.join(&part.context);
                made(call.made(&part.items));
            }
            breathe().await;
        }
        self.broken = false;
        Ok(())
    }

    /// All parties send before they receive: what is sent ahead must fit half a window, the half
    /// that a receiver may hold back before it gives new credit.
    fn lags(&self, layout: &impl Layout, items: &Range<usize>) -> Lags {
        let me = self.context.me();
        let window = self.links.iter().map(|link| link.extension.window()).min();
        let half = window.unwrap_or(0) / 2;
        let longest = |len: &dyn Fn(Party, Party) -> usize| {
            let peers = self.links.iter().map(|link| link.peer);
            let both = peers.flat_map(|peer| [len(me, peer), len(peer, me)]);
            both.max().unwrap_or(0)
        };
        let batch = |sender, receiver| layout.batch(sender, receiver, items);
        let asked = longest(&|from, to| batch(from, to).message_len(self.extension));
        let corrected = longest(&|from, to| layout.corrections(from, to, items).unwrap_or(0));
        let later = corrected + 2 * HEADER_BYTES <= half;
        let (first, each) = match self.extension {
            Extension::SoftSpoken(_) => (self.extension.setup_len(), asked),
            Extension::Silent => {
                let ots = longest(&|from, to| batch(from, to).ots);
                (SILENT.message_len(0, 1), longest_offer(ots))
            }
        };
        let room = half.saturating_sub(first + HEADER_BYTES);
        let ahead = (room / (each.max(asked) + HEADER_BYTES)).clamp(1, AHEAD + 1) - 1;
        let ask = if self.extension.is_silent() { ahead } else { 0 };
        let waits = asked > 0;
        Lags {
            ask,
            answer: if waits { ask + ahead } else { ask },
            later,
        }
    }

    /// Sends each peer the first message of the OTs that we receive.
    async fn begin(&mut self, context: &Context) -> Result<()> {
        let cost = start_cost(self.extension, self.context.parties());
        self.context.count_aes(cost.aes_blocks);
        for link in &mut self.links {
            if let Some(setup) = link.setup.take_if(|setup| !setup.is_empty()) {
                link.extension.count_in(context);
                link.extension.send(setup).await?;
            }
        }
        if self.extension.is_silent() {
            self.hear(context).await?;
        }
        Ok(())
    }

    /// Receives the peers' first messages, unless they were received.
    async fn hear(&mut self, context: &Context) -> Result<()> {
        for link in &mut self.links {
            link.extension.count_in(context);
            link.sender
                .hear(&mut link.extension, self.extension)
                .await?;
        }
        Ok(())
    }

    async fn offer(&mut self, layout: &impl Layout, part: &Part) -> Result<()> {
        let me = part.context.me();
        let mut aes = 0;
        for link in &mut self.links {
            let [sent, received] = &mut link.meters;
            let batch = layout.batch(link.peer, me, &part.items);
            let spent = received.next(batch);
            let stretch = |batch: Batch| match batch.ots {
                0 => 0,
                _ => layout.stretch_blocks(&part.items),
            };
            aes += spent.cost.receiver_aes + stretch(batch);
            let batch = layout.batch(me, link.peer, &part.items);
            aes += sent.next(batch).cost.sender_aes + 2 * stretch(batch);
        }
        part.context.count_aes(aes);
        if !self.extension.is_silent() {
            return Ok(());
        }
        for link in &mut self.links {
            link.offer(layout, part).await?;
        }
        Ok(())
    }

    async fn ask(&mut self, call: &mut impl Call, part: &Part) -> Result<()> {
        let layout = call.layout();
        // All offers first: rounds then end for all parties at once, call after call.
        for link in &mut self.links {
            let batch = layout.batch(link.peer, part.context.me(), &part.items);
            link.accept(batch, part).await?;
        }
        for link in &mut self.links {
            let batch = layout.batch(link.peer, part.context.me(), &part.items);
            if batch.ots == 0 {
                continue;
            }
            let mut message = vec![0; batch.message_len(self.extension)];
            let ask = Ask {
                receiver: link.receiver.get(),
                batch,
                random: batch.random(self.extension),
                message: &mut message,
                space: &mut self.space,
            };
            call.ask(link.peer, &part.items, ask)
                .map_err(|error| fail(&link.extension, error))?;
            if !batch.random(self.extension) {
                link.extension.count_in(&part.context);
                link.extension.send(message).await?;
            }
        }
        Ok(())
    }

    async fn answer(&mut self, call: &mut impl Call, part: &Part, later: bool) -> Result<()> {
        let (layout, me) = (call.layout(), part.context.me());
        let mut all = Vec::new();
        for link in &mut self.links {
            let peer = link.peer;
            let batch = layout.batch(me, peer, &part.items);
            link.corrections.count_in(&part.context);
            if batch.ots == 0 {
                all.push(None);
                continue;
            }
            let message = match batch.random(self.extension) {
                true => Bytes::new(),
                false => {
                    let expected = batch.message_len(self.extension);
                    link.extension.count_in(&part.context);
                    link.extension.recv(expected).await?
                }
            };
            let answer = Answer {
                sender: link.sender.get(&link.extension)?,
                batch,
                random: batch.random(self.extension),
                message: &message,
                space: &mut self.space,
            };
            let len = layout.corrections(me, peer, &part.items);
            let mut corrections = len.map(|len| vec![0; len]);
            let out = corrections.as_deref_mut().unwrap_or_default();
            call.answer(peer, &part.items, answer, out)
                .map_err(|error| fail(&link.extension, error))?;
            match corrections {
                Some(corrections) if later => link.corrections.send(corrections).await?,
                corrections => all.push(corrections),
            }
        }
        if later {
            return Ok(());
        }
        // All sending first could leave all waiting: the peers' are taken meanwhile.
        let each = self.links.iter_mut().zip(all).map(|(link, corrections)| {
            let expected = layout.corrections(link.peer, me, &part.items);
            let Channel { tx, rx } = &mut link.corrections;
            async move {
                let send = async {
                    match corrections {
                        Some(corrections) => tx.send(corrections).await,
                        None => Ok(()),
                    }
                };
                let receive = async {
                    match expected {
                        Some(expected) => rx.recv(expected).await.map(Some),
                        None => Ok(None),
                    }
                };
                let (sent, received) = join(send, receive).await;
                sent.and(received)
            }
        });
        let received = try_join_all(each).await?;
        for (link, corrections) in self.links.iter().zip(received) {
            if let Some(corrections) = corrections {
                call.correct(link.peer, &part.items, &corrections)
                    .map_err(|problem| link.corrections.refuse(problem))?;
            }
        }
        Ok(())
    }

    async fn correct(&mut self, call: &mut impl Call, part: &Part) -> Result<()> {
        let (layout, me) = (call.layout(), part.context.me());
        for link in &mut self.links {
            let Some(expected) = layout.corrections(link.peer, me, &part.items) else {
                continue;
            };
            link.corrections.count_in(&part.context);
            let corrections = link.corrections.recv(expected).await?;
            call.correct(link.peer, &part.items, &corrections)
                .map_err(|problem| link.corrections.refuse(problem))?;
        }
        Ok(())
    }
}

/// Bytes of an offer of `ots` OTs after the first, at most: an iteration may begin within it.
fn longest_offer(ots: usize) -> usize {
    SILENT.stages().last().map_or(0, |stage| {
        let chunk = SILENT.chunk();
        let groups = stage.base_rows().div_ceil(chunk) + ots / chunk + 2;
        // A block for each level of each tree of a group.
        groups * 16 * (chunk >> stage.depth()) * stage.depth()
    })
}

impl Link {
    fn new(
        context: &Context,
        base: &BasePair,
        extension: Extension,
        stream: Stream,
    ) -> Result<Self> {
        let (me, peer) = (context.me(), base.peer);
        let (keys, both) = base.keys(stream);
        let mut rng = SeededRng::from_seed(context.private_prg().next_block());
        let instance = direction(peer, me, stream as u32);
        let (receiver, setup) =
            Receiving::new(instance, extension, &both, &mut rng).map_err(bug)?;
        let channel = |name| context.step(name).channel(peer);
        Ok(Self {
            peer,
            sender: Sending::Waiting(Waiting {
                instance: direction(me, peer, stream as u32),
                delta: base.delta(),
                keys,
                rng,
            }),
            receiver,
            setup: Some(setup),
            meters: [Meter::new(extension), Meter::new(extension)],
            extension: channel("extension")?,
            offers: channel("offers")?,
            corrections: channel("corrections")?,
        })
    }

    /// Offers the OTs of a part to the peer.
    async fn offer(&mut self, layout: &impl Layout, part: &Part) -> Result<()> {
        let batch = layout.batch(part.context.me(), self.peer, &part.items);
        if batch.ots == 0 {
            return Ok(());
        }
        let Sending::Silent(sender) = &mut self.sender else {
            return Ok(());
        };
        let message = sender
            .offer(batch.ots)
            .map_err(|error| fail(&self.extension, error))?;
        self.offers.count_in(&part.context);
        self.offers.send(message).await
    }

    /// Takes the peer's offer, if its OTs need one.
    async fn accept(&mut self, batch: Batch, part: &Part) -> Result<()> {
        let Receiving::Silent(receiver) = &mut self.receiver else {
            return Ok(());
        };
        if batch.ots == 0 {
            return Ok(());
        }
        self.offers.count_in(&part.context);
        let offer = self.offers.recv(receiver.offer_len(batch.ots)).await?;
        receiver
            .accept(&offer, batch.ots)
            .map_err(|error| fail(&self.offers, error))
    }
}

impl Sending {
    /// Makes the sender from the peer's first message, if it is not there yet.
    async fn hear(&mut self, channel: &mut Channel, extension: Extension) -> Result<()> {
        if !matches!(self, Self::Waiting(_)) {
            return Ok(());
        }
        let setup = match extension.setup_len() {
            0 => Bytes::new(),
            expected => channel.recv(expected).await?,
        };
        if let Self::Waiting(waiting) = std::mem::replace(self, Self::Failed) {
            let sender = waiting.begin(extension, &setup);
            *self = sender.map_err(|error| fail(channel, error))?;
        }
        Ok(())
    }

    fn get(&mut self, channel: &Channel) -> Result<&mut dyn ExtensionSender> {
        match self {
            Self::SoftSpoken(sender) => Ok(&mut **sender),
            Self::Silent(sender) => Ok(&mut **sender),
            // A call after a failed one was refused before it came here.
            Self::Waiting(_) | Self::Failed => Err(channel.refuse("its first message failed")),
        }
    }
}

impl Waiting {
    fn begin(mut self, extension: Extension, setup: &[u8]) -> Result<Sending, OtError> {
        let Self {
            instance,
            delta,
            keys,
            ..
        } = self;
        let k = match extension {
            Extension::SoftSpoken(k) => {
                let sender = SoftSpokenSender::new(instance, k, delta, &keys, setup)?;
                return Ok(Sending::SoftSpoken(Box::new(sender)));
            }
            Extension::Silent => SILENT_BASE,
        };
        let same = Delta::from_block(delta.expose());
        let (setup, message) = setup.split_at(k.setup_len().min(setup.len()));
        let mut base = SoftSpokenSender::new(base_of(instance), k, same, &keys, setup)?;
        let mut rows = Zeroizing::new(vec![Block::ZERO; SILENT.base_rows()]);
        // These rows are never hashed.
        let _ = base.extend(message, rows.len(), &mut rows)?;
        let silent = SilentSender::new(&mut self.rng, instance, SILENT, delta, &rows)?;
        Ok(Sending::Silent(Box::new(QueuedSender::new(silent))))
    }
}

/// The name of the extension that a silent one starts from.
fn base_of(instance: Instance) -> Instance {
    Instance {
        stream: instance.stream | 1 << 31,
        ..instance
    }
}

impl Receiving {
    /// The receiver and its first message.
    fn new(
        instance: Instance,
        extension: Extension,
        keys: &[[Block; 2]],
        rng: &mut SeededRng,
    ) -> Result<(Self, Vec<u8>), OtError> {
        let k = match extension {
            Extension::SoftSpoken(k) => {
                let (receiver, setup) = SoftSpokenReceiver::new(instance, k, keys)?;
                return Ok((Self::SoftSpoken(Box::new(receiver)), setup));
            }
            Extension::Silent => SILENT_BASE,
        };
        let (mut base, mut setup) = SoftSpokenReceiver::new(base_of(instance), k, keys)?;
        let n = SILENT.base_rows();
        let mut rows = Zeroizing::new(vec![Block::ZERO; n]);
        let mut choices = Zeroizing::new(vec![0; n.div_ceil(8)]);
        rng.fill_bytes(&mut choices);
        let mut message = vec![0; k.message_len(n)];
        let _ = base.extend(&choices, n, &mut message, &mut rows)?;
        setup.append(&mut message);
        let silent = SilentReceiver::new(instance, SILENT, &choices, &rows)?;
        Ok((Self::Silent(Box::new(QueuedReceiver::new(silent))), setup))
    }

    fn get(&mut self) -> &mut dyn ExtensionReceiver {
        match self {
            Self::SoftSpoken(receiver) => &mut **receiver,
            Self::Silent(receiver) => &mut **receiver,
        }
    }
}

impl Space {
    fn new() -> Self {
        let run = madrigal_ot::softspoken::CHUNK;
        let blocks = |count| Zeroizing::new(vec![Block::ZERO; count]);
        Self {
            rows: blocks(run),
            masks: [blocks(PIECE), blocks(PIECE)],
            choices: Zeroizing::new(vec![0; run / 8]),
        }
    }
}

/// Items of `unit` OTs whose masks are made at a time.
fn piece(unit: usize) -> usize {
    (PIECE / unit).max(1) * unit
}

/// OTs of one part that we receive.
pub(crate) struct Ask<'a> {
    receiver: &'a mut dyn ExtensionReceiver,
    batch: Batch,
    random: bool,
    message: &'a mut [u8],
    space: &'a mut Space,
}

impl Ask<'_> {
    /// The chosen bit of each OT, packed. Where the extension chooses, `choices` is what it chose.
    pub(crate) fn bits(self, choices: &mut [u8], out: &mut [u8]) -> Result<(), OtError> {
        let (m, message) = (self.batch.ots, self.message);
        if self.random {
            // It has choices of its own.
            let mut none = SeededRng::from_seed(Block::ZERO);
            self.receiver
                .extend_random_bits(&mut none, m, choices, message, out)
        } else {
            self.receiver.extend_bits(choices, m, message, out)
        }
    }

    /// The chosen block of each OT, some items at a time. `choices` writes those of some OTs, packed.
    pub(crate) fn blocks(
        self,
        mut choices: impl FnMut(Range<usize>, &mut [u8]),
        mut use_up: impl FnMut(Range<usize>, &[Block]),
    ) -> Result<(), OtError> {
        let Space {
            rows,
            masks: [masks, _],
            choices: bits,
        } = self.space;
        let mut message = self.message;
        let piece = piece(self.batch.unit);
        for (first, count) in self.batch.runs() {
            let bits = &mut bits[..count.div_ceil(8)];
            choices(first..first + count, bits);
            let u;
            (u, message) = message.split_at_mut(self.receiver.message_len(count));
            let rows = &mut rows[..count];
            let mut tweaks = self.receiver.extend(bits, count, u, rows)?;
            for (index, rows) in rows.chunks(piece).enumerate() {
                let masks = &mut masks[..rows.len()];
                flavour::receiver_random_blocks(tweaks.take(rows.len())?, rows, masks)?;
                let first = first + index * piece;
                use_up(first..first + rows.len(), masks);
            }
        }
        Ok(())
    }
}

/// OTs of one part that we send.
pub(crate) struct Answer<'a> {
    sender: &'a mut dyn ExtensionSender,
    batch: Batch,
    random: bool,
    message: &'a [u8],
    space: &'a mut Space,
}

impl Answer<'_> {
    /// Both bits of each OT, packed.
    pub(crate) fn bits(self, k0: &mut [u8], k1: &mut [u8]) -> Result<(), OtError> {
        let m = self.batch.ots;
        if self.random {
            self.sender.extend_random_bits(self.message, m, k0, k1)
        } else {
            self.sender.extend_bits(self.message, m, k0, k1)
        }
    }

    /// Both blocks of each OT, some items at a time.
    pub(crate) fn blocks(
        self,
        mut use_up: impl FnMut(Range<usize>, &[Block], &[Block]),
    ) -> Result<(), OtError> {
        let Space {
            rows,
            masks: [k0, k1],
            ..
        } = self.space;
        let mut message = self.message;
        let piece = piece(self.batch.unit);
        for (first, count) in self.batch.runs() {
            let u;
            (u, message) = message.split_at(self.sender.message_len(count));
            let rows = &mut rows[..count];
            let mut tweaks = self.sender.extend(u, count, rows)?;
            for (index, rows) in rows.chunks(piece).enumerate() {
                let (k0, k1) = (&mut k0[..rows.len()], &mut k1[..rows.len()]);
                let tweaks = tweaks.take(rows.len())?;
                flavour::sender_random_blocks(self.sender.delta(), tweaks, rows, k0, k1)?;
                let first = first + index * piece;
                use_up(first..first + rows.len(), k0, k1);
            }
        }
        Ok(())
    }
}

/// What the first call for a kind costs on top: the keys of its stream, and both first messages with
/// each peer. SoftSpoken's travel with the first part, silent OTs wait for them.
fn start_cost(extension: Extension, parties: usize) -> PhaseCost {
    let one = extension.setup_cost();
    let peers = parties as u64 - 1;
    stream_cost(parties)
        + PhaseCost {
            rounds: u64::from(extension.is_silent()),
            bytes_sent: peers * one.receiver_bytes,
            bytes_received: peers * one.receiver_bytes,
            messages: peers * u64::from(extension.setup_len() > 0),
            aes_blocks: peers * (one.sender_aes + one.receiver_aes),
        }
}

/// Follows the calls for one kind of correlation at one party, and knows what the next one costs.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    extension: Extension,
    me: Party,
    parties: usize,
    /// By peer: OTs that we send, OTs that we receive. Empty before the first call.
    meters: Vec<[Meter; 2]>,
}

impl Ledger {
    pub(crate) fn new(extension: Extension, me: Party, parties: usize) -> Self {
        Self {
            extension,
            me,
            parties,
            meters: Vec::new(),
        }
    }

    /// Cost of one call.
    pub(crate) fn call(&mut self, layout: &impl Layout) -> PhaseCost {
        let mut total = PhaseCost::default();
        let Some(first) = layout.parts().next() else {
            return total;
        };
        if self.meters.is_empty() {
            let both = || [Meter::new(self.extension), Meter::new(self.extension)];
            self.meters = (1..self.parties).map(|_| both()).collect();
            total += start_cost(self.extension, self.parties);
        }
        for items in layout.parts() {
            let stretched = layout.stretch_blocks(&items);
            let peers = self.me.others(self.parties);
            for (peer, [sent, received]) in peers.zip(&mut self.meters) {
                let me = self.me;
                let out = layout.batch(me, peer, &items);
                let back = layout.batch(peer, me, &items);
                let stretch = |batch: Batch| if batch.ots > 0 { stretched } else { 0 };
                let ours = layout.corrections(me, peer, &items);
                let theirs = layout.corrections(peer, me, &items);
                let (sent, received) = (sent.next(out), received.next(back));
                let bytes = |corrections: Option<usize>| corrections.unwrap_or(0) as u64;
                total += PhaseCost {
                    rounds: 0,
                    bytes_sent: sent.cost.sender_bytes + received.cost.receiver_bytes + bytes(ours),
                    bytes_received: received.cost.sender_bytes
                        + sent.cost.receiver_bytes
                        + bytes(theirs),
                    messages: sent.sender_messages
                        + received.receiver_messages
                        + u64::from(ours.is_some()),
                    aes_blocks: sent.cost.sender_aes
                        + received.cost.receiver_aes
                        + 2 * stretch(out)
                        + stretch(back),
                };
            }
        }
        total.rounds += self.rounds(layout, &first);
        total
    }

    /// Offers, what the receivers send, corrections.
    fn rounds(&self, layout: &impl Layout, items: &Range<usize>) -> u64 {
        let pairs = || {
            let all = Party::all(self.parties);
            all.flat_map(|from| from.others(self.parties).map(move |to| (from, to)))
        };
        let asks = pairs().any(|(from, to)| {
            let batch = layout.batch(from, to, items);
            batch.ots > 0 && !batch.random(self.extension)
        });
        let corrects = pairs().any(|(from, to)| layout.corrections(from, to, items).is_some());
        [self.extension.is_silent(), asks, corrects]
            .map(u64::from)
            .iter()
            .sum()
    }
}
