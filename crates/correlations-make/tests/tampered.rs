//! Messages that no honest party sends: too short, too long, sent twice, or with something in the
//! padding. Whoever receives one ends with an error that names the sender; nobody hangs or panics.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test with a location"
)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::task::Context as Task;
use std::time::Duration;

use madrigal_core::{Convolution, Party, Product};
use madrigal_correlations::{MatrixShape, Source, Tripled};
use madrigal_correlations_make::{Extension, OtSource};
use madrigal_net::frame::FrameKind;
use madrigal_net::transport::{Closing, Inbox, Packet, Transport, mesh};
use madrigal_net::{Context, Result};
use madrigal_testkit::{World, seed};

/// The last party, to the one before it.
fn villain(parties: usize) -> [Party; 2] {
    [parties - 1, parties - 2].map(Party::new)
}

/// What is done to one message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Shorter,
    Longer,
    /// The highest bit of the last byte is turned.
    LastBit,
    Twice,
}

/// Step and sequence of a data frame. In which order those of different steps leave is chance.
type Address = (u64, u32);

/// Changes one data frame of those from villain to victim.
struct Tampering<T> {
    inner: T,
    /// Whether it is the villain's.
    bad: bool,
    victim: Party,
    change: Option<(Change, Address)>,
    seen: Arc<Mutex<BTreeSet<Address>>>,
    /// The step in which a message was sent twice: all later ones have moved by one.
    moved: Mutex<Option<u64>>,
}

impl<T: Transport> Transport for Tampering<T> {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }

    fn send(&self, to: Party, mut packet: Packet) {
        if self.bad && to == self.victim {
            let mut frames = Vec::new();
            let mut moved = self.moved.lock().unwrap();
            for mut frame in packet.frames {
                if frame.header.kind != FrameKind::Data {
                    frames.push(frame);
                    continue;
                }
                let step = frame.header.step;
                let address = (step, frame.header.sequence);
                self.seen.lock().unwrap().insert(address);
                if *moved == Some(step) {
                    frame.header.sequence += 1;
                }
                if let Some((change, at)) = self.change
                    && at == address
                {
                    let mut payload = frame.payload.to_vec();
                    match change {
                        Change::Shorter => drop(payload.pop()),
                        Change::Longer => payload.push(0),
                        Change::LastBit => {
                            if let Some(last) = payload.last_mut() {
                                *last ^= 0x80;
                            }
                        }
                        Change::Twice => {
                            frames.push(frame.clone());
                            frame.header.sequence += 1;
                            *moved = Some(step);
                        }
                    }
                    frame.payload = payload.into();
                }
                frames.push(frame);
            }
            packet.frames = frames;
        }
        self.inner.send(to, packet);
    }

    fn close(&self) {
        self.inner.close();
    }

    fn closing(&self, task: &mut Task<'_>) -> Closing {
        self.inner.closing(task)
    }
}

#[derive(Clone, Copy, Debug)]
enum What {
    Bits,
    Triples,
    Shared,
    Matrix,
    Encrypted,
    Images,
    /// Of which this party has the left factor, by encryption.
    Split(usize),
    /// The same by OT.
    SplitByOt(usize),
    Vectors,
}

const SHAPE: MatrixShape = MatrixShape {
    rows: 1,
    inner: 2,
    columns: 3,
};

async fn make(context: Context, extension: Extension, what: What) -> Result<()> {
    let mut source = OtSource::new(&context, extension).await?;
    let made = |_| {};
    // Numbers that leave padding in every message that can have any.
    match what {
        What::Bits => drop(source.bit_triples(13, &made).await?),
        What::Triples => drop(source.ring_triples::<u8>(3, &made).await?),
        What::Shared => drop(source.shared_bits::<u16>(3, &made).await?),
        What::Matrix => drop(source.matrix_triple::<u64>(SHAPE, &made).await?),
        What::Encrypted => {
            source = source.with_lattice_matrices()?;
            drop(source.matrix_triple::<u16>(SHAPE, &made).await?);
        }
        What::Images => {
            source = source.with_lattice_matrices()?;
            let one = Product::Convolution(Convolution::new(1, [1, 3], 1, [1, 1]));
            drop(source.product_triples::<u16>(one, 1, &made).await?);
        }
        What::Split(left) => {
            source = source.with_lattice_matrices()?;
            let one = Tripled::split(Product::Matrices(1, SHAPE), Party::new(left));
            drop(source.product_triples::<u16>(one, 1, &made).await?);
        }
        What::SplitByOt(left) => {
            let one = Tripled::split(Product::Matrices(1, SHAPE), Party::new(left));
            drop(source.product_triples::<u16>(one, 1, &made).await?);
        }
        What::Vectors => drop(source.vector_triples(13, 5, &made).await?),
    }
    Ok(())
}

/// Runs, with one message changed if one is named. Returns all that the villain sent to the victim, and
/// what the victim said.
fn run(
    parties: usize,
    extension: Extension,
    what: What,
    change: Option<(Change, Address)>,
) -> (BTreeSet<Address>, Option<String>) {
    let seen = Arc::new(Mutex::default());
    let [villain, victim] = villain(parties);
    let wrap = |(me, inner)| Tampering {
        inner,
        bad: Party::new(me) == villain,
        victim,
        change,
        seen: Arc::clone(&seen),
        moved: Mutex::new(None),
    };
    let transports = mesh(parties).into_iter().enumerate().map(wrap).collect();
    // Base OTs are the same to every kind: one of them has real ones.
    let world = match what {
        What::Bits => World::new(parties, seed()),
        _ => World::light(parties, seed()),
    };
    let world = world.with_deadline(Duration::from_secs(20));
    let about = format!("{what:?} over {extension}, {parties} parties, {change:?}");
    let results = world.run_over(transports, |context| make(context, extension, what));
    let mut said = None;
    for (me, result) in Party::all(parties).zip(results) {
        let Err(error) = result else { continue };
        let text = error.to_string();
        // A villain may hear only that it was found out.
        if me != villain {
            assert_eq!(error.culprit(), Some(villain), "{about}: {me} says {text}");
        }
        assert!(!text.contains("deadline"), "{about}: {me} says {text}");
        if me == victim {
            said = Some(text);
        }
    }
    let seen = seen.lock().unwrap().clone();
    (seen, said)
}

fn check(parties: usize, extension: Extension, what: What, paddings: usize) {
    let (messages, said) = run(parties, extension, what, None);
    assert_eq!(said, None, "nothing was changed");
    assert!(messages.len() >= 3, "{what:?} has messages");
    for change in [
        Change::Shorter,
        Change::Longer,
        Change::Twice,
        Change::LastBit,
    ] {
        let mut padded = 0;
        for &at in &messages {
            let (_, said) = run(parties, extension, what, Some((change, at)));
            let about = format!("{what:?} over {extension}, {change:?} message {at:?}: {said:?}");
            match change {
                // An empty message cannot be cut.
                Change::Shorter => {
                    assert!(said.is_some() || extension == Extension::Silent, "{about}")
                }
                Change::Longer => assert!(said.is_some(), "{about}"),
                // The second copy is noticed if another message is due on that channel.
                Change::Twice => {}
                Change::LastBit => {
                    padded += usize::from(said.is_some_and(|said| said.contains("zero")));
                }
            }
        }
        if change == Change::LastBit {
            assert_eq!(
                padded, paddings,
                "{what:?} over {extension}: messages with padding"
            );
        }
    }
}

fn check_all(parties: usize, what: What, corrections: usize, silent: usize) {
    check(parties, Extension::default(), what, corrections);
    check(parties, Extension::Silent, what, corrections + silent);
}

#[test]
fn boolean_triples() {
    check_all(2, What::Bits, 0, 0);
    check_all(3, What::Bits, 1, 1);
}

#[test]
fn ring_triples() {
    check_all(2, What::Triples, 1, 0);
}

#[test]
fn shared_bits() {
    check_all(2, What::Shared, 1, 0);
    check_all(3, What::Shared, 1, 2);
}

#[test]
fn matrix_triples() {
    check_all(2, What::Matrix, 1, 0);
}

/// The padding is that of an answer's three residues of 50 bits.
#[test]
fn encrypted_matrices() {
    check(2, Extension::default(), What::Encrypted, 1);
    check(3, Extension::default(), What::Encrypted, 1);
}

#[test]
fn encrypted_images() {
    check(2, Extension::default(), What::Images, 1);
}

/// The villain as the one that asks, and as the one that answers; the answers have padding, the corrections too.
#[test]
fn split_triples() {
    for left in 0..2 {
        check(2, Extension::default(), What::Split(left), 1 - left);
        check(2, Extension::default(), What::SplitByOt(left), 1 - left);
    }
}

#[test]
fn vector_triples() {
    check_all(3, What::Vectors, 1, 1);
}
