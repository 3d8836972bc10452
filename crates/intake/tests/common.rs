//! Messages of all sorts, at random.

use bytes::Bytes;
use madrigal_core::Digest256;
use madrigal_engine::{Element, Sharing, Width};
use madrigal_intake::limits::*;
use madrigal_intake::*;
use madrigal_net::identity::Signature;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

pub(crate) fn digest() -> impl Strategy<Value = Digest256> {
    any::<[u8; 32]>().prop_map(Digest256)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![1..10_u64, Just(u64::MAX), 1..=u64::MAX]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z0-9._-]{1,64}", "[a-z]{64}"]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,20}", Just("ü".repeat(MAX_WORDS / 2))]
}

fn bytes(least: usize, most: usize) -> impl Strategy<Value = Vec<u8>> {
    let ends = prop_oneof![Just(least), Just(most)];
    let ends = ends.prop_flat_map(|length| any::<u8>().prop_map(move |byte| vec![byte; length]));
    prop_oneof![4 => vec(any::<u8>(), least..=most.min(least + 100)), 1 => ends]
}

fn payload(least: usize, most: usize) -> impl Strategy<Value = Payload> {
    bytes(least, most).prop_map(Payload::from)
}

/// Requests or answers: the first number, bytes of each, all of them.
fn side_by_side() -> impl Strategy<Value = (u64, u32, Payload)> {
    let sizes = prop_oneof![1..100_u32, Just(MAX_REQUEST as u32)];
    (1..1_000_000_000_u64, sizes, 1..20_usize, any::<u8>()).prop_map(
        |(first, each, count, byte)| {
            (
                first,
                each,
                Payload::from(vec![byte; each as usize * count]),
            )
        },
    )
}

pub(crate) fn from_client() -> impl Strategy<Value = FromClient> {
    let hello = (
        any::<(u32, u32)>(),
        option::of(bytes(1, MAX_TOKEN)),
        option::of(name()),
        "[a-z 0-9.]{0,64}",
        any::<[u8; 16]>(),
    );
    let hello = hello.prop_map(|((one, other), token, client, software, session)| {
        FromClient::Hello(Hello {
            least: one.min(other),
            most: one.max(other),
            token: token.map(madrigal_core::Zeroizing::new),
            client,
            software,
            session,
        })
    });
    let begin = (
        number(),
        any::<u32>(),
        digest(),
        bytes(1, MAX_HEADERS),
        0..=MAX_BODY,
        digest(),
    );
    let begin = begin.prop_map(|(number, kind, id, headers, length, digest)| {
        FromClient::Begin(Begin {
            number,
            kind,
            id,
            headers: headers.into(),
            length,
            digest,
        })
    });
    let piece = (number(), 0..=MAX_BODY, payload(1, PIECE));
    let piece = piece.prop_map(|(number, offset, bytes)| {
        FromClient::Piece(Piece {
            number,
            offset,
            bytes,
        })
    });
    let whole = (
        number(),
        any::<u32>(),
        digest(),
        bytes(1, MAX_HEADERS),
        digest(),
        payload(0, PIECE),
    );
    let whole = whole.prop_map(|(number, kind, id, headers, digest, body)| {
        FromClient::Whole(Whole {
            number,
            kind,
            id,
            headers: headers.into(),
            digest,
            body,
        })
    });
    let fetch = (number(), of(), any::<u32>(), any::<u64>());
    let fetch = fetch.prop_map(|(number, of, output, offset)| {
        FromClient::Fetch(Fetch {
            number,
            of,
            output,
            offset,
        })
    });
    let requests = (any::<u32>(), side_by_side()).prop_map(|(kind, (first, each, payload))| {
        FromClient::Requests(Requests {
            kind,
            first_number: first,
            each_bytes: each,
            payload,
        })
    });
    prop_oneof![
        hello,
        begin,
        piece,
        number().prop_map(|number| FromClient::End { number }),
        whole,
        (number(), digest()).prop_map(|(number, id)| FromClient::Status { number, id }),
        (number(), of()).prop_map(|(number, of)| FromClient::Wait { number, of }),
        fetch,
        requests,
        number().prop_map(|number| FromClient::Cancel { number }),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    vec(option::of(0..=i64::MAX as usize), 0..=MAX_RANK)
}

fn input() -> impl Strategy<Value = Input> {
    let element = prop_oneof![
        (1..=128_usize).prop_map(Element::Bits),
        proptest::sample::select(Width::ALL.to_vec()).prop_map(Element::Ring),
    ];
    let sharing = proptest::sample::select(vec![Sharing::A, Sharing::B, Sharing::R]);
    let fields = ("[a-z]{1,10}", "[a-z0-9<>]{1,10}", shape(), sharing, element);
    fields.prop_map(|(name, element_type, shape, sharing, element)| Input {
        name,
        element_type,
        shape,
        sharing,
        element,
    })
}

fn output() -> impl Strategy<Value = Output> {
    let fields = ("[a-z]{1,10}", "[a-z0-9<>]{1,10}", shape(), words());
    fields.prop_map(|(name, element_type, shape, receivers)| Output {
        name,
        element_type,
        shape,
        receivers,
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    let what = prop_oneof![
        Just(What::Program),
        (1..=MAX_REQUEST as u32, 1..=MAX_REQUEST as u32).prop_map(
            |(request_bytes, answer_bytes)| {
                What::Requests {
                    request_bytes,
                    answer_bytes,
                }
            }
        ),
    ];
    let fields = (
        digest(),
        what,
        vec(input(), 0..4),
        vec(output(), 0..4),
        words(),
        0..=MAX_BODY,
        any::<bool>(),
    );
    fields.prop_map(
        |(program, what, inputs, outputs, submitters, most_bytes, anonymous)| Kind {
            name: String::new(),
            program,
            what,
            inputs,
            outputs,
            submitters,
            most_bytes,
            anonymous,
        },
    )
}

fn welcome() -> impl Strategy<Value = FromServer> {
    let fields = (
        name(),
        (2..=64_u32).prop_flat_map(|servers| (Just(servers), 0..servers)),
        option::of(name()),
        MIN_BODY_WINDOW..=MAX_BODY_WINDOW,
        1..=MAX_REQUEST_WINDOW,
        any::<u64>(),
        vec(kind(), 0..5),
    );
    fields.prop_map(
        |(server, (servers, place), client, body, requests, time, mut kinds)| {
            for (at, kind) in kinds.iter_mut().enumerate() {
                kind.name = format!("kind-{at}");
            }
            FromServer::Welcome(Welcome {
                version: *VERSIONS.end(),
                server,
                place,
                servers,
                software: "madrigal 0.1".into(),
                client,
                body_window: body,
                request_window: requests,
                time,
                kinds,
            })
        },
    )
}

fn signed() -> impl Strategy<Value = Signed> {
    (bytes(0, MAX_RECEIPT), vec(any::<u8>(), 96)).prop_map(|(bytes, signature)| Signed {
        bytes: Bytes::from(bytes),
        signature: Signature::try_from(signature.as_slice()).unwrap(),
    })
}

pub(crate) fn from_server() -> impl Strategy<Value = FromServer> {
    let state = prop_oneof![
        Just(State::Unknown),
        (0..=MAX_BODY).prop_map(|offset| State::Receiving { offset }),
        Just(State::Accepted),
        words()
            .prop_filter("a reason", |reason| !reason.is_empty())
            .prop_map(|reason| State::Held { reason }),
        number().prop_map(|batch| State::InBatch { batch }),
        number().prop_map(|batch| State::Counted { batch }),
        (number(), words()).prop_map(|(batch, reason)| State::Failed { batch, reason }),
        Just(State::Expired),
    ];
    let finished = (number(), signed(), vec(any::<(u32, u64)>(), 0..=MAX_VALUES));
    let finished = finished.prop_map(|(number, receipt, outputs)| {
        FromServer::Finished(Finished {
            number,
            receipt,
            outputs,
        })
    });
    let piece = (number(), 0..=MAX_BODY, payload(0, PIECE), any::<bool>());
    let piece = piece.prop_map(|(number, offset, bytes, last)| {
        FromServer::OutputPiece(OutputPiece {
            number,
            offset,
            bytes,
            last,
        })
    });
    let answers = side_by_side().prop_map(|(first_number, each_bytes, payload)| {
        FromServer::Answers(Answers {
            first_number,
            each_bytes,
            payload,
        })
    });
    let codes: Vec<Code> = Code::ALL.iter().map(|(code, _)| *code).collect();
    let refused = (
        0..1_000_u64,
        1..100_u32,
        proptest::sample::select(codes),
        words(),
        any::<u32>(),
    );
    let refused = refused.prop_map(|(number, count, code, text, retry_after_ms)| {
        FromServer::Refused(Refused {
            number,
            count,
            code,
            text,
            retry_after_ms,
        })
    });
    prop_oneof![
        welcome(),
        (number(), 0..=MAX_BODY).prop_map(|(number, offset)| FromServer::Begun { number, offset }),
        (number(), signed()).prop_map(|(number, receipt)| FromServer::Accepted { number, receipt }),
        (number(), state).prop_map(|(number, state)| FromServer::State { number, state }),
        finished,
        piece,
        answers,
        refused,
        (0..=MAX_BODY_WINDOW).prop_map(|bytes| FromServer::Credit { bytes }),
    ]
}

/// Jobs that a message may be about.
fn of() -> impl Strategy<Value = Of> {
    let batch = (any::<u32>(), any::<u64>()).prop_map(|(kind, batch)| Of::Batch { kind, batch });
    prop_oneof![digest().prop_map(Of::Submission), batch]
}
