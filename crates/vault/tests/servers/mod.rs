//! Three servers with real vaults on disks that lose power, again and again, in the middle of everything.

mod check;

use std::collections::{BTreeMap, VecDeque};

use madrigal_core::Party;
use madrigal_vault::agreement::{Action, Event, Machine, Message, Record, Rules};
use madrigal_vault::{Begun, Id, PIECE_BYTES, Pending, Policy, Vault, VaultError, View};

use crate::power::Disk;
use crate::random::Random;
use crate::submissions::{KIND, body, id, key, submission};

const SERVERS: usize = 3;
/// Age at which submissions are overdue: none is, but at the end.
const OVERDUE: u64 = 1 << 40;

struct All;

impl Policy for All {
    fn least(&self) -> u64 {
        1
    }

    fn overdue(&self) -> u64 {
        OVERDUE
    }

    fn refuses(&self, _: u64, _: &[Id]) -> Option<String> {
        None
    }
}

/// A server's machine, from what is on its disk.
fn machine(index: usize, vault: &Vault) -> Machine {
    let restored = vault.restored(KIND).unwrap();
    let rules = Rules::default();
    Machine::new(KIND, Party::new(index), SERVERS, rules, restored)
}

/// What a server has acknowledged.
#[derive(Default)]
struct Acknowledged {
    accepted: BTreeMap<u64, u64>,
    offsets: BTreeMap<u64, u64>,
    counter: u64,
    batches: u64,
}

struct Server {
    disk: Disk,
    vault: Option<Vault>,
    machine: Machine,
    acknowledged: Acknowledged,
}

struct World {
    random: Random,
    servers: Vec<Server>,
    links: VecDeque<(usize, usize, Message)>,
    generation: u64,
    /// Length of the body of each submission that was made.
    lengths: BTreeMap<u64, usize>,
    now: u64,
    kills: u64,
}

/// Bytes of a result: those of its batch, run and server.
fn result(n: u64, run: u32, server: usize) -> Vec<u8> {
    let length = if n.is_multiple_of(4) {
        PIECE_BYTES + 9
    } else {
        40
    };
    body(n << 20 | u64::from(run) << 4 | server as u64, length)
}

impl World {
    fn new(seed: u64) -> Self {
        let servers = (0..SERVERS).map(|i| {
            let disk = Disk::default();
            let vault = crate::submissions::vault(&disk);
            let machine = machine(i, &vault);
            Server {
                disk,
                vault: Some(vault),
                machine,
                acknowledged: Acknowledged::default(),
            }
        });
        Self {
            servers: servers.collect(),
            random: Random::new(seed),
            links: VecDeque::new(),
            generation: 0,
            lengths: BTreeMap::new(),
            now: 1,
            kills: 0,
        }
    }

    fn vault(&self, i: usize) -> Option<&Vault> {
        self.servers[i].vault.as_ref()
    }

    /// What came of an operation; nothing if the server lost power.
    fn wait<T>(&mut self, i: usize, pending: Pending<T>) -> Option<Result<T, VaultError>> {
        match pending.wait() {
            Err(VaultError::Stopped { .. }) => {
                assert!(self.servers[i].disk.is_dead());
                self.servers[i].vault = None;
                None
            }
            done => Some(done),
        }
    }

    /// Gives a machine an event and does what it wants, on disk.
    fn event(&mut self, i: usize, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let now = self.now;
            let server = &mut self.servers[i];
            let Some(vault) = &server.vault else {
                return;
            };
            let view = View::new(vault, KIND, &All, now);
            let actions = server.machine.handle(event, &view);
            assert!(view.error().is_none());
            for action in actions {
                let Some(vault) = self.vault(i) else {
                    return;
                };
                match action {
                    Action::Send { to, message } => {
                        self.links.push_back((i, to.index(), message));
                    }
                    Action::Write { token, record } => {
                        let end = matches!(record, Record::End { .. });
                        let pending = vault.write(KIND, record, now);
                        let Some(done) = self.wait(i, pending) else {
                            return;
                        };
                        self.servers[i].acknowledged.batches += u64::from(end);
                        events.push_back(Vault::written(token, done).unwrap());
                    }
                    Action::StartJob { n, run, ids, .. } => {
                        for id in ids.iter() {
                            let whole = vault.body(id).is_ok();
                            assert!(whole || self.servers[i].disk.is_dead());
                        }
                        if !self.compute(i, n, run) {
                            return;
                        }
                        events.push_back(Event::JobDone { n, run });
                    }
                    Action::Report(contradiction) => panic!("party {i}: {contradiction}"),
                    Action::StopJob { .. } | Action::Ended { .. } | Action::NoBatch { .. } => {}
                }
            }
        }
    }

    /// Writes the results of a run; whether there still is power.
    fn compute(&mut self, i: usize, n: u64, run: u32) -> bool {
        let bytes = result(n, run, i);
        for (piece, offset) in bytes.chunks(PIECE_BYTES).zip((0..).step_by(PIECE_BYTES)) {
            let Some(vault) = self.vault(i) else {
                return false;
            };
            let pending = vault.result(KIND, (n, run), "sum", offset, piece.to_vec());
            match self.wait(i, pending) {
                Some(Ok(_)) => {}
                Some(Err(error)) => panic!("party {i}: {error}"),
                None => return false,
            }
        }
        true
    }

    fn new_session(&mut self) {
        self.generation += 1;
        self.links.clear();
        let generation = self.generation;
        for i in 0..SERVERS {
            self.event(i, Event::SessionUp { generation });
        }
    }

    /// Delivers messages until there are none, or some server has lost power.
    fn talk(&mut self) {
        while let Some((from, to, message)) = self.links.pop_front() {
            let from = Party::new(from);
            let generation = self.generation;
            self.event(
                to,
                Event::Message {
                    from,
                    generation,
                    message,
                },
            );
            if self.servers.iter().any(|server| server.vault.is_none()) {
                return;
            }
        }
    }

    /// Uploads new submissions and old ones once more, several at a time.
    fn upload(&mut self, only: Option<u64>) {
        let first = self.lengths.len() as u64;
        let count = if only.is_some() {
            1
        } else {
            1 + self.random.below(6) as u64
        };
        for number in only.into_iter().chain(first..first + count) {
            let length = match self.random.below(8) {
                0 => 1024 + self.random.below(9000),
                1 => PIECE_BYTES + self.random.below(1000),
                _ => self.random.below(300),
            };
            self.lengths.entry(number).or_insert(length);
            if only.is_some() {
                break;
            }
        }
        for i in 0..SERVERS {
            let mut pendings = Vec::new();
            let numbers = only.into_iter().chain(first..first + count);
            let numbers: Vec<u64> = match only {
                Some(number) => vec![number],
                None => numbers.collect(),
            };
            for number in numbers {
                let body = body(number, self.lengths[&number]);
                if body.len() > PIECE_BYTES {
                    self.pieces(i, number, &body);
                } else if let Some(vault) = self.vault(i) {
                    let submission = submission(number, &body);
                    pendings.push((number, vault.submit(submission, body, self.now)));
                }
            }
            if let Some(vault) = self.vault(i) {
                let counted = vault.count("uploads", 1, u64::MAX);
                if let Some(counter) = self.wait(i, counted) {
                    self.servers[i].acknowledged.counter = counter.unwrap().unwrap();
                }
            }
            for (number, pending) in pendings {
                if let Some(done) = self.wait(i, pending) {
                    let Begun::Accepted { at } = done.unwrap() else {
                        panic!("half a submission");
                    };
                    self.servers[i].acknowledged.accepted.insert(number, at);
                }
            }
        }
    }

    /// Uploads a long body from where it is, some of it or all.
    fn pieces(&mut self, i: usize, number: u64, body: &[u8]) {
        let Some(vault) = self.vault(i) else {
            return;
        };
        let begun = vault.begin(submission(number, body), self.now);
        let Some(begun) = self.wait(i, begun) else {
            return;
        };
        let mut at = match begun.unwrap() {
            Begun::At(at) => at as usize,
            Begun::Accepted { .. } => return,
        };
        let told = self.servers[i].acknowledged.offsets.get(&number).copied();
        assert!(at as u64 >= told.unwrap_or(0));
        while at < body.len() {
            let piece = body[at..body.len().min(at + PIECE_BYTES)].to_vec();
            let Some(vault) = self.vault(i) else {
                return;
            };
            let after = vault.piece(id(number), at as u64, piece);
            let Some(after) = self.wait(i, after) else {
                return;
            };
            at = after.unwrap() as usize;
            self.servers[i]
                .acknowledged
                .offsets
                .insert(number, at as u64);
        }
        if let Some(vault) = self.vault(i) {
            let accepted = vault.accept(id(number), self.now);
            if let Some(at) = self.wait(i, accepted) {
                let accepted = &mut self.servers[i].acknowledged.accepted;
                accepted.insert(number, at.unwrap());
            }
        }
    }

    /// Brings the power back, opens what is left of the vault and compares it with what was acknowledged.
    fn revive(&mut self, i: usize) {
        loop {
            self.kills += 1;
            let disk = self.servers[i].disk.after(&mut self.random);
            if self.random.one_in(4) {
                disk.lose_after(self.random.below(30) as u64);
            }
            self.servers[i].disk = disk.clone();
            match Vault::open_on(disk.clone(), &key(), Default::default()) {
                Ok(vault) if !disk.is_dead() => {
                    self.servers[i].machine = machine(i, &vault);
                    self.servers[i].vault = Some(vault);
                    break;
                }
                // It died once more while it was opened, or right after that.
                Ok(_) => {}
                Err(error) => assert!(disk.is_dead(), "{error}"),
            }
        }
        self.servers[i].disk.lose_after(u64::MAX);
        self.check(i);
    }

    /// One life of a server: it works until it loses power, and comes back.
    fn life(&mut self) {
        let victim = self.random.below(SERVERS);
        let calls = self.random.below(120) as u64;
        self.servers[victim].disk.lose_after(calls);
        for _ in 0..100 {
            self.now += 1;
            match self.random.below(4) {
                0 => self.new_session(),
                1 => self.upload(None),
                2 if !self.lengths.is_empty() => {
                    let number = self.random.below(self.lengths.len()) as u64;
                    self.upload(Some(number));
                }
                _ => self.event(0, Event::Trigger),
            }
            if self.vault(victim).is_some() {
                self.talk();
            }
            if self.vault(victim).is_none() {
                break;
            }
        }
        self.servers[victim].vault = None;
        self.revive(victim);
        self.new_session();
        self.talk();
    }
}

/// `MADRIGAL_KILLS` sets how often power is lost: `MADRIGAL_KILLS=2000` takes a quarter of a minute.
#[test]
fn power_is_lost_at_any_moment() {
    let given = std::env::var("MADRIGAL_KILLS").ok();
    let kills = given.and_then(|text| text.parse().ok()).unwrap_or(400);
    let seed = madrigal_testkit::seed();
    let (mut lost, mut worlds, mut batches) = (0, 0, 0);
    while lost < kills {
        let mut world = World::new(seed.wrapping_add(worlds));
        for _ in 0..25 {
            world.life();
        }
        world.calm();
        lost += world.kills;
        worlds += 1;
        batches += world.servers[0].acknowledged.batches;
    }
    println!("{lost} losses of power, {batches} batches");
    assert!(batches > worlds);
}

/// A disk that says synced and is not: the test above would find a vault that does.
#[test]
fn a_sync_that_is_none_is_found() {
    let seed = madrigal_testkit::seed();
    let found = (0..20).any(|i| {
        let life = || {
            let mut world = World::new(seed.wrapping_add(i));
            world.servers.iter().for_each(|server| server.disk.lie());
            for _ in 0..5 {
                world.life();
            }
            world.calm();
        };
        std::panic::catch_unwind(life).is_err()
    });
    assert!(found);
}
