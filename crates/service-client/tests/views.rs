//! A server gets the same of a client whatever the client puts in: frames of the same sizes in the same order with the same public fields,
//! and bits of the same distribution. Each bit by itself is looked at, and the sums of neighbours; other joint distributions are not.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use madrigal_clients::Elements;
use madrigal_core::Digest256;
use madrigal_engine::{Element, Held, Shares, Sharing, Width, with_ring};
use madrigal_intake::{Begin, Frames, FromClient, Of, Whole, unpack};
use madrigal_net::tls::Wire;
use madrigal_service_client::{Dial, DialError, Dialed, ServiceClient, Stream, Value, deal_blocks};
use madrigal_testkit::transcripts::{RUNS, count, must_agree};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, duplex};

use crate::fake::Service;
use crate::submissions::{run, submit};

/// Servers of the fake service.
const SERVERS: usize = 3;
/// Bytes at the beginning and the end of a large frame that are counted: a piece has half a million bits.
const ENDS: usize = 200;

/// Bytes that a client wrote on each connection, with the connection's server.
type Written = Arc<Mutex<Vec<(usize, Vec<u8>)>>>;

/// The fake servers, with all that a client sends them written down.
struct Tapped {
    service: Arc<Service>,
    written: Written,
}

/// A client's end of a connection.
struct Tap {
    inner: Box<dyn Stream>,
    number: usize,
    written: Written,
}

impl Dial for Tapped {
    fn dial(&self, server: usize) -> BoxFuture<'_, Result<Dialed, DialError>> {
        Box::pin(async move {
            let (near, far) = duplex(self.service.room);
            let far: Box<dyn Stream> = Box::new(far);
            let at = self.service.servers[server].clone();
            tokio::spawn(at.serve(Wire::clear(far), None));
            let mut written = self.written.lock().unwrap();
            written.push((server, Vec::new()));
            let tap: Box<dyn Stream> = Box::new(Tap {
                inner: Box::new(near),
                number: written.len() - 1,
                written: self.written.clone(),
            });
            Ok(Wire::clear(tap))
        })
    }
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(task, buffer)
    }
}

impl AsyncWrite for Tap {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let taken = Pin::new(&mut self.inner).poll_write(task, bytes);
        if let Poll::Ready(Ok(taken)) = taken {
            let mut written = self.written.lock().unwrap();
            written[self.number].1.extend_from_slice(&bytes[..taken]);
        }
        taken
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(task)
    }
}

/// A server's view of a client.
#[derive(Default)]
struct View {
    /// All that is no chance: frames in their order, connection by connection.
    form: Vec<String>,
    /// Bytes of the frames; of large ones the ends.
    bytes: Vec<u8>,
}

/// Views of all servers.
fn views(written: &Written) -> Vec<View> {
    let mut views: Vec<View> = (0..SERVERS).map(|_| View::default()).collect();
    for (server, bytes) in &*written.lock().unwrap() {
        let (view, mut frames) = (&mut views[*server], Frames::default());
        frames.greeted();
        frames.put(bytes);
        view.form.push("a connection".to_owned());
        while let Some(message) = frames.message().unwrap() {
            let end = message
                .len()
                .saturating_sub(ENDS)
                .max(ENDS.min(message.len()));
            view.bytes
                .extend_from_slice(&message[..ENDS.min(message.len())]);
            view.bytes.extend_from_slice(&message[end..]);
            let length = message.len();
            let form = form(FromClient::decode(message).unwrap());
            view.form.push(format!("{length} bytes: {form}"));
        }
        assert_eq!(frames.buffered(), 0, "half a frame");
    }
    views
}

/// A message in words without what is random. That is, beside bodies and requests: the session of a greeting (which is not shown), names and digests of
/// submissions, nonces and commitments in headers.
fn form(message: FromClient) -> String {
    let (id, digest) = (Digest256([0; 32]), Digest256([0; 32]));
    match message {
        FromClient::Begin(begin) => {
            let headers = without_chance(&begin.headers).into();
            format!(
                "{:?}",
                Begin {
                    id,
                    digest,
                    headers,
                    ..begin
                }
            )
        }
        FromClient::Whole(whole) => {
            let (length, body) = (whole.body.len(), Vec::new().into());
            let headers = without_chance(&whole.headers).into();
            let whole = Whole {
                id,
                digest,
                headers,
                body,
                ..whole
            };
            format!("{whole:?}, {length} bytes")
        }
        FromClient::Piece(piece) => {
            format!(
                "Piece {} {} {}",
                piece.number,
                piece.offset,
                piece.bytes.len()
            )
        }
        FromClient::Requests(asked) => {
            let (kind, first, each) = (asked.kind, asked.first_number, asked.each_bytes);
            format!("Requests {kind} {first} {each} {}", asked.payload.len())
        }
        FromClient::Status { number, .. } => format!("Status {number}"),
        FromClient::Wait {
            number,
            of: Of::Submission(_),
        } => format!("Wait {number}"),
        FromClient::Fetch(fetch) => {
            let (number, output, offset) = (fetch.number, fetch.output, fetch.offset);
            format!("Fetch {number} {output} {offset}")
        }
        other => format!("{other:?}"),
    }
}

/// Headers with zeros where nonces and commitments were.
fn without_chance(packed: &[u8]) -> Vec<u8> {
    let mut bytes = packed.to_vec();
    for header in unpack(packed).unwrap() {
        let commitments = header.commitments().iter().map(|one| one.0);
        for random in commitments.chain([*header.nonce()]) {
            let found = bytes.windows(32).position(|window| window == random);
            // Inputs of a submission have one nonce: the first header has cleared it.
            if let Some(at) = found {
                bytes[at..at + 32].fill(0);
            }
        }
    }
    bytes
}

/// Bits of a view, and of sums of what is next to each other in it.
pub(crate) fn seen(bytes: &[u8], strides: &[usize]) -> Vec<u8> {
    let mut seen = bytes.to_vec();
    for &stride in strides {
        let pairs = bytes.iter().zip(bytes.iter().skip(stride));
        seen.extend(pairs.map(|(a, b)| a.wrapping_sub(*b)));
    }
    seen
}

/// Zeros, or numbers from both ends of their range.
pub(crate) fn numbers(ends: bool, len: usize) -> Vec<u128> {
    let numbers = match ends {
        true => [u128::MAX, 1, 1 << 63, u128::MAX - 1],
        false => [0; 4],
    };
    numbers.into_iter().cycle().take(len).collect()
}

/// A clear value of such numbers.
pub(crate) fn value(ends: bool, element: Element, len: usize) -> Shares {
    let numbers = numbers(ends, len);
    match element {
        Element::Ring(width) => {
            with_ring!(width, T => Shares::ring_of(Sharing::PUBLIC, ring::<T>(&numbers)))
        }
        Element::Bits(bits) => {
            let numbers: Vec<u128> = numbers
                .iter()
                .map(|n| n & (u128::MAX >> (128 - bits)))
                .collect();
            Shares::bits_of(Sharing::PUBLIC, bits, &numbers)
        }
    }
}

fn ring<T: Held>(numbers: &[u128]) -> Vec<T> {
    numbers.iter().map(|&n| T::from_u128(n)).collect()
}

/// Inputs of the kind `copy`.
fn inputs(ends: bool, elements: usize, streams: bool) -> Vec<(String, Value)> {
    let x = value(ends, Element::Ring(Width::W64), elements);
    let y = value(ends, Element::Bits(3), 2);
    let x = match streams {
        true => Value::Stream(vec![elements], Arc::new(x) as Arc<dyn Elements>),
        false => Value::Shares(vec![elements], x),
    };
    vec![("x".into(), x), ("y".into(), Value::Shares(vec![2], y))]
}

/// Views of all servers of clients that do this one after the other: the form, and how often each bit is 1.
fn of_clients(
    sharing: Sharing,
    ends: bool,
    rounds: u64,
    work: &impl AsyncFn(ServiceClient, bool),
) -> Vec<(Vec<String>, Vec<u32>)> {
    let service = Arc::new(Service::new(sharing, &[]));
    let mut all: Vec<(Vec<String>, Vec<u32>)> = vec![(Vec::new(), Vec::new()); SERVERS];
    run(async {
        for round in 0..rounds {
            let written = Written::default();
            let tapped = Arc::new(Tapped {
                service: service.clone(),
                written: written.clone(),
            });
            let client = ServiceClient::connect_by(service.config(), tapped).await;
            work(client.unwrap(), ends).await;
            for ((form, ones), view) in all.iter_mut().zip(views(&written)) {
                if round == 0 {
                    *form = view.form;
                } else {
                    assert_eq!(*form, view.form, "the same inputs look different");
                }
                count(ones, &seen(&view.bytes, &[1, 8]));
            }
        }
    });
    all
}

fn must_look_alike(sharing: Sharing, about: &str, work: &impl AsyncFn(ServiceClient, bool)) {
    let [zeros, ends] = [false, true].map(|ends| of_clients(sharing, ends, RUNS, work));
    for (server, (zeros, ends)) in zeros.iter().zip(&ends).enumerate() {
        assert_eq!(zeros.0, ends.0, "{about}, to {server}");
        must_agree(&zeros.1, &ends.1, &format!("{about}, to {server}"));
    }
}

/// Submits, asks, waits and fetches.
async fn there_and_back(client: ServiceClient, inputs: &[(String, Value)]) {
    let submission = client.submit(&submit(inputs)).await.unwrap();
    client.status(&submission).await.unwrap();
    client.wait(&submission).await.unwrap();
}

#[test]
fn all_frames_of_a_submission_are_independent_of_its_inputs() {
    for (sharing, elements, streams) in [
        (Sharing::A, 5, false),
        (Sharing::R, 5, true),
        (Sharing::R, 5, false),
        // In pieces.
        (Sharing::A, 8200, true),
        (Sharing::R, 4200, false),
    ] {
        let about = format!("{sharing}, {elements} elements, streams: {streams}");
        must_look_alike(sharing, &about, &async |client, ends| {
            there_and_back(client, &inputs(ends, elements, streams)).await;
        });
    }
}

#[test]
fn all_frames_of_requests_are_independent_of_the_blocks() {
    must_look_alike(Sharing::R, "requests", &async |client, ends| {
        let (mut sender, mut receiver) = client.requests("halves").await.unwrap();
        for count in [1, 3] {
            let blocks = vec![[u8::from(ends) * 255; 16]; count];
            sender.send(&deal_blocks(&blocks).unwrap()).await.unwrap();
            for _ in 0..count {
                assert!(receiver.next().await.unwrap().shares.is_ok());
            }
        }
    });
}

/// A client whose name, or whose number of elements, tells of its inputs.
#[test]
fn clients_that_leak_would_be_seen() {
    for (name, more) in [("carol1", 0), ("carol", 1)] {
        let work = async |client: ServiceClient, ends: bool| {
            let inputs = inputs(ends, 2 + if ends { more } else { 0 }, false);
            let mut submit = submit(&inputs);
            submit.client = if ends { name } else { "carol" };
            client.submit(&submit).await.unwrap();
        };
        let [zeros, ends] = [false, true].map(|ends| of_clients(Sharing::A, ends, 1, &work));
        assert!((0..SERVERS).all(|server| zeros[server].0 != ends[server].0));
    }
}
