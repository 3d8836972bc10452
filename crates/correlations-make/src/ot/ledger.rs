//! Costs of calls, by the same layouts that they run by.

use std::ops::Range;

use madrigal_core::{Party, PhaseCost};
use madrigal_ot::cost::{self, Cost};

use crate::ot::base::stream_cost;
use crate::ot::extension::{Batch, Extension, SILENT};
use crate::ot::layout::CallLayout;

/// Follows the OTs of one direction after the first message, and knows what the next ones cost.
#[derive(Clone, Debug)]
struct Meter {
    extension: Extension,
    made: u64,
}

/// Cost of one part in one direction.
#[derive(Clone, Copy, Default, Debug)]
struct Spent {
    cost: Cost,
    sender_messages: u64,
    receiver_messages: u64,
}

impl Meter {
    fn new(extension: Extension) -> Self {
        Self { extension, made: 0 }
    }

    /// The next OTs, from the extension's messages to the rows, or to the masks where they are
    /// `hashed`: `times` such batches.
    fn next(&mut self, batch: Batch, times: u64, hashed: bool) -> Spent {
        let mut spent = Spent::default();
        let ots = (batch.ots as u64).saturating_mul(times);
        if ots == 0 {
            return spent;
        }
        if hashed {
            spent.cost = spent.cost + cost::random(ots);
        }
        match self.extension {
            Extension::SoftSpoken(k) => {
                for (_, ots) in batch.runs() {
                    let run = cost::softspoken(k, ots as u64);
                    spent.cost.receiver_bytes += times * run.receiver_bytes;
                    spent.cost.sender_aes += times * run.sender_aes;
                    spent.cost.receiver_aes += times * run.receiver_aes;
                }
                spent.receiver_messages += times;
            }
            Extension::Silent => {
                // Equal in one call or in many.
                let all = usize::try_from(ots).unwrap_or(usize::MAX);
                spent.cost = spent.cost + SILENT.cost(self.made, all);
                spent.cost.receiver_bytes += times * batch.message_len(self.extension) as u64;
                // An offer may be empty, but it comes: rounds do not depend on the past.
                spent.sender_messages += times;
                spent.receiver_messages += times * u64::from(!batch.random(self.extension));
            }
        }
        self.made += ots;
        spent
    }
}

/// Gives the cost that the first call for a kind has on top: the keys of its stream, and both first messages with
/// each peer. SoftSpoken's travel with the first part, silent OTs wait for them.
fn start_cost(extension: Extension, parties: usize) -> PhaseCost {
    let one = extension.setup_cost();
    let peers = parties as u64 - 1;
    stream_cost(parties)
        + PhaseCost {
            rounds: start_rounds(extension),
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

    /// Cost of the next `times` calls, by arithmetic however many parts they have.
    pub(crate) fn calls(&mut self, layout: &dyn CallLayout, times: u64) -> PhaseCost {
        let mut total = PhaseCost {
            aes_blocks: times * layout.drawn(),
            ..PhaseCost::default()
        };
        let alike = layout.alike();
        if alike.is_empty() || times == 0 {
            return total;
        }
        if self.meters.is_empty() {
            let both = || [Meter::new(self.extension), Meter::new(self.extension)];
            self.meters = (1..self.parties).map(|_| both()).collect();
            total += start_cost(self.extension, self.parties);
        }
        for (items, number) in &alike {
            let times = times * number;
            let stretched = layout.stretch_blocks(items);
            let peers = self.me.others(self.parties);
            for (peer, [sent, received]) in peers.zip(&mut self.meters) {
                let me = self.me;
                let out = layout.batch(me, peer, items);
                let back = layout.batch(peer, me, items);
                let stretch = |batch: Batch| if batch.ots > 0 { stretched } else { 0 };
                let ours = layout.corrections(me, peer, items);
                let theirs = layout.corrections(peer, me, items);
                let (sent, received) = (
                    sent.next(out, times, layout.hashed()),
                    received.next(back, times, layout.hashed()),
                );
                let bytes = |corrections: Option<usize>| times * corrections.unwrap_or(0) as u64;
                total += PhaseCost {
                    rounds: 0,
                    bytes_sent: sent.cost.sender_bytes + received.cost.receiver_bytes + bytes(ours),
                    bytes_received: received.cost.sender_bytes
                        + sent.cost.receiver_bytes
                        + bytes(theirs),
                    messages: sent.sender_messages
                        + received.receiver_messages
                        + times * u64::from(ours.is_some()),
                    aes_blocks: sent.cost.sender_aes
                        + received.cost.receiver_aes
                        + times * (2 * stretch(out) + stretch(back)),
                };
            }
        }
        total.rounds += times * call_rounds(self.extension, self.parties, layout, &alike);
        total
    }
}

/// Rounds of a call with at least one part: offers, what the receivers send, corrections stage by stage. Where
/// the receivers send nothing, corrections wait for nothing.
///
/// Not every party has a message in each of them: where all OTs go in one direction, the sender hears nothing of
/// the corrections. All count them nevertheless, so that a call ends in the same round for everyone.
pub(crate) fn call_rounds(
    extension: Extension,
    parties: usize,
    layout: &dyn CallLayout,
    alike: &[(Range<usize>, u64)],
) -> u64 {
    let pairs = || {
        let all = Party::all(parties);
        all.flat_map(|from| from.others(parties).map(move |to| (from, to)))
    };
    let any = |holds: &dyn Fn(Party, Party, &Range<usize>) -> bool| {
        let mut all = alike
            .iter()
            .flat_map(|(items, _)| pairs().map(move |pair| (pair, items)));
        all.any(|((from, to), items)| holds(from, to, items))
    };
    let asks = any(&|from, to, items| {
        let batch = layout.batch(from, to, items);
        batch.ots > 0 && !batch.random(extension)
    });
    let corrects = |from, to, items: &Range<usize>| layout.corrections(from, to, items).is_some();
    let corrections = match layout.stage_parts() {
        None => u64::from(any(&corrects)),
        Some(each) => {
            let firsts = layout.parts().step_by(each);
            let corrected =
                firsts.filter(|items| pairs().any(|(from, to)| corrects(from, to, items)));
            corrected.count() as u64
        }
    };
    let offers = u64::from(extension.is_silent());
    match asks {
        true => offers + 1 + corrections,
        false => offers.max(corrections),
    }
}

/// Rounds of the first messages of a kind's first call.
pub(crate) fn start_rounds(extension: Extension) -> u64 {
    u64::from(extension.is_silent())
}
