//! Both sides of a connection: what each may say when.

use bytes::BytesMut;
use madrigal_clients::Purpose;
use madrigal_core::{Digest256, Party};
use madrigal_intake::limits::*;
use madrigal_intake::*;
use proptest::prelude::*;

use crate::pair::*;

#[test]
fn an_upload_in_pieces_is_accepted() {
    let mut pair = Pair::open(None);
    let mine = submission(20_000, 0);
    let length = mine.body.len() as u64;
    assert!(length > 2 * PIECE as u64);
    let number = pair.client.begin(0, mine.known(), length).unwrap();
    let [Asked::Begin(begin, headers)] = &pair.serve()[..] else {
        panic!("a beginning");
    };
    assert_eq!(
        (begin.number, begin.id, headers.len()),
        (number, mine.id, 2)
    );
    assert_eq!(headers[0].purpose(), Purpose::Input);
    assert!(pair.client.wants(number).is_none());
    assert!(pair.server.begun(number, 0));
    assert_eq!(pair.tell(), [FromServer::Begun { number, offset: 0 }]);

    let mut came = Vec::new();
    while let Some((offset, bytes)) = pair.client.wants(number) {
        let piece = &mine.body[offset as usize..][..bytes as usize];
        pair.client.piece(number, piece.to_vec().into()).unwrap();
        for asked in pair.serve() {
            let Asked::Piece(piece) = asked else {
                panic!("{asked:?} is no piece");
            };
            came.extend_from_slice(&piece.bytes);
            pair.server.taken(piece.bytes.len() as u64);
        }
        pair.tell();
    }
    assert_eq!(came, mine.body);
    pair.client.end(number).unwrap();
    assert_eq!(pair.serve(), [Asked::End { number }]);
    assert!(pair.server.accepted(number, signed()));
    assert!(
        !pair.server.accepted(number, signed()),
        "there is one answer"
    );
    let receipt = signed();
    assert_eq!(pair.tell(), [FromServer::Accepted { number, receipt }]);
    assert_eq!((pair.client.unanswered(), pair.server.unanswered()), (0, 0));
}

#[test]
fn an_upload_goes_on_where_it_was() {
    let mine = submission(20_000, 0);
    let length = mine.body.len() as u64;
    for offset in [0, PIECE as u64, 2 * PIECE as u64, length] {
        let mut pair = Pair::open(None);
        let number = pair.client.begin(0, mine.known(), length).unwrap();
        pair.serve();
        assert!(!pair.server.begun(number, 1), "no piece begins there");
        assert!(pair.server.begun(number, offset));
        pair.tell();
        let wants = pair.client.wants(number);
        let next = (length - offset).min(PIECE as u64);
        assert_eq!(wants, (next > 0).then_some((offset, next)));
        if offset == length {
            pair.client.end(number).unwrap();
            assert_eq!(pair.serve(), [Asked::End { number }]);
        } else {
            assert!(pair.client.end(number).is_err());
            assert_eq!(pair.force(&FromClient::End { number }), []);
            assert_eq!(refusal(&pair.tell()), (number, Code::Order));
        }
    }
}

#[test]
fn a_whole_submission_is_accepted_or_refused_by_its_digest() {
    let mut pair = Pair::open(None);
    let mine = submission(10, 0);
    let body = Payload::from(mine.body.clone());
    let number = pair.client.whole(0, mine.known(), body.clone()).unwrap();
    assert!(matches!(&pair.serve()[..], [Asked::Whole(whole, _)] if whole.body == body));
    pair.server.accepted(number, signed());
    pair.tell();
    let (id, headers, mut digest) = mine.known();
    digest.0[31] ^= 1;
    let number = pair.client.whole(0, (id, headers, digest), body).unwrap();
    assert_eq!(pair.serve(), []);
    assert_eq!(refusal(&pair.tell()), (number, Code::Digest));
    assert_eq!(pair.server.unanswered(), 0);
}

/// A submission for another place, another kind, of another length, or with other headers than its name has.
#[test]
fn submissions_that_do_not_fit_are_refused() {
    let mine = submission(10, 0);
    let length = mine.body.len() as u64;
    let known = mine.known();
    let other = submission(11, 0);
    let cases = [
        (9, known.clone(), length, Code::NotFound),
        (1, known.clone(), length, Code::Header),
        (2, known.clone(), length, Code::NotAllowed),
        (0, known.clone(), length + 1, Code::Header),
        (0, known.clone(), length - 1, Code::Header),
        (0, known.clone(), (1 << 20) + 1, Code::Quota),
        (
            0,
            (Digest256([1; 32]), known.1.clone(), known.2),
            length,
            Code::Header,
        ),
        (
            0,
            (known.0, other.headers.clone(), known.2),
            length,
            Code::Header,
        ),
        (
            0,
            (known.0, known.1.slice(1..), known.2),
            length,
            Code::Header,
        ),
        (
            0,
            (known.0, known.1.slice(..known.1.len() - 1), known.2),
            length,
            Code::Header,
        ),
    ];
    let mut pair = Pair::open(None);
    for (kind, known, length, code) in cases {
        let number = pair.client.begin(kind, known, length).unwrap();
        assert_eq!(pair.serve(), [], "{code:?}");
        assert_eq!(refusal(&pair.tell()), (number, code));
    }
    // A client with a name may use the closed kind: then the headers are another job's.
    let mut pair = Pair::open(Some("carol"));
    let number = pair.client.begin(2, known, length).unwrap();
    assert_eq!(pair.serve(), []);
    assert_eq!(refusal(&pair.tell()), (number, Code::Header));
}

#[test]
fn headers_are_those_of_the_kind() {
    let kind = &kinds()[0];
    let one = |elements| -> Vec<_> {
        let files = dealt(elements);
        files
            .iter()
            .map(|files| files[0].header().clone())
            .collect()
    };
    let headers = one(4);
    assert!(kind.check(&headers, 3).is_ok());
    assert!(matches!(
        kind.check(&headers, 4),
        Err(HeadersError::Input { at: 0, .. })
    ));
    assert!(matches!(
        kind.check(&headers[..1], 3),
        Err(HeadersError::Count { .. })
    ));
    let swapped = [headers[1].clone(), headers[0].clone()];
    assert!(matches!(
        kind.check(&swapped, 3),
        Err(HeadersError::Input { at: 0, .. })
    ));
    let mixed = [headers[0].clone(), one(4)[1].clone()];
    assert!(matches!(
        kind.check(&mixed, 3),
        Err(HeadersError::Nonce { at: 1 })
    ));
    let packed = pack(&headers).unwrap();
    assert_eq!(unpack(&packed).unwrap(), headers);
    assert!(matches!(unpack(&[]), Err(HeadersError::List)));
    for length in 1..packed.len() {
        // The first header alone is a list, and its name is another one.
        let read = unpack(&packed[..length]);
        assert!(
            read.is_err() || read.is_ok_and(|read| read.len() == 1),
            "{length}"
        );
    }
    let place = Party::new(1);
    assert_eq!(
        body_length(&headers, place),
        Some(2 * (16 + 16) + 2 * (16 + 1))
    );
}

#[test]
fn state_job_and_output_are_told() {
    let mut pair = Pair::open(None);
    let id = Digest256([5; 32]);
    let status = pair.client.status(id).unwrap();
    let wait = pair.client.wait(id).unwrap();
    let fetch = pair.client.fetch(id, 1, PIECE as u64).unwrap();
    assert_eq!(pair.serve().len(), 3);
    let piece = OutputPiece {
        number: fetch,
        offset: PIECE as u64,
        bytes: vec![1; 3].into(),
        last: true,
    };
    let finished = Finished {
        number: wait,
        receipt: signed(),
        outputs: vec![(1, 70_000)],
    };
    // In any order, each once, each what was asked.
    assert!(!pair.server.state(fetch, State::Accepted));
    assert!(!pair.server.finished(Finished {
        number: status,
        ..finished.clone()
    }));
    assert!(!pair.server.output_piece(OutputPiece {
        offset: 0,
        ..piece.clone()
    }));
    assert!(pair.server.output_piece(piece.clone()));
    assert!(pair.server.finished(finished.clone()));
    assert!(pair.server.state(status, State::InBatch { batch: 4 }));
    let state = FromServer::State {
        number: status,
        state: State::InBatch { batch: 4 },
    };
    let told = [
        FromServer::OutputPiece(piece),
        FromServer::Finished(finished),
        state,
    ];
    assert_eq!(pair.tell(), told);
}

#[test]
fn requests_are_answered_in_any_groups() {
    let mut pair = Pair::open(None);
    let payload = |count: usize| Payload::from(vec![3; 16 * count]);
    pair.client.requests(1, 10, &payload(50)).unwrap();
    pair.client.requests(1, 70, &payload(50)).unwrap();
    assert_eq!(
        pair.client.requests(1, 120, &payload(1)),
        Err(NotNow::Window)
    );
    assert!(pair.client.requests(1, 119, &payload(0)).is_err());
    assert_eq!(pair.serve().len(), 2);
    assert_eq!(pair.server.unanswered(), 100);
    let mut answers = |first_number, count: usize| {
        assert!(pair.server.answers(Answers {
            first_number,
            each_bytes: 8,
            payload: vec![4; 8 * count].into(),
        }));
        assert_eq!(pair.tell().len(), 1);
        pair.client.request_credit()
    };
    assert_eq!(answers(80, 10), 10);
    assert_eq!(answers(10, 50), 60);
    assert_eq!(answers(70, 10), 70);
    assert_eq!(answers(90, 29), 99);
    assert!(pair.server.refuse(Refused::new(119, Code::Retry, "lost")));
    assert_eq!(refusal(&pair.tell()), (119, Code::Retry));
    assert_eq!((pair.client.unanswered(), pair.server.unanswered()), (0, 0));
    // A number that was passed over is used up.
    assert!(pair.client.requests(1, 60, &payload(1)).is_err());
    let stale = FromClient::Requests(Requests {
        kind: 1,
        first_number: 60,
        each_bytes: 16,
        payload: payload(1),
    });
    assert_eq!(pair.force(&stale), []);
    assert_eq!(pair.end(), Some(Code::Order));
}

/// More requests than one message holds go into several.
#[test]
fn many_requests_are_several_messages() {
    let mut large = terms(0);
    large.request_window = 10_000;
    let mut pair = Pair::new(hello());
    pair.server = ServerConnection::new(std::sync::Arc::new(large));
    pair.serve();
    pair.server.welcome(None, 0);
    pair.tell();
    let all: Vec<u8> = (0..16 * 9_000_u32).map(|i| (i / 16) as u8).collect();
    pair.client.requests(1, 1, &all.clone().into()).unwrap();
    let mut next = 1;
    let mut came = Vec::new();
    for asked in pair.serve() {
        let Asked::Requests(requests) = asked else {
            panic!("{asked:?}");
        };
        assert_eq!(requests.first_number, next);
        next += requests.count();
        came.extend_from_slice(&requests.payload);
    }
    assert_eq!((next, came), (9_001, all));
    assert_eq!(pair.client.next_number(), 9_001);
}

#[test]
fn requests_of_a_wrong_size_or_kind_are_refused() {
    let mut pair = Pair::open(None);
    let wrong = |kind, each_bytes: u32, first_number| {
        FromClient::Requests(Requests {
            kind,
            first_number,
            each_bytes,
            payload: vec![0; 3 * each_bytes as usize].into(),
        })
    };
    for (at, (kind, each, code)) in [
        (0, 16, Code::Header),
        (1, 15, Code::Header),
        (7, 16, Code::NotFound),
    ]
    .into_iter()
    .enumerate()
    {
        let first = 1 + 3 * at as u64;
        assert_eq!(pair.force(&wrong(kind, each, first)), []);
        let mut frames = Frames::default();
        frames.greeted();
        frames.put(&pair.server.output().split());
        let refused = FromServer::decode(frames.message().unwrap().unwrap()).unwrap();
        let FromServer::Refused(refused) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(
            (refused.number, refused.count, refused.code),
            (first, 3, code)
        );
    }
    assert_eq!(pair.server.unanswered(), 0);
}

/// Messages that come at a wrong time end the connection, and the reason is the last that is said.
#[test]
fn the_order_is_checked() {
    let piece = |number, offset| {
        FromClient::Piece(Piece {
            number,
            offset,
            bytes: vec![1].into(),
        })
    };
    let id = Digest256([1; 32]);
    let first = [
        FromClient::Status { number: 1, id },
        piece(1, 0),
        FromClient::Cancel { number: 1 },
    ];
    for message in &first {
        let mut pair = Pair::new(hello());
        assert_eq!(pair.force(message), []);
        assert_eq!(pair.end(), Some(Code::Order));
        assert_eq!(refusal(&pair.tell()), (0, Code::Order));
        assert!(pair.client.is_over());
    }
    let later = [
        FromClient::Hello(hello()),
        piece(1, 0),
        FromClient::End { number: 1 },
        FromClient::Cancel { number: 1 },
    ];
    for message in &later {
        let mut pair = Pair::open(None);
        assert_eq!(pair.force(message), []);
        assert_eq!(pair.end(), Some(Code::Order), "{message:?}");
        // Nothing is read any more.
        assert_eq!(pair.force(&FromClient::Status { number: 5, id }), []);
        assert!(!pair.server.wants_bytes());
    }
    // A message before the greeting was answered.
    let mut pair = Pair::new(hello());
    pair.client.output().extend_from_slice(&[1]);
    assert_eq!(pair.serve().len(), 1);
    assert_eq!(pair.end(), Some(Code::Order));
    assert!(!pair.server.welcome(None, 0));
    // A number again.
    let mut pair = Pair::open(None);
    assert_eq!(pair.force(&FromClient::Status { number: 5, id }).len(), 1);
    assert_eq!(pair.force(&FromClient::Status { number: 5, id }), []);
    assert_eq!(pair.end(), Some(Code::Order));
    // A piece before the upload was answered.
    let mut pair = Pair::open(None);
    let mine = submission(20_000, 0);
    let number = pair
        .client
        .begin(0, mine.known(), mine.body.len() as u64)
        .unwrap();
    pair.serve();
    assert_eq!(pair.force(&piece(number, 0)), []);
    assert_eq!(pair.end(), Some(Code::Order));
}

/// Pieces that a client had sent before it learnt of a refusal are dropped, and their credit comes back.
#[test]
fn pieces_of_a_refused_upload_are_dropped() {
    let mut pair = Pair::open(None);
    let mine = submission(30_000, 0);
    let number = pair
        .client
        .begin(0, mine.known(), mine.body.len() as u64)
        .unwrap();
    pair.serve();
    pair.server.begun(number, 0);
    pair.tell();
    for at in 0..2 {
        let piece = mine.body[at * PIECE..][..PIECE].to_vec();
        pair.client.piece(number, piece.into()).unwrap();
    }
    let more = pair
        .client
        .piece(number, mine.body[2 * PIECE..][..PIECE].to_vec().into());
    assert_eq!(more, Err(NotNow::Window));
    assert!(
        pair.server
            .refuse(Refused::new(number, Code::Quota, "full"))
    );
    assert_eq!(pair.serve(), []);
    let told = pair.tell();
    assert!(matches!(told[0], FromServer::Refused(_)), "{told:?}");
    assert_eq!(pair.client.body_credit(), MIN_BODY_WINDOW);
    assert_eq!(pair.end(), None);
}

#[test]
fn limits_hold_at_their_ends() {
    let mine = submission(20_000, 0);
    let length = mine.body.len() as u64;
    // Uploads: one more is refused, and the connection goes on.
    let mut pair = Pair::open(None);
    for _ in 0..MAX_UPLOADS {
        pair.client.begin(0, mine.known(), length).unwrap();
    }
    assert_eq!(pair.serve().len(), MAX_UPLOADS);
    assert_eq!(
        pair.client.begin(0, mine.known(), length),
        Err(NotNow::Full)
    );
    let (id, headers, digest) = mine.known();
    let begin = FromClient::Begin(Begin {
        number: 100,
        kind: 0,
        id,
        headers,
        length,
        digest,
    });
    assert_eq!(pair.force(&begin), []);
    assert_eq!(pair.server.unanswered(), MAX_UPLOADS as u64);
    assert_eq!(pair.end(), None);
    // Other messages.
    let mut pair = Pair::open(None);
    for _ in 0..MAX_CALLS {
        pair.client.status(id).unwrap();
        pair.serve();
    }
    assert_eq!(pair.client.wait(id), Err(NotNow::Full));
    assert_eq!(
        pair.force(&FromClient::Wait {
            number: 5_000,
            of: id.into()
        }),
        []
    );
    assert_eq!(pair.server.unanswered(), MAX_CALLS as u64);
    // Requests: one more ends the connection.
    let requests = |first_number, count: usize| {
        FromClient::Requests(Requests {
            kind: 1,
            first_number,
            each_bytes: 16,
            payload: vec![0; 16 * count].into(),
        })
    };
    let mut pair = Pair::open(None);
    assert_eq!(pair.force(&requests(1, 100)).len(), 1);
    assert_eq!(pair.end(), None);
    assert_eq!(pair.force(&requests(101, 1)), []);
    assert_eq!(pair.end(), Some(Code::Limit));
    // Bodies: as many bytes as the window has, and one more.
    let mut pair = Pair::open(None);
    let number = pair.client.begin(0, mine.known(), length).unwrap();
    pair.serve();
    pair.server.begun(number, 0);
    pair.tell();
    for at in 0..2 {
        let piece = mine.body[at * PIECE..][..PIECE].to_vec();
        pair.client.piece(number, piece.into()).unwrap();
    }
    assert_eq!(pair.serve().len(), 2);
    let offset = 2 * PIECE as u64;
    let piece = FromClient::Piece(Piece {
        number,
        offset,
        bytes: vec![0; (length - offset).min(PIECE as u64) as usize].into(),
    });
    assert_eq!(pair.force(&piece), []);
    assert_eq!(pair.end(), Some(Code::Limit));
}

/// A client that reads nothing makes the server take nothing more.
#[test]
fn output_is_bounded() {
    let mut pair = Pair::open(None);
    let id = Digest256([1; 32]);
    let mut taken = 0;
    for number in 1..100_000 {
        if !pair.server.wants_bytes() {
            break;
        }
        taken += pair
            .force(&FromClient::Fetch(Fetch {
                number,
                of: id.into(),
                output: 0,
                offset: 0,
            }))
            .len();
        let refused = Refused::new(number, Code::NotFound, &"no ".repeat(300));
        pair.server.refuse(refused);
    }
    assert!(taken < 1_000 && pair.server.output().len() < MAX_OUTPUT + 2_000);
    pair.server.output().clear();
    assert!(pair.server.wants_bytes());
}

/// A server that answers what was not asked is not believed.
#[test]
fn clients_check_answers() {
    let id = Digest256([1; 32]);
    let receipt = signed();
    let lies = [
        FromServer::Accepted {
            number: 1,
            receipt: receipt.clone(),
        },
        FromServer::Accepted { number: 2, receipt },
        FromServer::Begun {
            number: 1,
            offset: 0,
        },
        FromServer::State {
            number: 9,
            state: State::Accepted,
        },
        FromServer::Finished(Finished {
            number: 1,
            receipt: signed(),
            outputs: vec![],
        }),
        FromServer::OutputPiece(OutputPiece {
            number: 2,
            offset: 1,
            bytes: vec![0].into(),
            last: true,
        }),
        // A short piece that is not the last one.
        FromServer::OutputPiece(OutputPiece {
            number: 2,
            offset: 0,
            bytes: vec![0].into(),
            last: false,
        }),
        FromServer::Answers(Answers {
            first_number: 3,
            each_bytes: 7,
            payload: vec![0; 7].into(),
        }),
        FromServer::Answers(Answers {
            first_number: 3,
            each_bytes: 8,
            payload: vec![0; 40].into(),
        }),
        FromServer::Answers(Answers {
            first_number: 2,
            each_bytes: 8,
            payload: vec![0; 8].into(),
        }),
        FromServer::Refused(Refused {
            count: 5,
            ..Refused::new(3, Code::Retry, "")
        }),
        FromServer::Refused(Refused::new(12, Code::Retry, "")),
        FromServer::Credit { bytes: 1 },
    ];
    for lie in &lies {
        let mut pair = Pair::open(None);
        pair.client.status(id).unwrap();
        pair.client.fetch(id, 0, 0).unwrap();
        pair.client.requests(1, 3, &vec![0; 64].into()).unwrap();
        let mut said = BytesMut::new();
        lie.encode(&mut said);
        pair.client.receive(&said);
        assert!(
            matches!(pair.client.told(), Err(ServerFault::Unasked(_))),
            "{lie:?}"
        );
        assert!(pair.client.is_over());
        assert_eq!(pair.client.status(id), Err(NotNow::Closed));
    }
}

#[test]
fn versions_are_compared() {
    for (least, most, code) in [
        (2, 9, Some(Code::Version)),
        (0, 0, Some(Code::Version)),
        (0, 9, None),
        // A client that knows one version more than the server, and one that knows ours as its newest.
        (1, 2, None),
        (0, 1, None),
    ] {
        let mut pair = Pair::new(Hello {
            least,
            most,
            ..hello()
        });
        assert_eq!(pair.serve().len(), usize::from(code.is_none()));
        assert_eq!(pair.end(), code);
    }
}

/// A client goes on with a version of its range, and with no other.
#[test]
fn clients_take_a_version_that_they_have_offered() {
    for (least, most, fits) in [(1, 2, true), (0, 1, true), (0, 0, false), (2, 9, false)] {
        let mut client = ClientConnection::new(Hello {
            least,
            most,
            ..hello()
        });
        let mut pair = Pair::new(hello());
        // The server welcomes a client of today, in version 1.
        pair.serve();
        assert!(pair.server.welcome(None, 0));
        let said = pair.server.output().split();
        client.receive(&said);
        let told = client.told();
        match fits {
            true => assert!(matches!(told, Ok(Some(FromServer::Welcome(_)))), "{told:?}"),
            false => {
                let refused =
                    matches!(told, Err(ServerFault::Unasked(why)) if why.contains("version"));
                assert!(refused, "{least} to {most}");
            }
        }
    }
}

/// A server whose welcome no client would read learns of it when it starts.
#[test]
fn servers_check_what_they_say() {
    let good = terms(0);
    assert_eq!(good.check(), Ok(()));
    let many = |count: usize| {
        let mut many = terms(0);
        let kind = |at| Kind {
            name: format!("kind-{at}"),
            ..kinds()[0].clone()
        };
        many.kinds = (0..count).map(kind).collect();
        many.check()
    };
    assert_eq!(many(MAX_KINDS), Ok(()));
    assert!(matches!(many(MAX_KINDS + 1), Err(WireError::Field(_))));
    let changes: [fn(&mut Terms); 7] = [
        |terms| terms.server = "a b".into(),
        |terms| terms.servers = 1,
        |terms| terms.place = Party::new(3),
        |terms| terms.body_window = MIN_BODY_WINDOW - 1,
        |terms| terms.request_window = 0,
        |terms| terms.kinds[0].name = terms.kinds[1].name.clone(),
        |terms| terms.kinds[0].inputs[0].shape = vec![Some(usize::MAX)],
    ];
    for change in changes {
        let mut terms = terms(0);
        change(&mut terms);
        assert!(matches!(terms.check(), Err(WireError::Field(_))));
    }
    let mut long = terms(0);
    for kind in &mut long.kinds {
        kind.inputs = vec![
            Input {
                name: "n".repeat(1000),
                ..kind.inputs[0].clone()
            };
            50
        ];
    }
    assert!(matches!(long.check(), Err(WireError::Long { .. })));
}

/// Bytes that messages take beside what they carry.
#[test]
fn messages_keep_their_budgets() {
    let length = |message: &FromClient| {
        let mut frame = BytesMut::new();
        message.encode(&mut frame);
        frame.len()
    };
    let requests = FromClient::Requests(Requests {
        kind: 200,
        first_number: u64::MAX - 1000,
        each_bytes: 32,
        payload: vec![0; 50 * 32].into(),
    });
    assert!(length(&requests) <= 50 * 32 + 30, "{}", length(&requests));
    let mine = submission(10, 0);
    let (id, headers, digest) = mine.known();
    let carried = headers.len() + mine.body.len();
    let whole = FromClient::Whole(Whole {
        number: 1 << 40,
        kind: 200,
        id,
        headers,
        digest,
        body: mine.body.clone().into(),
    });
    assert!(
        length(&whole) <= carried + 2 * 32 + 40,
        "{}",
        length(&whole)
    );
    let piece = FromClient::Piece(Piece {
        number: 1 << 40,
        offset: MAX_BODY,
        bytes: vec![0; PIECE].into(),
    });
    assert!(length(&piece) <= PIECE + 40, "{}", length(&piece));
    // What a connection costs that has said nothing, beside TLS.
    assert!(
        size_of::<ServerConnection>() <= 512,
        "{}",
        size_of::<ServerConnection>()
    );
}

proptest! {
    #[test]
    fn servers_stand_any_script(script in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzz_server(&script);
    }

    #[test]
    fn servers_stand_any_messages(ops in proptest::collection::vec((any::<u8>(), any::<u8>()), 0..200)) {
        // Greeting first, then messages alone: they come further.
        let script: Vec<u8> = ops.iter().flat_map(|(op, mode)| [(op / 12).min(20) * 12 + op % 10, *mode]).collect();
        fuzz_server(&[&[0, 0][..], &script].concat());
    }

    #[test]
    fn clients_stand_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzz_client(&bytes);
    }

    #[test]
    fn clients_stand_any_messages(messages in proptest::collection::vec(crate::common::from_server(), 0..4)) {
        let mut bytes = BytesMut::new();
        messages.iter().for_each(|message| message.encode(&mut bytes));
        fuzz_client(&bytes);
    }
}
