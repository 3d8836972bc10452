//! Handles of a connection to a server, which a task owns.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use madrigal_core::Digest256;
use madrigal_intake::{
    ClientConnection, FromServer, Hello, Of, OutputPiece, Payload, Signed, State, Welcome,
};
use madrigal_net::tls::Turn;
use tokio::sync::{mpsc, oneshot};

use crate::asks::{Ask, LinkError, Reply, Sink, ToServer, Waited};
use crate::dial::Dialed;
use crate::driver::Driver;

/// Messages that wait for the task.
const QUEUE: usize = 256;

/// A handle of a connection.
#[derive(Clone)]
pub(crate) struct Link {
    asks: mpsc::Sender<Ask>,
    welcome: Arc<Welcome>,
    lost: Arc<OnceLock<LinkError>>,
}

impl Link {
    /// Greets a server, and has a task serve the connection from then on.
    pub(crate) async fn open(
        mut wire: Dialed,
        hello: Hello,
        sink: Option<Sink>,
        silence: Duration,
    ) -> Result<Self, LinkError> {
        let mut connection = ClientConnection::new(hello);
        let mut output = connection.output().split();
        let welcome = loop {
            let mut take = |bytes: &[u8]| connection.receive(bytes);
            let turn = wire.turn(&mut output, true, &mut take).await;
            let turn = turn?;
            match connection.told()? {
                Some(FromServer::Welcome(welcome)) => break Arc::new(welcome),
                Some(FromServer::Refused(refused)) => return Err(LinkError::Refused(refused)),
                _ if turn == Turn::Ended => {
                    return Err(LinkError::Lost("it ended before the welcome".into()));
                }
                _ => {}
            }
        };
        let (asks, queue) = mpsc::channel(QUEUE);
        let lost = Arc::new(OnceLock::new());
        let driver = Driver::new((wire, connection, output), queue, sink, silence);
        tokio::spawn(driver.run(lost.clone()));
        Ok(Self {
            asks,
            welcome,
            lost,
        })
    }

    pub(crate) fn welcome(&self) -> &Arc<Welcome> {
        &self.welcome
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.asks.is_closed()
    }

    fn why(&self) -> LinkError {
        let why = self.lost.get().cloned();
        why.unwrap_or_else(|| LinkError::Lost("it is closed".into()))
    }

    async fn ask<T>(&self, ask: impl FnOnce(Reply<T>) -> Ask) -> Result<T, LinkError> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(ask(reply)).await.map_err(|_| self.why())?;
        answer.await.unwrap_or_else(|_| Err(self.why()))
    }

    pub(crate) async fn submit(&self, submission: ToServer) -> Result<Signed, LinkError> {
        self.ask(|reply| Ask::Submit(submission, reply)).await
    }

    pub(crate) async fn state(&self, id: Digest256) -> Result<State, LinkError> {
        self.ask(|reply| Ask::State(id, reply)).await
    }

    pub(crate) async fn wait(&self, of: Of) -> Result<Waited, LinkError> {
        self.ask(|reply| Ask::Wait(of, reply)).await
    }

    pub(crate) async fn fetch(
        &self,
        of: Of,
        output: u32,
        offset: u64,
    ) -> Result<OutputPiece, LinkError> {
        self.ask(|reply| Ask::Fetch(of, output, offset, reply))
            .await
    }

    /// Sends requests; what becomes of them goes to the sink.
    pub(crate) async fn requests(
        &self,
        kind: u32,
        first: u64,
        payload: Payload,
    ) -> Result<(), LinkError> {
        let ask = Ask::Requests(kind, first, payload);
        self.asks.send(ask).await.map_err(|_| self.why())
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Link(to {})", self.welcome.server)
    }
}
