//! Flags of three parties and more: what these can ask for.

use madrigal_app::failure::Result;
use madrigal_core::{MAX_PARTIES, Party};
use madrigal_engine::Progress;
use madrigal_net::Session;

use super::protocol::ProtocolArg;
use super::{Many, find_many};
use crate::args::Psi;
use crate::failure::Unmatched;
use crate::found::Found;
use crate::question::Question;
use crate::security::SecurityArg;
use crate::task::Task;

/// A question of three parties or more.
pub(crate) struct Asked {
    parties: usize,
    pub(super) many: Many,
}

impl Asked {
    /// Reads the flags; `None` where two parties match their lists.
    ///
    /// # Errors
    /// [`Unmatched::Flags`]: what only two parties can ask for, protocols that are not for this many.
    pub(crate) fn new(args: &Psi, parties: usize) -> Result<Option<Self>> {
        let wrong = |problem: String| Err(Unmatched::Flags(problem).into());
        if parties <= 2 {
            return match args.protocol {
                Some(protocol) if parties == 2 => wrong(format!(
                    "--protocol {}: two parties match their lists in a protocol made for it; leave it out",
                    protocol.backend().name
                )),
                _ => Ok(None),
            };
        }
        if parties > MAX_PARTIES {
            return wrong(format!("{parties} parties: the most are {MAX_PARTIES}"));
        }
        let question = args.question();
        let flag = match question {
            _ if args.noisy.noise.is_some() => Some("--noise"),
            Question::Rows if args.against.security != SecurityArg::SemiHonest => {
                Some("--security malicious")
            }
            Question::Rows if !args.several.or.is_empty() => Some("--or"),
            Question::Rows if !args.state.state.is_empty() => Some("--state"),
            Question::Rows if args.payload.is_empty() => None,
            Question::Rows => Some("--payload"),
            Question::Join => Some("--join"),
            Question::Numbers { sums: false, .. } => Some("--size"),
            Question::Numbers { .. } => Some("--sum"),
            Question::Shares => Some("--shares"),
        };
        if let Some(flag) = flag {
            return wrong(format!(
                "{flag}: two parties can have that, and there are {parties}, who learn which of their rows have keys of all lists; leave it out. `madrigal-sql` \
                 joins tables of any number of parties on secrets"
            ));
        }
        let usual = if parties == 3 {
            ProtocolArg::R
        } else {
            ProtocolArg::B
        };
        let protocol = args.protocol.unwrap_or(usual).backend();
        if !protocol.parties.contains(&parties) {
            return wrong(format!(
                "--protocol {}: {parties} parties match their lists in B, and three in R or B",
                protocol.name
            ));
        }
        let to = args.to.parties(parties)?;
        Ok(Some(Self {
            parties,
            many: Many { to, protocol },
        }))
    }

    /// Matches lists in a session.
    pub(crate) async fn find(
        &self,
        session: &Session,
        number: u32,
        task: &Task,
        observe: &dyn Fn(Progress),
    ) -> Result<Found> {
        find_many(session, number, task, &self.many, observe).await
    }

    /// Says who learns what, before anything is sent.
    pub(crate) fn learnt(&self, bound: Option<u64>) -> String {
        let size = match bound {
            Some(bound) => format!("that our list has at most {bound} different keys"),
            None => "how many different keys our list has".to_owned(),
        };
        let all = self.many.to.len() == self.parties;
        let who = match &self.many.to[..] {
            _ if all => "Each party learns".to_owned(),
            [one] => format!("{one} alone learns"),
            several => {
                let several: Vec<_> = several.iter().map(Party::to_string).collect();
                format!("{} learn, each for itself,", several.join(" and "))
            }
        };
        format!(
            "All others learn {size}. {who} which of its own rows have keys of all {} lists; of each of its own keys, which of the others have it; and how many keys, not \
             which, any of the others have in common without it. Who puts what it has together with one of these learns the same of its own keys.\nThis holds as long as all follow the protocol, {}.\n",
            self.parties,
            match self.many.protocol.honest_majority {
                true => "and no two put together what they have",
                false => "whoever of them put together what they have",
            }
        )
    }
}
