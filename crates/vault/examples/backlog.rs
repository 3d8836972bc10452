//! Time that a batch takes while many submissions wait: `cargo run --release -p madrigal-vault --example backlog -- FOLDER`.
//!
//! Two servers have 100,000 submissions each, and nothing is computed: the time is that of the agreement and of the disks. Then the leader alone has
//! as many, which no batch can take, and others come after them to both.
#![allow(clippy::print_stdout)] // for people

use std::collections::VecDeque;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_vault::agreement::{Action, Event, Machine, Rules};
use madrigal_vault::{Id, Limits, Policy, Submission, Vault, VaultKey, View};

const COUNT: u64 = 100_000;
const WAITING: usize = 1000;
const KIND: &str = "votes";

struct All;

impl Policy for All {
    fn least(&self) -> u64 {
        1
    }

    fn overdue(&self) -> u64 {
        1_000_000
    }

    fn refuses(&self, _: u64, _: &[Id]) -> Option<String> {
        None
    }
}

/// Two servers.
struct Servers {
    vaults: Vec<Vault>,
    machines: Vec<Machine>,
    batches: u64,
    counted: u64,
    none: bool,
}

impl Servers {
    fn new(folder: &Path, most: usize) -> Result<Self, Box<dyn Error>> {
        let (mut vaults, mut machines) = (Vec::new(), Vec::new());
        for i in 0..2 {
            let path = folder.join(format!("{most}-{i}.vault"));
            let vault = Vault::open(&path, &VaultKey::generate()?, Limits::default())?;
            let rules = Rules {
                most,
                ..Rules::default()
            };
            let restored = vault.restored(KIND)?;
            machines.push(Machine::new(KIND, Party::new(i), 2, rules, restored));
            vaults.push(vault);
        }
        Ok(Self {
            vaults,
            machines,
            batches: 0,
            counted: 0,
            none: false,
        })
    }

    fn submit(&self, to: &[usize], numbers: std::ops::Range<u64>) -> Result<(), Box<dyn Error>> {
        for vault in to.iter().map(|i| &self.vaults[*i]) {
            let mut waiting = VecDeque::new();
            for number in numbers.clone() {
                if waiting.len() == WAITING {
                    waiting.pop_front().map(madrigal_vault::Pending::wait);
                }
                let body = vec![number as u8; 200];
                let submission = Submission::new(id(number), KIND, "alice", vec![1; 64], &body);
                waiting.push_back(vault.submit(submission, body, 2 + number / 1000));
            }
            for one in waiting {
                one.wait()?;
            }
        }
        Ok(())
    }

    /// Gives a server an event, and does all that follows at both.
    fn event(&mut self, i: usize, event: Event) -> Result<(), Box<dyn Error>> {
        let mut events = VecDeque::from([(i, event)]);
        while let Some((i, event)) = events.pop_front() {
            let view = View::new(&self.vaults[i], KIND, &All, 1000);
            for action in self.machines[i].handle(event, &view) {
                match action {
                    Action::Send { to, message } => events.push_back((
                        to.index(),
                        Event::Message {
                            from: Party::new(i),
                            generation: 1,
                            message,
                        },
                    )),
                    Action::Write { token, record } => {
                        let written = self.vaults[i].write(KIND, record, 1000).wait();
                        events.push_back((i, Vault::written(token, written)?));
                    }
                    Action::StartJob { n, run, ids, .. } => {
                        self.counted += ids.len() as u64;
                        events.push_back((i, Event::JobDone { n, run }));
                    }
                    Action::Ended { .. } => {
                        self.batches += u64::from(i == 0);
                        // A server counts what waits after each batch.
                        std::hint::black_box(waiting(&self.vaults[i], &view));
                    }
                    Action::NoBatch { .. } => self.none = true,
                    Action::Report(why) => return Err(why.to_string().into()),
                    Action::StopJob { .. } => {}
                }
            }
        }
        Ok(())
    }

    /// Has `batches` batches done, or as many as there are.
    fn work(&mut self, batches: u64, looks: u64) -> Result<Duration, Box<dyn Error>> {
        (self.batches, self.counted) = (0, 0);
        let begun = Instant::now();
        let mut looked = 0;
        while self.batches < batches && looked < looks {
            looked += 1;
            self.event(0, Event::Trigger)?;
        }
        Ok(begun.elapsed())
    }
}

fn waiting(vault: &Vault, _: &View<'_>) -> u64 {
    vault.usage(KIND).waiting
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    for most in [1, 1000] {
        let folder = tempfile::tempdir_in(&folder)?;
        let mut servers = Servers::new(folder.path(), most)?;
        for i in 0..2 {
            servers.event(i, Event::SessionUp { generation: 1 })?;
        }
        servers.submit(&[0, 1], 0..COUNT)?;
        let batches = 50;
        let took = servers.work(batches, batches)?;
        let each = took.as_secs_f64() * 1e3 / servers.batches as f64;
        println!("{COUNT} wait at both, most = {most}: {each:.2} ms for a batch");

        let folder = tempfile::tempdir_in(&folder)?;
        let mut servers = Servers::new(folder.path(), most)?;
        for i in 0..2 {
            servers.event(i, Event::SessionUp { generation: 1 })?;
        }
        servers.submit(&[0], 0..COUNT)?;
        let took = servers.work(1, 20)?;
        println!(
            "{COUNT} wait at the leader alone, most = {most}: 20 looks took {:.2} ms",
            took.as_secs_f64() * 1e3
        );
        let honest = COUNT + 20 * most as u64;
        servers.submit(&[0, 1], COUNT..honest)?;
        let took = servers.work(20, 200)?;
        let each = took.as_secs_f64() * 1e3 / servers.batches.max(1) as f64;
        println!(
            "and {} more at both: {} counted in {} batches, {each:.2} ms for each",
            honest - COUNT,
            servers.counted / 2,
            servers.batches,
        );
    }
    Ok(())
}

fn id(number: u64) -> Id {
    // Ids are random: they come in any order.
    let word = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut id = [0; 32];
    id[..8].copy_from_slice(&(word ^ word >> 29).to_le_bytes());
    id[8..16].copy_from_slice(&number.to_le_bytes());
    id
}
