//! A batch's job, many times over: what a server receives of the others, together with its own shares, has the same distribution whatever clients
//! bring, also while another server sends other messages than it should or computes on other shares.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use madrigal_clients::{Named, deal_with, nonce};
use madrigal_core::{Party, Phase};
use madrigal_correlations_store::{Store, StoreKey};
use madrigal_engine::{Element, Precomputation, Shares, Sharing, StoreSpec};
use madrigal_kernels::{Block, Prg, rings};
use madrigal_net::frame::FrameKind;
use madrigal_net::transport::{Transport, mesh};
use madrigal_net::{Session, SessionConfig, block_on};
use madrigal_program::{Client, Program};
use madrigal_program_file::ProgramFile;
use madrigal_service::{Beside, Checked, Kind, KindInput, Place, Ready, Submitted};
use madrigal_testkit::places::{self, Counts, add};
use madrigal_testkit::transcripts::{RUNS, count, difference, must_see_a_leak};
use madrigal_testkit::{Change, Deviating, Deviation, Transcript, World, seed};

use crate::common::{ANN, Service};
use crate::tap::{Before, Taps, view};

/// Number of the job: the first one is that of servers' notes.
const JOB: u32 = 2;

/// Ways in which a server may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    /// It sends other messages.
    Messages(Change),
    /// It computes on other shares than it was given.
    Shares,
    /// It tells a bit of the client's value in its first message: as no server can, and a test would have to see.
    Tells,
}

/// Sums, products and comparisons of two numbers and a few bits of a client, for an analyst.
fn kind(servers: usize, mix: &str) -> Kind {
    let (member, analyst) = (Client::new("member"), Client::new("analyst"));
    let mut program = Program::new(servers);
    let x = program.input_named::<u16>("x", &member, [2]);
    let flags = program.input_named::<bool>("flags", &member, [5]);
    program.open_named("sum", &x.sum(0), &analyst);
    program.open_named("square", &(&x * &x), &analyst);
    program.open_named("least", &x.least(0), &analyst);
    program.open_named("any", &flags.any(0), &analyst);
    let text = format!(
        "[[kinds]]\nname = \"small\"\nprogram = \"small.madrigal\"\nmix = \"{mix}\"\nsubmit = \"anyone\"\nreceive = {{ analyst = [] }}\n"
    );
    let service = Service::new(servers, &text);
    let file = ProgramFile::of(&program.finish().unwrap()).unwrap();
    file.save(service.folder.path().join("small.madrigal"))
        .unwrap();
    let checked = Checked::load(&service.file(0)).unwrap();
    Arc::into_inner(checked.kinds.into_iter().next().unwrap()).unwrap()
}

/// Products of a client's numbers with numbers that servers hold, and the greatest of them, for the client: all by a kind of one submission.
fn kind_with_held(servers: usize, mix: &str) -> Kind {
    let (owner, member) = (Client::new("owner"), Client::new("member"));
    let mut program = Program::new(servers);
    let weights = program.input_named::<u16>("weights", &owner, [2]);
    let mask = program.input_named::<bool>("mask", &owner, [2]);
    let x = program.input_named::<u16>("x", &member, [2]);
    let products = &x * &weights;
    program.open_named("greatest", &products.greatest(0), &member);
    program.open_named("chosen", &mask.select(&products, 0), &member);
    let program_file = "program = \"small.madrigal\"\n";
    let text = format!(
        "[[clients]]\nname = \"ann\"\ntoken-sha256 = \"{ANN}\"\n\
         [[kinds]]\nname = \"model\"\n{program_file}mix = \"{mix}\"\nholds = \"owner\"\nsubmit = [\"ann\"]\n\
         [[kinds]]\nname = \"small\"\n{program_file}mix = \"{mix}\"\nheld = {{ owner = \"model\" }}\nsubmit = [\"ann\"]\n"
    );
    let service = Service::new(servers, &text);
    let file = ProgramFile::of(&program.finish().unwrap()).unwrap();
    file.save(service.folder.path().join("small.madrigal"))
        .unwrap();
    let checked = Checked::load(&service.file(0)).unwrap();
    let mut kinds = checked.kinds.into_iter();
    let kind = kinds.find(|kind| kind.config.name == "small").unwrap();
    Arc::into_inner(kind).unwrap()
}

/// A submission, as each server has it. In A and B its name follows from the seed alone.
fn submitted<'a>(
    inputs: impl Iterator<Item = &'a KindInput>,
    servers: usize,
    ends: bool,
    (seed, random): (u64, &mut Prg),
) -> Vec<Submitted> {
    let nonce = nonce(&mut Prg::new(Block::new(seed, 20)));
    let mut all: Vec<Submitted> = vec![Vec::new(); servers];
    for input in inputs {
        let (len, form) = (input.shape.iter().product(), input.form);
        let value = match form.1 {
            Element::Bits(bits) => {
                let numbers = vec![if ends { u16::MAX >> (16 - bits) } else { 0 }; len];
                Shares::bits_of(Sharing::PUBLIC, bits, &numbers)
            }
            Element::Ring(_) => {
                let numbers: Vec<u16> = if ends {
                    vec![u16::MAX, 0x8001]
                } else {
                    vec![0; 2]
                };
                Shares::ring_of(Sharing::PUBLIC, numbers)
            }
        };
        let named = Named {
            job: "small".to_owned(),
            name: input.name.clone(),
            client: "carol".to_owned(),
            element_type: input.element_type.clone(),
            shape: input.shape.clone(),
        };
        let files = deal_with(named, &value, form.0, servers, nonce, random).unwrap();
        all.iter_mut()
            .zip(files)
            .for_each(|(all, file)| all.push(file));
    }
    all
}

/// Bytes of all components of a share.
fn bytes_of(shares: &Shares) -> Vec<u8> {
    match shares.sort().element {
        Element::Bits(_) => shares.plane_bytes().to_vec(),
        Element::Ring(width) => madrigal_engine::with_ring!(width, T => {
            let components = 0..shares.sort().sharing.components();
            let bytes = components.flat_map(|component| rings::as_bytes(shares.component::<T>(component)).to_vec());
            bytes.collect()
        }),
    }
}

/// A job of the servers, and who looks.
#[derive(Clone, Copy)]
struct Setting<'a> {
    kind: &'a Kind,
    servers: usize,
    to: Party,
    /// Whose fault it is.
    wrong: Option<(Party, Wrong)>,
    /// Whether the job takes its correlations from a unit that the servers have made before it.
    ahead: bool,
}

/// A server's view of many runs of the job: the form, and how often each bit is 1.
fn ones(setting: Setting<'_>, ends: bool, seed: u64) -> (Vec<String>, Vec<u32>) {
    let (mut form, mut ones) = (None, Vec::new());
    for run in 0..RUNS {
        let seen = one_run(setting, ends, seed.wrapping_add(run));
        let form = form.get_or_insert_with(|| seen.0.clone());
        assert_eq!(
            *form, seen.0,
            "the form depends on chance, MADRIGAL_SEED={seed}"
        );
        count(&mut ones, &seen.1);
    }
    (form.unwrap(), ones)
}

fn one_run(setting: Setting<'_>, ends: bool, seed: u64) -> (Vec<String>, Vec<u8>) {
    let Setting {
        kind,
        servers,
        to,
        wrong,
        ahead,
    } = setting;
    let mut random = Prg::new(Block::new(seed, 21));
    let mut batches = submitted(kind.inputs.iter(), servers, ends, (seed, &mut random));
    // What is held has other values, too.
    let inputs = kind.held.iter().map(|held| &held.input);
    let held = submitted(inputs, servers, ends, (!seed, &mut random));
    let mut bytes: Vec<u8> = batches[to.index()]
        .iter()
        .chain(&held[to.index()])
        .flat_map(|file| bytes_of(file.shares()))
        .collect();
    let deviator = wrong.map_or(Party::new(0), |(who, _)| who);
    let (transcript, transports) = Transcript::of(to, mesh(servers));
    let (seen, transports) = Transcript::of(deviator, transports);
    let taps = Taps::default();
    let transports = Party::all(servers).zip(transports);
    let transports: Vec<Box<dyn Transport>> = transports
        .map(|(me, transport)| taps.at(me)(Box::new(transport)))
        .collect();
    let mut deviation = None;
    match wrong {
        Some((_, Wrong::Messages(change))) => {
            deviation = Some(Deviation {
                change,
                only: None,
                seed,
            });
        }
        Some((who, Wrong::Shares)) => {
            // Shares of the same form, of other values.
            let mut random = Prg::new(Block::new(seed, 22));
            let other = submitted(kind.inputs.iter(), servers, !ends, (seed, &mut random));
            batches[who.index()] = other.into_iter().nth(who.index()).unwrap();
        }
        Some((who, Wrong::Tells)) => {
            let mut told = false;
            taps.change(Box::new(move |from, peer, frame| {
                let first = frame.header.kind == FrameKind::Data && !frame.payload.is_empty();
                if first && (from, peer) == (who, to) && !std::mem::replace(&mut told, true) {
                    let mut payload = frame.payload.to_vec();
                    payload[0] = payload[0] & !1 | u8::from(ends);
                    frame.payload = payload.into();
                }
                true
            }));
        }
        None => {}
    }
    let transports = Deviating::all(transports, deviator, deviation, &seen);
    let world = World::light(servers, seed);
    std::thread::scope(|scope| {
        let threads = Party::all(servers).zip(transports).zip(batches).zip(held);
        for (((me, transport), batch), held) in threads {
            let config = world.config(me);
            scope.spawn(move || {
                block_on(async {
                    let session = Session::new(config, transport);
                    session.greet().await.unwrap();
                    let folder = tempfile::tempdir().unwrap();
                    let mut unit = match ahead {
                        true => Some(unit(kind, &session, folder.path()).await),
                        false => None,
                    };
                    let place = Place {
                        session: &session,
                        job: JOB + u32::from(ahead),
                        run: [0; 32],
                    };
                    let held = match kind.holders().len() {
                        0 => Vec::new(),
                        _ => vec![Arc::new(held)],
                    };
                    let ready = unit.as_mut().map(|unit| Ready::of_store(unit));
                    let beside = Beside {
                        held: &held,
                        ready: ready.unwrap_or_default(),
                    };
                    let limit = Duration::from_secs(60);
                    let done = kind.work_with(place, vec![batch], beside, limit, &|_| {});
                    let done = done.await;
                    assert!(done.is_ok(), "{me}: {done:?}, MADRIGAL_SEED={seed}");
                    session.close().await;
                });
            });
        }
    });
    bytes.extend(transcript.bytes());
    bytes.extend(transcript.sums());
    let passed = taps.take_if(|_| true).unwrap();
    (view(&passed, to, Before::default()).form, bytes)
}

/// Makes a unit of correlations, as a filling does, in a job before the one that takes it.
async fn unit(kind: &Kind, session: &Session, folder: &Path) -> Store {
    let program = kind.bound(1).unwrap();
    let planned = kind.planned_from(&program, 1, true).unwrap();
    let spec = StoreSpec::new(planned.plan.needs());
    let (folder, key) = (folder.join("unit"), StoreKey::generate().unwrap());
    let new = Precomputation::new(spec, &folder, &key).unwrap();
    new.run(session, JOB, None, &|_| {}).await.unwrap();
    Store::open(&folder, &key).unwrap()
}

/// Compares what a server sees of two inputs. Gives the difference, if there is one.
fn compared(setting: Setting<'_>, seed: u64) -> Option<String> {
    let zeros = ones(setting, false, seed);
    let ends = ones(setting, true, seed ^ 0x5555_0000_0000_0000);
    match zeros.0 == ends.0 {
        true => difference(&zeros.1, &ends.1),
        false => Some("the form differs".to_owned()),
    }
}

/// Tests of programs look at jobs of three servers in A and B, which take far longer.
#[test]
fn no_server_learns_of_clients_inputs_from_a_job() {
    let seed = seed();
    must_see_a_leak();
    for (mix, servers) in [("R", 3), ("A+B", 2)] {
        let kind = &kind(servers, mix);
        // One of them: each other one at other times.
        let to = Party::new(seed as usize % servers);
        let wrong = None;
        let setting = Setting {
            kind,
            servers,
            to,
            wrong,
            ahead: false,
        };
        let told = compared(setting, seed);
        assert!(
            told.is_none(),
            "{told:?}: {mix}, {servers} servers, to {to}"
        );
    }
}

/// A filling, and a job on the correlations that it has made, tell no more than a job that makes its own.
#[test]
fn nor_from_a_job_on_correlations_that_are_ready() {
    let seed = seed();
    let kind = &kind(2, "A+B");
    let to = Party::new(seed as usize % 2);
    let setting = Setting {
        kind,
        servers: 2,
        to,
        wrong: None,
        ahead: true,
    };
    let told = compared(setting, seed);
    assert!(told.is_none(), "{told:?}: to {to}");
}

#[test]
fn no_server_learns_of_held_inputs_from_a_job() {
    let seed = seed();
    for (mix, servers) in [("R", 3), ("A+B", 2)] {
        let kind = &kind_with_held(servers, mix);
        let setting = |wrong| Setting {
            kind,
            servers,
            to: Party::new(seed as usize % servers),
            wrong,
            ahead: false,
        };
        let told = compared(setting(None), seed);
        assert!(told.is_none(), "{told:?}: {mix}, {servers} servers");
    }
}

#[test]
fn nor_while_another_server_misbehaves() {
    let seed = seed();
    let (in_r, in_a_and_b) = (kind(3, "R"), kind(2, "A+B"));
    // Servers of R would refuse other shares: they differ from commitments, which all compare. Tests of the protocol look at them.
    for (kind, servers, wrong) in [
        // One of the changes: each other one at other times.
        (
            &in_r,
            3,
            Wrong::Messages(Change::ALL[seed as usize / 7 % 9]),
        ),
        (&in_a_and_b, 2, Wrong::Shares),
    ] {
        let to = Party::new(seed as usize % servers);
        let next = 1 + seed as usize / servers % (servers - 1);
        let who = Party::new((to.index() + next) % servers);
        let wrong = Some((who, wrong));
        let setting = Setting {
            kind,
            servers,
            to,
            wrong,
            ahead: false,
        };
        let told = compared(setting, seed);
        assert!(told.is_none(), "{told:?}: {wrong:?}, to {to}");
    }
}

/// Runs with a fault that are counted.
const FAULTY: u64 = 30;

/// Counts what a server receives in runs in which another one closes its lines after some of its messages, by the places of messages: a run ends anywhere.
fn counts(kind: &Kind, to: Party, who: Party, ends: bool, seed: u64) -> Counts {
    let mut counts = Counts::new();
    for run in 0..FAULTY {
        let seed = seed.wrapping_add(run);
        let mut random = Prg::new(Block::new(seed, 21));
        let batches = submitted(kind.inputs.iter(), 3, ends, (seed, &mut random));
        let (transcript, transports) = Transcript::of(to, mesh(3));
        let (taps, mut sent) = (Taps::default(), 0);
        let most = 3 + run % 8;
        taps.change(Box::new(move |from, _, frame| {
            sent += u64::from(from == who && frame.header.kind == FrameKind::Data);
            from != who || sent <= most
        }));
        let world = World::light(3, seed);
        let transports = Party::all(3).zip(transports);
        let transports = transports.map(|(me, transport)| taps.at(me)(Box::new(transport)));
        let named = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for ((me, transport), batch) in Party::all(3).zip(transports).zip(batches) {
                let config = world.config(me);
                threads.push(scope.spawn(move || block_on(part(kind, (config, transport), batch))));
            }
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            ended.collect::<Vec<_>>()
        });
        // Each other server ends with one error, which names whose lines are closed.
        for (at, error) in named.iter().enumerate() {
            let named = error.contains(&who.to_string()) || at == who.index();
            assert!(named, "party {at}: {error}, MADRIGAL_SEED={seed}");
        }
        add(&mut counts, &transcript, None);
    }
    counts
}

/// Takes part in a job that comes to nothing. Gives the reason.
async fn part(
    kind: &Kind,
    (config, transport): (SessionConfig, Box<dyn Transport>),
    batch: Submitted,
) -> String {
    let session = Session::new(config, transport);
    session.greet().await.unwrap();
    let place = Place {
        session: &session,
        job: JOB,
        run: [0; 32],
    };
    let done = kind.work(place, vec![batch], Duration::from_secs(60), &|_| {});
    let error = done.await.unwrap_err().to_string();
    session.close().await;
    error
}

#[test]
fn nor_while_another_server_goes() {
    let seed = seed();
    let kind = kind(3, "R");
    let to = Party::new(seed as usize % 3);
    let who = Party::new((to.index() + 1 + seed as usize / 3 % 2) % 3);
    let zeros = counts(&kind, to, who, false, seed);
    let ends = counts(&kind, to, who, true, seed ^ 0x5555_0000_0000_0000);
    let (largest, bits) = places::compare(&zeros, &ends);
    println!("{bits} bits, at most {largest:.1} deviations");
    let fits = bits > 30 && largest < 6.5;
    assert!(fits, "{largest} in {bits} bits: {who} goes, to {to}");
}

#[test]
fn a_server_that_tells_would_be_seen() {
    let (seed, kind) = (seed(), kind(3, "R"));
    let (to, wrong) = (Party::new(0), Some((Party::new(1), Wrong::Tells)));
    let setting = Setting {
        kind: &kind,
        servers: 3,
        to,
        wrong,
        ahead: false,
    };
    let told = compared(setting, seed);
    assert!(told.is_some_and(|told| told.starts_with("one bit")));
}

/// A job's own messages are what its plan declares, with correlations that are ready and without; the former are few.
#[test]
fn what_a_job_sends_is_declared() {
    let seed = seed();
    for servers in [2, 3] {
        let kind = kind(servers, "A+B");
        let mut random = Prg::new(Block::new(seed, 21));
        let mut sent = Vec::new();
        for ahead in [false, true] {
            let inputs = kind.inputs.iter();
            let batches = submitted(inputs, servers, true, (seed, &mut random));
            let world = World::light(servers, seed);
            let declared = std::thread::scope(|scope| {
                let threads = Party::all(servers).zip(mesh(servers)).zip(batches);
                let threads: Vec<_> = threads
                    .map(|((me, transport), batch)| {
                        let (config, kind) = (world.config(me), &kind);
                        scope.spawn(move || {
                            block_on(declared(kind, (config, transport), batch, ahead))
                        })
                    })
                    .collect();
                let all = threads.into_iter().map(|thread| thread.join().unwrap());
                all.collect::<Vec<_>>()
            });
            for (me, [counted, planned]) in declared.iter().enumerate() {
                assert_eq!(counted, planned, "server {me} of {servers}, ahead: {ahead}");
            }
            sent.push(declared[0][0]);
        }
        println!("{servers} servers: {sent:?} bytes in setup and online");
        assert!(10 * sent[1][0] < sent[0][0], "{sent:?}");
    }
}

/// Bytes that a server sends in setup and online, by counters and by the plan.
async fn declared(
    kind: &Kind,
    (config, transport): (SessionConfig, impl Transport + 'static),
    batch: Submitted,
    ahead: bool,
) -> [[u64; 2]; 2] {
    let me = config.me;
    let session = Session::new(config, transport);
    session.greet().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut unit = match ahead {
        true => Some(unit(kind, &session, folder.path()).await),
        false => None,
    };
    let place = Place {
        session: &session,
        job: JOB + 1,
        run: [0; 32],
    };
    let ready = unit.as_mut().map(|unit| Ready::of_store(unit));
    let beside = Beside {
        held: &[],
        ready: ready.unwrap_or_default(),
    };
    let soon = Duration::from_secs(60);
    let done = kind.work_with(place, vec![batch], beside, soon, &|_| {});
    let counted = done.await.unwrap().own_bytes_sent;
    session.close().await;
    let program = kind.bound(1).unwrap();
    let planned = kind.planned_from(&program, 1, ahead).unwrap();
    let cost = planned.plan.cost(me);
    let planned = Phase::ALL.map(|phase| cost.phase(phase).bytes_sent);
    [counted, planned]
}
