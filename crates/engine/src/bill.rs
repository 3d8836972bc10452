//! Bills: the cost of a call of an operation for all parties, declared once.

use madrigal_core::{Party, PhaseCost};
use madrigal_correlations::{Kind, Needs};
use madrigal_protocols::{Opening, Rounds};

/// Cost of operations: each adds its messages, in order, its AES blocks and its correlations; bytes,
/// messages and rounds of every party follow.
///
/// Work that is [ahead](Self::ahead) of the inputs counts as setup, where the plan has it done then.
#[derive(Clone, Debug)]
pub struct Bill {
    opening: Opening,
    /// Setup, online.
    phases: [PhaseBill; 2],
    /// The phase that is added to.
    at: usize,
    /// Whether there is anything ahead.
    prepares: bool,
    /// Bytes that each party keeps from setup until it is online.
    kept: Vec<u64>,
    /// The rounds of setup after which results are known there, if that is before its end.
    known: Option<Rounds>,
}

/// Spending of all parties in one phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseBill {
    pub(crate) clock: Rounds,
    /// By party; rounds are in `clock`.
    pub(crate) costs: Vec<PhaseCost>,
    /// Bytes of each party's fullest link, in the direction that has more of them.
    pub(crate) link_bytes: Vec<u64>,
    pub(crate) row_bytes: u64,
    /// Bytes of the longest message.
    pub(crate) longest: u64,
    pub(crate) needs: Needs,
    /// Boolean triples that are used before each step but the first.
    marks: Vec<usize>,
    /// Whether some steps are not in `marks`.
    unmarked: bool,
}

impl PhaseBill {
    fn after(clock: Rounds, parties: usize) -> Self {
        Self {
            clock,
            costs: vec![PhaseCost::default(); parties],
            link_bytes: vec![0; parties],
            longest: 0,
            row_bytes: 0,
            needs: Needs::new(),
            marks: Vec::new(),
            unmarked: false,
        }
    }

    /// Cost of one party, with its rounds.
    pub(crate) fn cost(&self, party: Party) -> PhaseCost {
        PhaseCost {
            rounds: self.clock.of(party),
            ..self.costs[party.index()]
        }
    }

    /// Counts the Boolean triples that each step uses up: one step, if nothing says otherwise.
    pub(crate) fn steps(&self) -> Vec<usize> {
        let all = self.needs.of(Kind::BitTriples);
        if self.unmarked || all == 0 {
            return vec![all];
        }
        let begins = [0].into_iter().chain(self.marks.iter().copied());
        let ends = self.marks.iter().copied().chain([all]);
        begins.zip(ends).map(|(begin, end)| end - begin).collect()
    }
}

/// Places of the phases.
const SETUP: usize = 0;
const ONLINE: usize = 1;

impl Bill {
    /// Nothing yet, of work that is all done online.
    pub fn new(parties: usize, opening: Opening) -> Self {
        let none = || Rounds::new(parties);
        Self::after([none(), none()], parties, opening, false)
    }

    /// Nothing yet, after what the clocks of setup and of online have counted.
    pub(crate) fn after(
        clocks: [Rounds; 2],
        parties: usize,
        opening: Opening,
        prepares: bool,
    ) -> Self {
        Self {
            opening,
            phases: clocks.map(|clock| PhaseBill::after(clock, parties)),
            at: ONLINE,
            prepares,
            kept: vec![0; parties],
            known: None,
        }
    }

    fn phase(&mut self) -> &mut PhaseBill {
        &mut self.phases[self.at]
    }

    /// Adds what [`Operation::prepare`](crate::Operation::prepare) spends: in setup if the plan has it called,
    /// else at this place online.
    pub fn ahead(&mut self, work: impl FnOnce(&mut Self)) {
        if self.prepares {
            self.at = SETUP;
        }
        work(self);
        self.at = ONLINE;
    }

    /// Among what is [ahead](Self::ahead): from here on those that follow know what preparing it knows of its results,
    /// and go on while the rest of it is done ([`Early::tell`](crate::Early::tell)).
    pub fn results_known(&mut self) {
        if self.prepares && self.at == SETUP {
            self.known = Some(self.phase().clock.clone());
        }
    }

    /// Whether the plan has it prepared, for what then costs something else online.
    pub fn is_prepared(&self) -> bool {
        self.prepares
    }

    /// Bytes that a party keeps from setup until it is online, if it is prepared then.
    pub fn keep(&mut self, party: Party, bytes: u64) {
        if self.prepares {
            self.kept[party.index()] += bytes;
        }
    }

    /// Number of parties.
    pub fn parties(&self) -> usize {
        self.kept.len()
    }

    /// How the job opens masked values.
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// Adds a message for each entry: sender, receiver, bytes. All are sent before any is awaited.
    pub fn exchange(&mut self, messages: &[(Party, Party, u64)]) {
        let pairs: Vec<_> = messages.iter().map(|&(from, to, _)| (from, to)).collect();
        let mut fullest = vec![0; self.parties()];
        let phase = self.phase();
        for &(from, to, bytes) in messages {
            phase.longest = phase.longest.max(bytes);
            for party in [from, to] {
                let fullest = &mut fullest[party.index()];
                *fullest = bytes.max(*fullest);
            }
            let sender = &mut phase.costs[from.index()];
            sender.bytes_sent += bytes;
            sender.messages += 1;
            phase.costs[to.index()].bytes_received += bytes;
        }
        let links = phase.link_bytes.iter_mut().zip(fullest);
        links.for_each(|(all, fullest)| *all += fullest);
        phase.clock.exchange(&pairs);
    }

    /// Adds an opening of shares of `bytes` bytes to the parties `to`, the way the job opens.
    pub fn open(&mut self, bytes: u64, to: &[Party]) {
        let (opening, parties) = (self.opening, self.parties());
        let phase = self.phase();
        for party in Party::all(parties) {
            let cost = opening.cost(party, parties, bytes, to);
            phase.costs[party.index()] += cost;
            if cost.bytes_sent + cost.bytes_received > 0 {
                phase.link_bytes[party.index()] += bytes;
            }
        }
        phase.longest = phase.longest.max(bytes);
        phase.clock.open(opening, to);
    }

    /// AES blocks that a party computes.
    pub fn aes(&mut self, party: Party, blocks: u64) {
        self.phase().costs[party.index()].aes_blocks += blocks;
    }

    /// Adds what each party spends but for rounds, which go to the [`clock`](Self::clock). What it sends goes
    /// to one other party, and what it receives comes from one.
    pub fn each(&mut self, cost: impl Fn(Party) -> PhaseCost) {
        for party in Party::all(self.parties()) {
            let cost = cost(party);
            let phase = self.phase();
            phase.link_bytes[party.index()] += cost.bytes_sent.max(cost.bytes_received);
            phase.longest = phase.longest.max(cost.bytes_sent);
            phase.costs[party.index()] += PhaseCost { rounds: 0, ..cost };
        }
    }

    /// Adds some work `times` times, one after the other; `work` adds the same each time.
    pub fn repeat(&mut self, times: u64, work: impl Fn(&mut Self)) {
        let (parties, opening, at, prepares) =
            (self.parties(), self.opening, self.at, self.prepares);
        let fresh = |clocks: [Rounds; 2]| Self {
            at,
            ..Self::after(clocks, parties, opening, prepares)
        };
        let none = || Rounds::new(parties);
        let mut once = fresh([none(), none()]);
        work(&mut once);
        for (place, phase) in self.phases.iter_mut().enumerate() {
            phase.clock.repeat(times, |clock| {
                let mut clocks = [none(), none()];
                clocks[place] = clock.clone();
                let mut bill = fresh(clocks);
                work(&mut bill);
                *clock = bill.phases[place].clock.clone();
            });
            let once = &once.phases[place];
            for (all, one) in phase.costs.iter_mut().zip(&once.costs) {
                *all += one.times(times);
            }
            for (all, one) in phase.link_bytes.iter_mut().zip(&once.link_bytes) {
                *all += one * times;
            }
            phase.row_bytes += once.row_bytes * times;
            phase.unmarked |= once.unmarked || !once.marks.is_empty();
            phase.longest = phase.longest.max(once.longest);
            for (kind, count) in once.needs.kinds() {
                phase.needs.add(kind, count * times as usize);
            }
        }
        for (all, one) in self.kept.iter_mut().zip(&once.kept) {
            *all += one * times;
        }
    }

    /// The count of rounds.
    pub fn clock(&mut self) -> &mut Rounds {
        &mut self.phase().clock
    }

    /// The correlations that are used up.
    pub fn needs(&mut self) -> &mut Needs {
        &mut self.phase().needs
    }

    /// The Boolean triples that are registered from here on are those of the next step: they may come while what
    /// was registered before is used, and online the operation says that it has got here by
    /// [`Stock::next_step`](madrigal_correlations::Stock::next_step). Steps must be the same online, in number and
    /// in what each takes: what is left of one is not there in the next.
    pub fn next_step(&mut self) {
        let phase = self.phase();
        let so_far = phase.needs.of(Kind::BitTriples);
        phase.marks.push(so_far);
    }

    /// Bytes of vectors that are read and written, for estimates of time.
    pub fn touch(&mut self, bytes: u64) {
        self.phase().row_bytes += bytes;
    }

    /// Cost of one party online, with its rounds so far.
    pub fn of(&self, party: Party) -> PhaseCost {
        self.phases[ONLINE].cost(party)
    }

    /// All that is in it.
    pub(crate) fn into_parts(self) -> BillParts {
        let [setup, online] = self.phases;
        BillParts {
            setup,
            online,
            kept: self.kept,
            known: self.known,
        }
    }
}

/// A bill, taken apart.
pub(crate) struct BillParts {
    pub(crate) setup: PhaseBill,
    pub(crate) online: PhaseBill,
    pub(crate) kept: Vec<u64>,
    pub(crate) known: Option<Rounds>,
}
