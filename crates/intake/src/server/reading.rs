//! From bytes that came to wishes.

use super::connection::{Phase, ServerConnection};
use super::wishes::Asked;
use crate::code::Code;
use crate::error::WireError;
use crate::from_client::{FromClient, Hello};
use crate::limits::VERSIONS;

impl ServerConnection {
    /// The next wish of the client. Nothing: more bytes are needed, or the output has to be sent first, or the connection is over.
    pub fn asked(&mut self) -> Option<Asked> {
        while self.wants_bytes() {
            match self.message() {
                Ok(None) => return None,
                Ok(Some(message)) => {
                    if let Some(asked) = self.check(message) {
                        return Some(asked);
                    }
                }
                Err(error) => self.reject(Code::Malformed, &error.to_string()),
            }
        }
        None
    }

    fn message(&mut self) -> Result<Option<FromClient>, WireError> {
        match self.phase {
            Phase::Greeted(_) if self.frames.buffered() > 0 => {
                self.reject(
                    Code::Order,
                    "a message came before the greeting was answered",
                );
                Ok(None)
            }
            Phase::New => self.frames.cut()?.map(FromClient::decode_first).transpose(),
            _ => self.frames.message()?.map(FromClient::decode).transpose(),
        }
    }

    fn check(&mut self, message: FromClient) -> Option<Asked> {
        match (&self.phase, message) {
            (Phase::New, FromClient::Hello(hello)) => self.greet(hello),
            (Phase::New, _) => {
                self.reject(Code::Order, "the first message is no greeting");
                None
            }
            (Phase::Open { anonymous }, message) => {
                let anonymous = *anonymous;
                self.check_open(message, anonymous)
            }
            (Phase::Greeted(_) | Phase::Over, _) => None,
        }
    }

    fn greet(&mut self, hello: Hello) -> Option<Asked> {
        let version = hello.most.min(*VERSIONS.end());
        if version < hello.least.max(*VERSIONS.start()) {
            let (ours, theirs) = (VERSIONS, hello.least..=hello.most);
            let text = format!("the client speaks versions {theirs:?}, and this server {ours:?}");
            self.reject(Code::Version, &text);
            return None;
        }
        self.phase = Phase::Greeted(version);
        Some(Asked::Hello(hello))
    }
}
