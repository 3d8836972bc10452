//! Messages to a server.

use bytes::Bytes;
use madrigal_core::Digest256;

use super::{ClientConnection, NotNow};
use crate::from_client::{Begin, Fetch, FromClient, Of, Piece, Requests, Whole};
use crate::kind::What;
use crate::limits::{MAX_REQUEST, PIECE};
use crate::open::{Open, Stage, piece_at};
use crate::payload::Payload;

/// Messages to the server. Each that is answered has a number of its own, which comes back in the answer.
impl ClientConnection {
    fn open(&mut self, open: Open) -> Result<u64, NotNow> {
        if self.welcome().is_none() {
            return Err(NotNow::Closed);
        }
        if !self.opened.has_room(&open) {
            return Err(NotNow::Full);
        }
        let number = self.next_number();
        if !self.opened.uses(number, 1) {
            return Err(NotNow::Full);
        }
        self.opened.insert(number, open);
        Ok(number)
    }

    /// Begins an upload of `length` bytes, or goes on with one.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn begin(
        &mut self,
        kind: u32,
        (id, headers, digest): (Digest256, Bytes, Digest256),
        length: u64,
    ) -> Result<u64, NotNow> {
        let stage = Stage::Begun;
        let number = self.open(Open::Upload { length, stage })?;
        FromClient::Begin(Begin {
            number,
            kind,
            id,
            headers,
            length,
            digest,
        })
        .encode(&mut self.output);
        Ok(number)
    }

    /// The offset and the number of bytes of the piece that an upload wants next; nothing where it wants none now.
    pub fn wants(&self, number: u64) -> Option<(u64, u64)> {
        match self.opened.get(number)? {
            Open::Upload {
                length,
                stage: Stage::At(offset),
            } if offset < length => Some((offset, piece_at(offset, length))),
            _ => None,
        }
    }

    /// Sends the next piece of an upload, as [`ClientConnection::wants`] says.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn piece(&mut self, number: u64, bytes: Payload) -> Result<(), NotNow> {
        let wanted = self
            .wants(number)
            .filter(|(_, wanted)| *wanted == bytes.len() as u64);
        let Some((offset, length)) = wanted else {
            return Err(NotNow::Wrong("a piece that the upload does not want"));
        };
        self.credit = self.credit.checked_sub(length).ok_or(NotNow::Window)?;
        self.opened.set_stage(number, Stage::At(offset + length));
        FromClient::Piece(Piece {
            number,
            offset,
            bytes,
        })
        .encode(&mut self.output);
        Ok(())
    }

    /// Ends an upload whose pieces were all sent.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn end(&mut self, number: u64) -> Result<(), NotNow> {
        match self.opened.get(number) {
            Some(Open::Upload {
                length,
                stage: Stage::At(offset),
            }) if offset == length => {
                self.opened.set_stage(number, Stage::Ended);
                FromClient::End { number }.encode(&mut self.output);
                Ok(())
            }
            _ => Err(NotNow::Wrong("an end of an upload that is not complete")),
        }
    }

    /// Sends a submission in one message.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn whole(
        &mut self,
        kind: u32,
        (id, headers, digest): (Digest256, Bytes, Digest256),
        body: Payload,
    ) -> Result<u64, NotNow> {
        if body.len() > PIECE {
            return Err(NotNow::Wrong(
                "a body of more than 65536 bytes in one message",
            ));
        }
        let credit = self.credit.checked_sub(body.len() as u64);
        let credit = credit.ok_or(NotNow::Window)?;
        let number = self.open(Open::Whole)?;
        self.credit = credit;
        FromClient::Whole(Whole {
            number,
            kind,
            id,
            headers,
            digest,
            body,
        })
        .encode(&mut self.output);
        Ok(number)
    }

    /// Asks for the state of a submission.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn status(&mut self, id: Digest256) -> Result<u64, NotNow> {
        let number = self.open(Open::Status)?;
        FromClient::Status { number, id }.encode(&mut self.output);
        Ok(number)
    }

    /// Asks for the job of a submission, or for the first one of a kind after a batch.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn wait(&mut self, of: impl Into<Of>) -> Result<u64, NotNow> {
        let number = self.open(Open::Wait)?;
        let of = of.into();
        FromClient::Wait { number, of }.encode(&mut self.output);
        Ok(number)
    }

    /// Asks for the piece of an output that begins at `offset`.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn fetch(&mut self, of: impl Into<Of>, output: u32, offset: u64) -> Result<u64, NotNow> {
        let number = self.open(Open::Fetch { offset })?;
        FromClient::Fetch(Fetch {
            number,
            of: of.into(),
            output,
            offset,
        })
        .encode(&mut self.output);
        Ok(number)
    }

    /// Sends requests side by side to a kind, with numbers from `first_number` on, which are the same at all servers. Those that do not fit
    /// into one message go into several.
    ///
    /// # Errors
    /// [`NotNow`].
    pub fn requests(
        &mut self,
        kind: u32,
        first_number: u64,
        payload: &Payload,
    ) -> Result<(), NotNow> {
        let welcome = self.welcome().ok_or(NotNow::Closed)?;
        let described = welcome.kinds.get(kind as usize);
        let Some(What::Requests {
            request_bytes,
            answer_bytes,
        }) = described.map(|kind| kind.what)
        else {
            return Err(NotNow::Wrong("requests to a kind that takes none"));
        };
        let each = request_bytes as usize;
        if payload.is_empty() || !payload.len().is_multiple_of(each) {
            return Err(NotNow::Wrong("requests of another size than the kind's"));
        }
        let count = (payload.len() / each) as u64;
        if count > self.request_credit() {
            return Err(NotNow::Window);
        }
        if !self.opened.uses(first_number, count) {
            return Err(NotNow::Wrong("numbers that were used before"));
        }
        self.flight.add(first_number, count, answer_bytes);
        let most = PIECE.max(MAX_REQUEST) / each;
        let mut first_number = first_number;
        for start in (0..payload.len()).step_by(most * each) {
            let end = payload.len().min(start + most * each);
            FromClient::Requests(Requests {
                kind,
                first_number,
                each_bytes: request_bytes,
                payload: Payload(payload.slice(start..end)),
            })
            .encode(&mut self.output);
            first_number += most as u64;
        }
        Ok(())
    }

    /// Does without the answer to a message, or gives up an upload. It is answered all the same.
    pub fn cancel(&mut self, number: u64) {
        if self.welcome().is_some() && self.opened.get(number).is_some() {
            FromClient::Cancel { number }.encode(&mut self.output);
        }
    }
}
