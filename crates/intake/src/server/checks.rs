//! Checks of what a client sends once it was welcomed.

use madrigal_clients::Header;
use madrigal_core::Digest256;
use madrigal_core::chain::Chain;

use super::connection::ServerConnection;
use super::wishes::Asked;
use crate::code::Code;
use crate::from_client::{FromClient, Of, Piece, Requests, Whole};
use crate::from_server::Refused;
use crate::headers::{HeadersError, body_length, submission_name, unpack};
use crate::kind::{Kind, What};
use crate::open::{Open, Stage, piece_at};

impl ServerConnection {
    pub(super) fn check_open(&mut self, message: FromClient, anonymous: bool) -> Option<Asked> {
        match message {
            FromClient::Hello(_) => {
                self.reject(Code::Order, "a second greeting");
                None
            }
            FromClient::Begin(begin) => {
                let (length, stage) = (begin.length, Stage::Begun);
                self.opens(begin.number, Open::Upload { length, stage })?;
                let known = (begin.kind, &begin.id, &begin.headers[..]);
                let checked = self.headers(known, length, anonymous);
                let headers = self.or_refuse(begin.number, checked)?;
                Some(Asked::Begin(begin, headers))
            }
            FromClient::Piece(piece) => self.piece(piece),
            FromClient::End { number } => self.end(number),
            FromClient::Whole(whole) => self.whole(whole, anonymous),
            FromClient::Status { number, id } => {
                self.opens(number, Open::Status)?;
                Some(Asked::Status { number, id })
            }
            FromClient::Wait { number, of } => {
                self.opens(number, Open::Wait)?;
                let checked = self.job(of, anonymous);
                self.or_refuse(number, checked)?;
                Some(Asked::Wait { number, of })
            }
            FromClient::Fetch(fetch) => {
                let offset = fetch.offset;
                self.opens(fetch.number, Open::Fetch { offset })?;
                let checked = self.job(fetch.of, anonymous);
                self.or_refuse(fetch.number, checked)?;
                Some(Asked::Fetch(fetch))
            }
            FromClient::Requests(requests) => self.requests(requests, anonymous),
            FromClient::Cancel { number } => {
                if number > self.opened.last() {
                    self.reject(Code::Order, "a message was taken back before it came");
                }
                self.opened.get(number).map(|_| Asked::Cancel { number })
            }
        }
    }

    /// Opens a message with a number of its own, or refuses it.
    fn opens(&mut self, number: u64, open: Open) -> Option<()> {
        if !self.opened.uses(number, 1) {
            self.reject(Code::Order, "a number that is not larger than all before");
            return None;
        }
        if !self.opened.has_room(&open) {
            self.send_refusal(Refused::new(number, Code::Limit, "too many open messages"));
            return None;
        }
        self.opened.insert(number, open);
        Some(())
    }

    fn or_refuse<T>(&mut self, number: u64, checked: Result<T, (Code, String)>) -> Option<T> {
        match checked {
            Ok(value) => Some(value),
            Err((code, text)) => {
                self.refuse(Refused::new(number, code, &text));
                None
            }
        }
    }

    /// Checks what a submission says about itself.
    fn headers(
        &self,
        (kind, id, packed): (u32, &Digest256, &[u8]),
        length: u64,
        anonymous: bool,
    ) -> Result<Vec<Header>, (Code, String)> {
        let kind = self.kind(kind, anonymous)?;
        if kind.what != What::Program {
            let text = format!("kind `{}` takes requests, and no submissions", kind.name);
            return Err((Code::Header, text));
        }
        if length > kind.most_bytes {
            let most = kind.most_bytes;
            let text = format!(
                "the body has {length} bytes, and kind `{}` takes {most}",
                kind.name
            );
            return Err((Code::Quota, text));
        }
        let wrong = |error: HeadersError| (Code::Header, error.to_string());
        let headers = unpack(packed).map_err(wrong)?;
        kind.check(&headers, self.terms.servers).map_err(wrong)?;
        if submission_name(&kind.name, &kind.program, packed) != *id {
            return Err(wrong(HeadersError::Name));
        }
        match body_length(&headers, self.terms.place) {
            Some(expected) if expected == length => Ok(headers),
            expected => Err(wrong(HeadersError::Length {
                got: length,
                expected: expected.unwrap_or(u64::MAX),
            })),
        }
    }

    /// The kind at a place of the list, if this client may use it.
    fn kind(&self, place: u32, anonymous: bool) -> Result<&Kind, (Code, String)> {
        let kind = self.terms.kinds.get(place as usize).ok_or_else(|| {
            let kinds = self.terms.kinds.len();
            (
                Code::NotFound,
                format!("there is no kind {place} among {kinds}"),
            )
        })?;
        match anonymous && !kind.anonymous {
            true => {
                let (name, who) = (&kind.name, &kind.submitters);
                let text =
                    format!("kind `{name}` takes nothing of anonymous clients: {who} may submit");
                Err((Code::NotAllowed, text))
            }
            false => Ok(kind),
        }
    }

    /// Checks that a job can be asked for: of a kind that is here and takes submissions.
    fn job(&self, of: Of, anonymous: bool) -> Result<(), (Code, String)> {
        let Of::Batch { kind, .. } = of else {
            return Ok(());
        };
        let kind = self.kind(kind, anonymous)?;
        match kind.what {
            What::Program => Ok(()),
            What::Requests { .. } => {
                let text = format!("kind `{}` takes requests, and has no jobs", kind.name);
                Err((Code::Header, text))
            }
        }
    }

    fn piece(&mut self, piece: Piece) -> Option<Asked> {
        let bytes = piece.bytes.len() as u64;
        self.spend(bytes)?;
        let Some(open) = self.opened.get(piece.number) else {
            return self.passed(piece.number, bytes);
        };
        let Open::Upload {
            length,
            stage: Stage::At(offset),
        } = open
        else {
            self.reject(
                Code::Order,
                "a piece of what is no upload, or not at this time",
            );
            return None;
        };
        if piece.offset != offset || offset == length || bytes != piece_at(offset, length) {
            self.give_back(bytes);
            let text = format!(
                "a piece of {bytes} bytes at {}, where {} at {offset} were to come",
                piece.offset,
                piece_at(offset, length)
            );
            self.refuse(Refused::new(piece.number, Code::Order, &text));
            return None;
        }
        self.opened
            .set_stage(piece.number, Stage::At(offset + bytes));
        Some(Asked::Piece(piece))
    }

    fn end(&mut self, number: u64) -> Option<Asked> {
        let Some(open) = self.opened.get(number) else {
            return self.passed(number, 0);
        };
        match open {
            Open::Upload {
                length,
                stage: Stage::At(offset),
            } if offset == length => {
                self.opened.set_stage(number, Stage::Ended);
                return Some(Asked::End { number });
            }
            Open::Upload {
                length,
                stage: Stage::At(offset),
            } => {
                let text = format!("the upload ends after {offset} of {length} bytes");
                self.refuse(Refused::new(number, Code::Order, &text));
            }
            _ => self.reject(
                Code::Order,
                "an end of what is no upload, or not at this time",
            ),
        }
        None
    }

    /// Takes notice of bytes for an upload that was refused, which the client could not know when it sent them.
    fn passed(&mut self, number: u64, bytes: u64) -> Option<Asked> {
        match number > self.opened.last() {
            true => self.reject(Code::Order, "an upload that was not begun"),
            false => self.give_back(bytes),
        }
        None
    }

    fn whole(&mut self, whole: Whole, anonymous: bool) -> Option<Asked> {
        let length = whole.body.len() as u64;
        self.spend(length)?;
        if self.opens(whole.number, Open::Whole).is_none() {
            self.give_back(length);
            return None;
        }
        let known = (whole.kind, &whole.id, &whole.headers[..]);
        let checked =
            self.headers(known, length, anonymous).and_then(|headers| {
                match Chain::digest(&whole.headers, &whole.body) == whole.digest {
                    true => Ok(headers),
                    false => Err((
                        Code::Digest,
                        "the digest does not fit headers and body".into(),
                    )),
                }
            });
        let headers = self.or_refuse(whole.number, checked);
        if headers.is_none() {
            self.give_back(length);
        }
        Some(Asked::Whole(whole, headers?))
    }

    fn requests(&mut self, requests: Requests, anonymous: bool) -> Option<Asked> {
        let count = requests.count();
        if !self.opened.uses(requests.first_number, count) {
            self.reject(Code::Order, "a number that is not larger than all before");
            return None;
        }
        if self.requests + count > u64::from(self.terms.request_window) {
            let most = self.terms.request_window;
            self.reject(
                Code::Limit,
                &format!("more than {most} requests without an answer"),
            );
            return None;
        }
        self.requests += count;
        let kind = self.kind(requests.kind, anonymous);
        let checked = kind.and_then(|kind| match kind.what {
            What::Requests { request_bytes, .. } if request_bytes == requests.each_bytes => Ok(()),
            _ => {
                let (name, what, got) = (&kind.name, kind.what, requests.each_bytes);
                let text = format!("requests of {got} bytes to kind `{name}`, which is of {what}");
                Err((Code::Header, text))
            }
        });
        match checked {
            Ok(()) => Some(Asked::Requests(requests)),
            Err((code, text)) => {
                self.refuse(Refused {
                    count: count as u32,
                    ..Refused::new(requests.first_number, code, &text)
                });
                None
            }
        }
    }
}
