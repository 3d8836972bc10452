//! Answers to a client.

use super::connection::{Phase, ServerConnection};
use crate::from_server::{Answers, Finished, FromServer, OutputPiece};
use crate::open::{Open, Stage, goes_on_at};
use crate::signed::Signed;
use crate::state::State;

/// Answers. One to a number that is not open, as after a refusal, is not sent: then the result is `false`.
impl ServerConnection {
    /// Welcomes the client that has greeted, under the name by which the server knows it; without one it is anonymous.
    pub fn welcome(&mut self, client: Option<String>, time: u64) -> bool {
        let Phase::Greeted(version) = self.phase else {
            return false;
        };
        let anonymous = client.is_none();
        let welcome = self.terms.welcome(version, client, time);
        self.send(&FromServer::Welcome(welcome));
        self.phase = Phase::Open { anonymous };
        self.frames.greeted();
        true
    }

    /// An upload goes on from `offset`.
    pub fn begun(&mut self, number: u64, offset: u64) -> bool {
        let open = self.opened.get(number);
        let Some(Open::Upload {
            length,
            stage: Stage::Begun,
        }) = open
        else {
            return false;
        };
        if !goes_on_at(offset, length) {
            return false;
        }
        self.opened.set_stage(number, Stage::At(offset));
        self.send(&FromServer::Begun { number, offset });
        true
    }

    /// A submission is on disk: after its beginning, its end, or as a whole.
    pub fn accepted(&mut self, number: u64, receipt: Signed) -> bool {
        let stage = match self.opened.get(number) {
            Some(Open::Upload { stage, .. }) => stage,
            Some(Open::Whole) => Stage::Ended,
            _ => return false,
        };
        if matches!(stage, Stage::At(_)) {
            return false;
        }
        self.opened.remove(number);
        self.send(&FromServer::Accepted { number, receipt });
        true
    }

    /// State of a submission, for who asked for it or for its job.
    pub fn state(&mut self, number: u64, state: State) -> bool {
        match self.opened.get(number) {
            Some(Open::Status | Open::Wait) => {
                self.opened.remove(number);
                self.send(&FromServer::State { number, state });
                true
            }
            _ => false,
        }
    }

    /// End of a job.
    pub fn finished(&mut self, finished: Finished) -> bool {
        match self.opened.get(finished.number) {
            Some(Open::Wait) => {
                self.opened.remove(finished.number);
                self.send(&FromServer::Finished(finished));
                true
            }
            _ => false,
        }
    }

    /// A piece of an output.
    pub fn output_piece(&mut self, piece: OutputPiece) -> bool {
        match self.opened.get(piece.number) {
            Some(Open::Fetch { offset }) if offset == piece.offset => {
                self.opened.remove(piece.number);
                self.send(&FromServer::OutputPiece(piece));
                true
            }
            _ => false,
        }
    }

    /// Answers to requests.
    pub fn answers(&mut self, answers: Answers) -> bool {
        let count = answers.count();
        if count > self.requests {
            return false;
        }
        self.requests -= count;
        self.send(&FromServer::Answers(answers));
        true
    }

    /// The bytes of a piece or a body are no longer in memory: the client may send others.
    pub fn taken(&mut self, bytes: u64) {
        let outstanding = self.terms.body_window - self.credit - self.owed;
        self.give_back(bytes.min(outstanding));
    }
}
