//! The task that owns a connection: sends what is asked, as far as there is room, and hands on what comes.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::BytesMut;
use madrigal_intake::limits::PIECE;
use madrigal_intake::{
    ClientConnection, Finished, FromServer, NotNow, OutputPiece, Payload, Signed, State,
};
use madrigal_net::tls::Turn;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::asks::{Ask, Event, LinkError, Reply, Sink, ToServer, Waited};
use crate::dial::Dialed;

/// Bytes that are ready to be sent before further pieces are read.
const AHEAD: usize = 256 << 10;

/// A connection, and all that is asked of it.
pub(crate) struct Driver {
    wire: Dialed,
    connection: ClientConnection,
    output: BytesMut,
    queue: mpsc::Receiver<Ask>,
    /// A message that has to wait for room.
    waiting: Option<Ask>,
    pending: HashMap<u64, Pending>,
    /// Uploads in pieces, by their numbers.
    uploads: Vec<u64>,
    sink: Option<Sink>,
    /// Time within which the server has to say something where it owes an answer.
    silence: Duration,
    /// When it last did, or began to owe one.
    heard: Instant,
    /// Messages whose answers may take any time.
    waits: u64,
}

impl Driver {
    /// A connection that was welcomed; `output` is what of the greeting was not sent.
    pub(crate) fn new(
        (wire, connection, output): (Dialed, ClientConnection, BytesMut),
        queue: mpsc::Receiver<Ask>,
        sink: Option<Sink>,
        silence: Duration,
    ) -> Self {
        Self {
            wire,
            connection,
            output,
            queue,
            waiting: None,
            pending: HashMap::new(),
            uploads: Vec::new(),
            sink,
            silence,
            heard: Instant::now(),
            waits: 0,
        }
    }

    /// Serves the connection to its end.
    pub(crate) async fn run(mut self, lost: Arc<OnceLock<LinkError>>) {
        let why = match self.serve().await {
            Ok(()) => {
                let _ = self.wire.close(&mut self.output).await;
                LinkError::Lost("it was closed here".into())
            }
            Err(why) => why,
        };
        // Before the replies are dropped: who waits for one reads it then.
        let _ = lost.set(why.clone());
        if let Some((server, sink)) = &self.sink {
            let _ = sink.send((*server, Event::Lost(why)));
        }
    }

    /// Serves until all handles are gone.
    async fn serve(&mut self) -> Result<(), LinkError> {
        // The welcome may have brought more with it.
        self.listen()?;
        loop {
            self.send_pieces();
            self.gather();
            let owes = self.connection.unanswered() > self.waits;
            let silent = self.heard + self.silence;
            let (wire, output, connection) =
                (&mut self.wire, &mut self.output, &mut self.connection);
            let mut take = |bytes: &[u8]| connection.receive(bytes);
            tokio::select! {
                turn = wire.turn(output, true, &mut take) => {
                    let turn = turn?;
                    if turn == Turn::Came {
                        self.heard = Instant::now();
                    }
                    self.listen()?;
                    if turn == Turn::Ended {
                        return Err(LinkError::Lost("the server has closed it".into()));
                    }
                    if let Some(ask) = self.waiting.take() {
                        self.start(ask);
                    }
                }
                () = sleep_until(silent), if owes => {
                    let why = format!("the server was silent for {} s", self.silence.as_secs());
                    return Err(LinkError::Lost(why.into()));
                }
                ask = self.queue.recv(), if self.waiting.is_none() => match ask {
                    Some(ask) => {
                        if !owes {
                            self.heard = Instant::now();
                        }
                        self.start(ask);
                        // All that wait go into one write.
                        while self.waiting.is_none() && let Ok(ask) = self.queue.try_recv() {
                            self.start(ask);
                        }
                    }
                    None => return Ok(()),
                },
            }
        }
    }

    fn gather(&mut self) {
        let ready = self.connection.output().split();
        match self.output.is_empty() {
            true => self.output = ready,
            false => self.output.unsplit(ready),
        }
    }

    /// Sends a message, or keeps it until there is room.
    fn start(&mut self, ask: Ask) {
        let connection = &mut self.connection;
        match ask {
            Ask::Submit(submission, reply) => {
                let known = (submission.id, submission.headers.clone(), submission.digest);
                let length = submission.body.length();
                let sent = match length <= PIECE as u64 {
                    true => match submission.body.piece(0, length as usize) {
                        Ok(_) if connection.body_credit() < length => Err(NotNow::Window),
                        Ok(body) => connection.whole(submission.kind, known, Payload(body)),
                        Err(error) => {
                            let error = LinkError::Body(error.to_string().into());
                            return drop(reply.send(Err(error)));
                        }
                    },
                    false => connection.begin(submission.kind, known, length),
                };
                if length > PIECE as u64 {
                    self.uploads.extend(sent.ok());
                }
                self.sent(sent, Pending::Upload(submission, reply));
            }
            Ask::State(id, reply) => {
                let sent = connection.status(id);
                if self.keep(&sent) {
                    self.waiting = Some(Ask::State(id, reply));
                } else {
                    self.sent(sent, Pending::State(reply));
                }
            }
            Ask::Wait(of, reply) => {
                let sent = connection.wait(of);
                if self.keep(&sent) {
                    self.waiting = Some(Ask::Wait(of, reply));
                } else {
                    self.sent(sent, Pending::Wait(reply));
                }
            }
            Ask::Fetch(of, output, offset, reply) => {
                let sent = connection.fetch(of, output, offset);
                if self.keep(&sent) {
                    self.waiting = Some(Ask::Fetch(of, output, offset, reply));
                } else {
                    self.sent(sent, Pending::Fetch(reply));
                }
            }
            Ask::Requests(kind, first, payload) => {
                match connection.requests(kind, first, &payload) {
                    Ok(()) => {}
                    Err(NotNow::Window | NotNow::Full) => {
                        self.waiting = Some(Ask::Requests(kind, first, payload));
                    }
                    Err(error) => {
                        if let Some((server, sink)) = &self.sink {
                            let _ = sink.send((
                                *server,
                                Event::Lost(LinkError::Lost(error.to_string().into())),
                            ));
                        }
                    }
                }
            }
        }
    }

    /// Whether a message that was not sent may be sent later.
    fn keep(&self, sent: &Result<u64, NotNow>) -> bool {
        matches!(sent, Err(NotNow::Window | NotNow::Full))
    }

    fn sent(&mut self, sent: Result<u64, NotNow>, pending: Pending) {
        match (sent, pending) {
            (Ok(number), pending) => {
                self.waits += u64::from(matches!(pending, Pending::Wait(_)));
                self.pending.insert(number, pending);
            }
            (Err(NotNow::Window | NotNow::Full), Pending::Upload(submission, reply)) => {
                self.waiting = Some(Ask::Submit(submission, reply));
            }
            (Err(error), pending) => pending.fail(LinkError::Lost(error.to_string().into())),
        }
    }

    /// Sends pieces of uploads as far as there is credit, in turn.
    fn send_pieces(&mut self) {
        let mut at = 0;
        let mut idle = 0;
        while !self.uploads.is_empty() && idle < self.uploads.len() {
            if self.output.len() + self.connection.output().len() >= AHEAD {
                return;
            }
            at %= self.uploads.len();
            let number = self.uploads[at];
            match self.send_piece(number) {
                Some(true) => idle = 0,
                Some(false) => idle += 1,
                None => {
                    self.uploads.swap_remove(at);
                    continue;
                }
            }
            at += 1;
        }
    }

    /// Sends a piece; `None`: the upload needs no further ones.
    fn send_piece(&mut self, number: u64) -> Option<bool> {
        let Some(Pending::Upload(submission, _)) = self.pending.get(&number) else {
            return None;
        };
        let Some((offset, length)) = self.connection.wants(number) else {
            // Complete, or not yet answered.
            return match self.connection.end(number) {
                Ok(()) => None,
                Err(_) => Some(false),
            };
        };
        if length > self.connection.body_credit() {
            return Some(false);
        }
        match submission.body.piece(offset, length as usize) {
            Ok(bytes) => Some(self.connection.piece(number, Payload(bytes)).is_ok()),
            Err(error) => {
                self.connection.cancel(number);
                let error = LinkError::Body(error.to_string().into());
                self.pending.remove(&number)?.fail(error);
                None
            }
        }
    }

    /// Takes a message off those that wait for an answer.
    fn answered(&mut self, number: u64) -> Option<Pending> {
        let pending = self.pending.remove(&number)?;
        self.waits -= u64::from(matches!(pending, Pending::Wait(_)));
        Some(pending)
    }

    /// Hands on what the server told.
    fn listen(&mut self) -> Result<(), LinkError> {
        loop {
            let Some(told) = self.connection.told()? else {
                return Ok(());
            };
            self.hear(told)?;
        }
    }

    fn hear(&mut self, told: FromServer) -> Result<(), LinkError> {
        let (number, told) = match told {
            FromServer::Welcome(_) | FromServer::Begun { .. } | FromServer::Credit { .. } => {
                return Ok(());
            }
            FromServer::Answers(answers) => {
                if let Some((server, sink)) = &self.sink {
                    let _ = sink.send((*server, Event::Answers(answers)));
                }
                return Ok(());
            }
            FromServer::Refused(refused) if refused.number == 0 => {
                return Err(LinkError::Refused(refused));
            }
            FromServer::Refused(refused) => match self.answered(refused.number) {
                Some(pending) => {
                    pending.fail(LinkError::Refused(refused));
                    return Ok(());
                }
                None => {
                    if let Some((server, sink)) = &self.sink {
                        let _ = sink.send((*server, Event::Refused(refused)));
                    }
                    return Ok(());
                }
            },
            FromServer::Accepted { number, receipt } => (number, Told::Accepted(receipt)),
            FromServer::State { number, state } => (number, Told::State(state)),
            FromServer::Finished(finished) => (finished.number, Told::Finished(finished)),
            FromServer::OutputPiece(piece) => (piece.number, Told::Piece(piece)),
        };
        let Some(pending) = self.answered(number) else {
            return Ok(());
        };
        // Who no longer waits does not hear it.
        match (pending, told) {
            (Pending::Upload(_, reply), Told::Accepted(receipt)) => drop(reply.send(Ok(receipt))),
            (Pending::State(reply), Told::State(state)) => drop(reply.send(Ok(state))),
            (Pending::Wait(reply), Told::State(state)) => {
                drop(reply.send(Ok(Waited::State(state))));
            }
            (Pending::Wait(reply), Told::Finished(finished)) => {
                drop(reply.send(Ok(Waited::Finished(finished))));
            }
            (Pending::Fetch(reply), Told::Piece(piece)) => drop(reply.send(Ok(piece))),
            (pending, _) => pending.fail(LinkError::Fault("an answer of another kind".into())),
        }
        Ok(())
    }
}

/// Answers of a server to one message.
enum Told {
    Accepted(Signed),
    State(State),
    Finished(Finished),
    Piece(OutputPiece),
}

impl Pending {
    fn fail(self, error: LinkError) {
        match self {
            Self::Upload(_, reply) => drop(reply.send(Err(error))),
            Self::State(reply) => drop(reply.send(Err(error))),
            Self::Wait(reply) => drop(reply.send(Err(error))),
            Self::Fetch(reply) => drop(reply.send(Err(error))),
        }
    }
}

/// Messages that wait for an answer.
enum Pending {
    Upload(ToServer, Reply<Signed>),
    State(Reply<State>),
    Wait(Reply<Waited>),
    Fetch(Reply<OutputPiece>),
}
