//! Servers, links, clients and accidents, in an order that a seed decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use madrigal_core::Party;
use madrigal_vault::Id;
use madrigal_vault::agreement::{Action, Assembler, Contradiction, Event, Message, Rules, frames};

use super::disk::{Ack, Disk, Op};
use super::node::{Around, Job, Node, Sabotage};
use crate::random::Random;

/// A submission in the simulation.
pub(crate) struct Upload {
    pub(crate) id: Id,
    /// Servers that the client will upload to.
    pub(crate) to: Vec<bool>,
    /// Servers that gave a receipt.
    pub(crate) receipts: Vec<bool>,
}

pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) nodes: Vec<Node>,
    pub(crate) uploads: Vec<Upload>,
    /// Messages on their way in the session, by sender and receiver.
    pub(super) links: BTreeMap<(usize, usize), VecDeque<Message>>,
    /// Number of the session, and whether it still holds.
    pub(super) generation: u64,
    holds: bool,
    /// Whether a server has heard in this session that another one has stopped.
    pub(super) halted: bool,
    /// The servers' clocks, which jump now and then.
    pub(super) now: Vec<u64>,
    pub(super) rules: Rules,
    sabotage: Option<Sabotage>,
    /// A server crashes, and a session is lost, one time in this many steps.
    crash_in: usize,
    lose_in: usize,
    /// How often jobs break and policies refuse: one time in this many.
    pub(super) trouble: Option<usize>,
    pub(super) least: Vec<u64>,
    /// Session and name in which a run was begun.
    started: BTreeMap<(u64, u32), (u64, [u8; 32])>,
    /// Whether older copies of disks are put back: it is no fault then if a kind stops.
    pub(super) puts_back: bool,
    copies: Vec<Option<Disk>>,
    pub(super) stopped: bool,
    /// Batches that a server said its policy refuses.
    refused: BTreeSet<u64>,
    /// Ids of all proposals, as often as they were proposed to somebody.
    pub(crate) proposed: usize,
    pub(crate) batches: usize,
    pub(crate) runs: usize,
    pub(crate) crashes: usize,
}

/// What the simulation finds.
pub(crate) type Found = Result<(), String>;

impl World {
    pub(crate) fn new(seed: u64, parties: usize, sabotage: Option<Sabotage>) -> Self {
        let mut random = Random::new(seed);
        let rules = Rules {
            most: [1, 3, 100][random.below(3)],
            broken: 1 + random.below(3) as u32,
            runs: if random.one_in(4) { 4 } else { 1000 },
            window: [1, 256][random.below(2)],
            lacking: [1, 3, 1000][random.below(3)],
        };
        let uploads = 4 + random.below(8);
        let uploads = (0..uploads).map(|_| {
            let mut id = [0; 32];
            id[..8].copy_from_slice(&random.word().to_le_bytes());
            let all = !random.one_in(4);
            Upload {
                id,
                to: (0..parties).map(|_| all || random.one_in(2)).collect(),
                receipts: vec![false; parties],
            }
        });
        let uploads = uploads.collect();
        let nodes = 0..parties;
        Self {
            uploads,
            nodes: nodes
                .map(|i| Node::new(i, parties, rules, Disk::default()))
                .collect(),
            links: BTreeMap::new(),
            generation: 0,
            holds: false,
            halted: false,
            now: vec![100; parties],
            rules,
            sabotage,
            crash_in: [30, 100, 400, 4000][random.below(4)],
            lose_in: [50, 100, 400, 4000][random.below(4)],
            trouble: random.one_in(2).then(|| 2 + random.below(6)),
            least: (0..parties)
                .map(|_| 1 + random.below(4) as u64 / 3)
                .collect(),
            started: BTreeMap::new(),
            puts_back: false,
            copies: (0..parties).map(|_| None).collect(),
            stopped: false,
            refused: BTreeSet::new(),
            proposed: 0,
            batches: 0,
            runs: 0,
            crashes: 0,
            random,
        }
    }

    /// Gives a machine an event and does what it wants.
    pub(super) fn event(&mut self, i: usize, event: Event) -> Found {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let node = &mut self.nodes[i];
            let around = Around {
                now: self.now[i],
                least: self.least[i],
                refuses: self.trouble.map(|times| 3 * times),
                random: &mut self.random,
                sabotage: self.sabotage,
            };
            for action in node.handle(event, around) {
                self.act(i, action)?;
            }
            events.extend(self.nodes[i].events.drain(..));
        }
        Ok(())
    }

    fn act(&mut self, i: usize, action: Action) -> Found {
        let node = &mut self.nodes[i];
        match action {
            Action::Send { to, message } => {
                if let Message::Refused { n, .. } = message {
                    self.refused.insert(n);
                }
                if self.holds && node.told == Some(self.generation) {
                    let link = self.links.entry((i, to.index())).or_default();
                    link.push_back(message);
                }
            }
            Action::Write { token, record } => node.write(token, record, self.sabotage),
            Action::StartJob { n, run, name, .. } => {
                let generation = node.told.unwrap_or(0);
                let before = *self.started.entry((n, run)).or_insert((generation, name.0));
                self.runs += usize::from(i == 0);
                if before != (generation, name.0) && !self.puts_back {
                    return Err(format!("run {run} of batch {n} is computed twice"));
                }
                if self.refused.contains(&n) && !self.puts_back {
                    return Err(format!("batch {n} is computed, which a policy refused"));
                }
                if node.job.is_some() {
                    return Err(format!("party {i} computes two runs at once"));
                }
                node.job = Some(Job {
                    n,
                    run,
                    name,
                    generation,
                });
            }
            Action::StopJob { n, run } => {
                node.job.take_if(|job| (job.n, job.run) == (n, run));
            }
            Action::Ended { .. } => self.batches += usize::from(i == 0),
            Action::NoBatch { .. } => {}
            // Somebody is halted on purpose; the session ends some time after that.
            Action::Report(Contradiction::Halted { .. }) if self.sabotage.is_none() => {
                self.halted = true;
            }
            Action::Report(_) if self.puts_back => self.stopped = true,
            Action::Report(contradiction) => return Err(format!("party {i}: {contradiction}")),
        }
        Ok(())
    }

    /// Syncs the first of what waits for a disk.
    pub(super) fn sync(&mut self, i: usize) -> Found {
        match self.nodes[i].disk.sync() {
            Some(Ack::Accepted { id, kept }) => self.receipt(i, &id, kept),
            Some(Ack::Written { token, ids }) => {
                return self.event(i, Event::Written { token, ids });
            }
            Some(Ack::NotWritten { token, reason }) => {
                return self.event(i, Event::NotWritten { token, reason });
            }
            Some(Ack::Nothing) | None => {}
        }
        Ok(())
    }

    fn receipt(&mut self, i: usize, id: &Id, kept: bool) {
        // Submissions of crowds are none of these.
        if let Some(upload) = self.uploads.iter_mut().find(|upload| upload.id == *id) {
            upload.receipts[i] |= kept;
        }
    }

    /// Delivers the next message of a link, through its bytes now and then.
    pub(super) fn deliver(&mut self, from: usize, to: usize) -> Found {
        if !self.nodes[to].alive || self.nodes[to].told != Some(self.generation) {
            return Ok(());
        }
        let Some(mut message) = self
            .links
            .get_mut(&(from, to))
            .and_then(VecDeque::pop_front)
        else {
            return Ok(());
        };
        if self.random.one_in(16) {
            let mut assembler = Assembler::new();
            let frames = frames(&message);
            let mut whole = frames.iter().map(|frame| assembler.frame(frame).unwrap());
            message = whole.next_back().flatten().unwrap();
        }
        if let Message::Propose { ids, overdue, .. } = &message {
            self.proposed += ids.len();
            let old = (0..ids.len()).all(|i| overdue.get(i));
            if !old && ids.len() > self.rules.window.max(4 * self.rules.most) {
                return Err(format!("a proposal of {} ids", ids.len()));
            }
            match self.sabotage {
                Some(Sabotage::ExpireAlone) => self.nodes[to].expire_alone(self.now[to], &[]),
                Some(Sabotage::ExpireUnproposed) => self.nodes[to].expire_alone(self.now[to], ids),
                _ => {}
            }
        }
        let event = Event::Message {
            from: Party::new(from),
            generation: self.generation,
            message,
        };
        self.event(to, event)
    }

    fn upload(&mut self) {
        let upload = self.random.below(self.uploads.len());
        let server = self.random.below(self.nodes.len());
        let upload = &self.uploads[upload];
        if upload.to[server] && self.nodes[server].alive {
            let (id, at) = (upload.id, self.now[server]);
            self.nodes[server]
                .disk
                .waiting
                .push_back(Op::Accept { id, at });
            if self.sabotage == Some(Sabotage::ReceiptUnsynced) {
                let disk = &self.nodes[server].disk;
                let kept = disk.ids.get(&id) != Some(&super::disk::State::Expired);
                self.receipt(server, &id, kept);
            }
        }
    }

    /// Ends the job of a server, well or not.
    pub(super) fn end_job(&mut self, i: usize) -> Found {
        let Some(job) = self.nodes[i].job.take() else {
            return Ok(());
        };
        let Job {
            n,
            run,
            name,
            generation,
        } = job;
        if let Some(times) = self.trouble
            && self.random.one_in(times)
        {
            let reason = "a job broke".to_owned();
            return self.event(i, Event::JobBroken { n, run, reason });
        }
        let value = u64::from_le_bytes(*name.0.first_chunk().unwrap()) ^ generation;
        self.nodes[i]
            .disk
            .waiting
            .push_back(Op::Results { n, run, value });
        self.event(i, Event::JobDone { n, run })
    }

    pub(super) fn lose_session(&mut self) {
        self.holds = false;
        self.halted = false;
        self.links.clear();
    }

    fn crash(&mut self, i: usize) {
        self.crashes += 1;
        self.lose_session();
        let node = &mut self.nodes[i];
        let mut disk = std::mem::take(&mut node.disk);
        disk.crash(&mut self.random);
        if self.puts_back && self.random.one_in(2) {
            match self.copies[i].take() {
                Some(copy) => disk = copy,
                None => self.copies[i] = Some(disk.copy()),
            }
        }
        *node = Node::new(i, self.least.len(), self.rules, disk);
        node.alive = false;
    }

    /// Tells a server of the session: that it is lost, or that there is a new one.
    pub(super) fn tell(&mut self, i: usize) -> Found {
        let node = &mut self.nodes[i];
        if !node.alive || node.told == Some(self.generation) && self.holds {
            return Ok(());
        }
        if self.holds && (node.told.is_none() || self.random.one_in(2)) {
            node.told = Some(self.generation);
            let generation = self.generation;
            return self.event(i, Event::SessionUp { generation });
        }
        if node.told.take().is_some() {
            if self.sabotage == Some(Sabotage::FollowerEndsAlone) && i > 0 {
                self.nodes[i].end_alone();
            }
            return self.event(i, Event::SessionDown);
        }
        Ok(())
    }

    pub(super) fn new_session(&mut self) {
        if !self.holds && self.nodes.iter().all(|node| node.alive) {
            self.generation += 1;
            self.holds = true;
        }
    }

    /// Does one thing at random.
    pub(crate) fn step(&mut self) -> Found {
        let parties = self.nodes.len();
        let i = self.random.below(parties);
        if self.nodes[i].alive && self.random.one_in(self.crash_in) {
            self.crash(i);
        }
        if self.random.one_in(self.lose_in) || self.halted && self.random.one_in(20) {
            self.lose_session();
        }
        if self.sabotage.is_none() && i > 0 && self.random.one_in(2000) {
            let (from, to) = if self.random.one_in(2) {
                (0, i)
            } else {
                (i, 0)
            };
            let reason = "for a try".to_owned();
            let link = self.links.entry((from, to)).or_default();
            link.push_back(Message::Halted { reason });
        }
        match self.random.below(64) {
            0 => self.now[i] += self.random.below(10) as u64,
            1 => {
                if self.random.one_in(20) {
                    self.now[i] = self.random.below(200) as u64;
                }
            }
            2..5 => self.nodes[i].alive = true,
            5..8 => self.new_session(),
            8..16 => self.tell(i)?,
            16..22 => self.upload(),
            22..26 => self.end_job(i)?,
            26..28 => {
                if self.nodes[0].alive {
                    let event = match self.random.one_in(4) {
                        true => Event::Overdue,
                        false => Event::Trigger,
                    };
                    self.event(0, event)?;
                }
            }
            28..44 => self.sync(i)?,
            _ => {
                let full = self.links.iter().filter(|(_, link)| !link.is_empty());
                let full: Vec<(usize, usize)> = full.map(|(ends, _)| *ends).collect();
                if !full.is_empty() {
                    let (from, to) = full[self.random.below(full.len())];
                    self.deliver(from, to)?;
                }
            }
        }
        Ok(())
    }
}
