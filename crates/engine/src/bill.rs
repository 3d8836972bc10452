//! What a call of an operation costs all parties, declared once.

use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::Needs;
use madrigal_protocols::{Opening, Rounds};

/// What operations cost: each adds its messages, in order, its AES blocks and its correlations; bytes,
/// messages and rounds of every party follow.
#[derive(Clone, Debug)]
pub struct Bill {
    opening: Opening,
    clock: Rounds,
    /// By party; rounds are in `clock`.
    costs: Vec<PhaseCost>,
    needs: Needs,
    row_bytes: u64,
    /// Bytes of each party's fullest link, in the direction that has more of them.
    link_bytes: Vec<u64>,
    /// Bytes of the longest message.
    longest: u64,
}

impl Bill {
    /// Nothing yet.
    pub fn new(parties: usize, opening: Opening) -> Self {
        Self::after(Rounds::new(parties), parties, opening)
    }

    /// Nothing yet, after what `clock` has counted.
    pub(crate) fn after(clock: Rounds, parties: usize, opening: Opening) -> Self {
        Self {
            opening,
            clock,
            costs: vec![PhaseCost::default(); parties],
            needs: Needs::new(),
            row_bytes: 0,
            link_bytes: vec![0; parties],
            longest: 0,
        }
    }

    /// How many parties there are.
    pub fn parties(&self) -> usize {
        self.costs.len()
    }

    /// How the job opens masked values.
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// One message for each entry, from one party to another one, of so many bytes; all are sent before
    /// any is awaited.
    pub fn exchange(&mut self, messages: &[(Party, Party, u64)]) {
        let pairs: Vec<_> = messages.iter().map(|&(from, to, _)| (from, to)).collect();
        let mut fullest = vec![0; self.parties()];
        for &(from, to, bytes) in messages {
            self.longest = self.longest.max(bytes);
            for party in [from, to] {
                let fullest = &mut fullest[party.index()];
                *fullest = bytes.max(*fullest);
            }
            let sender = &mut self.costs[from.index()];
            sender.bytes_sent += bytes;
            sender.messages += 1;
            self.costs[to.index()].bytes_received += bytes;
        }
        let links = self.link_bytes.iter_mut().zip(fullest);
        links.for_each(|(all, fullest)| *all += fullest);
        self.clock.exchange(&pairs);
    }

    /// Shares of so many bytes become known to `to`, the way the job opens.
    pub fn open(&mut self, bytes: u64, to: &[Party]) {
        let (opening, parties) = (self.opening, self.parties());
        for party in Party::all(parties) {
            let cost = opening.cost(party, parties, bytes, to);
            self.costs[party.index()] += cost;
            if cost.bytes_sent + cost.bytes_received > 0 {
                self.link_bytes[party.index()] += bytes;
            }
        }
        self.longest = self.longest.max(bytes);
        self.clock.open(opening, to);
    }

    /// AES blocks that a party computes.
    pub fn aes(&mut self, party: Party, blocks: u64) {
        self.costs[party.index()].aes_blocks += blocks;
    }

    /// What each party spends but for rounds, which go to the [`clock`](Self::clock); what it sends goes
    /// to one other party, and what it receives comes from one.
    pub fn each(&mut self, cost: impl Fn(Party) -> PhaseCost) {
        for party in Party::all(self.parties()) {
            let cost = cost(party);
            self.link_bytes[party.index()] += cost.bytes_sent.max(cost.bytes_received);
            self.longest = self.longest.max(cost.bytes_sent);
            self.costs[party.index()] += PhaseCost { rounds: 0, ..cost };
        }
    }

    /// The same work so many times, one after the other; `work` adds the same each time.
    pub fn repeat(&mut self, times: u64, work: impl Fn(&mut Self)) {
        let mut once = Self::new(self.parties(), self.opening);
        work(&mut once);
        let (parties, opening) = (self.parties(), self.opening);
        self.clock.repeat(times, |clock| {
            let mut bill = Self::after(clock.clone(), parties, opening);
            work(&mut bill);
            *clock = bill.clock;
        });
        for (all, one) in self.costs.iter_mut().zip(&once.costs) {
            *all += one.times(times);
        }
        for (all, one) in self.link_bytes.iter_mut().zip(&once.link_bytes) {
            *all += one * times;
        }
        for (kind, count) in once.needs.kinds() {
            self.needs.add(kind, count * times as usize);
        }
        self.row_bytes += once.row_bytes * times;
        self.longest = self.longest.max(once.longest);
    }

    /// The count of rounds.
    pub fn clock(&mut self) -> &mut Rounds {
        &mut self.clock
    }

    /// The correlations that are used up.
    pub fn needs(&mut self) -> &mut Needs {
        &mut self.needs
    }

    /// Bytes of vectors that are read and written, for estimates of time.
    pub fn touch(&mut self, bytes: u64) {
        self.row_bytes += bytes;
    }

    /// What one party spends, with its rounds so far.
    pub fn of(&self, party: Party) -> PhaseCost {
        PhaseCost {
            rounds: self.clock.of(party),
            ..self.costs[party.index()]
        }
    }

    /// All that is in it: the clock, and what each party spends without rounds.
    pub(crate) fn into_parts(self) -> Parts {
        Parts {
            clock: self.clock,
            costs: self.costs,
            link_bytes: self.link_bytes,
            longest: self.longest,
            needs: self.needs,
            row_bytes: self.row_bytes,
        }
    }
}

/// A bill, taken apart.
pub(crate) struct Parts {
    pub(crate) clock: Rounds,
    pub(crate) costs: Vec<PhaseCost>,
    pub(crate) link_bytes: Vec<u64>,
    pub(crate) longest: u64,
    pub(crate) needs: Needs,
    pub(crate) row_bytes: u64,
}
