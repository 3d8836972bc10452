//! Errors between parties. Every error says who, what was expected, what came, and what to
//! do next; all of them end a job, none of them leads to an output.

use std::time::Duration;

use madrigal_core::Party;

use crate::frame::FrameError;
use crate::versions::Versions;

/// Outcome of everything that waits for another party.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Parties that have to act on an error; programs map them to exit statuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    /// The network or a machine: lost, silent or slow.
    Network,
    /// The other party's program, configuration or behaviour.
    Peer,
    /// Files of this party itself.
    Files,
    /// The caller: the interface was used against its contract.
    Caller,
}

/// A failure between parties. Cheap to clone: everything that waits on a failed job gets a copy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The connection is gone.
    #[error("lost {peer}{}: {reason}; see why its program ended or its machine is out of reach, then start the job again", waiting(.step, .missing))]
    Lost {
        /// Party whose connection was lost.
        peer: Party,
        /// The step that waited for it, if one did.
        step: Option<String>,
        /// Bytes that step still expected.
        missing: usize,
        /// Reason that the transport reported.
        reason: String,
    },
    /// Nothing at all came from a party for too long.
    #[error("{peer} has been silent for {:.1} s{}; check that its machine runs and the network to it works, or allow it more time", .after.as_secs_f64(), waiting(.step, .missing))]
    Silent {
        /// Party that is silent.
        peer: Party,
        /// Time for which it is silent.
        after: Duration,
        /// The step that waits for it, if one does.
        step: Option<String>,
        /// Bytes that step still expects.
        missing: usize,
    },
    /// A party lives, but does not send what a step waits for.
    #[error("{peer} is alive but sent nothing for step `{step}` in {:.1} s, {missing} bytes are missing; look at that party's log, or allow it more time", .after.as_secs_f64())]
    Stalled {
        /// Party that should have sent.
        peer: Party,
        /// The waiting step.
        step: String,
        /// Bytes it still expects.
        missing: usize,
        /// Time that the party has waited.
        after: Duration,
    },
    /// A party lives, but takes nothing of what a step sends.
    #[error("{peer} is alive but took nothing from step `{step}` in {:.1} s, with {missing} bytes still to send; look at that party's log, or allow it more time", .after.as_secs_f64())]
    Backlog {
        /// Party that should have received.
        peer: Party,
        /// The sending step.
        step: String,
        /// Bytes that wait to go.
        missing: usize,
        /// Time that its messages have waited.
        after: Duration,
    },
    /// A party did not say what it should have said by now.
    #[error("{peer} did not {what} within {:.1} s; see whether it was started with the same options and reports an error", .after.as_secs_f64())]
    Late {
        /// Party that is late.
        peer: Party,
        /// Action that it should have done.
        what: &'static str,
        /// The time it had.
        after: Duration,
    },
    /// The job did not end in the time it was given.
    #[error("the job did not end within its deadline of {:.1} s{}; allow more time if the work is simply longer", .after.as_secs_f64(), by(.culprits))]
    Deadline {
        /// The time the job was given.
        after: Duration,
        /// Messages that it was waiting for, in words.
        culprits: String,
    },
    /// Bytes that are not a frame, or a damaged one.
    #[error("{peer} sent {problem}")]
    Frame {
        /// Party whose connection brought it.
        peer: Party,
        /// Problem of the frame.
        problem: FrameError,
    },
    /// A control message that cannot be.
    #[error("{peer} sent a control message with {problem}: it runs a faulty or foreign program")]
    Control {
        /// Party that sent the message.
        peer: Party,
        /// Problem of the message.
        problem: &'static str,
    },
    /// A message of another length than the step defines.
    #[error(
        "{peer} sent {got} bytes in step `{step}` where the protocol has {expected}: it asks for other amounts or with other options than we do, or it runs a faulty program or another version"
    )]
    Length {
        /// Party that sent the message.
        peer: Party,
        /// Step where the message arrived.
        step: String,
        /// Bytes the protocol defines.
        expected: usize,
        /// Bytes that came.
        got: usize,
    },
    /// A message whose content the protocol does not allow.
    #[error("{peer} sent an impossible message in step `{step}`: {problem}")]
    Content {
        /// Party that sent the message.
        peer: Party,
        /// Step where the message arrived.
        step: String,
        /// Problem of the step.
        problem: String,
    },
    /// More than the flow control allows.
    #[error("{peer} floods us{}: it may have {allowed} bytes under way and sent more; it runs a faulty program", in_step(.step))]
    Flood {
        /// Party that floods.
        peer: Party,
        /// Step that is flooded, if it is known here.
        step: Option<String>,
        /// The permitted number of bytes.
        allowed: u64,
    },
    /// Two parties speak no version of a protocol in common.
    #[error(
        "{peer} speaks {theirs} of {what} ({software}), we speak {ours}: install a newer version of madrigal at {}",
        who_is_old(peer, ours, theirs)
    )]
    Version {
        /// The other side.
        peer: Party,
        /// Name of the protocol, in words.
        what: String,
        /// Versions that we speak.
        ours: Versions,
        /// Versions that the peer speaks.
        theirs: Versions,
        /// The program it says it runs.
        software: String,
    },
    /// The parties' views of the session differ.
    #[error(
        "{peer} and we do not mean the same session: {what} is {ours} here and {theirs} there; start both with the same parties.toml and options"
    )]
    Session {
        /// The other side.
        peer: Party,
        /// Name of the fact that differs.
        what: &'static str,
        /// The fact here.
        ours: String,
        /// The fact there.
        theirs: String,
    },
    /// Two parties that meet know different addresses for it: they belong to different runs.
    #[error(
        "{peer} and we do not mean the same run: {dialed} is at {ours} here and at {theirs} there. Either somebody forwards connections of two runs crosswise, or our lists of parties differ: correct them, or, where they must differ (NAT, containers), give the run a name, the same at all parties"
    )]
    Run {
        /// The other side.
        peer: Party,
        /// The one of the two that is dialed.
        dialed: Party,
        /// Address at which it is dialed, here.
        ours: String,
        /// Address at which it is dialed, there.
        theirs: String,
    },
    /// The connections are of several sessions of the same parties.
    #[error(
        "{peer} has met others than we have: somebody forwards connections of two runs of these parties crosswise. Nothing was computed; see who does that, and give each run a name of its own, the same at all its parties"
    )]
    Mixed {
        /// The other side, which is no more at fault than we are.
        peer: Party,
    },
    /// A party whose part it is to compute says that it computes nothing.
    #[error(
        "{peer} says that it computes nothing, and is one of the first {parties} parties, which compute: it was started as another party's helper, or on no threads; start it as {peer}, on one thread at least"
    )]
    Idle {
        /// The other side.
        peer: Party,
        /// Number of parties that compute.
        parties: usize,
    },
    /// The parties were about to compute different things.
    #[error(
        "{peer} runs another program: {what} is {ours} here and {theirs} there; nothing was computed. Start all parties with the same circuit and options"
    )]
    Program {
        /// The other side.
        peer: Party,
        /// Name of the fact that differs.
        what: String,
        /// The fact here.
        ours: String,
        /// The fact there.
        theirs: String,
    },
    /// The parties have asked for different things: results of the job may be wrong.
    #[error(
        "{peer} has asked for other {what} than we have: {ours} here, {theirs} there; the job's results are of no use. All parties must make the same calls with the same numbers"
    )]
    Tally {
        /// The other side.
        peer: Party,
        /// Name of what was asked for.
        what: String,
        /// Quantity here.
        ours: String,
        /// Quantity there.
        theirs: String,
    },
    /// Another party gave up.
    #[error("{peer} gave up: {reason}")]
    Aborted {
        /// Party that gave up.
        peer: Party,
        /// Reason of the peer, in its words.
        reason: String,
        /// Party whose fault it is as far as the peer knows.
        culprit: Option<Party>,
        /// Whether that party blames the network, or a machine that is lost or slow.
        network: bool,
    },
    /// A signal for instance told this party to stop.
    #[error("this party was stopped by {by}")]
    Stopped {
        /// Signal, or whatever stopped it.
        by: String,
    },
    /// A session that was closed, or a job that was given up, from our side.
    #[error("the job was ended here: {reason}")]
    Ended {
        /// Reason.
        reason: String,
    },
    /// A contradiction within this program.
    #[error("a bug in madrigal: {problem}")]
    Bug {
        /// Contradiction that was found.
        problem: String,
    },
    /// A correlation store that this party cannot make or use.
    #[error("correlation store: {problem}")]
    Store {
        /// Problem of the store, and what to do.
        problem: String,
    },
    /// A source of correlations of the caller's own cannot go on.
    #[error("correlations by `{name}`: {problem}")]
    Correlations {
        /// Name of the source.
        name: String,
        /// Problem of the source, and what to do.
        problem: String,
    },
    /// An operation takes more correlations than its bill declares.
    #[error(
        "{wanted} {what} wanted, and {left} left of what was declared: an operation's bill must declare all that it takes"
    )]
    Short {
        /// Kind of the correlations.
        what: String,
        /// Number of items that are taken.
        wanted: usize,
        /// Number of items that there are.
        left: usize,
    },
    /// A job was opened before the greeting was over.
    #[error("no job can be opened before Session::greet has returned")]
    Ungreeted,
    /// A job number or step that was opened twice.
    #[error(
        "{what} is in use already: each job number is used once, from 1 on, and each step of a job; give a second use a step of its own (Context::step)"
    )]
    Reused {
        /// Number or step that was opened twice.
        what: String,
    },
}

impl Error {
    /// Says what was found that cannot be, unless this program is wrong.
    pub fn bug(problem: impl ToString) -> Self {
        Self::Bug {
            problem: problem.to_string(),
        }
    }

    /// Says who has to act.
    pub fn blame(&self) -> Blame {
        self.facts().1
    }

    /// The other party involved, if there is one.
    pub fn peer(&self) -> Option<Party> {
        self.facts().0
    }

    /// Whether the text may show what parties of a job agree on: facts, and the names of operations.
    pub(crate) fn shows_facts(&self) -> bool {
        self.facts().2
    }

    /// Gives the other party involved, who has to act, and whether the text may show what parties of a job agree on.
    fn facts(&self) -> (Option<Party>, Blame, bool) {
        match self {
            Self::Lost { peer, .. }
            | Self::Silent { peer, .. }
            | Self::Stalled { peer, .. }
            | Self::Backlog { peer, .. }
            | Self::Late { peer, .. }
            | Self::Mixed { peer }
            | Self::Frame {
                peer,
                problem: FrameError::Checksum { .. } | FrameError::Truncated { .. },
            } => (Some(*peer), Blame::Network, false),
            Self::Deadline { .. } | Self::Stopped { .. } => (None, Blame::Network, false),
            Self::Aborted { peer, network, .. } => match network {
                true => (Some(*peer), Blame::Network, false),
                false => (Some(*peer), Blame::Peer, true),
            },
            Self::Frame { peer, .. }
            | Self::Control { peer, .. }
            | Self::Length { peer, .. }
            | Self::Content { peer, .. }
            | Self::Flood { peer, .. }
            | Self::Version { peer, .. }
            | Self::Idle { peer, .. }
            | Self::Session { peer, .. }
            | Self::Run { peer, .. } => (Some(*peer), Blame::Peer, false),
            Self::Program { peer, .. } | Self::Tally { peer, .. } => {
                (Some(*peer), Blame::Peer, true)
            }
            Self::Store { .. } => (None, Blame::Files, true),
            Self::Correlations { .. }
            | Self::Short { .. }
            | Self::Ended { .. }
            | Self::Bug { .. } => (None, Blame::Caller, true),
            Self::Ungreeted | Self::Reused { .. } => (None, Blame::Caller, false),
        }
    }

    /// The party whose fault it is as far as we know: where a peer gave up because of a third
    /// party, that one.
    pub fn culprit(&self) -> Option<Party> {
        match self {
            Self::Aborted { peer, culprit, .. } => Some(culprit.unwrap_or(*peer)),
            // Each side is as right as the other; whoever stands between them is no party.
            Self::Run { .. } | Self::Mixed { .. } => None,
            other => other.peer(),
        }
    }
}

/// Whoever has to be upgraded where two parties speak no version in common.
fn who_is_old(peer: &Party, ours: &Versions, theirs: &Versions) -> String {
    match theirs.newest < ours.oldest {
        true => peer.to_string(),
        false => "this party".to_owned(),
    }
}

fn waiting(step: &Option<String>, missing: &usize) -> String {
    match step {
        Some(step) => format!(" while step `{step}` waits for {missing} bytes"),
        None => String::new(),
    }
}

fn in_step(step: &Option<String>) -> String {
    step.as_ref()
        .map(|step| format!(" in step `{step}`"))
        .unwrap_or_default()
}

fn by(culprits: &str) -> String {
    if culprits.is_empty() {
        String::new()
    } else {
        format!(" (waiting for {culprits})")
    }
}
