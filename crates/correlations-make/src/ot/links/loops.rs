//! A call under way: for each step a loop over all parts, and what lets one go on before another.
//!
//! The loops are polled together, the last step first: what has come is worked on before more is asked
//! for. A loop that has done a part lets the thread's other work run, its sockets above all, and has
//! all loops polled again; so a loop may wait for another's count without anything to wake it
//! ([`Loops::until`]).
//!
//! # How far ahead
//! While there is other work to do, offering and asking stay [`AHEAD`] of the answers, which keeps what is
//! under way in the caches where messages come at once. On a line with latency a party that would wait goes further ahead instead: by [what it
//! can make](PACE) in a round trip, as far as the line and the peer's window let it. More than that would
//! only wait in the peer's memory. Where answers stay away [for long](LONG) all the same, the line has become
//! slower since its round trip was measured, and it goes twice as far from then on. Offers stop at [`OFFERED`],
//! since the sender keeps a row for each OT until it is asked for.
//!
//! A part's messages travel on all links at once. Where a line holds more than a window, each link then
//! sees by itself that it stands still, and all windows grow at the same time, not one after the other.
//!
//! # Why nobody waits for ever
//! All loops take the parts in the same order at all parties. Suppose some wait for each other, and look
//! at the lowest part that anybody waits in. Of an earlier part everything has been consumed, so that
//! the windows have room for a message of this one on each link, which no other link's message holds up;
//! and its offers, questions, answers and corrections wait for each other in this order. That no offer and no
//! question is too far ahead is a wait for an earlier part. (Corrections go one
//! link after the other; one that waits for room waits for a party that has not yet come to this part. Where
//! there are stages, an answer waits for corrections too, but for those of a lower part.)

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::ops::Range;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::{try_join_all, try_join4};
use madrigal_core::Party;
use madrigal_net::frame::message_cost;
use madrigal_net::{Context, Result, breathe};

use super::call::OtCall;
use super::masks::{Answer, Ask, Space};
use super::peer::{Answering, Asking, Correcting, Offering, PeerOts, Sending};
use crate::ot::base::{bug, fail};
use crate::ot::extension::Extension;
use crate::ot::layout::{CallLayout, Parts};

/// Parts that a step is ahead of the answers while there is other work.
const AHEAD: usize = 4;

/// OTs that few cores make more of in a second, messages and corrections included.
const PACE: f64 = 1e8;

/// A wait for answers that no round trip as measured explains: longer than the system keeps a party from its
/// core when there are more of them than cores.
const LONG: Duration = Duration::from_millis(20);

/// Turns without any work after which there is none: in the first the sockets are asked, in the second
/// what they had is handed out.
const IDLE_TURNS: usize = 2;

/// OTs that may be offered to all peers together before they are asked for: 32 MiB of rows. At the rate
/// of one core that is a tenth of a second and more.
const OFFERED: usize = 1 << 21;

/// A call under way.
pub(super) struct Loops<'a> {
    layout: Box<dyn CallLayout>,
    extension: Extension,
    /// In whose rounds the call is counted.
    context: &'a Context,
    /// Where the rounds of all parts begin.
    start: Context,
    /// Where those of the answers begin, by stage.
    stages: Vec<Context>,
    /// Parts of a stage.
    each: usize,
    /// Parts that a party which would wait is ahead of the answers, by the round trip as it was measured.
    furthest: usize,
    /// By how much longer round trips have turned out to be.
    longer: &'a Cell<usize>,
    /// Borrowed between messages, never while one is awaited.
    call: RefCell<&'a mut (dyn OtCall + 'a)>,
    space: RefCell<&'a mut Space>,
    offered: Cell<usize>,
    asked: Cell<usize>,
    answered: Cell<usize>,
    corrected: Cell<usize>,
    /// Parts whose end was not told yet.
    untold: RefCell<Box<dyn Parts>>,
    told: Cell<usize>,
    made: &'a dyn Fn(usize),
}

/// Parts that a core can make in the longest round trip.
fn furthest(layout: &dyn CallLayout, context: &Context) -> usize {
    let Some(first) = layout.parts().next() else {
        return AHEAD;
    };
    let ots = |peer| layout.batch(peer, context.me(), &first).ots;
    let each: usize = context.peers().map(ots).sum();
    let longest = context
        .peers()
        .filter_map(|peer| context.round_trip(peer))
        .max();
    let made = longest.unwrap_or_default().as_secs_f64() * PACE;
    AHEAD.max((made / each.max(1) as f64) as usize)
}

/// The OTs that we send, which offering and answering use in turn.
type Senders<'a> = [&'a RefCell<Sending>];

impl<'a> Loops<'a> {
    pub(super) fn new(
        context: &'a Context,
        start: Context,
        extension: Extension,
        call: &'a mut (dyn OtCall + 'a),
        (space, longer): (&'a mut Space, &'a Cell<usize>),
        made: &'a dyn Fn(usize),
    ) -> Self {
        let layout = call.layout();
        let parts = layout.parts();
        let each = layout.stage_parts().unwrap_or(parts.len()).max(1);
        let stages = parts.len().div_ceil(each);
        Self {
            furthest: furthest(&*layout, context),
            longer,
            stages: (0..stages).map(|_| start.beside()).collect(),
            each,
            untold: RefCell::new(parts),
            layout,
            extension,
            context,
            start,
            call: RefCell::new(call),
            space: RefCell::new(space),
            offered: Cell::new(0),
            asked: Cell::new(0),
            answered: Cell::new(0),
            corrected: Cell::new(0),
            told: Cell::new(0),
            made,
        }
    }

    /// All parts. `unheard` is given in the first call: bytes that a peer may be sent before it is heard.
    pub(super) async fn run(&self, links: &mut [PeerOts], unheard: Option<usize>) -> Result<()> {
        let mut senders = Vec::new();
        let (mut offering, mut asking) = (Vec::new(), Vec::new());
        let (mut answering, mut correcting) = (Vec::new(), Vec::new());
        for link in links {
            let (sender, steps) = link.steps();
            senders.push(sender);
            offering.push(steps.0);
            asking.push(steps.1);
            answering.push(steps.2);
            correcting.push(steps.3);
        }
        self.expect(&answering, &correcting);
        try_join4(
            self.correct(correcting),
            self.answer(answering, &senders, unheard.is_some()),
            self.ask(asking, unheard),
            self.offer(offering, &senders),
        )
        .await?;
        Ok(())
    }

    /// Tells the channels how much will come.
    fn expect(&self, answering: &[Answering<'_>], correcting: &[Correcting<'_>]) {
        let alike = self.layout.alike();
        let sum = |length: &dyn Fn(&Range<usize>) -> usize| -> u64 {
            let cost = |(items, times): &(_, u64)| message_cost(length(items)) as u64 * times;
            alike.iter().map(cost).sum()
        };
        for (answer, correct) in answering.iter().zip(correcting) {
            let (me, peer) = (self.me(), answer.peer);
            let asked = |items: &_| {
                let batch = self.layout.batch(me, peer, items);
                batch.message_len(self.extension)
            };
            let corrections = |items: &_| self.layout.corrections(peer, me, items).unwrap_or(0);
            answer.extension.expect(sum(&asked));
            correct.corrections.expect(sum(&corrections));
        }
    }

    fn me(&self) -> Party {
        self.context.me()
    }

    /// Waits for the other loops. They see to it that all are polled again.
    async fn until(&self, condition: impl Fn() -> bool) {
        poll_fn(|_| match condition() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Waits until a part is not too far ahead of the answers.
    async fn not_too_far(&self, number: usize) {
        let (longer, since) = (self.longer.get(), Instant::now());
        // Else a peer has not come to this call yet.
        let begun = self.answered.get() > 0;
        let furthest = || self.furthest.saturating_mul(self.longer.get());
        self.until(|| number - self.answered.get().min(number) < furthest())
            .await;
        // Offering and asking may both have waited for the same answer.
        if begun && since.elapsed() > LONG && self.longer.get() == longer {
            self.longer.set(longer.saturating_mul(2));
        }
    }

    /// Waits while `ahead`, until a party has nothing else to do: nothing adds to `progress`.
    async fn unless_idle(&self, ahead: impl Fn() -> bool, progress: impl Fn() -> usize) {
        let mut idle = 0;
        while ahead() && idle < IDLE_TURNS {
            let before = progress();
            breathe().await;
            idle = if progress() == before { idle + 1 } else { 0 };
        }
    }

    /// One part more has gone through a step, with these rounds.
    async fn done(&self, step: &Cell<usize>, counted: &Context) {
        self.count(step, counted);
        breathe().await;
    }

    fn count(&self, step: &Cell<usize>, counted: &Context) {
        self.context.join(counted);
        step.set(step.get() + 1);
        let [asked, answered, corrected] =
            [&self.asked, &self.answered, &self.corrected].map(Cell::get);
        while self.told.get() < asked.min(answered).min(corrected) {
            self.told.set(self.told.get() + 1);
            let items = self.untold.borrow_mut().next();
            if let Some(items) = items {
                let mut call = self.call.borrow_mut();
                call.done(&items);
                (self.made)(call.made(&items));
            }
        }
    }

    async fn offer(&self, mut ways: Vec<Offering<'_>>, senders: &Senders<'_>) -> Result<()> {
        if !self.extension.is_silent() {
            return Ok(());
        }
        let ots = |way: &Offering<'_>, items: &Range<usize>| {
            self.layout.batch(self.me(), way.peer, items).ots
        };
        for (number, items) in self.layout.parts().enumerate() {
            let all: usize = ways.iter().map(|way| ots(way, &items)).sum();
            let most = (OFFERED / all.max(1)).max(1);
            self.until(|| number < self.answered.get() + most).await;
            self.not_too_far(number).await;
            let ahead = || number >= self.answered.get() + AHEAD;
            let progress = || self.asked.get() + self.answered.get() + self.corrected.get();
            self.unless_idle(ahead, progress).await;
            let counted = self.start.beside();
            for (way, sender) in ways.iter_mut().zip(senders) {
                let ots = ots(way, &items);
                let offer = match &mut *sender.borrow_mut() {
                    Sending::Silent(sender) if ots > 0 => sender.offer(ots).map_err(bug)?,
                    _ => continue,
                };
                way.offers.count_in(&counted);
                way.offers.send(offer).await?;
            }
            self.done(&self.offered, &counted).await;
        }
        Ok(())
    }

    async fn ask(&self, mut ways: Vec<Asking<'_>>, unheard: Option<usize>) -> Result<()> {
        for (number, items) in self.layout.parts().enumerate() {
            let batch = |way: &Asking<'_>| self.layout.batch(way.peer, self.me(), &items);
            if let Some(most) = unheard {
                let longest = ways
                    .iter()
                    .map(|way| message_cost(batch(way).message_len(self.extension)));
                let most = (most / longest.max().unwrap_or(1)).max(1);
                self.until(|| number < most || self.answered.get() > 0)
                    .await;
            }
            self.not_too_far(number).await;
            let ahead = || number >= self.answered.get() + AHEAD;
            let progress = || self.answered.get() + self.corrected.get();
            self.unless_idle(ahead, progress).await;
            let counted = self.start.beside();
            // All offers first: rounds then end for all parties at once, call after call.
            for way in &mut ways {
                let batch = batch(way);
                way.accept(batch, &counted).await?;
            }
            let mut messages = Vec::new();
            for way in &mut ways {
                let batch = batch(way);
                if batch.ots == 0 {
                    continue;
                }
                let random = batch.random(self.extension);
                let mut message = vec![0; batch.message_len(self.extension)];
                {
                    let ask = Ask {
                        receiver: way.receiver.get(),
                        batch,
                        random,
                        message: &mut message,
                        space: &mut self.space.borrow_mut(),
                    };
                    let asked = self.call.borrow_mut().ask(way.peer, &items, ask);
                    asked.map_err(|error| fail(way.offers, error))?;
                }
                if !random {
                    way.extension.count_in(&counted);
                    messages.push(way.extension.send(message));
                }
            }
            try_join_all(messages).await?;
            self.done(&self.asked, &counted).await;
        }
        Ok(())
    }

    async fn answer(
        &self,
        mut ways: Vec<Answering<'_>>,
        senders: &Senders<'_>,
        begins: bool,
    ) -> Result<()> {
        for (number, items) in self.layout.parts().enumerate() {
            if self.extension.is_silent() {
                self.until(|| number < self.offered.get()).await;
            }
            // Masks of the stage before, and its corrections: a stage without any is not the peers' sign that we asked.
            self.until(|| number < self.asked.get().min(self.corrected.get()) + self.each)
                .await;
            let counted = self.stages[number / self.each].beside();
            if begins && number == 0 {
                for (way, sender) in ways.iter_mut().zip(senders) {
                    way.extension.count_in(&counted);
                    way.hear(sender, self.extension).await?;
                    breathe().await;
                }
            }
            let batch = |way: &Answering<'_>| self.layout.batch(self.me(), way.peer, &items);
            let message = async |way: &mut Answering<'_>| {
                let batch = batch(way);
                if batch.ots == 0 || batch.random(self.extension) {
                    return Ok(Bytes::new());
                }
                way.extension.count_in(&counted);
                let expected = batch.message_len(self.extension);
                way.extension.recv(expected).await
            };
            let messages = try_join_all(ways.iter_mut().map(message)).await?;
            for ((way, sender), message) in ways.iter_mut().zip(senders).zip(messages) {
                let (peer, batch) = (way.peer, batch(way));
                if batch.ots == 0 {
                    continue;
                }
                let random = batch.random(self.extension);
                let len = self.layout.corrections(self.me(), peer, &items);
                let mut corrections = len.map(|len| vec![0; len]);
                {
                    let mut sender = sender.borrow_mut();
                    let answer = Answer {
                        sender: sender.get(way.extension)?,
                        batch,
                        random,
                        message: &message,
                        space: &mut self.space.borrow_mut(),
                    };
                    let out = corrections.as_deref_mut().unwrap_or_default();
                    let answered = self.call.borrow_mut().answer(peer, &items, answer, out);
                    answered.map_err(|error| fail(way.extension, error))?;
                }
                if let Some(corrections) = corrections {
                    way.corrections.count_in(&counted);
                    way.corrections.send(corrections).await?;
                }
            }
            self.done(&self.answered, &counted).await;
        }
        Ok(())
    }

    async fn correct(&self, mut ways: Vec<Correcting<'_>>) -> Result<()> {
        for (number, items) in self.layout.parts().enumerate() {
            let random = |way: &Correcting<'_>| {
                let batch = self.layout.batch(way.peer, self.me(), &items);
                batch.random(self.extension)
            };
            if ways.iter().any(random) {
                // Corrections may come before we know what the extension chose.
                self.until(|| number < self.asked.get()).await;
            }
            let counted = self.start.beside();
            let message = async |way: &mut Correcting<'_>| {
                let expected = self.layout.corrections(way.peer, self.me(), &items);
                let Some(expected) = expected else {
                    return Ok(None);
                };
                way.corrections.count_in(&counted);
                way.corrections.recv(expected).await.map(Some)
            };
            let messages = try_join_all(ways.iter_mut().map(message)).await?;
            let mut any = false;
            for (way, corrections) in ways.iter_mut().zip(messages) {
                let Some(corrections) = corrections else {
                    continue;
                };
                any = true;
                let corrected = self
                    .call
                    .borrow_mut()
                    .correct(way.peer, &items, &corrections);
                corrected.map_err(|problem| way.corrections.refuse(problem))?;
            }
            if let Some(next) = self.stages.get(number / self.each + 1) {
                next.join(&counted);
            }
            if any {
                self.done(&self.corrected, &counted).await;
            } else {
                self.count(&self.corrected, &counted);
            }
        }
        Ok(())
    }
}
