//! Messages of a client, checked while they are decoded.

use std::fmt;

use bytes::{Bytes, BytesMut};
use madrigal_core::{Digest256, Wipe, Zeroizing};
use prost::Message as _;

use crate::check::{digest, holds, name_if_any, number, software};
use crate::error::WireError;
use crate::frame;
use crate::limits::{MAX_BODY, MAX_HEADERS, MAX_REQUEST, MAX_TOKEN, PIECE};
use crate::payload::Payload;
use crate::schema::{self, ClientFrame, client_frame::Message};

/// A message of a client. Each field keeps the limits of `schema/SERVICE.md` once it was decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromClient {
    /// The first message.
    Hello(Hello),
    /// Begins an upload.
    Begin(Begin),
    /// Bytes of an upload.
    Piece(Piece),
    /// An upload is complete.
    End {
        /// Number of the upload.
        number: u64,
    },
    /// A submission in one message.
    Whole(Whole),
    /// Asks for the state of a submission.
    Status {
        /// Number of the message.
        number: u64,
        /// Name of the submission.
        id: Digest256,
    },
    /// Asks for the job of a submission, or for the first one of a kind after a batch.
    Wait {
        /// Number of the message.
        number: u64,
        /// The submission, or the batch that came before.
        of: Of,
    },
    /// Asks for a piece of an output.
    Fetch(Fetch),
    /// Requests side by side.
    Requests(Requests),
    /// Takes a message back.
    Cancel {
        /// Number of that message.
        number: u64,
    },
}

/// Greeting of a client.
#[derive(Clone, PartialEq, Eq)]
pub struct Hello {
    /// Least version that it speaks.
    pub least: u32,
    /// Most version that it speaks.
    pub most: u32,
    /// Secret by which the server knows it, if it gives one.
    pub token: Option<Zeroizing<Vec<u8>>>,
    /// Name that it gives itself.
    pub client: Option<String>,
    /// Program and version.
    pub software: String,
    /// Random bytes that are the same on the connections to all servers that the client uses together.
    pub session: [u8; 16],
}

impl fmt::Debug for Hello {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hello")
            .field("versions", &(self.least..=self.most))
            .field("token", &self.token.is_some())
            .field("client", &self.client)
            .field("software", &self.software)
            .finish()
    }
}

/// Beginning of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    /// Number of the upload on this connection.
    pub number: u64,
    /// Place of the kind in the server's list.
    pub kind: u32,
    /// Name of the submission.
    pub id: Digest256,
    /// Headers of its inputs, packed.
    pub headers: Bytes,
    /// Bytes of its body.
    pub length: u64,
    /// Digest of headers and body.
    pub digest: Digest256,
}

/// Bytes of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Number of the upload.
    pub number: u64,
    /// Place of the first byte in the body.
    pub offset: u64,
    /// The bytes: 1 to 65536.
    pub bytes: Payload,
}

/// A submission in one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// Number of the message.
    pub number: u64,
    /// Place of the kind in the server's list.
    pub kind: u32,
    /// Name of the submission.
    pub id: Digest256,
    /// Headers of its inputs, packed.
    pub headers: Bytes,
    /// Digest of headers and body.
    pub digest: Digest256,
    /// The body: up to 65536 bytes.
    pub body: Payload,
}

/// A job that a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The job of a submission.
    Submission(Digest256),
    /// The job of a batch of a kind, or the one after it.
    Batch {
        /// Place of the kind in the server's list.
        kind: u32,
        /// Number of the batch.
        batch: u64,
    },
}

impl From<Digest256> for Of {
    fn from(id: Digest256) -> Self {
        Self::Submission(id)
    }
}

impl Of {
    fn checked(id: &[u8], kind: u32, batch: u64) -> Result<Self, WireError> {
        match (id, kind, batch) {
            ([], kind, batch) => Ok(Self::Batch { kind, batch }),
            (id, 0, 0) => {
                let id = digest(id, "a submission's name that has not 32 bytes")?;
                Ok(Self::Submission(id))
            }
            _ => Err(WireError::Field("a submission and a batch at once")),
        }
    }

    fn sent(&self) -> (Vec<u8>, u32, u64) {
        match *self {
            Self::Submission(id) => (id.0.to_vec(), 0, 0),
            Self::Batch { kind, batch } => (Vec::new(), kind, batch),
        }
    }
}

/// Wish for a piece of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetch {
    /// Number of the message.
    pub number: u64,
    /// The submission or the batch whose job it is of.
    pub of: Of,
    /// Place of the output in the job's receipt.
    pub output: u32,
    /// Place of the piece's first byte in the output's file.
    pub offset: u64,
}

/// Requests of one size, with numbers that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requests {
    /// Place of the kind in the server's list.
    pub kind: u32,
    /// Number of the first request.
    pub first_number: u64,
    /// Bytes of each.
    pub each_bytes: u32,
    /// All of them side by side.
    pub payload: Payload,
}

impl Requests {
    /// Number of requests.
    pub fn count(&self) -> u64 {
        self.payload.len() as u64 / u64::from(self.each_bytes.max(1))
    }

    /// Requests in their order.
    pub fn each(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.payload.chunks_exact(self.each_bytes.max(1) as usize)
    }
}

/// Checks requests or answers that lie side by side.
pub(crate) fn side_by_side(first: u64, each: u32, payload: &[u8]) -> Result<(), WireError> {
    let each = each as usize;
    holds(
        (1..=MAX_REQUEST).contains(&each)
            && !payload.is_empty()
            && payload.len().is_multiple_of(each),
        "requests or answers that are not of one size",
    )?;
    number(first)?;
    let count = (payload.len() / each) as u64;
    let last = first.checked_add(count - 1);
    holds(last.is_some(), "requests or answers beyond the last number")
}

impl FromClient {
    /// Reads a message; what it carries stays in `message`.
    ///
    /// # Errors
    /// [`WireError`] for bytes that are no message of a client, or one beyond the limits.
    pub fn decode(message: Bytes) -> Result<Self, WireError> {
        let read = ClientFrame::decode(message).map_err(|_| WireError::Schema)?;
        Self::checked(read.message.ok_or(WireError::Unknown)?)
    }

    /// Reads the first message, and wipes the memory that it was in: it may hold a token.
    ///
    /// # Errors
    /// [`WireError`] as [`FromClient::decode`].
    pub fn decode_first(mut message: BytesMut) -> Result<Self, WireError> {
        let read = ClientFrame::decode(&message[..]).map_err(|_| WireError::Schema);
        message[..].wipe();
        Self::checked(read?.message.ok_or(WireError::Unknown)?)
    }

    fn checked(message: Message) -> Result<Self, WireError> {
        const ID: &str = "a submission's name that has not 32 bytes";
        const DIGEST: &str = "a digest that has not 32 bytes";
        let headers = |headers: Bytes| {
            let fits = (1..=MAX_HEADERS).contains(&headers.len());
            holds(fits, "no headers, or more than 16384 bytes of them").map(|()| headers)
        };
        Ok(match message {
            Message::Hello(hello) => Self::Hello(Hello::checked(hello)?),
            Message::Begin(begin) => {
                holds(begin.length <= MAX_BODY, "a body of more than 2^46 bytes")?;
                Self::Begin(Begin {
                    number: number(begin.number)?,
                    kind: begin.kind,
                    id: digest(&begin.id, ID)?,
                    headers: headers(begin.headers)?,
                    length: begin.length,
                    digest: digest(&begin.digest, DIGEST)?,
                })
            }
            Message::Piece(piece) => {
                let fits = (1..=PIECE).contains(&piece.bytes.len()) && piece.offset <= MAX_BODY;
                holds(fits, "an empty piece, or one of more than 65536 bytes")?;
                Self::Piece(Piece {
                    number: number(piece.number)?,
                    offset: piece.offset,
                    bytes: Payload(piece.bytes),
                })
            }
            Message::End(end) => Self::End {
                number: number(end.number)?,
            },
            Message::Whole(whole) => {
                let fits = whole.body.len() <= PIECE;
                holds(fits, "a body of more than 65536 bytes in one message")?;
                Self::Whole(Whole {
                    number: number(whole.number)?,
                    kind: whole.kind,
                    id: digest(&whole.id, ID)?,
                    headers: headers(whole.headers)?,
                    digest: digest(&whole.digest, DIGEST)?,
                    body: Payload(whole.body),
                })
            }
            Message::Status(status) => Self::Status {
                number: number(status.number)?,
                id: digest(&status.id, ID)?,
            },
            Message::Wait(wait) => Self::Wait {
                number: number(wait.number)?,
                of: Of::checked(&wait.id, wait.kind, wait.batch)?,
            },
            Message::Fetch(fetch) => Self::Fetch(Fetch {
                number: number(fetch.number)?,
                of: Of::checked(&fetch.id, fetch.kind, fetch.batch)?,
                output: fetch.output,
                offset: fetch.offset,
            }),
            Message::Requests(requests) => {
                side_by_side(
                    requests.first_number,
                    requests.each_bytes,
                    &requests.payload,
                )?;
                Self::Requests(Requests {
                    kind: requests.kind,
                    first_number: requests.first_number,
                    each_bytes: requests.each_bytes,
                    payload: Payload(requests.payload),
                })
            }
            Message::Cancel(cancel) => Self::Cancel {
                number: number(cancel.number)?,
            },
        })
    }

    /// Appends the message as a frame.
    pub fn encode(&self, to: &mut BytesMut) {
        let message = match self {
            Self::Hello(hello) => Message::Hello(hello.sent()),
            Self::Begin(begin) => Message::Begin(schema::Begin {
                number: begin.number,
                kind: begin.kind,
                id: begin.id.0.to_vec(),
                headers: begin.headers.clone(),
                length: begin.length,
                digest: begin.digest.0.to_vec(),
            }),
            Self::Piece(piece) => Message::Piece(schema::Piece {
                number: piece.number,
                offset: piece.offset,
                bytes: piece.bytes.0.clone(),
            }),
            Self::End { number } => Message::End(schema::End { number: *number }),
            Self::Whole(whole) => Message::Whole(schema::Whole {
                number: whole.number,
                kind: whole.kind,
                id: whole.id.0.to_vec(),
                headers: whole.headers.clone(),
                digest: whole.digest.0.to_vec(),
                body: whole.body.0.clone(),
            }),
            Self::Status { number, id } => Message::Status(schema::Status {
                number: *number,
                id: id.0.to_vec(),
            }),
            Self::Wait { number, of } => {
                let (id, kind, batch) = of.sent();
                Message::Wait(schema::Wait {
                    number: *number,
                    id,
                    kind,
                    batch,
                })
            }
            Self::Fetch(fetch) => {
                let (id, kind, batch) = fetch.of.sent();
                Message::Fetch(schema::Fetch {
                    number: fetch.number,
                    id,
                    output: fetch.output,
                    offset: fetch.offset,
                    kind,
                    batch,
                })
            }
            Self::Requests(requests) => Message::Requests(schema::Requests {
                kind: requests.kind,
                first_number: requests.first_number,
                each_bytes: requests.each_bytes,
                payload: requests.payload.0.clone(),
            }),
            Self::Cancel { number } => Message::Cancel(schema::Cancel { number: *number }),
        };
        let message = Some(message);
        frame::put(&ClientFrame { message }, to);
    }
}

impl Hello {
    fn checked(mut hello: schema::Hello) -> Result<Self, WireError> {
        let token = Zeroizing::new(std::mem::take(&mut hello.token));
        holds(
            hello.least <= hello.most,
            "a range of versions that is empty",
        )?;
        holds(token.len() <= MAX_TOKEN, "a token of more than 1024 bytes")?;
        let client = std::mem::take(&mut hello.client);
        Ok(Self {
            least: hello.least,
            most: hello.most,
            token: (!token.is_empty()).then_some(token),
            client: name_if_any(client, "a client's name that is none")?,
            software: software(std::mem::take(&mut hello.software))?,
            session: {
                let session = hello.session.as_slice().try_into();
                session.map_err(|_| WireError::Field("a session that has not 16 bytes"))?
            },
        })
    }

    fn sent(&self) -> schema::Hello {
        schema::Hello {
            least: self.least,
            most: self.most,
            token: self
                .token
                .as_ref()
                .map(|token| token.to_vec())
                .unwrap_or_default(),
            client: self.client.clone().unwrap_or_default(),
            software: self.software.clone(),
            session: self.session.to_vec(),
        }
    }
}
