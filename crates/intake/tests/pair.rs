//! A client and a server on one wire, without I/O.

use std::sync::Arc;

use madrigal_clients::{Header, Named, ShareFile, deal_with, nonce, private_generator};
use madrigal_core::{Digest256, Party};
use madrigal_engine::{Element, Shares, Sharing, Width};
use madrigal_intake::limits::*;
use madrigal_intake::*;
use madrigal_net::identity::Signature;

pub(crate) fn kinds() -> Vec<Kind> {
    let input = |name: &str, sharing, element, shape: Shape| Input {
        name: name.into(),
        element_type: "u32".into(),
        shape,
        sharing,
        element,
    };
    let sum = Kind {
        name: "sum".into(),
        program: Digest256([1; 32]),
        what: What::Program,
        inputs: vec![
            input("x", Sharing::R, Element::Ring(Width::W32), vec![None]),
            input("flag", Sharing::R, Element::Bits(1), vec![Some(3)]),
        ],
        outputs: vec![],
        submitters: "members of the club".into(),
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
    let closed = Kind {
        name: "closed".into(),
        anonymous: false,
        ..sum.clone()
    };
    vec![sum, keys, closed]
}

pub(crate) fn terms(place: usize) -> Terms {
    Terms {
        server: "alice".into(),
        place: Party::new(place),
        servers: 3,
        software: "test 1".into(),
        kinds: kinds(),
        body_window: MIN_BODY_WINDOW,
        request_window: 100,
    }
}

pub(crate) fn hello() -> Hello {
    Hello {
        least: *VERSIONS.start(),
        most: *VERSIONS.end(),
        token: Some(b"token".to_vec().into()),
        client: Some("carol".into()),
        software: "test 2".into(),
        session: [9; 16],
    }
}

/// Files of a submission to the kind `sum` of `elements` numbers: input by input, server by server.
pub(crate) fn dealt(elements: usize) -> Vec<Vec<ShareFile>> {
    let mut generator = private_generator().unwrap();
    let nonce = nonce(&mut generator);
    let named = |name: &str, shape| Named {
        job: "sum".into(),
        name: name.into(),
        client: "carol".into(),
        element_type: "u32".into(),
        shape,
    };
    let numbers: Vec<u32> = (0..elements as u32).collect();
    let numbers = Shares::ring_of(Sharing::PUBLIC, numbers);
    let bits = Shares::bits_of(Sharing::PUBLIC, 1, &[1_u8, 0, 1]);
    [("x", vec![elements], numbers), ("flag", vec![3], bits)]
        .into_iter()
        .map(|(name, shape, value)| {
            deal_with(
                named(name, shape),
                &value,
                Sharing::R,
                3,
                nonce,
                &mut generator,
            )
            .unwrap()
        })
        .collect()
}

/// A submission for one server.
#[derive(Clone)]
pub(crate) struct Submission {
    pub(crate) id: Digest256,
    pub(crate) headers: bytes::Bytes,
    pub(crate) digest: Digest256,
    pub(crate) body: Vec<u8>,
}

impl Submission {
    pub(crate) fn known(&self) -> (Digest256, bytes::Bytes, Digest256) {
        (self.id, self.headers.clone(), self.digest)
    }
}

pub(crate) fn submission(elements: usize, place: usize) -> Submission {
    let files = dealt(elements);
    let headers: Vec<Header> = files
        .iter()
        .map(|files| files[0].header().clone())
        .collect();
    let packed = pack(&headers).unwrap();
    let mut body = Vec::new();
    for files in &files {
        files[place].write_body(&mut body).unwrap();
    }
    assert_eq!(
        body_length(&headers, Party::new(place)),
        Some(body.len() as u64)
    );
    let kind = &kinds()[0];
    Submission {
        id: submission_name(&kind.name, &kind.program, &packed),
        digest: Chain::digest(&packed, &body),
        headers: packed.into(),
        body,
    }
}

pub(crate) fn signed() -> Signed {
    Signed {
        bytes: b"a receipt".as_slice().into(),
        signature: Signature::from_bytes([7; 96]),
    }
}

/// Both ends of a connection.
pub(crate) struct Pair {
    pub(crate) client: ClientConnection,
    pub(crate) server: ServerConnection,
}

impl Pair {
    /// A connection whose client is welcome under a name, or as nobody.
    pub(crate) fn open(name: Option<&str>) -> Self {
        let mut pair = Self::new(hello());
        let asked = pair.serve();
        assert_eq!(asked, [Asked::Hello(hello())]);
        assert!(pair.server.welcome(name.map(str::to_owned), 5));
        assert!(matches!(pair.tell()[..], [FromServer::Welcome(_)]));
        pair
    }

    pub(crate) fn new(hello: Hello) -> Self {
        Self {
            client: ClientConnection::new(hello),
            server: ServerConnection::new(Arc::new(terms(0))),
        }
    }

    /// Carries what the client has said, and gives what the server makes of it.
    pub(crate) fn serve(&mut self) -> Vec<Asked> {
        let said = self.client.output().split();
        self.give_server(&said)
    }

    pub(crate) fn give_server(&mut self, said: &[u8]) -> Vec<Asked> {
        let mut asked = Vec::new();
        for chunk in said.chunks(1000) {
            self.server.receive(chunk);
            asked.extend(std::iter::from_fn(|| self.server.asked()));
        }
        asked
    }

    /// Carries what the server has said.
    pub(crate) fn tell(&mut self) -> Vec<FromServer> {
        let said = self.server.output().split();
        let mut told = Vec::new();
        for chunk in said.chunks(1000) {
            self.client.receive(chunk);
            told.extend(std::iter::from_fn(|| self.client.told().unwrap()));
        }
        told
    }

    /// Has the client send a message that its own side would not send.
    pub(crate) fn force(&mut self, message: &FromClient) -> Vec<Asked> {
        let mut said = bytes::BytesMut::new();
        message.encode(&mut said);
        self.give_server(&said)
    }

    /// The code of the connection's end.
    pub(crate) fn end(&self) -> Option<Code> {
        self.server.over().map(|refused| refused.code)
    }
}

/// The one refusal among what was told.
#[track_caller]
pub(crate) fn refusal(told: &[FromServer]) -> (u64, Code) {
    match told {
        [FromServer::Refused(refused)] => (refused.number, refused.code),
        other => panic!("{other:?} is no refusal"),
    }
}
