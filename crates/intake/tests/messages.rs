//! Messages and frames: there and back, cut anywhere, at the ends of their limits.

use bytes::{Bytes, BytesMut};
use madrigal_intake::limits::*;
use madrigal_intake::*;
use proptest::prelude::*;

use crate::common::{from_client, from_server};

fn frame_of(message: &FromClient) -> BytesMut {
    let mut frame = BytesMut::new();
    message.encode(&mut frame);
    frame
}

fn greeted() -> Frames {
    let mut frames = Frames::default();
    frames.greeted();
    frames
}

proptest! {
    #[test]
    fn messages_of_clients_come_back(message in from_client()) {
        let frame = frame_of(&message);
        prop_assert!(frame.len() <= LENGTH_BYTES + MAX_MESSAGE);
        let body = frame.freeze().slice(LENGTH_BYTES..);
        prop_assert_eq!(FromClient::decode(body.clone()).unwrap(), message.clone());
        prop_assert_eq!(FromClient::decode_first(BytesMut::from(&body[..])).unwrap(), message);
    }

    #[test]
    fn messages_of_servers_come_back(message in from_server()) {
        let mut frame = BytesMut::new();
        message.encode(&mut frame);
        prop_assert!(frame.len() <= LENGTH_BYTES + MAX_MESSAGE);
        let body = frame.freeze().slice(LENGTH_BYTES..);
        prop_assert_eq!(FromServer::decode(body).unwrap(), message);
    }

    /// A prefix is no frame, and is never another message.
    #[test]
    fn every_prefix_waits(message in from_client(), other in from_client()) {
        let whole = [frame_of(&message), frame_of(&other)].concat();
        let first = frame_of(&message).len();
        // Every length of the short ones; ends and some between of the long ones.
        let step = 1 + whole.len() / 300;
        let mut lengths: Vec<usize> = (0..=whole.len()).step_by(step).collect();
        lengths.extend([first - 1, first, first + 1, first + 3, whole.len() - 1, whole.len()]);
        for length in lengths.into_iter().filter(|&length| length <= whole.len()) {
            let mut frames = greeted();
            frames.put(&whole[..length]);
            let mut came = Vec::new();
            while let Some(one) = frames.message().unwrap() {
                came.push(FromClient::decode(one).unwrap());
            }
            prop_assert_eq!(came.len(), usize::from(length >= first) + usize::from(length == whole.len()));
            frames.put(&whole[length..]);
            while let Some(one) = frames.message().unwrap() {
                came.push(FromClient::decode(one).unwrap());
            }
            prop_assert_eq!(&came[..], &[message.clone(), other.clone()][..]);
            prop_assert_eq!(frames.buffered(), 0);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = FromClient::decode(Bytes::from(bytes.clone()));
        let _ = FromServer::decode(Bytes::from(bytes.clone()));
        let mut frames = Frames::default();
        frames.put(&bytes);
        while let Ok(Some(message)) = frames.message() {
            let _ = FromClient::decode(message);
        }
    }

    /// Bytes of a message that were changed are another message, or are refused.
    #[test]
    fn changed_messages_are_read_or_refused(message in from_client(), at in any::<usize>(), byte in any::<u8>()) {
        let mut body = frame_of(&message).split_off(LENGTH_BYTES);
        if !body.is_empty() {
            let at = at % body.len();
            body[at] ^= byte;
            if let Ok(read) = FromClient::decode(body.freeze()) {
                let again = frame_of(&read).freeze().slice(LENGTH_BYTES..);
                prop_assert_eq!(FromClient::decode(again).unwrap(), read);
            }
        }
    }
}

/// A length beyond the limit is refused before anything of the message has come.
#[test]
fn long_frames_are_refused_at_once() {
    for (greeted, most) in [(false, MAX_GREETING), (true, MAX_MESSAGE)] {
        let frames_of = |length: usize| {
            let mut frames = Frames::default();
            if greeted {
                frames.greeted();
            }
            frames.put(&(length as u32).to_le_bytes());
            frames.message()
        };
        assert_eq!(frames_of(most), Ok(None));
        let got = most + 1;
        assert_eq!(frames_of(got), Err(WireError::Long { got, most }));
        let got = u32::MAX as usize;
        assert_eq!(frames_of(got), Err(WireError::Long { got, most }));
    }
}

/// The largest messages fit into a frame.
#[test]
fn the_largest_messages_fit() {
    let whole = FromClient::Whole(Whole {
        number: u64::MAX,
        kind: u32::MAX,
        id: madrigal_core::Digest256([255; 32]),
        headers: vec![255; MAX_HEADERS].into(),
        digest: madrigal_core::Digest256([255; 32]),
        body: vec![255; PIECE].into(),
    });
    assert!(frame_of(&whole).len() <= LENGTH_BYTES + MAX_MESSAGE);
    let hello = FromClient::Hello(Hello {
        least: 1,
        most: u32::MAX,
        token: Some(vec![255; MAX_TOKEN].into()),
        client: Some("a".repeat(64)),
        software: "a".repeat(MAX_SOFTWARE),
        session: [255; 16],
    });
    assert!(frame_of(&hello).len() <= LENGTH_BYTES + MAX_GREETING);
}

/// Fields one beyond their limits are refused.
#[test]
fn fields_beyond_their_limits_are_refused() {
    let digest = madrigal_core::Digest256([7; 32]);
    let begin = |headers: usize, length| {
        FromClient::Begin(Begin {
            number: 1,
            kind: 0,
            id: digest,
            headers: vec![1; headers].into(),
            length,
            digest,
        })
    };
    let piece = |bytes: usize, offset| {
        FromClient::Piece(Piece {
            number: 1,
            offset,
            bytes: vec![1; bytes].into(),
        })
    };
    let requests = |first_number, each_bytes, bytes: usize| {
        FromClient::Requests(Requests {
            kind: 0,
            first_number,
            each_bytes,
            payload: vec![1; bytes].into(),
        })
    };
    let most = MAX_REQUEST as u32;
    let good = [
        begin(MAX_HEADERS, MAX_BODY),
        piece(PIECE, MAX_BODY),
        requests(1, most, MAX_REQUEST),
        requests(u64::MAX, 1, 1),
    ];
    let bad = [
        begin(0, 0),
        begin(MAX_HEADERS + 1, 0),
        begin(1, MAX_BODY + 1),
        piece(0, 0),
        piece(PIECE + 1, 0),
        piece(1, MAX_BODY + 1),
        requests(0, 1, 1),
        requests(1, 0, 1),
        requests(1, 2, 3),
        requests(1, 1, 0),
        requests(1, most + 1, MAX_REQUEST + 1),
        requests(u64::MAX, 1, 2),
        FromClient::End { number: 0 },
    ];
    let read =
        |message: &FromClient| FromClient::decode(frame_of(message).freeze().slice(LENGTH_BYTES..));
    for message in &good {
        assert_eq!(read(message).as_ref(), Ok(message));
    }
    for message in &bad {
        assert!(
            matches!(read(message), Err(WireError::Field(_))),
            "{message:?}"
        );
    }
}

/// Debug tells no bytes of shares and no token.
#[test]
fn debug_tells_no_secrets() {
    let hello = Hello {
        least: 1,
        most: 1,
        token: Some(b"open sesame".to_vec().into()),
        client: None,
        software: String::new(),
        session: [0; 16],
    };
    let shown = format!("{:?}", FromClient::Hello(hello));
    assert!(
        !shown.contains("sesame") && !shown.contains("111"),
        "{shown}"
    );
    let payload = Payload::from(vec![171; 3]);
    assert_eq!(format!("{payload:?}"), "3 bytes");
}

/// The seeds of the fuzz target, which were made by other means, are answers to what its client asks.
#[test]
fn seeds_of_the_fuzz_target_are_messages() {
    let seeds = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/seeds/intake_client"
    );
    let mut count = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let bytes = std::fs::read(seed.unwrap().path()).unwrap();
        fuzz_client(&bytes);
        let mut frames = greeted();
        frames.put(&bytes);
        while let Some(message) = frames.message().unwrap() {
            FromServer::decode(message).unwrap();
            count += 1;
        }
        assert_eq!(frames.buffered(), 0);
    }
    assert!(count >= 12, "{count}");
}
