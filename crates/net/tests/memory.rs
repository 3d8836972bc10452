//! Measures how much a peer can make us keep: in the process's memory, not in what the program counts.

#![cfg(target_os = "linux")] // which says how much memory a process has had
#![allow(clippy::unwrap_used)] // helpers of tests

use std::future::Future;
use std::io::Write;
use std::net::TcpListener;
use std::pin::pin;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Waker};
use std::thread::sleep;
use std::time::Duration;

use bytes::Bytes;
use madrigal_core::Party;
use madrigal_net::frame::{FRAME_COST, Frame, FrameKind, Header, MAX_PAYLOAD};
use madrigal_net::transport::{ConnectConfig, Inbox, Packet, Security, Transport, connect};
use madrigal_net::{Context, Session, SessionConfig, block_on};

use crate::by_hand::dial_all;
use crate::hostile::{announcement, control, hello, hello_in};

const MIB: u64 = 1 << 20;
/// A packet on its way in, and what the allocator and the system round up.
const SLACK: u64 = 2 * MIB;
/// Memory that a connection reads into: a part of a frame and what is asked of the socket, and two such pieces that are kept.
const READ: u64 = 3 * MIB / 2;
/// Name of the variable that tells the child its flood.
const FLOOD: &str = "MADRIGAL_TEST_FLOOD";

/// Party 0 of two, whose peer is the test: it says what it likes, in packets of bytes.
struct Puppet {
    context: Context,
    inbox: Inbox,
}

/// Sends nowhere, and lets the test speak.
struct Void(Arc<Mutex<Option<Inbox>>>);

impl Transport for Void {
    fn attach(&self, inbox: Inbox) {
        *self.0.lock().unwrap() = Some(inbox);
    }
    fn send(&self, _: Party, _: Packet) {}
    fn close(&self) {}
}

impl Puppet {
    /// Runs `flood` in job 1 of a session with these limits. How much more memory the process had
    /// meanwhile than before, in bytes.
    fn measure(limits: impl FnOnce(&mut SessionConfig), flood: impl FnOnce(&Self)) -> u64 {
        let slot = Arc::new(Mutex::new(None));
        let mut config = SessionConfig::new(Party::new(0), 2);
        limits(&mut config);
        let session = Session::new(config, Void(Arc::clone(&slot)));
        let inbox = slot.lock().unwrap().clone().unwrap();
        let say = |frame: Frame| {
            let frames = vec![frame];
            inbox.deliver(Party::new(1), Packet { frames }.to_bytes().into());
        };
        say(control(0, &hello()));
        block_on(session.greet()).unwrap();
        say(control(1, &announcement(session.identity().unwrap())));
        let job = block_on(session.job(1, &[], None)).unwrap();
        let context = job.context();
        // From here on the peak is that of the flood.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let before = memory("VmRSS:");
        flood(&Self { context, inbox });
        memory("VmHWM:").saturating_sub(before)
    }

    /// Says all of it, in packets of a thousand frames, unless it is refused before. Whether it was.
    fn say(&self, frames: impl IntoIterator<Item = Frame>) -> bool {
        let mut frames = frames.into_iter();
        loop {
            let packet: Vec<Frame> = frames.by_ref().take(1000).collect();
            if packet.is_empty() {
                return false;
            }
            let bytes = Packet { frames: packet }.to_bytes();
            self.inbox.deliver(Party::new(1), bytes.into());
            if self.context.check().is_err() {
                return true;
            }
        }
    }

    /// Says it until it is refused.
    fn flood(&self, frames: impl IntoIterator<Item = Frame>) {
        assert!(self.say(frames), "nobody refused it");
    }
}

fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse::<u64>().unwrap() << 10
}

fn frame(
    kind: FrameKind,
    (job, step): (u32, u64),
    sequence: u32,
    payload: impl Into<Bytes>,
) -> Frame {
    Frame {
        header: Header {
            kind,
            last: true,
            job,
            step,
            sequence,
            round: 1,
        },
        payload: payload.into(),
    }
}

fn data(address: (u32, u64), sequence: u32, bytes: usize) -> Frame {
    frame(FrameKind::Data, address, sequence, vec![7; bytes])
}

/// A job message with a fact whose name was long and is short: a reader may keep the room of both.
fn swollen(tag: u8) -> Vec<u8> {
    let long = 200_000;
    let name = |len: usize| {
        let mut field = vec![0x0a];
        field.extend(varint(len));
        field.resize(field.len() + len, b'a');
        field
    };
    let fact = [name(long), name(1)].concat();
    let identity = |len: usize| [vec![0x12], varint(len), vec![0; len]].concat();
    let fact = [vec![0x0a], varint(fact.len()), fact].concat();
    // An announcement has the session's identity too.
    let identity = match tag {
        2 => [identity(40_000), identity(32)].concat(),
        _ => vec![],
    };
    let facts = [fact, identity].concat();
    [vec![tag << 3 | 2], varint(facts.len()), facts].concat()
}

fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A flood, and the bytes that it may make us keep.
struct Flood(&'static str, u64, fn() -> u64);

#[rustfmt::skip]
const FLOODS: [Flood; 15] = [
    Flood("empty messages for a step that is open", 32 * MIB, || in_order(0)),
    Flood("messages of one byte for a step that is open", 32 * MIB, || in_order(1)),
    Flood("messages of one byte for a step whose window was made to grow", 12 * MIB, grown),
    Flood("messages of a step whose first is missing", 4 * MIB, || out_of_order(1)),
    Flood("every other message of a step", 4 * MIB, || out_of_order(2)),
    Flood("messages of one byte for steps that are not open", 16 * MIB, long_steps),
    Flood("one message each for steps that are not open", 8 * MIB,
        || short_steps(8 * MIB, |n| data((1, n.into()), 1, 0))),
    Flood("one message each for jobs that are not open", 8 * MIB,
        || short_steps(8 * MIB, |n| data((n + 2, 1), 1, 0))),
    Flood("credit for steps that are not open", 2 * MIB,
        || short_steps(2 * MIB, |n| frame(FrameKind::Credit, (1, n.into()), 0, vec![0; 8]))),
    Flood("messages for steps that nobody will read", 0, unread),
    Flood("announcements of jobs", 0, || jobs(2)),
    Flood("ends of jobs", 0, || jobs(3)),
    Flood("greetings", 0, greetings),
    Flood("a job of countless facts", 16 * MIB, countless),
    Flood("messages of a step whose first is missing, on four connections", 4 * MIB + 4 * READ, by_four),
];

fn in_order(bytes: usize) -> u64 {
    Puppet::measure(
        |limits| limits.window = 32 * MIB,
        |peer| {
            let step = peer.context.step("flooded");
            let _channels = step.channels().unwrap();
            let address = (1, madrigal_net::context::step_id(step.path()));
            peer.flood((0..).map(|sequence| data(address, sequence, bytes)));
        },
    )
}

fn out_of_order(every: usize) -> u64 {
    Puppet::measure(
        |limits| limits.window = 4 * MIB,
        |peer| {
            let step = peer.context.step("flooded");
            let _channels = step.channels().unwrap();
            let address = (1, madrigal_net::context::step_id(step.path()));
            peer.flood(
                (1..)
                    .step_by(every)
                    .map(|sequence| data(address, sequence, 1)),
            );
        },
    )
}

/// The peer plays a long fat line until our window has grown by all that it may, and floods us then.
fn grown() -> u64 {
    Puppet::measure(
        |limits| (limits.window, limits.growth) = (4 * MIB, 8 * MIB),
        |peer| {
            let step = peer.context.step("flooded");
            let mut channels = step.channels().unwrap();
            let address = (1, madrigal_net::context::step_id(step.path()));
            let len = MAX_PAYLOAD - FRAME_COST;
            for sequence in 0..16 {
                assert!(!peer.say([data(address, sequence, len)]));
                block_on(channels[0].recv(len)).unwrap();
            }
            {
                let mut next = pin!(channels[0].recv(len));
                let mut task = Task::from_waker(Waker::noop());
                assert!(next.as_mut().poll(&mut task).is_pending());
                let used_up = (4 * MIB).to_le_bytes().to_vec();
                assert!(!peer.say([frame(FrameKind::Blocked, address, 0, used_up)]));
                sleep(Duration::from_millis(50));
                assert!(!peer.say([data(address, 16, len)]));
                block_on(next).unwrap();
            }
            let one = |sequence| data(address, sequence, 1);
            let fits = 11 * MIB as u32 / (FRAME_COST as u32 + 1);
            assert!(!peer.say((17..fits).map(one)), "the window has not grown");
            peer.flood((fits..).map(one));
        },
    )
}

fn long_steps() -> u64 {
    Puppet::measure(
        |limits| limits.store = 16 * MIB,
        |peer| {
            let frames = |step| (0..4096).map(move |sequence| data((1, step), sequence, 1));
            peer.flood((0..).flat_map(frames));
        },
    )
}

fn short_steps(store: u64, frame: impl Fn(u32) -> Frame) -> u64 {
    Puppet::measure(
        |limits| limits.store = store,
        |peer| peer.flood((0..).map(frame)),
    )
}

/// Opens channels and lets them go without asking for them again.
fn unread() -> u64 {
    Puppet::measure(
        |_| {},
        |peer| {
            for number in 0..16 {
                let step = peer.context.step(&number.to_string());
                let id = madrigal_net::context::step_id(step.path());
                // Some of it comes before the step is open, some while it is, most after that.
                let full = |sequence| data((1, id), sequence, MAX_PAYLOAD);
                let one = |sequence| std::iter::once(full(sequence));
                assert!(!peer.say(one(0)));
                let channels = step.channels().unwrap();
                assert!(!peer.say(one(1)));
                drop(channels);
                for sequence in 2..15 {
                    assert!(!peer.say(one(sequence)));
                }
            }
        },
    )
}

fn jobs(tag: u8) -> u64 {
    let message = swollen(tag);
    Puppet::measure(
        |_| {},
        |peer| {
            for job in 2..66 {
                assert!(!peer.say([control(job, &message)]));
            }
            peer.flood([control(66, &message)]);
        },
    )
}

fn greetings() -> u64 {
    let message = hello();
    Puppet::measure(
        |_| {},
        |peer| assert!(!peer.say((0..1_000_000).map(|_| control(0, &message)))),
    )
}

/// Sends as many control messages as a frame holds, each of two bytes; they are refused when they are read.
fn countless() -> u64 {
    let facts = [0x0a, 0].repeat(MAX_PAYLOAD / 2 - 8);
    let message = [vec![0x12], varint(facts.len()), facts].concat();
    Puppet::measure(|_| {}, |peer| peer.flood([control(2, &message)]))
}

/// The peer sends by four connections at the same time, each in an order of its own: none of it is the first message.
fn by_four() -> u64 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    listener.set_nonblocking(true).unwrap();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(4).enable_all().build().unwrap();
    let _inside = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let addresses = [address.clone(), "127.0.0.1:9".into()];
    let dialed = std::thread::spawn(move || dial_all(&address, 4));
    let config = ConnectConfig {
        connections: 4,
        ..ConnectConfig::new(Party::new(0), &addresses, &Security::Clear)
    };
    let transport = runtime.block_on(connect(config, listener)).unwrap();
    let mut connections = dialed.join().unwrap();
    let mut config = SessionConfig::new(Party::new(0), 2);
    config.name = "x".into();
    let session = Session::new(config, transport);
    let bytes = |frames: Vec<Frame>| Packet { frames }.to_bytes();
    let mut say = |frame| connections[0].write_all(&bytes(vec![frame])).unwrap();
    say(control(0, &hello_in("x")));
    block_on(session.greet()).unwrap();
    say(control(1, &announcement(session.identity().unwrap())));
    let job = block_on(session.job(1, &[], None)).unwrap();
    let context = job.context();
    let step = context.step("flooded");
    let _channels = step.channels().unwrap();
    let address = (1, madrigal_net::context::step_id(step.path()));
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    std::thread::scope(|scope| {
        for (number, stream) in (0..).zip(&mut connections) {
            scope.spawn(move || {
                // As many as the window has room for, and many more.
                let mut sequences = (1 + number..100_000).step_by(4);
                while let [first, ..] = sequences.by_ref().take(500).collect::<Vec<u32>>()[..] {
                    let packet = (first..).step_by(4).take(500);
                    let packet = packet.map(|sequence| data(address, sequence, 1)).collect();
                    if stream.write_all(&bytes(packet)).is_err() {
                        return;
                    }
                }
            });
        }
        while context.check().is_ok() {
            sleep(Duration::from_millis(5));
        }
        assert!(context.check().unwrap_err().to_string().contains("party 1"));
        // Threads that still write end with the connections.
        block_on(session.close());
    });
    memory("VmHWM:").saturating_sub(before)
}

/// One flood, in a process of its own. Does nothing when it is run as a test like others.
#[test]
fn child() {
    let Ok(number) = std::env::var(FLOOD) else {
        return;
    };
    let Flood(_, _, flood) = FLOODS[number.parse::<usize>().unwrap()];
    let grown = format!("grew by {} bytes\n", flood());
    std::io::stderr().write_all(grown.as_bytes()).unwrap();
}

#[test]
fn no_flood_takes_more_memory_than_it_counts() {
    let mut exceeded = Vec::new();
    for (number, Flood(name, allowed, _)) in FLOODS.iter().enumerate() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "memory::child", "--nocapture"]);
        let output = child.env(FLOOD, number.to_string()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let grown = said.split_once("grew by ");
        let grown = grown.and_then(|(_, rest)| rest.split_once(" bytes"));
        let (grown, _) = grown.unwrap_or_else(|| panic!("{name}: {said}"));
        let grown = grown.parse::<u64>().unwrap();
        if grown > allowed + SLACK {
            exceeded.push(format!("{name}: {} of {} KiB", grown >> 10, allowed >> 10));
        }
    }
    assert!(exceeded.is_empty(), "too much memory: {exceeded:#?}");
}
