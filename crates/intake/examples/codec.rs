//! Costs of messages of requests and of submissions, written and read, in nanoseconds:
//! `cargo run --release -p madrigal-intake --example codec`.
#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use std::hint::black_box;
use std::time::Instant;

use bytes::BytesMut;
use madrigal_core::Digest256;
use madrigal_intake::{Answers, Frames, FromClient, FromServer, Payload, Requests, Whole};

/// Bytes that a connection brings at once.
const CHUNK: usize = 32 << 10;

fn main() {
    println!("{:<42} {:>10} {:>10}", "ns for each", "written", "read");
    for (requests, bytes) in [(1, 32), (50, 32), (1000, 32), (50, 64)] {
        let message = FromClient::Requests(Requests {
            kind: 1,
            first_number: 1_000_000,
            each_bytes: bytes,
            payload: Payload::from(vec![7; requests * bytes as usize]),
        });
        let name = format!("requests of {bytes} bytes, {requests} in a frame");
        let read = |message| drop(black_box(FromClient::decode(message)));
        measure(&name, requests, &|to| message.encode(to), &read);
        let message = FromServer::Answers(Answers {
            first_number: 1_000_000,
            each_bytes: bytes,
            payload: Payload::from(vec![7; requests * bytes as usize]),
        });
        let name = format!("answers of {bytes} bytes, {requests} in a frame");
        let read = |message| drop(black_box(FromServer::decode(message)));
        measure(&name, requests, &|to| message.encode(to), &read);
    }
    let whole = FromClient::Whole(Whole {
        number: 1,
        kind: 0,
        id: Digest256([1; 32]),
        headers: vec![2; 250].into(),
        digest: Digest256([3; 32]),
        body: Payload::from(vec![4; 200]),
    });
    let read = |message| drop(black_box(FromClient::decode(message)));
    measure(
        "a submission of 200 bytes",
        1,
        &|to| whole.encode(to),
        &read,
    );
}

/// Writes a message often and reads it as a connection brings it; `each` things are in a message.
fn measure(name: &str, each: usize, write: &dyn Fn(&mut BytesMut), read: &dyn Fn(bytes::Bytes)) {
    let mut best = [f64::MAX; 2];
    for _ in 0..20 {
        let mut wire = BytesMut::with_capacity(1 << 20);
        let start = Instant::now();
        let mut count = 0_usize;
        while wire.len() < 1 << 19 {
            write(&mut wire);
            count += 1;
        }
        let written = start.elapsed();
        let mut frames = Frames::default();
        frames.greeted();
        let start = Instant::now();
        for chunk in wire.chunks(CHUNK) {
            frames.put(chunk);
            while let Ok(Some(message)) = frames.message() {
                read(message);
            }
        }
        let taken = [written, start.elapsed()];
        for (best, taken) in best.iter_mut().zip(taken) {
            *best = best.min(taken.as_nanos() as f64 / (count * each) as f64);
        }
    }
    println!("{name:<42} {:>10.1} {:>10.1}", best[0], best[1]);
}
