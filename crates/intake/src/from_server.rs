//! Messages of a server, checked while they are decoded.

use bytes::{Bytes, BytesMut};
use madrigal_core::MAX_PARTIES;
use prost::Message as _;

use crate::check::{holds, name, name_if_any, number, shortened, software, words};
use crate::code::Code;
use crate::error::WireError;
use crate::frame;
use crate::from_client::side_by_side;
use crate::kind::Kind;
use crate::limits::{
    MAX_BODY, MAX_BODY_WINDOW, MAX_KINDS, MAX_RECEIPT, MAX_REQUEST_WINDOW, MAX_VALUES,
    MIN_BODY_WINDOW, PIECE, VERSIONS,
};
use crate::payload::Payload;
use crate::schema::{self, ServerFrame, server_frame::Message};
use crate::signed::Signed;
use crate::state::State;

/// A message of a server. Each field keeps the limits of `schema/SERVICE.md` once it was decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromServer {
    /// The first message.
    Welcome(Welcome),
    /// An upload goes on from an offset.
    Begun {
        /// Number of the upload.
        number: u64,
        /// Place of the next byte.
        offset: u64,
    },
    /// A submission is on the server's disk.
    Accepted {
        /// Number of the upload.
        number: u64,
        /// The receipt.
        receipt: Signed,
    },
    /// State of a submission.
    State {
        /// Number of the message that asked.
        number: u64,
        /// The state.
        state: State,
    },
    /// The job of a submission has finished.
    Finished(Finished),
    /// A piece of an output.
    OutputPiece(OutputPiece),
    /// Answers side by side.
    Answers(Answers),
    /// A refusal.
    Refused(Refused),
    /// Room for more bytes of bodies.
    Credit {
        /// Bytes.
        bytes: u64,
    },
}

/// Greeting of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// Version that both speak.
    pub version: u32,
    /// Name of the server.
    pub server: String,
    /// Place among the servers.
    pub place: u32,
    /// Number of servers.
    pub servers: u32,
    /// Program and version.
    pub software: String,
    /// Name by which the server knows the client; none if it is anonymous.
    pub client: Option<String>,
    /// Bytes of bodies that may be sent before there is credit for more.
    pub body_window: u64,
    /// Requests that may be unanswered.
    pub request_window: u32,
    /// The server's clock, in seconds since 1970.
    pub time: u64,
    /// Kinds that it has loaded.
    pub kinds: Vec<Kind>,
}

/// End of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Number of the message that asked.
    pub number: u64,
    /// The job's receipt.
    pub receipt: Signed,
    /// Outputs that the client may fetch: the place in the receipt's list, and the bytes of the share file.
    pub outputs: Vec<(u32, u64)>,
}

/// Bytes of an output's share file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPiece {
    /// Number of the message that asked.
    pub number: u64,
    /// Place of the first byte.
    pub offset: u64,
    /// The bytes: up to 65536.
    pub bytes: Payload,
    /// Whether the file ends with them.
    pub last: bool,
}

/// Answers of one size, to requests whose numbers follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    /// Number of the first request.
    pub first_number: u64,
    /// Bytes of each.
    pub each_bytes: u32,
    /// All of them side by side.
    pub payload: Payload,
}

impl Answers {
    /// Number of answers.
    pub fn count(&self) -> u64 {
        self.payload.len() as u64 / u64::from(self.each_bytes.max(1))
    }

    /// Answers in their order.
    pub fn each(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.payload.chunks_exact(self.each_bytes.max(1) as usize)
    }
}

/// Refusal of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Number of the message; 0: the connection.
    pub number: u64,
    /// Number of messages from that one on: 1, or more where they are requests.
    pub count: u32,
    /// Reason for programs.
    pub code: Code,
    /// Reason in words.
    pub text: String,
    /// Time after which it can be asked again; 0: not known.
    pub retry_after_ms: u32,
}

impl Refused {
    /// Refusal of one message.
    pub fn new(number: u64, code: Code, text: &str) -> Self {
        Self {
            number,
            count: 1,
            code,
            text: shortened(text),
            retry_after_ms: 0,
        }
    }
}

impl FromServer {
    /// Reads a message; what it carries stays in `message`.
    ///
    /// # Errors
    /// [`WireError`] for bytes that are no message of a server, or one beyond the limits.
    pub fn decode(message: Bytes) -> Result<Self, WireError> {
        let read = ServerFrame::decode(message).map_err(|_| WireError::Schema)?;
        Ok(match read.message.ok_or(WireError::Unknown)? {
            Message::Welcome(welcome) => Self::Welcome(Welcome::checked(welcome)?),
            Message::Begun(begun) => {
                let fits = begun.offset <= MAX_BODY;
                holds(fits, "an offset beyond 2^46")?;
                Self::Begun {
                    number: number(begun.number)?,
                    offset: begun.offset,
                }
            }
            Message::Accepted(accepted) => Self::Accepted {
                number: number(accepted.number)?,
                receipt: signed(accepted.receipt, &accepted.signature)?,
            },
            Message::State(state) => Self::State {
                number: number(state.number)?,
                state: State::checked(state)?,
            },
            Message::Finished(finished) => {
                let few = finished.outputs.len() <= MAX_VALUES;
                holds(few, "more than 64 outputs")?;
                let outputs = finished.outputs.iter().map(|one| (one.output, one.length));
                Self::Finished(Finished {
                    number: number(finished.number)?,
                    receipt: signed(finished.receipt, &finished.signature)?,
                    outputs: outputs.collect(),
                })
            }
            Message::OutputPiece(piece) => {
                let fits = piece.bytes.len() <= PIECE && piece.offset <= MAX_BODY;
                holds(fits, "a piece of more than 65536 bytes")?;
                Self::OutputPiece(OutputPiece {
                    number: number(piece.number)?,
                    offset: piece.offset,
                    bytes: Payload(piece.bytes),
                    last: piece.last,
                })
            }
            Message::Answers(answers) => {
                side_by_side(answers.first_number, answers.each_bytes, &answers.payload)?;
                Self::Answers(Answers {
                    first_number: answers.first_number,
                    each_bytes: answers.each_bytes,
                    payload: Payload(answers.payload),
                })
            }
            Message::Refused(refused) => {
                let count = refused.count.max(1);
                let fits = refused.number.checked_add(u64::from(count) - 1).is_some();
                holds(fits, "refusals beyond the last number")?;
                Self::Refused(Refused {
                    number: refused.number,
                    count,
                    code: Code::of_number(refused.code),
                    text: words(refused.text, "words that are too long or cannot be shown")?,
                    retry_after_ms: refused.retry_after_ms,
                })
            }
            Message::Credit(credit) => {
                holds(
                    credit.bytes <= MAX_BODY_WINDOW,
                    "credit of more than 2^30 bytes",
                )?;
                Self::Credit {
                    bytes: credit.bytes,
                }
            }
        })
    }

    /// Appends the message as a frame.
    pub fn encode(&self, to: &mut BytesMut) {
        let message = match self {
            Self::Welcome(welcome) => Message::Welcome(welcome.sent()),
            Self::Begun { number, offset } => Message::Begun(schema::Begun {
                number: *number,
                offset: *offset,
            }),
            Self::Accepted { number, receipt } => Message::Accepted(schema::Accepted {
                number: *number,
                receipt: receipt.bytes.clone(),
                signature: Bytes::copy_from_slice(receipt.signature.as_bytes()),
            }),
            Self::State { number, state } => Message::State(state.sent(*number)),
            Self::Finished(finished) => {
                let outputs = finished.outputs.iter();
                let output = |&(output, length): &(u32, u64)| schema::ForYou { output, length };
                Message::Finished(schema::Finished {
                    number: finished.number,
                    receipt: finished.receipt.bytes.clone(),
                    signature: Bytes::copy_from_slice(finished.receipt.signature.as_bytes()),
                    outputs: outputs.map(output).collect(),
                })
            }
            Self::OutputPiece(piece) => Message::OutputPiece(schema::OutputPiece {
                number: piece.number,
                offset: piece.offset,
                bytes: piece.bytes.0.clone(),
                last: piece.last,
            }),
            Self::Answers(answers) => Message::Answers(schema::Answers {
                first_number: answers.first_number,
                each_bytes: answers.each_bytes,
                payload: answers.payload.0.clone(),
            }),
            Self::Refused(refused) => Message::Refused(schema::Refused {
                number: refused.number,
                code: refused.code.number(),
                text: shortened(&refused.text),
                retry_after_ms: refused.retry_after_ms,
                count: refused.count,
            }),
            Self::Credit { bytes } => Message::Credit(schema::Credit { bytes: *bytes }),
        };
        let message = Some(message);
        frame::put(&ServerFrame { message }, to);
    }
}

fn signed(bytes: Bytes, signature: &[u8]) -> Result<Signed, WireError> {
    holds(
        bytes.len() <= MAX_RECEIPT,
        "a receipt of more than 65536 bytes",
    )?;
    let signature = signature.try_into();
    let signature = signature.map_err(|_| WireError::Field("a signature that has not 96 bytes"))?;
    Ok(Signed { bytes, signature })
}

impl Welcome {
    fn checked(welcome: schema::Welcome) -> Result<Self, WireError> {
        holds(
            VERSIONS.contains(&welcome.version),
            "a version that was not offered",
        )?;
        let servers = (2..=MAX_PARTIES as u32).contains(&welcome.servers);
        holds(
            servers && welcome.place < welcome.servers,
            "a place that no server has",
        )?;
        let bodies = (MIN_BODY_WINDOW..=MAX_BODY_WINDOW).contains(&welcome.body_window);
        let requests = (1..=MAX_REQUEST_WINDOW).contains(&welcome.request_window);
        holds(
            bodies && requests,
            "a window that is too small or too large",
        )?;
        holds(welcome.kinds.len() <= MAX_KINDS, "more than 256 kinds")?;
        let kinds = welcome.kinds.into_iter().map(Kind::checked);
        let kinds: Vec<Kind> = kinds.collect::<Result<_, _>>()?;
        let mut names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        names.sort_unstable();
        let twice = names.windows(2).any(|pair| pair[0] == pair[1]);
        holds(!twice, "two kinds of one name")?;
        Ok(Self {
            version: welcome.version,
            server: name(welcome.server, "a server's name that is none")?,
            place: welcome.place,
            servers: welcome.servers,
            software: software(welcome.software)?,
            client: name_if_any(welcome.client, "a client's name that is none")?,
            body_window: welcome.body_window,
            request_window: welcome.request_window,
            time: welcome.time,
            kinds,
        })
    }

    fn sent(&self) -> schema::Welcome {
        schema::Welcome {
            version: self.version,
            server: self.server.clone(),
            place: self.place,
            servers: self.servers,
            software: self.software.clone(),
            client: self.client.clone().unwrap_or_default(),
            body_window: self.body_window,
            request_window: self.request_window,
            time: self.time,
            kinds: self.kinds.iter().map(Kind::sent).collect(),
        }
    }
}
