//! Tests what the others hear of a party that ends: over sockets, where a close can undo what was sent.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::Context;
use std::time::{Duration, Instant, SystemTime};

use madrigal_core::Party;
use madrigal_net::frame::{Frame, FrameKind, Header};
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::{Roster, RosterEntry};
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{
    Closing, ConnectConfig, Inbox, MemoryTransport, Packet, Security, TcpTransport, Transport,
    connect, mesh,
};
use madrigal_net::{Error, Session, SessionConfig, block_on};
use madrigal_testkit::{World, seed};

use crate::by_hand::dial_all;

const DAY: Duration = Duration::from_secs(86_400);

/// Listeners of two parties on this machine, and where they are.
fn listeners() -> (Vec<TcpListener>, Vec<String>) {
    let listeners: Vec<_> = (0..2)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
    let addresses = listeners.iter().map(address).collect();
    (listeners, addresses)
}

/// One side of a pair that trusts each other's fresh keys.
fn pair_of_keys() -> [Security; 2] {
    let now = SystemTime::now();
    let keys =
        [(); 2].map(|()| Identity::generate(Validity::new(now - DAY, now + DAY).unwrap()).unwrap());
    let named = [("alice", "127.0.0.1:7700"), ("bob", "127.0.0.1:7701")];
    let entries = keys
        .iter()
        .zip(named)
        .map(|(key, (name, address))| RosterEntry {
            name: name.into(),
            address: address.parse().unwrap(),
            key: key.fingerprint(),
            sealing: None,
        });
    let roster = Arc::new(Roster::new(entries.collect()).unwrap());
    keys.map(|key| Security::Tls(TlsParty::new(&key, Arc::clone(&roster)).unwrap()))
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

async fn meet(
    me: Party,
    addresses: &[String],
    listener: TcpListener,
    security: &Security,
    connections: usize,
) -> TcpTransport {
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let config = ConnectConfig {
        connections,
        ..ConnectConfig::new(me, addresses, security)
    };
    connect(config, listener).await.unwrap()
}

/// Party 0 has a reason to give up while the other one is busy on the thread of its sockets, and
/// while much that the other one has sent is unread; then its program ends.
fn the_reason_arrives(security: [Security; 2], connections: usize) {
    let (listeners, addresses) = listeners();
    let (report, reports) = mpsc::channel();
    let (gave_up, given_up) = mpsc::channel();
    let (gone, is_gone) = mpsc::channel();
    let mut heard = Some((given_up, is_gone));
    for ((me, listener), security) in Party::all(2).zip(listeners).zip(security) {
        let (addresses, report) = (addresses.clone(), report.clone());
        let (gave_up, gone) = (gave_up.clone(), gone.clone());
        let heard = heard.take_if(|_| me.index() == 1);
        std::thread::spawn(move || {
            let runtime = runtime();
            let done: Result<(), Error> = runtime.block_on(async {
                let transport = meet(me, &addresses, listener, &security, connections).await;
                let session = Session::new(SessionConfig::new(me, 2), transport);
                session.greet().await?;
                let job = session.job(1, &[], None).await?;
                let context = job.context();
                let mut channel = context.channel(Party::new(1 - me.index()))?;
                let size = 1 << 20;
                channel.send(vec![1; size]).await?;
                context.flush();
                if let Some((given_up, is_gone)) = heard {
                    // Computes until the other one has given up, and a little longer: unless it
                    // waits for us, it is gone then.
                    given_up.recv().unwrap();
                    let _ = is_gone.recv_timeout(Duration::from_millis(300));
                    channel.send(vec![1; size]).await?;
                    context.flush();
                    channel.recv(size).await?;
                    return channel.recv(size).await.map(drop);
                }
                // Computes, too, so that nothing of what comes is read.
                std::thread::sleep(Duration::from_millis(200));
                let error = context.fail(Error::Content {
                    peer: Party::new(1),
                    step: "x".into(),
                    problem: "the true reason".into(),
                });
                gave_up.send(()).unwrap();
                drop((job, channel, context));
                session.close().await;
                Err(error)
            });
            drop(runtime);
            if me.index() == 0 {
                let _ = gone.send(());
            } else {
                report.send(done).unwrap();
            }
        });
    }
    let heard = reports.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(
        matches!(&heard, Err(Error::Aborted { reason, .. }) if reason.contains("the true reason")),
        "{heard:?}"
    );
}

#[test]
fn the_reason_arrives_though_much_is_unread() {
    for connections in [1, 4] {
        the_reason_arrives([Security::Clear, Security::Clear], connections);
    }
}

#[test]
fn the_reason_arrives_though_much_is_unread_under_tls() {
    for connections in [1, 4] {
        the_reason_arrives(pair_of_keys(), connections);
    }
}

/// Gives the program's answer to party 1, which sends these bytes after its card, over TCP in the clear.
fn answer_to(bytes: &[u8]) -> String {
    let (listeners, addresses) = listeners();
    let listener = listeners.into_iter().next().unwrap();
    let address = addresses[0].clone();
    let program = std::thread::spawn(move || {
        runtime().block_on(async {
            let me = Party::new(0);
            let transport = meet(me, &addresses, listener, &Security::Clear, 1).await;
            let session = Session::new(SessionConfig::new(me, 2), transport);
            session.greet().await.unwrap_err();
            session.close().await;
        });
    });
    let mut stream = dial_all(&address, 1).remove(0);
    stream.write_all(bytes).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    program.join().unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    String::from_utf8_lossy(&heard).into_owned()
}

/// Whoever sends what is no frame, and much more after it, still hears what was wrong with it.
#[test]
fn who_sends_rubbish_hears_why_it_is_refused() {
    let said = answer_to(&[0xee; 6 << 20]);
    assert!(said.contains("party 1 sent "), "{said}");
}

/// The checksum of a frame is of its payload, too, without TLS.
#[test]
fn a_payload_damaged_on_the_way_is_noticed() {
    let header = Header {
        kind: FrameKind::Data,
        last: true,
        job: 1,
        step: 7,
        sequence: 0,
        round: 1,
    };
    let payload = vec![5; 1000].into();
    let mut bytes = Vec::new();
    Frame { header, payload }.encode_to(&mut bytes);
    bytes[700] ^= 4;
    let said = answer_to(&bytes);
    assert!(said.contains("was damaged on the way"), "{said}");
}

/// A transport that has a backlog for a peer that takes a little of it all the time.
struct Steady {
    inner: MemoryTransport,
    closed: OnceLock<Instant>,
    empty: Arc<AtomicBool>,
}

impl Transport for Steady {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }
    fn send(&self, to: Party, packet: Packet) {
        self.inner.send(to, packet);
    }
    fn close(&self) {
        let _ = self.closed.set(Instant::now());
    }
    fn closing(&self, _: &mut Context<'_>) -> Closing {
        let since = self.closed.get().map_or(Duration::ZERO, Instant::elapsed);
        let unsent = 2000usize.saturating_sub(since.as_millis() as usize);
        self.empty.store(unsent == 0, Relaxed);
        Closing { unsent, untold: 0 }
    }
}

/// A party that closes has patience with a peer that takes slowly what was sent, but steadily.
#[test]
fn a_peer_that_takes_steadily_is_not_cut_off() {
    let world = World::new(2, seed()).with_limits(|limits| {
        limits.silence = Duration::from_millis(400);
    });
    let empty = Arc::new(AtomicBool::new(false));
    let transport = Steady {
        inner: mesh(2).remove(0),
        closed: OnceLock::new(),
        empty: Arc::clone(&empty),
    };
    let session = Session::new(world.config(Party::new(0)), transport);
    block_on(session.close());
    assert!(empty.load(Relaxed));
}
