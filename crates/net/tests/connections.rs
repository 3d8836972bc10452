//! Sessions whose parties have several connections: everything arrives, whichever connection it came by, and one that
//! ends, ends them all.

#![cfg(feature = "sockets")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use madrigal_core::Party;
use madrigal_kernels::{Block, Prg};
use madrigal_net::context::step_id;
use madrigal_net::frame::{Frame, FrameKind, HEADER_BYTES, Header, MAX_PAYLOAD, frame_length};
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::TlsParty;
use madrigal_net::transport::{ConnectConfig, Security, connect};
use madrigal_net::{Context, Error, Result, Session, SessionConfig, block_on, on_threads};
use madrigal_testkit::seed;

use crate::by_hand::dial_all;
use crate::hostile::{announcement, control, hello_in};

fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Does `work` as party `me` of those at `addresses`, over this many connections, each read on a thread of its own.
fn party<T>(
    me: usize,
    addresses: &[String],
    listener: TcpListener,
    security: &Security,
    connections: usize,
    work: impl AsyncFnOnce(&Session) -> T,
) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(connections).enable_all().build();
    runtime.unwrap().block_on(async {
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let me = Party::new(me);
        let config = ConnectConfig {
            connections,
            ..ConnectConfig::new(me, addresses, security)
        };
        let transport = connect(config, listener).await.unwrap();
        let mut config = SessionConfig::new(me, addresses.len());
        // What is forwarded is dialed at another address than its party listens at.
        config.name = "x".into();
        let session = Session::new(config, transport);
        let done = work(&session).await;
        session.close().await;
        done
    })
}

/// Protection of two parties at these addresses.
fn securities(secure: bool, addresses: &[String]) -> Vec<Security> {
    if !secure {
        return vec![Security::Clear; addresses.len()];
    }
    let keys = addresses
        .iter()
        .map(|_| Identity::generate(Validity::days(1).unwrap()).unwrap());
    let keys: Vec<_> = keys.collect();
    let entries = addresses.iter().zip(&keys);
    let entries = entries.map(|(at, key)| (at.parse().unwrap(), key.fingerprint()));
    let roster = Arc::new(Roster::local(entries).unwrap());
    let security = |key| Security::Tls(TlsParty::new(key, Arc::clone(&roster)).unwrap());
    keys.iter().map(security).collect()
}

/// Both parties of two do `work`, party 1 by way of what `between` makes of party 0's address.
fn both<T: Send>(
    secure: bool,
    connections: usize,
    between: impl FnOnce(String) -> String,
    work: impl AsyncFn(&Session) -> T + Sync,
) -> Vec<T> {
    let ((zero, at_zero), (one, at_one)) = (listener(), listener());
    let addresses = [between(at_zero), at_one];
    let security = securities(secure, &addresses);
    thread::scope(|scope| {
        let (addresses, work) = (&addresses, &work);
        let start = |((me, listener), security)| {
            let work = async move |session: &Session| work(session).await;
            scope.spawn(move || party(me, addresses, listener, security, connections, work))
        };
        let both: Vec<_> = [zero, one]
            .into_iter()
            .enumerate()
            .zip(&security)
            .map(start)
            .collect();
        both.into_iter()
            .map(|party| party.join().unwrap())
            .collect()
    })
}

/// The bytes of message `number` on a thread's step.
fn message(seed: u64, thread: usize, number: usize, from: Party) -> Bytes {
    let key = (thread << 32 | number << 1 | from.index()) as u64;
    let mut prg = Prg::new(Block::new(seed, key));
    // Small ones, and some of several frames.
    let most = [40, 5000, 70_000, 3 * MAX_PAYLOAD][prg.next_block().lo() as usize % 4];
    let mut bytes = vec![0; prg.next_block().lo() as usize % most];
    prg.fill(&mut bytes);
    bytes.into()
}

/// Sends and receives messages of any lengths.
async fn converse(context: Context, seed: u64, thread: usize) -> Result<()> {
    let (me, peer) = (context.me(), Party::new(1 - context.me().index()));
    let mut channel = context.channel(peer)?;
    for number in 0..150 {
        channel.send(message(seed, thread, number, me)).await?;
        let expected = message(seed, thread, number, peer);
        assert_eq!(channel.recv(expected.len()).await?, expected);
    }
    Ok(())
}

#[test]
fn what_several_threads_send_arrives_as_it_was_sent() {
    let seed = seed();
    for secure in [false, true] {
        for (connections, threads) in [(1, 3), (2, 1), (2, 4), (4, 6)] {
            let results = both(
                secure,
                connections,
                |at| at,
                async |session: &Session| {
                    session.greet().await?;
                    let job = session.job(1, &[], None).await?;
                    let context = job.context();
                    let work = (0..threads).map(|thread| {
                        let context = context.step(&thread.to_string());
                        move |_: &dyn Fn(())| block_on(converse(context, seed, thread))
                    });
                    on_threads(&context, work, |()| {}).await?;
                    job.finish().await
                },
            );
            for result in results {
                result.unwrap();
            }
        }
    }
}

/// Bytes after which a connection is cut.
const BEFORE_CUT: u64 = 3 << 20;

/// Passes connections on to `to`, and cuts the third one there when much has gone by; whoever dialed it is told,
/// or keeps a connection on which nothing happens any more. Gives the address.
fn cutting(to: String, told: bool) -> String {
    let (door, address) = listener();
    thread::spawn(move || {
        for (number, near) in door.incoming().flatten().enumerate() {
            let far = TcpStream::connect(&to).unwrap();
            let twice = |stream: &TcpStream| stream.try_clone().unwrap();
            let (near_too, far_too) = (twice(&near), twice(&far));
            let cut = number == 2;
            thread::spawn(move || {
                let most = if cut { BEFORE_CUT } else { u64::MAX };
                let _ = io::copy(&mut (&near).take(most), &mut &far);
                let _ = far.shutdown(if cut { Shutdown::Both } else { Shutdown::Write });
                if cut && told {
                    let _ = near.shutdown(Shutdown::Both);
                } else {
                    let _ = io::copy(&mut &near, &mut io::sink());
                }
            });
            thread::spawn(move || {
                let _ = io::copy(&mut &far_too, &mut &near_too);
                if !cut {
                    let _ = near_too.shutdown(Shutdown::Write);
                }
            });
        }
    });
    address
}

/// One connection of several is cut in the middle of a transfer: both sides end, and name each other.
#[test]
fn one_cut_connection_ends_both_sides() {
    for (secure, told) in [(false, true), (true, true), (false, false), (true, false)] {
        let begin = Instant::now();
        let results = both(secure, 4, |at| cutting(at, told), exchange_for_ever);
        for (me, ended) in results.into_iter().enumerate() {
            let error = ended.unwrap_err();
            let peer = match &error {
                Error::Lost { peer, .. } | Error::Aborted { peer, .. } => peer,
                _ => panic!("party {me}: {error}"),
            };
            assert_eq!(peer.index(), 1 - me, "{error}");
        }
        // Nobody waited for a stall (120 s).
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
}

async fn exchange_for_ever(session: &Session) -> Result<()> {
    session.greet().await?;
    let job = session.job(1, &[], None).await?;
    let context = job.context();
    let work = (0..4).map(|thread| {
        let context = context.step(&thread.to_string());
        move |_: &dyn Fn(())| {
            block_on(async {
                let peer = context.peers().next().unwrap();
                let mut channel = context.channel(peer)?;
                loop {
                    channel.send(vec![1; 1 << 20]).await?;
                    channel.recv(1 << 20).await?;
                }
            })
        }
    });
    let ended: Result<Vec<()>> = on_threads(&context, work, |()| {}).await;
    ended.map(drop)
}

/// A peer made by hand: party 1 of two, in the clear.
struct Hand {
    connections: Vec<TcpStream>,
}

impl Hand {
    fn say(&mut self, number: usize, frame: &Frame) {
        let mut bytes = Vec::new();
        frame.encode_to(&mut bytes);
        self.connections[number].write_all(&bytes).unwrap();
    }

    /// The next frame on this connection.
    fn hear(&mut self, number: usize) -> Frame {
        let stream = &mut self.connections[number];
        let mut bytes = vec![0; HEADER_BYTES];
        stream.read_exact(&mut bytes).unwrap();
        let length = frame_length(&bytes).unwrap().unwrap();
        bytes.resize(length, 0);
        stream.read_exact(&mut bytes[HEADER_BYTES..]).unwrap();
        madrigal_net::frame::decode_packet(bytes.into())
            .unwrap()
            .remove(0)
    }

    /// The next frame on this connection but signs of life.
    fn hear_news(&mut self, number: usize) -> Frame {
        loop {
            let frame = self.hear(number);
            if frame.header.kind != FrameKind::Control || frame.payload[0] >> 3 != 5 {
                return frame;
            }
        }
    }
}

/// The program is party 0 and does `work` in job 1 over connections with a hand, which does `acts` once
/// both have announced the job.
fn with_hand<T: Send>(
    connections: u8,
    work: impl AsyncFn(&Session, Context) -> T + Sync,
    acts: impl FnOnce(&mut Hand),
) -> Result<T> {
    let (zero, at_zero) = listener();
    let addresses = [at_zero.clone(), "127.0.0.1:9".into()];
    let (tell, told): (Sender<[u8; 32]>, _) = channel();
    thread::scope(|scope| {
        let (work, addresses) = (&work, &addresses);
        let program = scope.spawn(move || {
            let clear = Security::Clear;
            party(
                0,
                addresses,
                zero,
                &clear,
                connections.into(),
                async |session| {
                    session.greet().await?;
                    tell.send(session.identity().unwrap()).unwrap();
                    let job = session.job(1, &[], None).await?;
                    let done = work(session, job.context()).await;
                    job.finish().await?;
                    Ok(done)
                },
            )
        });
        let connections = dial_all(&at_zero, connections);
        let mut hand = Hand { connections };
        hand.say(0, &control(0, &hello_in("x")));
        hand.say(0, &control(1, &announcement(told.recv().unwrap())));
        // The peer has sent its greeting and its announcement.
        assert_eq!(hand.hear_news(0).payload[0], 0x0a);
        assert_eq!(hand.hear_news(0).payload[0], 0x12);
        acts(&mut hand);
        program.join().unwrap()
    })
}

fn data(step: &str, sequence: u32, last: bool, payload: Vec<u8>) -> Frame {
    let header = Header {
        kind: FrameKind::Data,
        last,
        job: 1,
        step: step_id(step),
        sequence,
        round: 1,
    };
    let payload = payload.into();
    Frame { header, payload }
}

/// The end of a job, and the leave, of a peer whose data are still on their way on other connections: what
/// it has left behind arrives, and is what counts.
#[test]
fn leave_overtakes_data() {
    let finish = [0x1a, 0];
    let leave = [0x32, 0];
    let receive = async |_: &Session, context: Context| {
        let mut channel = context.step("late").channel(Party::new(1))?;
        channel.recv(2 * MAX_PAYLOAD + 3).await
    };
    let done = with_hand(3, receive, |hand| {
        hand.say(0, &control(1, &finish));
        hand.say(0, &control(0, &leave));
        hand.connections[0].shutdown(Shutdown::Write).unwrap();
        // Each part has a connection that ends behind it, the last part first.
        thread::sleep(Duration::from_millis(300));
        hand.say(2, &data("job/late", 2, true, vec![3; 3]));
        hand.say(2, &data("job/late", 1, false, vec![2; MAX_PAYLOAD]));
        hand.connections[2].shutdown(Shutdown::Write).unwrap();
        thread::sleep(Duration::from_millis(300));
        hand.say(1, &data("job/late", 0, false, vec![1; MAX_PAYLOAD]));
        hand.connections[1].shutdown(Shutdown::Write).unwrap();
        // The program ends its sides, too, when it has all.
        for stream in &mut hand.connections {
            io::copy(stream, &mut io::sink()).unwrap();
        }
    });
    let message = done.unwrap().unwrap();
    let parts = [vec![1; MAX_PAYLOAD], vec![2; MAX_PAYLOAD], vec![3; 3]].concat();
    assert!(message == parts);
}

/// A peer that has left while a message of it is missing has lost it: that is known when all connections have ended.
#[test]
fn data_that_never_come_are_missed_after_leave() {
    let receive = async |_: &Session, context: Context| {
        let mut channel = context.step("late").channel(Party::new(1))?;
        channel.recv(5).await
    };
    let done = with_hand(2, receive, |hand| {
        hand.say(0, &control(0, &[0x32, 0]));
        drop(std::mem::take(&mut hand.connections));
    });
    let error = done.unwrap_err();
    assert!(
        matches!(&error, Error::Lost { peer, .. } if peer.index() == 1),
        "{error}"
    );
}

/// One connection ends and the other stays open, and silent: the peer is given up all the same.
#[test]
fn a_peer_that_keeps_some_connections_open_is_given_up() {
    let receive = async |_: &Session, context: Context| {
        let mut channel = context.step("late").channel(Party::new(1))?;
        channel.recv(5).await
    };
    let begin = Instant::now();
    let kept = Mutex::new(Vec::new());
    let done = with_hand(2, receive, |hand| {
        drop(hand.connections.remove(1));
        kept.lock().unwrap().append(&mut hand.connections);
    });
    let error = done.unwrap_err();
    let text = error.to_string();
    assert!(matches!(&error, Error::Lost { .. }), "{text}");
    assert!(
        text.contains("party 1") && text.contains("(connection 2 of 2)"),
        "{text}"
    );
    assert!(begin.elapsed() < Duration::from_secs(60));
}

/// Whoever sends from one thread and is not held up stays on the first connection; so does what is said of jobs, in any
/// case.
#[test]
fn messages_of_one_thread_stay_on_the_first_connection() {
    let send = async |_: &Session, context: Context| {
        let mut channel = context.step("much").channel(Party::new(1))?;
        for _ in 0..50 {
            channel.send(vec![5; 1000]).await?;
            channel.recv(1).await?;
        }
        Ok::<(), Error>(())
    };
    let done = with_hand(4, send, |hand| {
        for sequence in 0..50 {
            let frame = hand.hear_news(0);
            assert_eq!(
                (frame.header.sequence, frame.payload.len()),
                (sequence, 1000)
            );
            hand.say(
                1 + sequence as usize % 3,
                &data("job/much", sequence, true, vec![1]),
            );
        }
        assert_eq!(hand.hear_news(0).payload[0], 0x1a);
        hand.say(2, &control(1, &[0x1a, 0]));
        assert_eq!(hand.hear_news(0).payload[0], 0x32);
        for stream in &mut hand.connections {
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        }
    });
    done.unwrap().unwrap();
}

/// Data go by other connections while the first one is full; what is said of jobs waits for the first.
#[test]
fn what_the_first_connection_does_not_take_goes_by_the_others() {
    const MESSAGES: usize = 14;
    let send = async |_: &Session, context: Context| {
        // Many steps: each has a window of its own.
        for step in 0..MESSAGES {
            let mut channel = context.step(&step.to_string()).channel(Party::new(1))?;
            channel.send(vec![5; 3 << 20]).await?;
        }
        Ok::<(), Error>(())
    };
    let done = with_hand(2, send, |hand| {
        // Nothing is read from the first until the second has brought much.
        let mut came = [0; 2];
        while came[1] < 8 << 20 {
            came[1] += hand.hear(1).payload.len();
        }
        let first = hand.connections[0].try_clone().unwrap();
        let mut both = [
            Hand {
                connections: vec![first],
            },
            Hand {
                connections: vec![hand.connections.remove(1)],
            },
        ];
        let [zero, one] = &mut both;
        thread::scope(|scope| {
            let rest = scope.spawn(|| {
                let mut bytes = 0;
                loop {
                    let mut head = [0; HEADER_BYTES];
                    if one.connections[0].read_exact(&mut head).is_err() {
                        return bytes;
                    }
                    let length = frame_length(&head).unwrap().unwrap() - HEADER_BYTES;
                    let mut payload = vec![0; length];
                    one.connections[0].read_exact(&mut payload).unwrap();
                    assert_eq!(head[2], 0, "only data come here");
                    bytes += length;
                }
            });
            loop {
                let frame = zero.hear_news(0);
                match frame.header.kind {
                    FrameKind::Data => came[0] += frame.payload.len(),
                    _ => {
                        assert_eq!(frame.payload[0], 0x1a);
                        break;
                    }
                }
            }
            zero.say(0, &control(1, &[0x1a, 0]));
            came[1] += rest.join().unwrap();
        });
        assert_eq!(came[0] + came[1], MESSAGES * (3 << 20));
    });
    done.unwrap().unwrap();
}
