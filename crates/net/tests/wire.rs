//! `schema/WIRE.md` against the program: what a second implementation would build from the document
//! is what this one reads and computes.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::sync::{Arc, Mutex};

use madrigal_core::Party;
use madrigal_kernels::{Aes128, Block};
use madrigal_net::context::step_id;
use madrigal_net::frame::{self, Frame, FrameKind, Header};
use madrigal_net::transport::{Inbox, MemoryTransport, Packet, Transport, mesh};
use madrigal_testkit::{World, seed};
use sha2::{Digest, Sha256};

const DOCUMENT: &str = include_str!("../../../schema/WIRE.md");

/// The bytes of the document's first block of hexadecimal numbers.
fn example() -> Vec<u8> {
    let block = DOCUMENT.split("```").nth(1).unwrap();
    let numbers = block.split_whitespace();
    numbers
        .map(|text| u8::from_str_radix(text, 16).unwrap())
        .collect()
}

#[test]
fn the_example_is_a_frame() {
    let bytes = example();
    let header = Header {
        kind: FrameKind::Data,
        last: true,
        job: 1,
        step: step_id("job/hello"),
        sequence: 0,
        round: 1,
    };
    let payload = vec![1, 2, 3].into();
    let expected = Frame { header, payload };
    let mut encoded = Vec::new();
    expected.encode_to(&mut encoded);
    assert_eq!(encoded, bytes);
    assert_eq!(frame::decode_packet(bytes.into()).unwrap(), [expected]);
}

/// A CRC-32 as the gzip document gives it, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc))
    })
}

#[test]
fn a_frame_built_from_the_table_is_read() {
    let (job, round, step, sequence) = (0x0102_0304u32, 7u32, 0x1122_3344_5566_7788u64, 9u32);
    let payload = [0xaa; 8];
    let mut bytes = vec![0x4d, frame::WIRE_VERSION, 1, 1];
    bytes.extend(8u32.to_le_bytes());
    bytes.extend(job.to_le_bytes());
    bytes.extend(round.to_le_bytes());
    bytes.extend(step.to_le_bytes());
    bytes.extend(sequence.to_le_bytes());
    let checksum = crc(&[&bytes[..], &payload].concat());
    bytes.extend(checksum.to_le_bytes());
    bytes.extend(payload);
    let frames = frame::decode_packet(bytes.into()).unwrap();
    let kind = FrameKind::Credit;
    let last = true;
    let header = Header {
        kind,
        last,
        job,
        step,
        sequence,
        round,
    };
    assert_eq!(frames[0].header, header);
    assert_eq!(frames[0].payload[..], payload);
}

#[test]
fn the_limits_are_those_of_the_document() {
    let row = |what: &str, value: u64| {
        let line = DOCUMENT
            .lines()
            .find(|line| line.starts_with(&format!("| {what}")));
        let line = line.unwrap_or_else(|| panic!("no line for {what}"));
        assert!(
            line.contains(&format!(" {value} ")),
            "{line} says other than {value}"
        );
    };
    let config = madrigal_net::SessionConfig::new(Party::new(0), 2);
    row("payload of a frame", frame::MAX_PAYLOAD as u64);
    row("window of a channel", config.window);
    row("window that has grown", madrigal_net::MAX_WINDOW);
    row("what a frame counts", frame::FRAME_COST as u64);
    row("parties", madrigal_core::MAX_PARTIES as u64);
    #[cfg(feature = "sockets")]
    row(
        "connections of two parties",
        madrigal_net::transport::MAX_CONNECTIONS as u64,
    );
    assert!(DOCUMENT.contains(&format!("**{}**", frame::WIRE_VERSION)));
    assert!(DOCUMENT.contains(&format!("header of {} bytes", frame::HEADER_BYTES)));
    assert_eq!(config.store, 256 << 20);
    assert_eq!(config.growth, 64 << 20);
}

/// Notes what leaves.
struct Tapped(MemoryTransport, Arc<Mutex<Vec<Frame>>>);

impl Transport for Tapped {
    fn attach(&self, inbox: Inbox) {
        self.0.attach(inbox);
    }
    fn send(&self, to: Party, packet: Packet) {
        self.1.lock().unwrap().extend(packet.frames.iter().cloned());
        self.0.send(to, packet);
    }
    fn close(&self) {
        self.0.close();
    }
}

#[test]
fn shared_generators_are_those_of_the_document() {
    let taps: Vec<_> = mesh(2)
        .into_iter()
        .map(|inner| Tapped(inner, Arc::default()))
        .collect();
    let sent: Vec<_> = taps.iter().map(|tap| Arc::clone(&tap.1)).collect();
    let results = World::new(2, seed()).run_over(taps, |context| async move {
        let peer = context.peers().next().unwrap();
        let step = context.step("dice");
        let mut bytes = [0; 32];
        step.shared_prg(peer)?.fill(&mut bytes);
        Ok((bytes, step.public_id()))
    });
    // Two fields of Hello by tag and length, 16 bytes: 6 is seed_half, and behind it 8 is nonce.
    let fields = |frames: &Arc<Mutex<Vec<Frame>>>| {
        let frames = frames.lock().unwrap();
        let hello = &frames[0].payload;
        assert_eq!(
            (frames[0].header.kind, hello[0]),
            (FrameKind::Control, 0x0a)
        );
        let mut rest = &hello[..];
        [6, 8].map(|tag| {
            let at = rest.windows(2).position(|pair| pair == [tag << 3 | 2, 16]);
            let (field, behind) = rest[at.unwrap() + 2..].split_at(16);
            rest = behind;
            field.to_vec()
        })
    };
    let (halves, nonces): (Vec<_>, Vec<_>) = sent.iter().map(fields).map(<[_; 2]>::into).unzip();
    let hash = |parts: &[&[u8]]| -> [u8; 32] { Sha256::digest(parts.concat()).into() };
    // No name, and parties that are not dialed.
    let pair = hash(&[b"madrigal pair seed v2", &halves[0], &halves[1], &[0]]);
    let job = 1u32.to_le_bytes();
    let key = hash(&[b"madrigal shared generator v1", &pair, &job, b"job/dice"]);
    let mut expected = [0; 32];
    let number = u64::from_le_bytes(key[16..24].try_into().unwrap());
    let key = Block::from_bytes(key[..16].try_into().unwrap());
    for (position, block) in (0..).zip(expected.as_chunks_mut().0) {
        *block = Aes128::new(key)
            .encrypt(Block::new(position, number))
            .to_bytes();
    }
    let tag = b"madrigal session identity v2";
    let identity = hash(&[tag, &[2, 0], &nonces[0], &nonces[1]]);
    let id = hash(&[b"madrigal public id v1", &identity, &job, b"job/dice"]);
    for result in results {
        assert_eq!(result.unwrap().0, (expected, id));
    }
}

#[test]
fn the_conversation_is_that_of_the_document() {
    let taps: Vec<_> = mesh(2)
        .into_iter()
        .map(|inner| Tapped(inner, Arc::default()))
        .collect();
    let sent = Arc::clone(&taps[0].1);
    let results = World::new(2, seed()).run_over(taps, |context| async move {
        let mut channels = context.channels()?;
        channels[0].send(vec![5; frame::MAX_PAYLOAD + 1]).await?;
        channels[0].recv(frame::MAX_PAYLOAD + 1).await
    });
    assert!(results.iter().all(Result::is_ok));
    let sent = sent.lock().unwrap();
    // The first byte of a control message is its field number and wire type 2.
    let said: Vec<(u32, String)> = sent
        .iter()
        .map(|frame| {
            let what = match frame.header.kind {
                FrameKind::Data => format!("data {} {}", frame.header.sequence, frame.header.last),
                FrameKind::Credit => "credit".into(),
                FrameKind::Control => format!("control {}", frame.payload[0] >> 3),
                FrameKind::Blocked => "blocked".into(),
            };
            (frame.header.job, what)
        })
        .filter(|(_, what)| what != "control 5") // a sign of life, if the machine is slow
        .collect();
    let expected = [
        (0, "control 1"),
        (1, "control 2"),
        (1, "data 0 false"),
        (1, "data 1 true"),
        (1, "control 3"),
        (0, "control 6"),
    ];
    let expected = expected.map(|(job, what)| (job, what.to_owned()));
    assert_eq!(said, expected);
}
