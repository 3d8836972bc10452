//! Single things that a peer may do wrong, or early, or twice: frames made by hand.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join;
use madrigal_core::Party;
use madrigal_net::frame::{Frame, FrameError, FrameKind, Header, MAX_PAYLOAD, WIRE_VERSION};
use madrigal_net::transport::{Inbox, MemoryTransport, Packet, Transport, mesh};
use madrigal_net::{Context, Error, Result, Session, block_on, exchange};
use madrigal_testkit::{World, seed};

/// A transport whose other end also lets a test speak.
struct Tapped {
    inner: MemoryTransport,
    inbox: Arc<Mutex<Option<Inbox>>>,
}

impl Transport for Tapped {
    fn attach(&self, inbox: Inbox) {
        *self.inbox.lock().unwrap() = Some(inbox.clone());
        self.inner.attach(inbox);
    }
    fn send(&self, to: Party, packet: Packet) {
        self.inner.send(to, packet);
    }
    fn close(&self) {
        self.inner.close();
    }
}

/// Time within which wrong messages are refused.
const PATIENCE: Duration = Duration::from_secs(8);

fn world() -> World {
    World::new(2, seed()).with_limits(|limits| {
        limits.store = 8 << 20;
        limits.silence = Duration::from_secs(4);
        limits.stall = Duration::from_secs(8);
        limits.patience = PATIENCE;
    })
}

/// Both parties exchange one message; before, party 1 lets `speak` put frames before party 0.
fn told(speak: impl Fn(&Context) -> Vec<Frame> + Sync) -> Vec<Result<()>> {
    let inbox = Arc::new(Mutex::new(None));
    let tap = |inner| Tapped {
        inner,
        inbox: Arc::default(),
    };
    let mut transports: Vec<_> = mesh(2).into_iter().map(tap).collect();
    transports[0].inbox = Arc::clone(&inbox);
    let program = |context: Context| {
        let (speak, inbox) = (&speak, Arc::clone(&inbox));
        async move {
            let mut channels = context.channels()?;
            exchange(&mut channels, vec![1], 1).await?;
            if context.me().index() == 1 {
                let inbox = inbox.lock().unwrap().clone().unwrap();
                let mut bytes = Vec::new();
                let frames = speak(&context);
                frames.iter().for_each(|frame| frame.encode_to(&mut bytes));
                inbox.deliver(Party::new(1), bytes.into());
            }
            let heard = exchange(&mut channels, vec![2], 1).await?;
            assert_eq!(heard[0][..], [2]);
            Ok(())
        }
    };
    let results = world().run_over(transports, program);
    results.into_iter().map(|result| result.map(drop)).collect()
}

fn data(context: &Context, sequence: u32, last: bool, bytes: usize) -> Frame {
    Frame {
        header: Header {
            kind: FrameKind::Data,
            last,
            job: 1,
            step: madrigal_net::context::step_id(context.path()),
            sequence,
            round: 1,
        },
        payload: vec![0; bytes].into(),
    }
}

pub(crate) fn control(job: u32, bytes: &[u8]) -> Frame {
    Frame {
        header: Header {
            kind: FrameKind::Control,
            last: true,
            job,
            step: 0,
            sequence: 0,
            round: 0,
        },
        payload: Bytes::copy_from_slice(bytes),
    }
}

/// The greeting of party 1 of 2, from the fields of `schema/control.proto`.
pub(crate) fn hello() -> Vec<u8> {
    hello_in("")
}

/// That greeting in a session with this name.
pub(crate) fn hello_in(session: &str) -> Vec<u8> {
    let mut hello = vec![0x08, WIRE_VERSION, 0x10, 1, 0x20, 2];
    if !session.is_empty() {
        hello.extend_from_slice(&[0x2a, session.len() as u8]);
        hello.extend_from_slice(session.as_bytes());
    }
    hello.extend_from_slice(&[0x32, 16]);
    hello.extend_from_slice(&[9; 16]);
    hello.extend_from_slice(&[0x42, 16]);
    hello.extend_from_slice(&[9; 16]);
    [&[0x0a, hello.len() as u8], &hello[..]].concat()
}

/// The announcement of a job without facts, in the session with this identity.
pub(crate) fn announcement(identity: [u8; 32]) -> Vec<u8> {
    [&[0x12, 34, 0x12, 32], &identity[..]].concat()
}

fn first_error(results: Vec<Result<()>>) -> Error {
    results.into_iter().next().unwrap().unwrap_err()
}

#[test]
fn nothing_wrong_is_nothing_wrong() {
    assert!(told(|_| vec![]).iter().all(Result::is_ok));
}

#[test]
fn a_part_without_content_is_refused() {
    let error = first_error(told(|context| vec![data(context, 1, false, 0)]));
    let part = FrameError::Part { got: 0 };
    assert!(
        matches!(error, Error::Frame { problem, .. } if problem == part),
        "{error}"
    );
}

#[test]
fn any_number_of_rounds_is_borne() {
    let results = told(|context| {
        let mut frame = data(context, 1, true, 1);
        frame.header.round = u32::MAX;
        frame.payload = vec![2].into();
        vec![frame]
    });
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

#[test]
fn data_from_far_ahead_is_a_flood() {
    for sequence in [1 << 20, u32::MAX] {
        let error = first_error(told(|context| vec![data(context, sequence, true, 1)]));
        assert!(
            matches!(&error, Error::Flood { step: Some(_), .. }),
            "{error}"
        );
    }
}

#[test]
fn data_beyond_the_window_is_a_flood() {
    let many = |context: &Context| {
        let full = |i: u32| data(context, 1 + i, false, MAX_PAYLOAD);
        (0..17).map(full).collect()
    };
    let error = first_error(told(many));
    // The receiver may have begun to read, and found the first message too long.
    assert!(
        matches!(&error, Error::Flood { .. } | Error::Length { .. }),
        "{error}"
    );
}

#[test]
fn steps_that_are_not_open_hold_a_bounded_number_of_bytes() {
    let ahead = |full: usize| {
        move |context: &Context| {
            let other = context.step("never");
            let step = |i: usize| other.step(&i.to_string());
            (0..full)
                .map(|i| data(&step(i), 0, false, MAX_PAYLOAD))
                .collect()
        }
    };
    let results = told(ahead(20));
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let error = first_error(told(ahead(40)));
    assert!(
        matches!(
            &error,
            Error::Flood { step: None, .. } | Error::Flood { .. }
        ),
        "{error}"
    );
}

#[test]
fn a_second_greeting_is_that_of_a_party_that_was_started_again() {
    // The seed half of the second greeting is not that of the first.
    let error = first_error(told(|_| vec![control(0, &hello())]));
    assert!(error.to_string().contains("started again"), "{error}");
}

#[test]
fn jobs_announced_without_end_are_refused() {
    let error = first_error(told(|_| {
        (0..65)
            .map(|i| control(100 + i, &announcement([0; 32])))
            .collect()
    }));
    assert!(matches!(&error, Error::Control { .. }), "{error}");
}

/// Both parties of a session that has greeted.
fn greeted<F: Future<Output = ()>>(party: impl Fn(Session) -> F + Sync) {
    greeted_in(&world(), party);
}

fn greeted_in<F: Future<Output = ()>>(world: &World, party: impl Fn(Session) -> F + Sync) {
    let party = &party;
    std::thread::scope(|scope| {
        for (me, transport) in Party::all(2).zip(mesh(2)) {
            scope.spawn(move || {
                block_on(async {
                    let session = Session::new(world.config(me), transport);
                    session.greet().await.unwrap();
                    party(session).await;
                });
            });
        }
    });
}

#[test]
fn a_job_given_up_before_we_open_it_fails_when_we_do() {
    greeted(|session| async move {
        let fact = |value: &str| [("circuit".to_owned(), value.to_owned())];
        if format!("{session:?}").contains("party 0") {
            // Announced and dropped at once.
            drop(session.job(7, &fact("a"), Some(Duration::ZERO)).await);
        } else {
            std::thread::sleep(Duration::from_secs(1));
            let start = Instant::now();
            let error = session.job(7, &fact("a"), None).await.unwrap_err();
            assert!(matches!(&error, Error::Aborted { .. }), "{error}");
            assert!(start.elapsed() < PATIENCE);
        }
        // The session goes on.
        session
            .job(8, &[], None)
            .await
            .unwrap()
            .finish()
            .await
            .unwrap();
        session.close().await;
    });
}

#[test]
fn both_sides_see_that_their_programs_differ() {
    greeted(|session| async move {
        let me = format!("{session:?}");
        let error = session.job(1, &[("circuit".into(), me)], None).await;
        let error = error.unwrap_err();
        assert!(matches!(&error, Error::Program { .. }), "{error}");
        session.close().await;
    });
}

#[test]
fn who_has_left_is_not_waited_for() {
    greeted(|session| async move {
        if format!("{session:?}").contains("party 0") {
            return session.close().await;
        }
        let start = Instant::now();
        let error = session.job(1, &[], None).await.unwrap_err();
        assert!(error.to_string().contains("has left"), "{error}");
        assert!(start.elapsed() < PATIENCE);
    });
}

#[test]
fn a_step_of_a_finished_job_ends() {
    greeted(|session| async move {
        let job = session.job(1, &[], None).await.unwrap();
        let context = job.context();
        let mut channels = context.channels().unwrap();
        let wait = async {
            let error = channels[0].recv(1).await.unwrap_err();
            assert!(matches!(error, Error::Ended { .. }), "{error}");
        };
        let (finished, ()) = join(job.finish(), wait).await;
        finished.unwrap();
        assert!(context.step("later").channels().is_err());
        session.close().await;
    });
}

#[test]
fn no_job_without_a_greeting() {
    let [transport, _other] = mesh(2).try_into().unwrap();
    let session = Session::new(world().config(Party::new(0)), transport);
    let error = block_on(session.job(1, &[], None)).unwrap_err();
    assert_eq!(error, Error::Ungreeted);
}

/// A message that a peer sends for a call that was given up must not be taken for the answer to the next one.
#[test]
fn a_channel_is_of_no_use_after_a_dropped_wait() {
    greeted_in(&world(), |session| async move {
        let job = session.job(1, &[], None).await.unwrap();
        let mut channels = job.context().channels().unwrap();
        // Party 1 hears of it wherever it is by then.
        let error = async {
            exchange(&mut channels, vec![0], 1).await?;
            if session.me() == Party::new(0) {
                let wait = std::pin::pin!(channels[0].recv(1));
                let now = std::future::ready(());
                futures_util::future::select(wait, now).await;
            }
            channels[0].recv(1).await
        };
        let error = error.await.unwrap_err().to_string();
        assert!(error.contains("was given up before its end"), "{error}");
        drop(job);
        session.close().await;
    });
}

#[test]
fn a_dropped_wait_is_no_wait() {
    let world = world().with_limits(|limits| limits.stall = Duration::from_secs(2));
    greeted_in(&world, |session| async move {
        let job = session.job(1, &[], None).await.unwrap();
        let mut channels = job.context().channels().unwrap();
        {
            let wait = std::pin::pin!(channels[0].recv(1));
            let now = std::future::ready(());
            futures_util::future::select(wait, now).await;
        }
        // Longer than a step may stall.
        std::thread::sleep(Duration::from_secs(3));
        job.finish().await.unwrap();
        session.close().await;
    });
}
