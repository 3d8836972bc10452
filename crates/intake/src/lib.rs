//! The wire between the clients and the servers of a service, without I/O.
//!
//! A service is N servers, run by different organisations, that compute on shares. A *client* computes nothing: it gives each
//! server a share of its inputs (a *submission*), or many small *requests*, and takes shares of outputs. `schema/SERVICE.md` and
//! `schema/service.proto` define what both sides say.
//!
//! | to | use |
//! |---|---|
//! | be a server on a connection | [`ServerConnection`]: bytes in, [`Asked`] out; answers in, bytes out |
//! | be a client on a connection | [`ClientConnection`]: messages in, bytes out; bytes in, [`FromServer`] out |
//! | read and write messages | [`FromClient`], [`FromServer`], [`Frames`] |
//! | describe a kind of jobs or requests | [`Kind`] |
//! | name a submission and its body | [`pack`], [`submission_name`], [`Chain`] |
//! | sign and check receipts | [`Receipt`], [`JobReceipt`], [`check`] |

mod canonical;
mod check;
mod client;
mod code;
mod error;
mod flight;
mod frame;
mod from_client;
mod from_server;
mod fuzzing;
mod headers;
mod job_receipt;
mod kind;
pub mod limits;
mod open;
mod payload;
mod receipt;
mod receipt_error;
mod schema;
mod server;
mod signed;
mod state;
mod token;

pub use client::{ClientConnection, NotNow, ServerFault};
pub use code::Code;
pub use error::WireError;
pub use frame::Frames;
pub use from_client::{Begin, Fetch, FromClient, Hello, Of, Piece, Requests, Whole};
pub use from_server::{Answers, Finished, FromServer, OutputPiece, Refused, Welcome};
#[doc(hidden)]
pub use fuzzing::{fuzz_client, fuzz_server};
pub use headers::{HeadersError, body_length, pack, submission_name, unpack};
pub use job_receipt::{HeldSubmission, JobOutput, JobPrivacy, JobReceipt, batch_digest, check};
pub use kind::{Input, Kind, Output, Shape, What, shape_in_words};
pub use madrigal_core::chain::Chain;
pub use payload::Payload;
pub use receipt::Receipt;
pub use receipt_error::ReceiptError;
pub use server::{Asked, ServerConnection, Terms};
pub use signed::Signed;
pub use state::State;
pub use token::{token_digest, token_for};
