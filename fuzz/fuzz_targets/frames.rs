//! What a peer sends into a session with an open job and an open step: any bytes, and any sequence
//! of frames, are taken or refused. Input that begins with an odd byte is a script of frames with
//! sound checksums, else a packet as it is.
#![no_main]

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use madrigal_core::Party;
use madrigal_net::frame::{Frame, FrameKind, Header, MAX_PAYLOAD, WIRE_VERSION, decode_packet};
use madrigal_net::transport::{Inbox, Packet, Transport};
use madrigal_net::{Error, Session, SessionConfig, block_on};

/// Sends nowhere; its inbox is the fuzzer's.
struct Void(Arc<Mutex<Option<Inbox>>>);

impl Transport for Void {
    fn attach(&self, inbox: Inbox) {
        *self.0.lock().unwrap() = Some(inbox);
    }
    fn send(&self, _: Party, packet: Packet) {
        assert!(packet.frames.iter().all(|frame| frame.check().is_ok()));
    }
    fn close(&self) {}
}

fn control(job: u32, payload: &[u8]) -> Frame {
    let header = Header {
        kind: FrameKind::Control,
        last: true,
        job,
        step: 0,
        sequence: 0,
        round: 0,
    };
    Frame {
        header,
        payload: payload.to_vec().into(),
    }
}

/// The greeting of party 1, from the fields of schema/control.proto.
fn hello() -> Vec<u8> {
    let mut hello = vec![0x08, WIRE_VERSION, 0x10, 1, 0x20, 2];
    hello.extend([0x32, 16]);
    hello.extend([9; 16]);
    hello.extend([0x42, 16]);
    hello.extend([8; 16]);
    [&[0x0a, hello.len() as u8], &hello[..]].concat()
}

/// Frames of 8 bytes of script each, some of them with the next bytes as payload.
fn script(mut bytes: &[u8], open: u64) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = bytes.split_at_checked(8) {
        let (payload, rest) = match head[0] >> 3 & 3 {
            0 => (vec![], rest),
            1 => (vec![0; MAX_PAYLOAD], rest),
            _ => {
                let (payload, rest) = rest.split_at(rest.len().min(head[7].into()));
                (payload.to_vec(), rest)
            }
        };
        let spread = |byte: u8| {
            if byte > 250 {
                u32::MAX - u32::from(255 - byte)
            } else {
                byte.into()
            }
        };
        let header = Header {
            kind: [
                FrameKind::Data,
                FrameKind::Credit,
                FrameKind::Control,
                FrameKind::Blocked,
            ][usize::from(head[0] & 3)],
            last: head[0] & 4 == 4,
            job: spread(head[1]),
            step: if head[2] < 128 { open } else { head[2].into() },
            sequence: spread(head[3]) + u32::from(head[4]) * u32::from(head[3] < 250),
            round: spread(head[5]),
        };
        frames.push(Frame {
            header,
            payload: payload.into(),
        });
        bytes = rest;
    }
    frames
}

fn in_time<T>(outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(Error::Silent { .. } | Error::Late { .. }) => None,
        Err(error) => panic!("nothing was wrong yet: {error}"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((mode, bytes)) = bytes.split_first() else {
        return;
    };
    let inbox = Arc::new(Mutex::new(None));
    let mut config = SessionConfig::new(Party::new(0), 2);
    // The watchdog looks often, so that it ends soon after the session.
    config.silence = Duration::from_millis(16);
    let session = Session::new(config, Void(Arc::clone(&inbox)));
    let inbox = inbox.lock().unwrap().clone().unwrap();
    let peer = Party::new(1);
    inbox.deliver_frames(peer, vec![control(0, &hello())]);
    // On a machine that lets us wait too long, the short silence passes: no finding.
    let Some(()) = in_time(block_on(session.greet())) else {
        return;
    };
    let identity = session.identity().expect("it is greeted");
    let announcement = [&[0x12, 34, 0x12, 32], &identity[..]].concat();
    inbox.deliver_frames(peer, vec![control(1, &announcement)]);
    let Some(job) = in_time(block_on(session.job(1, &[], None))) else {
        return;
    };
    let Some(mut channels) = in_time(job.context().channels()) else {
        return;
    };
    let open = madrigal_net::context::step_id("job");
    if mode & 1 == 0 {
        let _ = decode_packet(bytes.to_vec().into());
        inbox.deliver(peer, bytes.to_vec().into());
    } else {
        for frame in script(bytes, open) {
            let mut packet = Vec::new();
            frame.encode_to(&mut packet);
            inbox.deliver(peer, packet.into());
        }
    }
    let task = &mut Context::from_waker(Waker::noop());
    for expected in [0, 1, 2, 3, MAX_PAYLOAD + 1] {
        match pin!(channels[0].recv(expected)).poll(task) {
            Poll::Ready(Ok(message)) => assert_eq!(message.len(), expected),
            Poll::Ready(Err(error)) => assert!(!error.to_string().is_empty()),
            Poll::Pending => {}
        }
        let _ = pin!(channels[0].send(vec![1; expected])).poll(task);
    }
    drop(job);
});
