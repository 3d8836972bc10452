//! The wire between the clients and the servers of a service, without I/O.
//!
//! A service is N servers, run by different organisations, that compute on shares. A *client* computes nothing: it gives each
//! server a share of its inputs (a *submission*), or many small *requests*, and takes shares of outputs. `schema/SERVICE.md` and
//! `schema/service.proto` define what both sides say.
//!
//! | to | use |
//! |---|---|
//! | read and write messages | [`FromClient`], [`FromServer`], [`Frames`] |
//! | describe a kind of jobs or requests | [`Kind`] |
//! | name a submission and its body | [`pack`], [`submission_name`], [`Chain`] |
//! | sign and check receipts | [`Receipt`], [`JobReceipt`], [`check`] |

mod canonical;
mod check;
mod code;
mod error;
mod frame;
mod from_client;
mod from_server;
mod headers;
mod job_receipt;
mod kind;
pub mod limits;
mod payload;
mod receipt;
mod receipt_error;
mod schema;
mod signed;
mod state;

pub use code::Code;
pub use error::WireError;
pub use frame::Frames;
pub use from_client::{Begin, Fetch, FromClient, Hello, Piece, Requests, Whole};
pub use from_server::{Answers, Finished, FromServer, OutputPiece, Refused, Welcome};
pub use headers::{Chain, HeadersError, body_length, pack, submission_name, unpack};
pub use job_receipt::{JobOutput, JobReceipt, batch_digest, check};
pub use kind::{Input, Kind, Output, Shape, What, shape_in_words};
pub use payload::Payload;
pub use receipt::Receipt;
pub use receipt_error::ReceiptError;
pub use signed::Signed;
pub use state::State;
