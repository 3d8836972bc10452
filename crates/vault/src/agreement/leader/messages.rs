//! Messages of followers, and the batch that comes of them.

use madrigal_core::Party;

use super::state::{Leader, Source};
use crate::agreement::contradiction::Contradiction;
use crate::agreement::message::Message;
use crate::agreement::outcome::{MAX_OVERDUE, shortened};
use crate::agreement::peer::out_of_order;
use crate::agreement::proposal::Proposal;
use crate::agreement::types::{Action, Host, Record};

impl Leader {
    pub(super) fn message(
        &mut self,
        from: Party,
        message: Message,
        host: &dyn Host,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        let place = from.index().wrapping_sub(1);
        let last = self.last();
        let wrong = |message: &Message, expected: &str| {
            Err(out_of_order(&self.kind, from, message, expected))
        };
        let Some(peer) = self.peers.get_mut(place) else {
            return wrong(&message, "a message of another server of this kind");
        };
        if let Message::Halted { reason } = message {
            let (kind, by) = (self.kind.clone(), from);
            return Err(Contradiction::Halted { kind, by, reason });
        }
        if let Message::Hello(hello) = message {
            if peer.known || peer.hello.is_some() {
                return wrong(&Message::Hello(hello), "one Hello in a session");
            }
            peer.hello = Some(hello);
            return Ok(());
        }
        if !peer.known {
            return wrong(&message, "Hello");
        }
        // The batch that the follower is in: the open one, or the last that ended here.
        let open = self.open.as_ref().map(|open| (open.n, open.digest));
        let closed = self.closed.as_ref().map(|closed| (closed.n, closed.digest));
        let current = open.or(closed.filter(|closed| peer.ended < closed.0));
        match &message {
            Message::Have { .. } => return self.have(place, &message, host, out),
            Message::Prepared { n, digest } | Message::Refused { n, digest, .. } => {
                if current != Some((*n, *digest)) || !peer.sent_batch {
                    return wrong(&message, "an answer to the batch that was sent");
                }
                peer.prepared = true;
                if let Message::Refused { reason, .. } = message {
                    peer.refused = Some(reason);
                }
            }
            Message::Done { n, run } => {
                if let Some(open) = self.open.as_ref().filter(|open| open.n == *n) {
                    if *run > open.run || !peer.prepared {
                        return wrong(&message, "results of a run that was begun");
                    }
                    peer.done = *run;
                }
            }
            Message::Broken { n, run, reason } => {
                if self.runs(*n, *run) {
                    self.broken = Some(format!("{from}: {reason}"));
                }
            }
            Message::Ended { n } => {
                if !peer.sent_end || *n != last {
                    return wrong(&message, "an answer to the end that was sent");
                }
                peer.end(*n);
            }
            _ => return wrong(&message, "a message of a follower"),
        }
        Ok(())
    }

    /// Takes a follower's answer to the proposal; after the last one there is a batch, or none.
    fn have(
        &mut self,
        place: usize,
        message: &Message,
        host: &dyn Host,
        out: &mut Vec<Action>,
    ) -> Result<(), Contradiction> {
        let from = Party::new(place + 1);
        let proposal = self.proposal.as_mut();
        let Some(last) = proposal.and_then(|proposal| proposal.answer(place, message)) else {
            let expected = "one answer to the proposal that was sent";
            return Err(out_of_order(&self.kind, from, message, expected));
        };
        if let (Message::Have { overdue, .. }, Some(generation)) = (message, self.session)
            && !overdue.is_empty()
        {
            let token = self.token();
            self.bars.insert(token, (from, generation));
            let ids = overdue[..overdue.len().min(MAX_OVERDUE)].to_vec();
            let record = Record::Bar { ids };
            out.push(Action::Write { token, record });
        }
        if last && let Some(proposal) = self.proposal.take() {
            self.conclude(proposal, host, out);
        }
        Ok(())
    }

    /// Makes the batch of what all servers have.
    fn conclude(&mut self, proposal: Proposal, host: &dyn Host, out: &mut Vec<Action>) {
        let attempt = proposal.attempt;
        let groups = match proposal.is_for_batch() {
            true => host.groups(proposal.ids()),
            false => Vec::new(),
        };
        let concluded = proposal.conclude(self.rules.most, &groups);
        if !concluded.expired.is_empty() {
            let token = self.token();
            let ids = concluded.expired;
            let record = Record::Expire { ids };
            out.push(Action::Write { token, record });
        }
        if !concluded.looked {
            return;
        }
        for lacked in concluded.lacked {
            self.queue.lacked(lacked);
        }
        let left = concluded.left.into_iter();
        let stuck = concluded.chosen.is_none();
        self.queue.ready(left.map(|asked| asked.waiting), stuck);
        let Some((ids, bits)) = concluded.chosen else {
            let (common, least) = (concluded.common, concluded.least);
            match self.queue.more() {
                // The next ones are asked about at once.
                true => self.triggered = true,
                false => out.push(Action::NoBatch { common, least }),
            }
            return;
        };
        self.source = self.session.map(|generation| Source {
            generation,
            attempt,
            bits,
        });
        let n = self.last() + 1;
        let refused = host.refuses(n, &ids).map(|reason| shortened(&reason));
        self.write(Record::Prepare { n, ids, refused }, out);
    }
}
