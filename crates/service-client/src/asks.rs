//! Wishes that the handles of a connection have, and what becomes of them.

use std::sync::Arc;

use bytes::Bytes;
use madrigal_core::Digest256;
use madrigal_intake::{Finished, Of, OutputPiece, Payload, Refused, ServerFault, Signed, State};
use tokio::sync::{mpsc, oneshot};

use crate::body::Body;

/// Reasons why a connection gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkError {
    /// The server refused.
    Refused(Refused),
    /// The connection is lost: for the reason that is told.
    Lost(Arc<str>),
    /// The server does not keep to the protocol.
    Fault(Arc<str>),
    /// The body cannot be read here.
    Body(Arc<str>),
}

impl From<std::io::Error> for LinkError {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.to_string().into())
    }
}

impl From<ServerFault> for LinkError {
    fn from(fault: ServerFault) -> Self {
        Self::Fault(fault.to_string().into())
    }
}

/// A submission for one server.
#[derive(Clone)]
pub(crate) struct ToServer {
    pub(crate) kind: u32,
    pub(crate) id: Digest256,
    pub(crate) headers: Bytes,
    pub(crate) digest: Digest256,
    pub(crate) body: Arc<dyn Body>,
}

/// End of a job, or the state of a submission that has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Waited {
    Finished(Finished),
    State(State),
}

/// Messages about requests.
#[derive(Debug)]
pub(crate) enum Event {
    Answers(madrigal_intake::Answers),
    Refused(Refused),
    Lost(LinkError),
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, LinkError>>;
/// Where messages about requests go, with the server's place.
pub(crate) type Sink = (usize, mpsc::UnboundedSender<(usize, Event)>);

/// Wishes of the handles.
pub(crate) enum Ask {
    Submit(ToServer, Reply<Signed>),
    State(Digest256, Reply<State>),
    Wait(Of, Reply<Waited>),
    Fetch(Of, u32, u64, Reply<OutputPiece>),
    Requests(u32, u64, Payload),
}
