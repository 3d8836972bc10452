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

mod masks;
mod peer;

use std::ops::Range;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use madrigal_core::Party;
use madrigal_net::frame::message_cost;
use madrigal_net::{Channel, Context, Error, Result, breathe, exchange_each};
use madrigal_ot::OtError;

use self::masks::Space;
pub(crate) use self::masks::{Answer, Ask};
use self::peer::Link;
use crate::base::{Base, Stream, fail};
use crate::extension::{Extension, SILENT};
use crate::layout::Layout;

/// Parts under way before the first is waited for, where the channels' windows allow it.
pub(crate) const AHEAD: usize = 4;

/// What is wrong after a call that did not come to its end.
pub(crate) const OUT_OF_STEP: &str =
    "an earlier call for correlations failed or was given up; start a new job";

/// What a call makes of its OTs: the round functions, without the network.
pub(crate) trait Call {
    fn layout(&self) -> Box<dyn Layout>;

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
        let context = context.step(stream.group.name());
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
    ///
    /// Boxed, and so compiled once: an `async fn` would be compiled again for every kind, ring and
    /// program that makes correlations.
    pub(crate) fn run<'a>(
        &'a mut self,
        call: &'a mut (dyn Call + 'a),
        made: &'a dyn Fn(usize),
    ) -> LocalBoxFuture<'a, Result<()>> {
        Box::pin(self.all(call, made))
    }

    async fn all(&mut self, call: &mut (dyn Call + '_), made: &dyn Fn(usize)) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::Ended {
                reason: OUT_OF_STEP.into(),
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
        let lags = self.lags(&*layout, &first.items);
        let begins = !std::mem::replace(&mut self.started, true);
        if begins {
            self.begin(&first.context).await?;
        }
        for step in 0..parts.len() + lags.answer + 1 {
            let at = |lag: usize| step.checked_sub(lag).and_then(|index| parts.get(index));
            if let Some(part) = at(0) {
                self.offer(&*layout, part).await?;
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
    fn lags(&self, layout: &dyn Layout, items: &Range<usize>) -> Lags {
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
        let later = message_cost(corrected) + message_cost(0) <= half;
        let (first, each) = match self.extension {
            Extension::SoftSpoken(_) => (self.extension.setup_len(), asked),
            Extension::Silent => {
                let ots = longest(&|from, to| batch(from, to).ots);
                (SILENT.message_len(0, 1), longest_offer(ots))
            }
        };
        let room = half.saturating_sub(message_cost(first));
        let ahead = (room / message_cost(each.max(asked))).clamp(1, AHEAD + 1) - 1;
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

    async fn offer(&mut self, layout: &dyn Layout, part: &Part) -> Result<()> {
        if !self.extension.is_silent() {
            return Ok(());
        }
        for link in &mut self.links {
            link.offer(layout, part).await?;
        }
        Ok(())
    }

    async fn ask(&mut self, call: &mut (dyn Call + '_), part: &Part) -> Result<()> {
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

    async fn answer(&mut self, call: &mut (dyn Call + '_), part: &Part, later: bool) -> Result<()> {
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
        let expected = |peer| layout.corrections(peer, me, &part.items);
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (link, corrections) in self.links.iter_mut().zip(all) {
            let Channel { tx, rx } = &mut link.corrections;
            sends.extend(corrections.map(|corrections| (tx, Bytes::from(corrections))));
            receives.extend(expected(link.peer).map(|expected| (rx, expected)));
        }
        let received = exchange_each(sends, receives).await?;
        let heard = self
            .links
            .iter()
            .filter(|link| expected(link.peer).is_some());
        for (link, corrections) in heard.zip(received) {
            call.correct(link.peer, &part.items, &corrections)
                .map_err(|problem| link.corrections.refuse(problem))?;
        }
        Ok(())
    }

    async fn correct(&mut self, call: &mut (dyn Call + '_), part: &Part) -> Result<()> {
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
