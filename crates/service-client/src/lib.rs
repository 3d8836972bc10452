//! Clients of a service.

mod body;
mod client;
mod config;
mod dial;
mod error;
mod files;
mod hex;
mod link;
mod many;
mod outputs;
mod pending;
mod prepared;
mod requests;
mod servers;
mod submission;
mod value;

pub use body::Body;
pub use client::{ServiceClient, Submit};
pub use config::{ConfigError, ServiceConfig};
pub use dial::{Dial, DialError, Dialed, Stream};
pub use error::{At, ClientError};
pub use many::{One, Progress};
pub use outputs::{MOST_OUTPUT_BYTES, Outputs};
pub use requests::{Answer, AnswerReceiver, Failed, RequestSender};
pub use submission::Submission;
pub use value::Value;
