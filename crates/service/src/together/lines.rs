//! Lines: the ways on which a server sends notes to the others and hears theirs, for as long as a session lasts.

use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use madrigal_core::Party;
use madrigal_net::{Channel, Context, Error, Fact, Job, Receiver, Session};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::notes::{LENGTH_BYTES, MAX_NOTE, Note};
use super::versions::Notes;

/// Number of the job of a session in which servers send each other notes.
pub(crate) const NOTES_JOB: u32 = 1;

/// Ways to send notes. What is sent is bounded by the agreement about batches, of which each kind has one message under way.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    /// Versions of the notes that these servers speak: what needs a newer one is not sent.
    pub(crate) notes: Rc<Notes>,
    to: BTreeMap<Party, UnboundedSender<Bytes>>,
}

/// Sides of the lines that have to be kept at work.
pub(crate) struct Ends {
    /// Keeps the job open.
    pub(crate) job: Job,
    pub(crate) writers: Vec<Writer>,
    pub(crate) readers: Vec<Reader>,
}

/// Sends notes to one server.
pub(crate) struct Writer {
    channel: madrigal_net::Sender,
    notes: UnboundedReceiver<Bytes>,
    context: Context,
}

/// Hears notes of one server.
pub(crate) struct Reader {
    pub(crate) from: Party,
    channel: Receiver,
}

impl Lines {
    /// Opens lines to all other servers, who agree on `facts`, for notes of these versions.
    pub(crate) async fn open(
        session: &Session,
        facts: &[Fact],
        notes: Notes,
    ) -> Result<(Self, Ends), Error> {
        let notes = Rc::new(notes);
        let job = session.job(NOTES_JOB, facts, None).await?;
        let context = job.context();
        let (mut writers, mut readers, mut to) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (from, channel) in context.peers().zip(context.channels()?) {
            let Channel { tx, rx } = channel;
            let (send, notes) = unbounded_channel();
            to.insert(from, send);
            writers.push(Writer {
                channel: tx,
                notes,
                context: context.clone(),
            });
            readers.push(Reader { from, channel: rx });
        }
        let ends = Ends {
            job,
            writers,
            readers,
        };
        Ok((Self { notes, to }, ends))
    }

    /// Sends a note to a server. It is lost if the session is.
    pub(crate) fn send(&self, to: Party, note: Note) {
        if let Some(line) = self.to.get(&to) {
            // Nobody hears where the session has ended, which others notice.
            let _ = line.send(note.encode());
        }
    }

    /// Sends a note to all other servers.
    pub(crate) fn send_all(&self, note: &Note) {
        self.to.keys().for_each(|&to| self.send(to, note.clone()));
    }
}

impl Writer {
    /// Sends notes until the session ends.
    pub(crate) async fn work(mut self) -> Result<(), Error> {
        while let Some(note) = self.notes.recv().await {
            let length = (note.len() as u32).to_le_bytes();
            self.channel.send(length.to_vec()).await?;
            self.channel.send(note).await?;
            self.context.flush();
        }
        Ok(())
    }
}

impl Reader {
    /// Ends the session because a note cannot be. Gives the error.
    pub(crate) fn refuse(&self, problem: &str) -> Error {
        self.channel.refuse(problem)
    }

    /// The next note, for however long that takes.
    pub(crate) async fn next(&mut self) -> Result<Note, Error> {
        let length = self.channel.recv_idle(LENGTH_BYTES).await?;
        let length: [u8; LENGTH_BYTES] = length[..]
            .try_into()
            .map_err(|_| Error::bug("a message has the length that was asked for"))?;
        let length = u32::from_le_bytes(length) as usize;
        if !(1..=MAX_NOTE).contains(&length) {
            let problem = format!("a note of {length} bytes, where 1 to {MAX_NOTE} can be");
            return Err(self.channel.refuse(problem));
        }
        let note = self.channel.recv(length).await?;
        Note::decode(&note).map_err(|problem| self.channel.refuse(problem))
    }
}
