//! Both sides of a connection against any bytes, for fuzz targets and tests.

use std::sync::Arc;

use madrigal_clients::{Header, Named, deal, private_generator};
use madrigal_core::chain::Chain;
use madrigal_core::{Digest256, Party};
use madrigal_engine::{Element, Shares, Sharing, Width};
use madrigal_net::identity::Signature;

use crate::client::{ClientConnection, ServerFault};
use crate::code::Code;
use crate::frame::Frames;
use crate::from_client::{Begin, Fetch, FromClient, Hello, Of, Piece, Requests, Whole};
use crate::from_server::{Answers, Finished, FromServer, OutputPiece, Refused};
use crate::headers::{body_length, pack, submission_name};
use crate::kind::{Input, Kind, Output, What};
use crate::limits::{MAX_CALLS, MAX_MESSAGE, MAX_OUTPUT, MAX_UPLOADS, MIN_BODY_WINDOW, PIECE};
use crate::payload::Payload;
use crate::server::{Asked, ServerConnection, Terms};
use crate::signed::Signed;
use crate::state::State;

/// The most bytes that a script is given at once.
const CHUNK: usize = 4096;

/// A server with a kind of programs and one of requests.
fn terms() -> Terms {
    let input = Input {
        name: "x".into(),
        element_type: "u32".into(),
        shape: vec![None],
        sharing: Sharing::A,
        element: Element::Ring(Width::W32),
    };
    let sum = Kind {
        name: "sum".into(),
        program: Digest256([1; 32]),
        what: What::Program,
        inputs: vec![input.clone()],
        outputs: vec![Output {
            name: "y".into(),
            element_type: "u32".into(),
            shape: vec![None],
            receivers: "all".into(),
        }],
        submitters: "everybody".into(),
        most_bytes: 1 << 20,
        anonymous: true,
    };
    let keys = Kind {
        name: "keys".into(),
        what: What::Requests {
            request_bytes: 16,
            answer_bytes: 8,
        },
        ..sum.clone()
    };
    Terms {
        server: "alice".into(),
        place: Party::new(0),
        servers: 3,
        software: "fuzz".into(),
        kinds: vec![sum, keys],
        body_window: MIN_BODY_WINDOW,
        request_window: 64,
    }
}

fn hello() -> Hello {
    Hello {
        least: 1,
        most: 1,
        token: None,
        client: None,
        software: String::new(),
        session: [0; 16],
    }
}

/// A submission of `elements` numbers: its headers, its name, and the share of server 0.
fn submission(terms: &Terms, elements: usize) -> (Vec<u8>, Digest256, Vec<u8>) {
    let named = Named {
        job: "sum".into(),
        name: "x".into(),
        client: "carol".into(),
        element_type: "u32".into(),
        shape: vec![elements],
    };
    let value = Shares::ring_of(Sharing::PUBLIC, vec![7_u32; elements]);
    let mut generator = private_generator().expect("randomness");
    let files = deal(named, &value, Sharing::A, 3, &mut generator).expect("a value");
    let headers: Vec<Header> = vec![files[0].header().clone()];
    let packed = pack(&headers).expect("short");
    let mut body = Vec::new();
    files[0].write_body(&mut body).expect("memory");
    assert_eq!(
        body_length(&headers, Party::new(0)),
        Some(body.len() as u64)
    );
    let kind = &terms.kinds[0];
    let name = submission_name(&kind.name, &kind.program, &packed);
    (packed, name, body)
}

/// Takes bytes off the front of a script.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }
}

fn signed() -> Signed {
    Signed {
        bytes: vec![1, 2, 3].into(),
        signature: Signature::from_bytes([7; 96]),
    }
}

/// Has a server answer what a script of messages and other bytes asks. Memory and numbers of open messages stay in their bounds, and the
/// server says nothing but messages.
#[doc(hidden)]
pub fn fuzz_server(script: &[u8]) {
    let terms = Arc::new(terms());
    let (headers, id, body) = submission(&terms, 3 * PIECE / 8);
    let digest = Chain::digest(&headers, &body);
    let (short, short_id, short_body) = submission(&terms, 5);
    let mut server = ServerConnection::new(terms.clone());
    let mut script = Script(script);
    let mut bytes = bytes::BytesMut::new();
    let mut answers = Frames::default();
    answers.greeted();
    let mut late = Vec::new();
    let mut number = 0_u64;
    while let Some(op) = script.byte() {
        let mode = script.byte().unwrap_or(0);
        // A number that is new, or one of the last ones.
        let chosen = match mode % 4 {
            0 => number.saturating_sub(u64::from(mode / 4 % 8)).max(1),
            _ => number + 1,
        };
        number = number.max(chosen);
        let wanted = match mode % 3 {
            0 => Of::Batch {
                kind: u32::from(mode / 64),
                batch: u64::from(mode),
            },
            _ => Of::Submission(id),
        };
        let message = match op % 12 {
            0 => Some(FromClient::Hello(hello())),
            1 => Some(FromClient::Begin(Begin {
                number: chosen,
                kind: u32::from(mode / 64 == 3),
                id,
                headers: headers.clone().into(),
                length: body.len() as u64 - u64::from(mode == 255),
                digest,
            })),
            2 => {
                let at = usize::from(mode / 4 % 3) * PIECE;
                let end = body.len().min(at + PIECE);
                Some(FromClient::Piece(Piece {
                    number: chosen,
                    offset: at as u64,
                    bytes: body.get(at..end).unwrap_or(&[1]).to_vec().into(),
                }))
            }
            3 => Some(FromClient::End { number: chosen }),
            4 => Some(FromClient::Whole(Whole {
                number: chosen,
                kind: 0,
                id: short_id,
                headers: short.clone().into(),
                digest: Chain::digest(&short, &short_body[usize::from(mode == 254)..]),
                body: short_body.clone().into(),
            })),
            5 => Some(FromClient::Status { number: chosen, id }),
            6 => Some(FromClient::Wait {
                number: chosen,
                of: wanted,
            }),
            7 => Some(FromClient::Fetch(Fetch {
                number: chosen,
                of: wanted,
                output: 0,
                offset: u64::from(mode),
            })),
            8 => {
                let count = usize::from(mode % 32) + 1;
                number = number.max(chosen + count as u64 - 1);
                Some(FromClient::Requests(Requests {
                    kind: u32::from(mode < 250),
                    first_number: chosen,
                    each_bytes: 16,
                    payload: vec![0; 16 * count].into(),
                }))
            }
            9 => Some(FromClient::Cancel { number: chosen }),
            _ => None,
        };
        bytes.clear();
        match message {
            Some(message) => message.encode(&mut bytes),
            None => bytes.extend(script.bytes(usize::from(mode))),
        }
        for chunk in bytes.chunks(CHUNK) {
            if !server.wants_bytes() {
                break;
            }
            server.receive(chunk);
            while let Some(asked) = server.asked() {
                answer(&mut server, asked, op, &mut late);
            }
            assert!(server.frames_buffered() <= MAX_MESSAGE + CHUNK + 4);
        }
        if op & 64 != 0 {
            for asked in std::mem::take(&mut late) {
                answer(&mut server, asked, 0, &mut late);
            }
        }
        let most = (MAX_CALLS + MAX_UPLOADS) as u64 + u64::from(terms.request_window);
        assert!(server.unanswered() <= most);
        assert!(
            server.output().len() <= MAX_OUTPUT + 2 * MAX_MESSAGE,
            "output grows"
        );
        if op & 32 != 0 {
            let said = server.output().split();
            for chunk in said.chunks(CHUNK) {
                answers.put(chunk);
                while let Some(message) = answers.message().expect("a frame") {
                    FromServer::decode(message).expect("a message");
                }
            }
        }
    }
}

/// Answers a wish, or some of them later.
fn answer(server: &mut ServerConnection, asked: Asked, how: u8, late: &mut Vec<Asked>) {
    if how & 128 != 0 && !matches!(asked, Asked::Hello(_)) {
        late.push(asked);
        return;
    }
    let refuses = how & 16 != 0;
    let refused = |number, count| Refused {
        count,
        ..Refused::new(number, Code::Busy, "later")
    };
    let sent = match asked {
        Asked::Hello(_) => server.welcome(None, 0),
        Asked::Begin(begin, _) if refuses => server.refuse(refused(begin.number, 1)),
        Asked::Begin(begin, _) => server.begun(begin.number, 0),
        Asked::Piece(piece) => {
            server.taken(piece.bytes.len() as u64);
            true
        }
        Asked::End { number } => server.accepted(number, signed()),
        Asked::Whole(whole, _) => {
            server.taken(whole.body.len() as u64);
            server.accepted(whole.number, signed())
        }
        Asked::Status { number, .. } => server.state(number, State::Accepted),
        Asked::Wait { number, .. } => server.finished(Finished {
            number,
            receipt: signed(),
            outputs: vec![(0, 100)],
        }),
        Asked::Fetch(fetch) => server.output_piece(OutputPiece {
            number: fetch.number,
            offset: fetch.offset,
            bytes: vec![1].into(),
            last: true,
        }),
        Asked::Requests(requests) if refuses => {
            server.refuse(refused(requests.first_number, requests.count() as u32))
        }
        Asked::Requests(requests) => server.answers(Answers {
            first_number: requests.first_number,
            each_bytes: 8,
            payload: vec![0; 8 * requests.count() as usize].into(),
        }),
        Asked::Cancel { .. } => true,
    };
    // A message that was refused meanwhile has no answer.
    let _ = sent;
}

/// Has a client that has asked for everything read any bytes after a welcome: nothing but what was asked comes out, or the connection is over.
#[doc(hidden)]
pub fn fuzz_client(bytes: &[u8]) {
    let terms = Arc::new(terms());
    let mut server = ServerConnection::new(terms.clone());
    let mut client = ClientConnection::new(hello());
    server.receive(&client.output().split());
    while let Some(asked) = server.asked() {
        answer(&mut server, asked, 0, &mut Vec::new());
    }
    client.receive(&server.output().split());
    assert!(matches!(client.told(), Ok(Some(FromServer::Welcome(_)))));
    let id = Digest256([3; 32]);
    let headers = bytes::Bytes::from_static(b"headers");
    let known = (id, headers, id);
    client.begin(0, known.clone(), 100).expect("open");
    client
        .whole(0, known, Payload::from(vec![0; 10]))
        .expect("open");
    client.status(id).expect("open");
    client.wait(id).expect("open");
    client.fetch(id, 0, 0).expect("open");
    let first = client.next_number();
    client
        .requests(1, first, &Payload::from(vec![0; 16 * 8]))
        .expect("open");
    let asked = client.unanswered();
    client.output().clear();
    for chunk in bytes.chunks(CHUNK) {
        client.receive(chunk);
        let mut before = client.unanswered();
        loop {
            match client.told() {
                Ok(Some(_)) => {
                    assert!(client.unanswered() <= before, "an answer opens nothing");
                    before = client.unanswered();
                }
                Ok(None) => break,
                Err(ServerFault::Wire(_) | ServerFault::Unasked(_)) => {
                    assert!(client.is_over() && client.status(id).is_err());
                    return;
                }
            }
        }
    }
    assert!(client.unanswered() <= asked);
}
