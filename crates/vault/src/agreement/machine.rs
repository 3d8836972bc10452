//! The machine of a server, whichever it is.

use madrigal_core::{MAX_PARTIES, Party};

use super::follower::Follower;
use super::leader::Leader;
use super::types::{Action, Batch, Closed, Event, Host, Restored, Rules};

/// A [`Leader`] or a [`Follower`].
#[derive(Debug)]
pub enum Machine {
    /// Party 0.
    Leader(Box<Leader>),
    /// All others.
    Follower(Box<Follower>),
}

impl Machine {
    /// The machine of a kind at party `me` of `parties`, from what is on its disk. The rules are the leader's alone.
    ///
    /// # Panics
    /// If `parties` is not 2 to [`MAX_PARTIES`], or `me` is none of them.
    pub fn new(kind: &str, me: Party, parties: usize, rules: Rules, restored: Restored) -> Self {
        assert!((2..=MAX_PARTIES).contains(&parties) && me.index() < parties);
        if me.index() == 0 {
            Self::Leader(Box::new(Leader::new(kind, parties, rules, restored)))
        } else {
            Self::Follower(Box::new(Follower::new(kind, restored)))
        }
    }

    /// Takes an event, tells what to do. [`Action::Report`] says when the machine goes on after it, if at all.
    pub fn handle(&mut self, event: Event, host: &dyn Host) -> Vec<Action> {
        match self {
            Self::Leader(leader) => leader.handle(event, host),
            Self::Follower(follower) => follower.handle(event, host),
        }
    }

    /// The batch that is prepared and has not ended.
    pub fn open(&self) -> Option<&Batch> {
        match self {
            Self::Leader(leader) => leader.open(),
            Self::Follower(follower) => follower.open(),
        }
    }

    /// The last batch that ended.
    pub fn closed(&self) -> Option<&Closed> {
        match self {
            Self::Leader(leader) => leader.closed(),
            Self::Follower(follower) => follower.closed(),
        }
    }
}
