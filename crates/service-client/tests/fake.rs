//! A service in this process, made of the server's side of `madrigal-intake`: its servers may be slow, lie, die and forget.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::BytesMut;
use futures_util::future::BoxFuture;
use madrigal_clients::{Header, Named, ShareFile};
use madrigal_core::budget::Budget;
use madrigal_core::{Digest256, Party};
use madrigal_engine::{Element, Sharing, Width};
use madrigal_intake::limits::*;
use madrigal_intake::*;
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;
use madrigal_net::tls::{Turn, Wire};
use madrigal_service_client::{Dial, DialError, Dialed, ServiceConfig, Stream};
use tokio::io::duplex;

/// The time at all servers.
pub(crate) const NOW: u64 = 1_800_000_000;

/// A kind of programs whose output is its input `x`, one of requests whose answer is the first half, and one of blocks whose answer is the request's number.
pub(crate) fn kinds(sharing: Sharing) -> Vec<Kind> {
    let input = |name: &str, shape, element| Input {
        name: name.into(),
        element_type: "u64".into(),
        shape,
        sharing,
        element,
    };
    let ring = Element::Ring(Width::W64);
    // A has no bits.
    let bits = match sharing {
        Sharing::A => Sharing::B,
        other => other,
    };
    let copy = Kind {
        name: "copy".into(),
        program: Digest256([1; 32]),
        what: What::Program,
        inputs: vec![
            input("x", vec![None], ring),
            Input {
                sharing: bits,
                ..input("y", vec![Some(2)], Element::Bits(3))
            },
        ],
        outputs: vec![Output {
            name: "x".into(),
            element_type: "u64".into(),
            shape: vec![None],
            receivers: "who submitted".into(),
        }],
        submitters: "everybody".into(),
        most_bytes: 1 << 24,
        anonymous: true,
    };
    let halves = Kind {
        name: "halves".into(),
        inputs: vec![input("x", vec![Some(2)], ring)],
        what: What::Requests {
            request_bytes: 16,
            answer_bytes: 8,
        },
        ..copy.clone()
    };
    let blocks = Kind {
        name: "blocks".into(),
        what: What::Requests {
            request_bytes: 16,
            answer_bytes: 32,
        },
        ..halves.clone()
    };
    let members = Kind {
        name: "members".into(),
        anonymous: false,
        ..copy.clone()
    };
    vec![copy, halves, blocks, members]
}

/// Ways in which a server is not as it should be.
#[derive(Default)]
pub(crate) struct Faults {
    /// Dials that nobody answers, from the next one on.
    pub(crate) away: usize,
    /// Refusals of submissions with a code that may be retried.
    pub(crate) busy: usize,
    /// Refuses submissions with this code.
    pub(crate) refuses: Option<Code>,
    /// Ends the connection at each of these numbers of wishes.
    pub(crate) dies_at: Vec<usize>,
    /// Forgets what is incomplete when it dies.
    pub(crate) forgets: bool,
    /// Syncs to disk, and dies before it says so: once.
    pub(crate) dies_before_receipt: bool,
    /// Waits before each answer.
    pub(crate) slow: Duration,
    /// Signs for another digest.
    pub(crate) other_digest: bool,
    /// Signs with another key.
    pub(crate) other_key: Option<Identity>,
    /// Changes the job's receipt.
    pub(crate) other_job: Option<fn(&mut JobReceipt)>,
    /// Changes outputs.
    pub(crate) other_output: Option<fn(&mut Vec<u8>)>,
    /// Answers a wish for a state with a receipt.
    pub(crate) nonsense: bool,
    /// Waits before it tells the end of a job.
    pub(crate) late: Duration,
    /// Drops requests instead of answering them.
    pub(crate) mute: bool,
    /// Gives answers of which one part is another one.
    pub(crate) other_block: bool,
}

#[derive(Default)]
pub(crate) struct Submitted {
    pub(crate) packed: Vec<u8>,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Vec<u8>,
    pub(crate) digest: Option<Digest256>,
    pub(crate) accepted: bool,
    pub(crate) kind: usize,
}

/// A client's key, token and session.
pub(crate) type Came = (Option<Fingerprint>, Option<Vec<u8>>, [u8; 16]);

pub(crate) struct Server {
    pub(crate) identity: Identity,
    pub(crate) terms: Arc<Terms>,
    pub(crate) faults: Mutex<Faults>,
    pub(crate) submitted: Mutex<HashMap<[u8; 32], Submitted>>,
    /// Wishes that came, on all connections.
    wishes: Mutex<usize>,
    /// Clients that came, as the server knows them.
    pub(crate) came: Mutex<Vec<Came>>,
    /// Bytes of bodies that came.
    pub(crate) received: Mutex<u64>,
}

/// Servers that clients reach in memory.
pub(crate) struct Service {
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) roster: Roster,
    /// Bytes that a connection holds in either direction.
    pub(crate) room: usize,
}

pub(crate) fn fresh() -> Identity {
    Identity::generate(Validity::days(1).unwrap()).unwrap()
}

impl Service {
    pub(crate) fn new(sharing: Sharing, ports: &[u16]) -> Self {
        let identities = [fresh(), fresh(), fresh()];
        let entry = |(i, identity): (usize, &Identity)| {
            let port = ports.get(i).copied().unwrap_or(7700 + i as u16);
            (
                format!("127.0.0.1:{port}").parse().unwrap(),
                identity.fingerprint(),
            )
        };
        let roster = Roster::local(identities.iter().enumerate().map(entry)).unwrap();
        let server = |(place, identity)| {
            Arc::new(Server {
                identity,
                terms: Arc::new(Terms {
                    server: format!("party{place}"),
                    place: Party::new(place),
                    servers: 3,
                    software: "fake 1".into(),
                    kinds: kinds(sharing),
                    body_window: MIN_BODY_WINDOW,
                    request_window: 500,
                }),
                faults: Mutex::default(),
                submitted: Mutex::default(),
                wishes: Mutex::default(),
                came: Mutex::default(),
                received: Mutex::default(),
            })
        };
        Self {
            servers: identities.into_iter().enumerate().map(server).collect(),
            roster,
            room: 1 << 16,
        }
    }

    pub(crate) fn config(&self) -> ServiceConfig {
        let mut config = ServiceConfig::new(self.roster.clone());
        config.patience = Duration::from_secs(5);
        config
    }

    pub(crate) fn faults(&self, server: usize) -> MutexGuard<'_, Faults> {
        self.servers[server].faults.lock().unwrap()
    }

    /// Has a server say something else about itself.
    pub(crate) fn change(&mut self, server: usize, change: impl FnOnce(&mut Terms)) {
        let server = Arc::get_mut(&mut self.servers[server]).unwrap();
        change(Arc::get_mut(&mut server.terms).unwrap());
    }

    /// Number of submissions that a server has accepted.
    pub(crate) fn accepted(&self, server: usize) -> usize {
        let submitted = self.servers[server].submitted.lock().unwrap();
        submitted.values().filter(|one| one.accepted).count()
    }
}

impl Dial for Service {
    fn dial(&self, server: usize) -> BoxFuture<'_, Result<Dialed, DialError>> {
        Box::pin(async move {
            let mut faults = self.faults(server);
            if faults.away > 0 {
                faults.away -= 1;
                return Err(DialError::Unreachable {
                    address: "memory".into(),
                    source: std::io::ErrorKind::ConnectionRefused.into(),
                });
            }
            let (near, far) = duplex(self.room);
            let far: Box<dyn Stream> = Box::new(far);
            tokio::spawn(self.servers[server].clone().serve(Wire::clear(far), None));
            let near: Box<dyn Stream> = Box::new(near);
            Ok(Wire::clear(near))
        })
    }
}

impl Server {
    /// Serves a connection of a client who has proved to have a key, or none.
    pub(crate) async fn serve(
        self: Arc<Self>,
        mut wire: Wire<Box<dyn Stream>>,
        key: Option<Fingerprint>,
    ) {
        let mut connection = ServerConnection::new(self.terms.clone());
        let mut output = BytesMut::new();
        let mut uploads = HashMap::new();
        loop {
            output.unsplit(connection.output().split());
            let reads = connection.wants_bytes();
            if output.is_empty() && !reads {
                let _ = wire.close(&mut output).await;
                return;
            }
            let mut take = |bytes: &[u8]| connection.receive(bytes);
            match wire.turn(&mut output, reads, &mut take).await {
                Ok(Turn::Ended) | Err(_) => return,
                Ok(_) => {}
            }
            while let Some(asked) = connection.asked() {
                let mut slow = self.faults.lock().unwrap().slow;
                if matches!(asked, Asked::Wait { .. }) {
                    slow += self.faults.lock().unwrap().late;
                }
                if !slow.is_zero() {
                    tokio::time::sleep(slow).await;
                }
                if self.dies() {
                    return;
                }
                if !self.answer(&mut connection, asked, (key, &mut uploads)) {
                    return;
                }
            }
        }
    }

    fn dies(&self) -> bool {
        let mut wishes = self.wishes.lock().unwrap();
        *wishes += 1;
        let faults = self.faults.lock().unwrap();
        let dies = faults.dies_at.contains(&*wishes);
        if dies && faults.forgets {
            let mut submitted = self.submitted.lock().unwrap();
            submitted.retain(|_, one| one.accepted);
        }
        dies
    }

    /// Two of three parts of a block with a number, which are alike at all servers.
    fn numbered(&self, number: u64) -> Vec<u8> {
        let part = [number.to_le_bytes(); 2].concat();
        let mut parts = [&part[..], &part[..]].concat();
        parts[31] ^= u8::from(self.faults.lock().unwrap().other_block);
        parts
    }

    fn receipt(&self, id: Digest256, one: &Submitted) -> Signed {
        let faults = self.faults.lock().unwrap();
        let kind = &self.terms.kinds[one.kind];
        let mut digest = one.digest.unwrap();
        if faults.other_digest {
            digest.0[0] ^= 1;
        }
        let receipt = Receipt {
            server: self.identity.fingerprint(),
            kind: kind.name.clone(),
            program: kind.program,
            submission: id,
            digest,
            time: NOW,
        };
        receipt
            .sign(faults.other_key.as_ref().unwrap_or(&self.identity))
            .unwrap()
    }

    /// Answers; `false`: the server dies.
    fn answer(
        &self,
        connection: &mut ServerConnection,
        asked: Asked,
        (key, uploads): (Option<Fingerprint>, &mut HashMap<u64, Digest256>),
    ) -> bool {
        let mut submitted = self.submitted.lock().unwrap();
        match asked {
            Asked::Hello(hello) => {
                let token = hello.token.map(|token| token.to_vec());
                let known = key.is_some()
                    || token.as_deref()
                        == Some(&token_for(b"sesame", &self.identity.fingerprint())[..]);
                if token.is_some() && !known {
                    connection.reject(Code::Unknown, "no such token");
                    return true;
                }
                self.came.lock().unwrap().push((key, token, hello.session));
                connection.welcome(known.then(|| "carol".to_owned()), NOW);
            }
            Asked::Begin(begin, headers) => {
                if let Some(refused) = self.refuses(begin.number) {
                    connection.refuse(refused);
                    return true;
                }
                let one = submitted.entry(begin.id.0).or_default();
                if one.digest.is_some_and(|digest| digest != begin.digest) {
                    let refused = Refused::new(begin.number, Code::Conflict, "another digest");
                    connection.refuse(refused);
                    return true;
                }
                (one.digest, one.headers) = (Some(begin.digest), headers);
                (one.packed, one.kind) = (begin.headers.to_vec(), begin.kind as usize);
                if one.accepted {
                    let receipt = self.receipt(begin.id, one);
                    connection.accepted(begin.number, receipt);
                } else {
                    let offset = one.body.len() as u64;
                    one.body.reserve(begin.length as usize - one.body.len());
                    connection.begun(begin.number, offset);
                }
                uploads.insert(begin.number, begin.id);
            }
            Asked::Piece(piece) => {
                let id = uploads[&piece.number];
                let one = submitted.get_mut(&id.0).unwrap();
                assert_eq!(one.body.len() as u64, piece.offset);
                one.body.extend_from_slice(&piece.bytes);
                *self.received.lock().unwrap() += piece.bytes.len() as u64;
                connection.taken(piece.bytes.len() as u64);
            }
            Asked::End { number } => {
                let id = uploads[&number];
                let one = submitted.get_mut(&id.0).unwrap();
                return self.accept(connection, number, id, one);
            }
            Asked::Whole(whole, headers) => {
                connection.taken(whole.body.len() as u64);
                *self.received.lock().unwrap() += whole.body.len() as u64;
                if let Some(refused) = self.refuses(whole.number) {
                    connection.refuse(refused);
                    return true;
                }
                let one = submitted.entry(whole.id.0).or_default();
                if !one.accepted {
                    one.headers = headers;
                    (one.body, one.packed) = (whole.body.to_vec(), whole.headers.to_vec());
                    (one.digest, one.kind) = (Some(whole.digest), whole.kind as usize);
                }
                return self.accept(connection, whole.number, whole.id, one);
            }
            Asked::Status { number, id } => {
                if self.faults.lock().unwrap().nonsense {
                    // An answer that the state machine would not send.
                    let receipt = Signed {
                        bytes: b"x".as_slice().into(),
                        signature: self.identity.sign(b"x", b"x"),
                    };
                    FromServer::Accepted { number, receipt }.encode(connection.output());
                    return true;
                }
                connection.state(number, state(submitted.get(&id.0)));
            }
            Asked::Wait { number, of } => {
                let id = submission(of);
                let Some(one) = submitted.get(&id.0).filter(|one| one.accepted) else {
                    connection.state(number, state(submitted.get(&id.0)));
                    return true;
                };
                let file = self.output(id, one);
                let receipt = self.job(id, one).sign(&self.identity).unwrap();
                let length = file.len() as u64;
                connection.finished(Finished {
                    number,
                    receipt,
                    outputs: vec![(0, length)],
                });
            }
            Asked::Fetch(fetch) => {
                let id = submission(fetch.of);
                let file = self.output(id, &submitted[&id.0]);
                let start = fetch.offset as usize;
                let end = file.len().min(start + PIECE);
                connection.output_piece(OutputPiece {
                    number: fetch.number,
                    offset: fetch.offset,
                    bytes: file[start..end].to_vec().into(),
                    last: end == file.len(),
                });
            }
            Asked::Requests(requests) => {
                if self.faults.lock().unwrap().mute {
                    return true;
                }
                let blocks = self.terms.kinds[requests.kind as usize].name == "blocks";
                let first = requests.first_number;
                let (each_bytes, answers): (u32, Vec<Vec<u8>>) = match blocks {
                    true => {
                        let numbers = first..first + requests.count();
                        (32, numbers.map(|number| self.numbered(number)).collect())
                    }
                    false => (8, requests.each().map(|one| one[..8].to_vec()).collect()),
                };
                // In two groups, the later one first: any order is right.
                let half = answers.len() / 2;
                for (at, group) in [(half, &answers[half..]), (0, &answers[..half])] {
                    if !group.is_empty() {
                        connection.answers(Answers {
                            first_number: requests.first_number + at as u64,
                            each_bytes,
                            payload: group.concat().into(),
                        });
                    }
                }
            }
            Asked::Cancel { number } => {
                connection.refuse(Refused::new(number, Code::Cancelled, "taken back"));
            }
        }
        true
    }

    fn refuses(&self, number: u64) -> Option<Refused> {
        let mut faults = self.faults.lock().unwrap();
        if faults.busy > 0 {
            faults.busy -= 1;
            let refused = Refused::new(number, Code::Busy, "later");
            return Some(Refused {
                retry_after_ms: 5,
                ..refused
            });
        }
        faults
            .refuses
            .map(|code| Refused::new(number, code, "it is not to be"))
    }

    fn accept(
        &self,
        connection: &mut ServerConnection,
        number: u64,
        id: Digest256,
        one: &mut Submitted,
    ) -> bool {
        assert_eq!(Some(Chain::digest(&one.packed, &one.body)), one.digest);
        one.accepted = true;
        if std::mem::take(&mut self.faults.lock().unwrap().dies_before_receipt) {
            return false;
        }
        let receipt = self.receipt(id, one);
        connection.accepted(number, receipt)
    }

    /// The server's share of the output: that of the input.
    fn output(&self, id: Digest256, one: &Submitted) -> Vec<u8> {
        let (header, place) = (&one.headers[0], self.terms.place);
        let budget = Budget::new(1 << 30);
        let share = ShareFile::of_body(header.clone(), place, &mut &one.body[..], &budget);
        let named = Named {
            job: header.named().job.clone(),
            ..header.named().clone()
        };
        let shares = share.unwrap().into_shares();
        let output = ShareFile::of_output(named, shares, place, 3, id.0).unwrap();
        let mut bytes = Vec::new();
        output.write(&mut bytes, None).unwrap();
        if let Some(change) = self.faults.lock().unwrap().other_output {
            change(&mut bytes);
        }
        bytes
    }

    fn job(&self, id: Digest256, one: &Submitted) -> JobReceipt {
        let kind = &self.terms.kinds[one.kind];
        let named = one.headers[0].named().clone();
        let shape = named.shape.iter().map(|&axis| axis as u64).collect();
        let sort = *one.headers[0].sort();
        let empty = madrigal_engine::Shares::zeros(sort);
        let header = ShareFile::of_output(named, empty, self.terms.place, 3, id.0).unwrap();
        let mut job = JobReceipt {
            server: self.identity.fingerprint(),
            kind: kind.name.clone(),
            program: kind.program,
            batch: 1,
            run: id,
            submissions: 1,
            batch_digest: batch_digest([id].iter()),
            recipients: vec!["who submitted".into()],
            outputs: vec![JobOutput {
                name: "x".into(),
                element_type: "u64".into(),
                shape,
                header: header.header().submission(),
            }],
            privacy: None,
            time: NOW + self.terms.place.index() as u64,
            held: Vec::new(),
        };
        if let Some(change) = self.faults.lock().unwrap().other_job {
            change(&mut job);
        }
        job
    }
}

fn state(one: Option<&Submitted>) -> State {
    match one {
        None => State::Unknown,
        Some(one) if one.accepted => State::Counted { batch: 1 },
        Some(one) => State::Receiving {
            offset: one.body.len() as u64,
        },
    }
}

/// The submission that a message is about.
fn submission(of: Of) -> Digest256 {
    match of {
        Of::Submission(id) => id,
        Of::Batch { .. } => panic!("a message about a submission"),
    }
}
