//! Clients of a service: N servers, run by different organisations, that stay up and compute on shares.
//!
//! A client computes nothing. It gives each server a share of its inputs and gets receipts that the servers have signed; later it
//! waits for the job of its submission, checks the servers' receipts of the job, and puts the shares of its outputs together. To kinds of requests it
//! sends small shares, thousands a second, and gets small ones back. `schema/SERVICE.md` defines what travels.
//!
//! | to | use |
//! |---|---|
//! | list servers, and say who one is | [`ServiceConfig`], from a `service-client.toml` |
//! | connect | [`ServiceClient::connect`] |
//! | submit, also in spite of a crash | [`ServiceClient::submit`] |
//! | come back later | [`Submission::load`], [`ServiceClient::status`], [`ServiceClient::wait`] |
//! | check receipts of others, without a server | [`Verified::load`] |
//! | submit for many | [`ServiceClient::many`] |
//! | send requests | [`ServiceClient::requests`] |
//! | have blocks encrypted, as requests | [`ServiceClient::ask_blocks`] |
//! | send such requests oneself | [`RequestSender::send_blocks`], [`combine_block`] |
//! | connect by another way than TCP and TLS | [`Dial`] |
//!
//! Everything runs in a tokio runtime with I/O and time.
//!
//! # Who is protected from whom
//! No server learns anything of the inputs from its share, as the protocol's sharing has it, and nobody else sees it: TLS protects it, with each
//! server's key pinned. A server can drop a submission until it has signed its receipt; afterwards the receipt shows that it had it. That the batch of a job
//! has the submission, the client believes the servers; that all of them say the same of the job, it checks.
//!
//! ```no_run
//! # use std::path::Path;
//! # use madrigal_engine::{Shares, Sharing};
//! # use madrigal_service_client::{ServiceClient, ServiceConfig, Submit, Value};
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = ServiceConfig::load(Path::new("service-client.toml"))?;
//! let client = ServiceClient::connect(config).await?;
//! let income = Shares::ring_of(Sharing::PUBLIC, vec![31_000_u64]);
//! let submission = client
//!     .submit(&Submit {
//!         kind: "survey",
//!         inputs: &[("income".into(), Value::Shares(vec![1], income))],
//!         client: "alice",
//!         pending: Some(Path::new("income.pending")),
//!         receipt: Some(Path::new("income.receipt")),
//!     })
//!     .await?;
//! let outputs = client.wait(&submission).await?;
//! # Ok(()) }
//! ```

mod asked;
mod asks;
mod blocks;
mod body;
mod client;
mod config;
mod dial;
mod driver;
mod error;
mod files;
mod hex;
mod job_file;
mod link;
mod many;
mod outputs;
mod pending;
mod prepared;
mod requests;
mod servers;
mod submission;
mod value;

pub use blocks::{combine_block, deal_blocks};
pub use client::{ServiceClient, Submit};
pub use config::{ConfigError, ServiceConfig};
pub use dial::{Dial, DialError, Dialed, Stream};
pub use error::{At, BlockError, ClientError};
pub use job_file::{JobReceipts, Verified};
/// Kinds and states, as servers tell them, and what they sign of a job.
pub use madrigal_intake::{JobReceipt, Kind, State, What, shape_in_words, token_digest};
pub use many::{One, Progress};
pub use outputs::{MOST_OUTPUT_BYTES, Outputs};
pub use requests::{Answer, AnswerReceiver, Failed, RequestSender};
pub use submission::Submission;
pub use value::Value;
