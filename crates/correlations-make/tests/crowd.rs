//! Many parties on few cores, each with its sockets on the thread that computes.

#![cfg(target_os = "linux")] // which says how long a thread has computed

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context as Task, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

use madrigal_core::Party;
use madrigal_correlations::Source;
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_net::transport::{Inbox, Packet, Transport};
use madrigal_testkit::{World, seed};

/// What has come for a party, until its thread looks: as in the buffers of its sockets.
#[derive(Default)]
struct Mailbox {
    waiting: Mutex<Vec<(Party, Packet)>>,
    woken: AtomicBool,
    owner: OnceLock<Thread>,
    inbox: OnceLock<Inbox>,
}

impl Wake for Mailbox {
    fn wake(self: Arc<Self>) {
        self.notify();
    }
}

impl Mailbox {
    fn notify(&self) {
        self.woken.store(true, SeqCst);
        if let Some(owner) = self.owner.get() {
            owner.unpark();
        }
    }

    /// Runs a party on this thread: hands out what has come each time the party waits. Tells also how long
    /// it has computed, in all and at a time.
    fn run<T>(self: &Arc<Self>, party: impl Future<Output = T>) -> (T, [Duration; 2]) {
        assert!(
            self.owner.set(thread::current()).is_ok(),
            "one thread runs a party"
        );
        let waker = Arc::clone(self).into();
        let mut party = pin!(party);
        let (mut total, mut longest) = (Duration::ZERO, Duration::ZERO);
        loop {
            let start = computed();
            let poll = party.as_mut().poll(&mut Task::from_waker(&waker));
            let computed = computed() - start;
            total += computed;
            longest = longest.max(computed);
            if let Poll::Ready(output) = poll {
                return (output, [total, longest]);
            }
            while !self.woken.swap(false, SeqCst) {
                thread::park();
            }
            let waiting = std::mem::take(&mut *self.waiting.lock().expect("no panic holds it"));
            let inbox = self
                .inbox
                .get()
                .expect("a session attaches before it waits");
            for (from, packet) in waiting {
                inbox.deliver_frames(from, packet.frames);
            }
        }
    }
}

/// What this thread has had of a core until now, whatever else ran there.
fn computed() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanos = text
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    Duration::from_nanos(nanos.expect("the system counts it"))
}

struct Post {
    me: Party,
    boxes: Arc<[Arc<Mailbox>]>,
}

impl Transport for Post {
    fn attach(&self, inbox: Inbox) {
        let _ = self.boxes[self.me.index()].inbox.set(inbox);
    }

    fn send(&self, to: Party, packet: Packet) {
        let mailbox = &self.boxes[to.index()];
        mailbox
            .waiting
            .lock()
            .expect("no panic holds it")
            .push((self.me, packet));
        mailbox.notify();
    }

    fn close(&self) {}
}

/// Who computes for long hears no signs of life meanwhile, and may take others for dead. A party with 15
/// peers, and with a small share of a core, computes for each of them and each step by itself.
#[test]
fn a_party_listens_between_its_peers() {
    let parties = 16;
    let world = World::new(parties, seed());
    let boxes: Arc<[Arc<Mailbox>]> = (0..parties).map(|_| Arc::default()).collect();
    let count = 1000;
    thread::scope(|scope| {
        for me in Party::all(parties) {
            let (boxes, world) = (Arc::clone(&boxes), &world);
            scope.spawn(move || {
                let mailbox = Arc::clone(&boxes[me.index()]);
                let party = world.take_part(me, Post { me, boxes }, |context| async move {
                    let mut source = OtSource::new(&context, Extension::default()).await?;
                    source.bit_triples(count, &|_| {}).await
                });
                let (result, [total, longest]) = mailbox.run(party);
                let (triples, _) = result.unwrap_or_else(|error| panic!("{me}: {error}"));
                assert_eq!(triples.len(), count);
                // The answers to all peers in one go would be half of it.
                assert!(4 * longest < total, "{me}: {longest:?} of {total:?}");
            });
        }
    });
}
