//! All that a server receives of the others while batches of clients' values are agreed about and computed, in a service at work: notes of the same
//! form and messages of the same sizes whatever clients bring, and bits of the same distribution.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use madrigal_core::{Digest256, Party};
use madrigal_net::frame::FrameKind;
use madrigal_service::{Checked, Server};
use madrigal_testkit::places::{self, Counts};
use madrigal_testkit::seed;
use madrigal_vault::agreement::{Bits, Message};

use crate::common::{Client, Service, statistics};
use crate::random::Random;
use crate::tap::{
    Before, Change, Passed, Taps, View, change_message, ended, until_they_meet_again, view,
};

/// Clients of a batch.
const CLIENTS: usize = 3;
/// Batches that are counted of either ages. A bit that is always 1 in the one and 0 in the other is 6.9 deviations off.
const ROUNDS: usize = 24;

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let limit = Duration::from_secs(120);
    let done = runtime.block_on(async { tokio::time::timeout(limit, work).await });
    done.expect("an end in time")
}

/// Starts the servers of a service, with taps on their lines.
pub(crate) async fn start(service: &mut Service) -> Taps {
    let taps = Taps::default();
    for at in 0..service.servers.len() {
        let checked = Checked::load(&service.file(at)).unwrap();
        let between = Some(taps.at(Party::new(at)));
        let server = Server::start_between(checked, None, between).await;
        service.servers[at] = Some(server.unwrap());
    }
    taps
}

/// Checks that all servers see the same; shows where they do not.
pub(crate) fn must_match(first: &[Vec<String>], second: &[Vec<String>], seed: u64) {
    for (to, (first, second)) in first.iter().zip(second).enumerate() {
        let differs = first
            .iter()
            .zip(second)
            .find(|(first, second)| first != second);
        assert!(
            differs.is_none(),
            "to {to}, MADRIGAL_SEED={seed}: {differs:#?}"
        );
        assert_eq!(first.len(), second.len(), "to {to}, MADRIGAL_SEED={seed}");
    }
}

/// Ages at one end of their range, or of both.
fn ages(ends: bool) -> [u32; CLIENTS] {
    match ends {
        false => [0; CLIENTS],
        true => [u32::MAX, 1 << 31, 77],
    }
}

/// A service with its clients, batch after batch.
struct Batches {
    service: Service,
    taps: Taps,
    client: Client,
    before: Before,
}

impl Batches {
    async fn start(servers: usize, mix: &str) -> Self {
        let text = statistics(CLIENTS, CLIENTS, "1h");
        let text = text.replace("submit =", &format!("mix = \"{mix}\"\nsubmit ="));
        let mut service = Service::new(servers, &text);
        let taps = start(&mut service).await;
        let client = Client::dial(&service, None).await;
        Self {
            service,
            taps,
            client,
            before: Before::default(),
        }
    }

    /// Submissions of these ages, at all servers.
    async fn bring(&mut self, ages: [u32; CLIENTS]) -> Digest256 {
        let servers = self.service.servers.len();
        let mut last = None;
        for (at, age) in ages.into_iter().enumerate() {
            let prepared = self.client.prepare(&format!("client{at}"), age);
            // The leader has it last: once it has enough, all others have them.
            for server in (0..servers).rev() {
                self.client.submit_to(server, &prepared).await;
            }
            last = Some(prepared.id);
        }
        last.unwrap()
    }

    /// A batch of these ages; all that passed between the servers.
    async fn batch(&mut self, ages: [u32; CLIENTS]) -> Vec<Passed> {
        let servers = self.service.servers.len();
        let last = self.bring(ages).await;
        self.client.wait(last).await;
        let (batch, until) = (
            self.before.batches + 1,
            Instant::now() + Duration::from_secs(20),
        );
        loop {
            let whole = |passed: &[Passed]| ended(passed, batch, servers - 1);
            if let Some(passed) = self.taps.take_if(whole) {
                return passed;
            }
            assert!(Instant::now() < until, "no end of batch {batch}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Views of all servers of a batch of these ages.
    async fn views(&mut self, ages: [u32; CLIENTS]) -> Vec<View> {
        let passed = self.batch(ages).await;
        let servers = self.service.servers.len();
        let views = Party::all(servers).map(|to| view(&passed, to, self.before));
        let views = views.collect();
        self.before.batches += 1;
        // Job 1 is that of the notes.
        self.before.jobs = self.before.batches as u32;
        views
    }
}

/// Compares views of batches with ages at one end of the range and at both, in any order, at all servers: forms, and with `bits` how often each bit is 1.
fn compare(servers: usize, mix: &str, (rounds, bits): (usize, bool), seed: u64) {
    let mut random = Random::new(seed);
    let mut left = [rounds; 2];
    let mut counts = [const { Counts::new() }; 2];
    run(async {
        let mut batches = Batches::start(servers, mix).await;
        // The first one comes with what servers say when they meet.
        batches.views(ages(false)).await;
        let mut first = None;
        while left != [0; 2] {
            let ends = random.below(left[0] + left[1]) >= left[0];
            left[usize::from(ends)] -= 1;
            let views = batches.views(ages(ends)).await;
            for (to, view) in views.iter().enumerate().filter(|_| bits) {
                view.count(to, servers, 1, &mut counts[usize::from(ends)]);
            }
            let forms: Vec<_> = views.into_iter().map(|view| view.form).collect();
            let first = first.get_or_insert_with(|| forms.clone());
            must_match(first, &forms, seed);
        }
        batches.service.stop_all().await;
    });
    let (largest, all) = places::compare(&counts[0], &counts[1]);
    println!("{mix}: {all} bits, at most {largest:.1} deviations");
    let fits = !bits || all > 1000 && largest < 6.5;
    assert!(fits, "{largest} in {all} bits: {mix}, MADRIGAL_SEED={seed}");
}

/// Messages of agreement and of jobs, at each server. Outputs differ, and no server sees any.
#[test]
fn a_server_sees_the_same_of_the_others_whatever_clients_bring() {
    let seed = seed();
    compare(3, "R", (ROUNDS, true), seed);
    compare(2, "A+B", (3, false), seed);
    compare(3, "A+B", (2, false), seed);
}

/// A number of a note that depends on inputs, the length of a message that does.
#[test]
fn what_tells_of_inputs_would_be_seen() {
    run(async {
        let mut batches = Batches::start(3, "R").await;
        batches.views(ages(false)).await;
        let before = batches.before;
        let passed = batches.batch(ages(true)).await;
        let to = Party::new(1);
        let honest = view(&passed, to, before).form;
        assert_eq!(honest, view(&passed, to, before).form);
        let large = ages(true).iter().filter(|&&age| age >= 1 << 31).count() as u64;
        let mut tells = passed.clone();
        for one in tells.iter_mut().filter(|one| one.to == to) {
            change_message(&mut one.frame, |message| {
                if let Message::Run { run, .. } = message {
                    *run += large as u32;
                }
            });
        }
        assert_ne!(honest, view(&tells, to, before).form);
        let mut grows = passed;
        let is_data = |one: &&mut Passed| one.to == to && one.frame.header.job > 1;
        let one = grows
            .iter_mut()
            .filter(is_data)
            .find(|one| one.frame.header.kind == FrameKind::Data);
        let frame = &mut one.unwrap().frame;
        frame.payload = [&frame.payload[..], &vec![0; large as usize]]
            .concat()
            .into();
        assert_ne!(honest, view(&grows, to, before).form);
        batches.service.stop_all().await;
    });
}

/// Ways in which server 1 may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// It flips a bit of each message of the job.
    Flips,
    /// It closes its lines instead of its third message of the job.
    Drops,
    /// It says that it has no submissions.
    Lacks,
    /// It has prepared another batch.
    Prepares,
    /// It has results of a run that was not begun.
    Hastens,
}

impl Wrong {
    fn change(self) -> Change {
        let mut sent = 0;
        Box::new(move |from, _, frame| {
            if from != Party::new(1) {
                return true;
            }
            let is_data = frame.header.job > 1 && frame.header.kind == FrameKind::Data;
            match self {
                Self::Flips if is_data => {
                    let mut payload = frame.payload.to_vec();
                    payload[0] ^= 1;
                    frame.payload = payload.into();
                }
                Self::Drops if is_data => {
                    sent += 1;
                    return sent != 3;
                }
                Self::Drops => {}
                Self::Flips => {}
                Self::Lacks => change_message(frame, |message| {
                    if let Message::Have { have, .. } = message {
                        *have = Bits::new((0..have.len()).map(|_| false));
                    }
                }),
                Self::Prepares => change_message(frame, |message| {
                    if let Message::Prepared { digest, .. } = message {
                        digest.0[31] ^= 1;
                    }
                }),
                Self::Hastens => change_message(frame, |message| {
                    if let Message::Done { run, .. } = message {
                        *run += 1;
                    }
                }),
            }
            true
        })
    }
}

/// Lines that servers 0 and 2 see of a batch while server 1 is wrong and do not see of one without faults, and their states after it.
async fn beyond(wrong: Wrong, ends: bool) -> Vec<(BTreeSet<String>, String)> {
    let others = [0, 2];
    let mut batches = Batches::start(3, "R").await;
    batches.views(ages(false)).await;
    let honest = batches.views(ages(false)).await;
    batches.taps.change(wrong.change());
    let last = batches.bring(ages(ends)).await;
    let servers = &batches.service.servers;
    let state = |at: usize| servers[at].as_ref().unwrap().health().in_words();
    let until = Instant::now() + Duration::from_secs(20);
    match wrong {
        Wrong::Flips | Wrong::Drops => drop(batches.client.wait(last).await),
        // It would go on for ever.
        Wrong::Lacks => tokio::time::sleep(Duration::from_millis(800)).await,
        Wrong::Prepares | Wrong::Hastens => {
            while !others.iter().all(|&at| state(at).contains("kind ages: ")) {
                assert!(Instant::now() < until, "nobody minds {wrong:?}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
    let passed = until_they_meet_again(batches.taps.take_if(|_| true).unwrap());
    // Labels follow from what was seen before, and here something may be missing.
    let plain = |view: &View| -> BTreeSet<String> {
        let words = |line: &String| line.replace(|c: char| c.is_ascii_digit(), "");
        view.form.iter().map(words).collect()
    };
    let seen = others.map(|at| {
        let view = view(&passed, Party::new(at), batches.before);
        assert!(view.form.len() >= 2, "{wrong:?}, to {at}: {:?}", view.form);
        let beyond = plain(&view)
            .difference(&plain(&honest[at]))
            .cloned()
            .collect();
        (beyond, state(at))
    });
    batches.service.stop_all().await;
    seen.into()
}

/// Until a batch fails others see the same of it whatever clients bring, and what they see then tells of the fault alone.
#[test]
fn nor_does_a_server_see_more_while_another_one_is_wrong() {
    for wrong in [
        Wrong::Flips,
        Wrong::Lacks,
        Wrong::Prepares,
        Wrong::Hastens,
        Wrong::Drops,
    ] {
        // Side by side: they wait most of the time.
        let [zeros, ends] = run(async {
            let (zeros, ends) = tokio::join!(beyond(wrong, false), beyond(wrong, true));
            [zeros, ends]
        });
        let about_lines = |line: &String| wrong == Wrong::Drops && line.contains("Abort");
        for ((zeros, state), (ends, _)) in zeros.into_iter().zip(ends) {
            let [zeros, ends] = [zeros, ends].map(|mut beyond| {
                // Who hears first that a line is closed is a matter of time.
                beyond.retain(|line| !about_lines(line));
                beyond
            });
            assert_eq!(zeros, ends, "{wrong:?}");
            let quiet = matches!(wrong, Wrong::Flips | Wrong::Drops | Wrong::Lacks);
            assert!(
                quiet || state.contains("party 1 sent"),
                "{wrong:?}: {state}"
            );
        }
    }
}
