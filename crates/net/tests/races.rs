//! Tests events side by side in one session: other handles, other threads, messages that come in an
//! unlucky order.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{join_all, try_join, try_join_all};
use madrigal_core::Party;
use madrigal_net::transport::{Inbox, MemoryTransport, Packet, Transport, mesh};
use madrigal_net::{Error, Job, Result, Session, Versions, block_on};
use madrigal_testkit::{World, seed};

/// Nothing here takes a tenth of it; what hangs, hangs for good.
const HANGS: Duration = Duration::from_secs(30);

fn world(parties: usize) -> World {
    World::new(parties, seed())
}

/// Sessions that have greeted each other.
fn sessions<const N: usize>(world: &World) -> [Session; N] {
    let sessions: Vec<_> = Party::all(N)
        .zip(mesh(N))
        .map(|(me, transport)| Session::new(world.config(me), transport))
        .collect();
    block_on(try_join_all(sessions.iter().map(Session::greet))).unwrap();
    sessions.try_into().unwrap()
}

/// Runs `work` on a thread of its own and gives what it returns.
fn elsewhere<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> impl FnOnce() -> T {
    let (done, ends) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    move || ends.recv_timeout(HANGS).expect("it hangs, or has failed")
}

/// Holds back what goes to one party when told to.
#[derive(Clone)]
struct Held {
    inner: Arc<MemoryTransport>,
    to: Party,
    held: Arc<Mutex<Option<Vec<Packet>>>>,
}

impl Held {
    fn new(inner: MemoryTransport, to: usize) -> Self {
        Self {
            inner: Arc::new(inner),
            to: Party::new(to),
            held: Arc::default(),
        }
    }

    fn hold(&self) {
        *self.held.lock().unwrap() = Some(Vec::new());
    }

    fn release(&self) {
        let held = self.held.lock().unwrap().take();
        let packets = held.into_iter().flatten();
        packets.for_each(|packet| self.inner.send(self.to, packet));
    }
}

impl Transport for Held {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }
    fn send(&self, to: Party, packet: Packet) {
        if to == self.to
            && let Some(held) = &mut *self.held.lock().unwrap()
        {
            return held.push(packet);
        }
        self.inner.send(to, packet);
    }
    fn close(&self) {
        self.inner.close();
    }
}

/// A wake during a poll, before the poll itself parks the thread and so takes the permit to go on.
#[test]
fn a_wake_is_not_lost_on_a_poll_that_parks() {
    let ends = elsewhere(|| {
        let mut first = true;
        block_on(poll_fn(|task| {
            if !std::mem::take(&mut first) {
                return Poll::Ready(());
            }
            task.waker().wake_by_ref();
            std::thread::park();
            Poll::Pending
        }));
    });
    ends();
}

#[test]
fn closing_ends_what_other_handles_wait_for() {
    let [a, b] = sessions(&world(2));
    let open = || try_join(a.job(1, &[], None), b.job(1, &[], None));
    let (receives, _held) = block_on(open()).unwrap();
    let other = a.clone();
    let attends = elsewhere(move || block_on(other.attend(None)).map(drop));
    let (context, peer) = (receives.context(), Party::new(1));
    let recv =
        elsewhere(move || block_on(async { context.channel(peer)?.recv(3).await.map(drop) }));
    let finishes = elsewhere(move || block_on(receives.finish_idle()));
    std::thread::sleep(Duration::from_millis(100));
    block_on(a.close());
    for ended in [attends(), recv(), finishes()] {
        assert!(matches!(ended, Err(Error::Ended { .. })), "{ended:?}");
    }
}

/// A task that is woken by a failure may close the session there and then.
#[test]
fn a_failure_may_close_the_session_from_within() {
    struct Closes(Mutex<Option<Session>>);
    impl Wake for Closes {
        fn wake(self: Arc<Self>) {
            let session = self.0.lock().unwrap().take();
            session
                .into_iter()
                .for_each(|session| block_on(session.close()));
        }
    }
    let ends = elsewhere(|| {
        let [a, b] = sessions(&world(2));
        let waker = Waker::from(Arc::new(Closes(Mutex::new(Some(a.clone())))));
        let mut attends = pin!(a.attend(None));
        let polled = attends.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        let reason = "something else".into();
        a.fail(Error::Ended { reason });
        block_on(b.attend(None)).map(drop)
    });
    let heard = ends();
    assert!(matches!(heard, Err(Error::Aborted { .. })), "{heard:?}");
}

/// A third thread that sends off what has gathered just when one fails and another closes.
#[test]
fn who_closes_a_failing_session_tells_why_first_also_beside_others() {
    /// Takes its time.
    struct Slow(MemoryTransport);
    impl Transport for Slow {
        fn attach(&self, inbox: Inbox) {
            self.0.attach(inbox);
        }
        fn send(&self, to: Party, packet: Packet) {
            std::thread::sleep(Duration::from_micros(50));
            self.0.send(to, packet);
        }
        fn close(&self) {
            self.0.close();
        }
    }
    const PARTIES: usize = 8;
    let world = world(PARTIES);
    for trial in 0..100 {
        let mut sessions: Vec<_> = Party::all(PARTIES)
            .zip(mesh(PARTIES))
            .map(|(me, inner)| Session::new(world.config(me), Slow(inner)))
            .collect();
        block_on(try_join_all(sessions.iter().map(Session::greet))).unwrap();
        let fails = sessions.remove(0);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Relaxed) {
                        let _ = fails.attend(None).now_or_never();
                    }
                });
            }
            let (failing, closing) = (fails.clone(), fails.clone());
            scope.spawn(move || {
                std::thread::sleep(Duration::from_micros(300));
                let reason = "something else".into();
                failing.fail(Error::Ended { reason })
            });
            while closing.attend(None).now_or_never().is_none() {
                std::thread::yield_now();
            }
            block_on(closing.close());
            stop.store(true, Relaxed);
        });
        for peer in sessions {
            let heard = block_on(peer.attend(None)).map(drop);
            assert!(
                matches!(&heard, Err(Error::Aborted { reason, .. }) if reason.contains("something else")),
                "trial {trial}: {heard:?}"
            );
        }
    }
}

/// Party 1 tells why it fails the job, and is gone: who looks just between the two, or has a reason of its own only
/// after them, must not take party 1 for the culprit.
#[test]
fn why_a_job_failed_says_more_than_that_who_said_it_is_gone() {
    let blames_two = || Error::Late {
        peer: Party::new(2),
        what: "be in time",
        after: Duration::ZERO,
    };
    let world = world(3);
    for trial in 0..300 {
        let [a, b, c]: [Session; 3] = sessions(&world);
        let open = [
            a.job(1, &[], None),
            b.job(1, &[], None),
            c.job(1, &[], None),
        ];
        let mut jobs = block_on(try_join_all(open)).unwrap();
        let (gone, context) = (jobs.remove(1), jobs[0].context());
        let seen = std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                loop {
                    if let Err(error) = context.check() {
                        return error;
                    }
                }
            });
            gone.context().fail(blames_two());
            drop((gone, b));
            looks.join().unwrap()
        });
        let reason = "something of our own".into();
        let failed = context.fail(Error::Ended { reason });
        for error in [seen, failed] {
            assert_eq!(
                error.culprit(),
                Some(Party::new(2)),
                "trial {trial}: {error}"
            );
        }
    }
}

/// Either a job is finished here, or it has failed and the others hear of it; not both.
#[test]
fn who_has_finished_fails_nobody() {
    let world = world(2);
    let [a, b]: [Session; 2] = sessions(&world);
    for id in 1..=2000 {
        let (ours, theirs) =
            block_on(try_join(a.job(id, &[], None), b.job(id, &[], None))).unwrap();
        // Says that it has finished, and looks later whether the other one has.
        let mut finishes = pin!(theirs.finish());
        assert!(finishes.as_mut().now_or_never().is_none());
        let context = ours.context();
        let barrier = Barrier::new(2);
        let finished = std::thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                let reason = "too late".into();
                context.fail(Error::Ended { reason })
            });
            barrier.wait();
            block_on(ours.finish())
        });
        let heard = block_on(finishes);
        assert!(finished.is_err() || heard.is_ok(), "trial {id}: {heard:?}");
    }
}

#[test]
fn a_job_given_up_before_we_open_it_tells_why() {
    let [a, b] = sessions(&world(2));
    let opens = a.job(1, &[], None).now_or_never();
    assert!(opens.is_none(), "given up before the other one knows of it");
    block_on(a.close());
    let error = block_on(b.job(1, &[], None)).unwrap_err();
    assert!(matches!(error, Error::Aborted { .. }), "{error}");
}

/// The odd version is party 1's, and what party 0 says to party 2 is on its way.
#[test]
fn the_odd_version_is_blamed() {
    let world = world(3);
    let parties: Vec<_> = Party::all(3)
        .zip(mesh(3))
        .map(|(me, inner)| {
            let transport = Held::new(inner, 2);
            if me.index() == 0 {
                transport.hold();
            }
            let mut config = world.config(me);
            if me.index() == 1 {
                config.protocol = Versions::only(config.protocol.newest + 1);
            }
            elsewhere(move || block_on(Session::new(config, transport).greet()))
        })
        .collect();
    let errors: Vec<Error> = parties
        .into_iter()
        .map(|ends| ends().unwrap_err())
        .collect();
    let culprits: Vec<_> = errors
        .iter()
        .map(|error| error.culprit().unwrap().index())
        .collect();
    assert_eq!((culprits[0], culprits[2]), (1, 1), "{errors:?}");
}

/// Party 0 announces something else, and party 1 nothing yet.
#[test]
fn the_odd_program_is_blamed() {
    let world = world(3).with_limits(|limits| limits.patience = Duration::from_secs(3));
    let [a, _b, c]: [Session; 3] = sessions(&world);
    let facts = |circuit: &str| [("circuit".to_owned(), circuit.to_owned())];
    let odd = elsewhere(move || block_on(a.job(1, &facts("odd"), None)).map(drop));
    let error = block_on(c.job(1, &facts("even"), None)).unwrap_err();
    assert!(
        matches!(&error, Error::Program { peer, .. } if peer.index() == 0),
        "{error}"
    );
    odd().unwrap_err();
}

#[test]
fn greeting_may_be_broken_off_and_begun_again() {
    let world = world(3);
    let all = Party::all(3).zip(mesh(3));
    let sessions: Vec<_> = all
        .map(|(me, transport)| Session::new(world.config(me), transport))
        .collect();
    assert!(sessions[0].greet().now_or_never().is_none());
    assert!(sessions[2].greet().now_or_never().is_none());
    block_on(try_join_all(sessions.iter().map(Session::greet))).unwrap();
    let ids: Vec<_> = block_on(try_join_all(
        sessions.iter().map(|session| session.job(1, &[], None)),
    ))
    .unwrap()
    .iter()
    .map(|job| job.context().public_id())
    .collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2]);
}

/// A party that computes on the thread of its sockets hears nothing, and must not take the others for dead
/// when it looks again.
#[test]
fn who_has_heard_nothing_while_it_computed_waits_before_it_blames() {
    let silence = Duration::from_secs(2);
    let world = world(2).with_limits(|limits| limits.silence = silence);
    let mut all = mesh(2);
    let transport = Held::new(all.remove(1), 0);
    let [a, b] = [
        Session::new(world.config(Party::new(0)), all.remove(0)),
        Session::new(world.config(Party::new(1)), transport.clone()),
    ];
    block_on(try_join(a.greet(), b.greet())).unwrap();
    let other = b.clone();
    let other =
        elsewhere(move || block_on(async { other.job(1, &[], None).await?.finish().await }));
    transport.hold();
    std::thread::sleep(silence + silence / 10);
    let late = transport.clone();
    std::thread::spawn(move || {
        std::thread::sleep(silence / 4);
        late.release();
    });
    let one = block_on(async { a.job(1, &[], None).await?.finish().await });
    assert!(one.is_ok(), "{one:?}");
    assert!(other().is_ok());
}

/// A task that has what it waits for, but does not look: that is no fault of the peer.
#[test]
fn who_does_not_look_at_what_is_there_blames_nobody() {
    let stall = Duration::from_millis(500);
    let world = world(2).with_limits(|limits| {
        limits.stall = stall;
        limits.window = madrigal_net::MIN_WINDOW;
    });
    let [a, b]: [Session; 2] = sessions(&world);
    let (a, b) = block_on(try_join(a.job(1, &[], None), b.job(1, &[], None))).unwrap();
    let talk = async || -> Result<()> {
        let mut ours = a.context().channel(Party::new(1))?;
        let mut theirs = b.context().channel(Party::new(0))?;
        {
            let mut recv = pin!(ours.rx.recv(3));
            assert!(recv.as_mut().now_or_never().is_none());
            theirs.send(vec![1; 3]).await?;
            b.context().flush();
            std::thread::sleep(3 * stall);
            assert_eq!(recv.await?[..], [1; 3]);
        }
        // Both do not fit the window.
        let [first, second] = [400_000, 200_000];
        ours.send(vec![1; first]).await?;
        let mut send = pin!(ours.tx.send(vec![1; second]));
        assert!(send.as_mut().now_or_never().is_none());
        theirs.recv(first).await?;
        b.context().flush();
        std::thread::sleep(3 * stall);
        send.await?;
        a.context().flush();
        theirs.recv(second).await.map(drop)
    };
    block_on(talk()).unwrap();
}

/// Messages that a party sent before its end are heard before its end, also by one that begins just then.
#[test]
fn what_came_early_comes_before_the_end() {
    /// Lets the other party close as soon as the first of what came early is handed in.
    struct Beginning {
        inner: MemoryTransport,
        closes: Mutex<Option<Session>>,
    }
    impl Transport for Beginning {
        fn attach(&self, inbox: Inbox) {
            let closes = Mutex::new(self.closes.lock().unwrap().take());
            self.inner.attach(inbox.with_gate(move |_| {
                let session = closes.lock().unwrap().take();
                session
                    .into_iter()
                    .for_each(|session| block_on(session.close()));
                true
            }));
        }
        fn send(&self, to: Party, packet: Packet) {
            self.inner.send(to, packet);
        }
        fn close(&self) {
            self.inner.close();
        }
    }
    let world = world(2);
    let mut all = mesh(2);
    let inner = all.remove(1);
    let fails = Session::new(world.config(Party::new(0)), all.remove(0));
    assert!(fails.greet().now_or_never().is_none());
    let reason = "something else".into();
    fails.fail(Error::Ended { reason });
    let closes = Mutex::new(Some(fails));
    let session = Session::new(world.config(Party::new(1)), Beginning { inner, closes });
    let heard = block_on(session.attend(None)).map(drop);
    assert!(matches!(heard, Err(Error::Aborted { .. })), "{heard:?}");
}

/// The job fails also where nobody waited for anything before, so that no watchdog had to look.
#[test]
fn a_job_that_took_longer_than_its_deadline_has_failed() {
    let sessions = sessions::<2>(&world(2));
    let deadline = Duration::from_millis(200);
    let jobs = sessions
        .iter()
        .map(|session| session.job(1, &[], Some(deadline)));
    let jobs = block_on(try_join_all(jobs)).unwrap();
    std::thread::sleep(2 * deadline);
    for job in jobs {
        let error = block_on(job.finish()).unwrap_err();
        assert!(
            matches!(&error, Error::Deadline { .. })
                || matches!(&error, Error::Aborted { network: true, .. }),
            "{error}"
        );
    }
}

/// A party that opens many jobs at once waits for the others to open some.
#[test]
fn any_number_of_jobs_may_be_opened_at_once() {
    let [a, b] = sessions(&world(2));
    let open = async |session: &Session| {
        try_join_all((1..=200).map(|id| session.job(id, &[], None))).await
    };
    let mut opening = Box::pin(open(&a));
    assert!(opening.as_mut().now_or_never().is_none());
    let (ours, theirs) = block_on(try_join(opening, open(&b))).unwrap();
    // All of one party end before any of the other.
    let end = |jobs: Vec<Job>| try_join_all(jobs.into_iter().map(Job::finish));
    let mut ending = end(ours);
    assert!((&mut ending).now_or_never().is_none());
    block_on(try_join(ending, end(theirs))).unwrap();
}

/// The error is that of the job which finds no room; the session goes on.
#[test]
fn more_jobs_than_anybody_opens_are_late() {
    let patience = Duration::from_millis(300);
    let [a, b] = sessions(&world(2).with_limits(|limits| limits.patience = patience));
    let late = |error: Error| assert!(matches!(error, Error::Late { .. }), "{error}");
    let opened = block_on(join_all((1..=70).map(|id| a.job(id, &[], None))));
    opened.into_iter().for_each(|job| late(job.unwrap_err()));
    late(block_on(a.job(100, &[], None)).unwrap_err());
    // It sees that they were given up, and there is room again.
    let opened = block_on(join_all((1..=64).map(|id| b.job(id, &[], None))));
    assert!(opened.iter().all(Result::is_err));
    block_on(try_join(a.job(101, &[], None), b.job(101, &[], None))).unwrap();
}
