//! Kinds of jobs and of requests as a service's file has them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use madrigal_net::roster::is_name;
use madrigal_program::lower::Mix;
use serde::Deserialize;

use super::clients::ClientConfig;
use super::units::{Bytes, Span};

/// The most submissions of a batch.
const MOST: usize = 1_000_000;
/// The most submissions of one client that wait, where the file says nothing and four batches have fewer.
const EACH: usize = 10_000;

/// The most kinds that hold inputs for one kind.
const MOST_HELD: usize = madrigal_intake::limits::MAX_HELD;

/// A kind of jobs, as the file has it.
#[derive(Debug, Clone)]
pub struct KindConfig {
    /// Name, by which clients ask for it.
    pub name: String,
    /// The program's file.
    pub program: PathBuf,
    /// Lengths of the program's dimensions, but for the one of submissions.
    pub lengths: BTreeMap<String, usize>,
    /// The dimension that is the number of submissions of a batch; without one, a batch has one submission.
    pub dimension: Option<String>,
    /// The fewest submissions that a batch may have.
    pub least: usize,
    /// The most submissions of a batch, which starts once it has as many.
    pub most: usize,
    /// Time after which a batch starts that has the fewest submissions or more.
    pub after: Duration,
    /// Clients without whose submissions no batch starts, the same at all servers.
    pub waits_for: BTreeSet<String>,
    /// Clients that may submit.
    pub submit: Submitters,
    /// Clients that may fetch outputs, by the name that the program has for who receives them.
    pub receive: BTreeMap<String, BTreeSet<String>>,
    /// Sharings, where not the program's own.
    pub mix: Option<Mix>,
    /// Memory that a job may take.
    pub memory: Option<u64>,
    /// Time after which a job is given up.
    pub deadline: Duration,
    /// Number of times that a batch is tried.
    pub runs: u32,
    /// Time after which a submission that no batch has taken is dropped.
    pub expires: Duration,
    /// Time for which results are kept.
    pub kept: Duration,
    /// The most submissions of one known client that wait or are in a batch.
    pub each: usize,
    /// The program's client whose inputs this kind holds for others, if it is a holding kind.
    pub holds: Option<String>,
    /// Kinds that hold inputs for this one, by the program's clients whose inputs these are.
    pub held: BTreeMap<String, String>,
    /// Jobs for which correlations are kept ready.
    pub ahead: Option<AheadConfig>,
}

/// Jobs for which correlations are kept ready, as the file has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AheadConfig {
    /// Number of jobs.
    pub jobs: usize,
    /// Submissions of each.
    pub submissions: usize,
}

/// The most jobs for which a kind keeps correlations ready: servers name all units in one note.
const MOST_AHEAD: usize = 100;

/// A kind of requests, as the file has it.
#[derive(Debug, Clone)]
pub struct RequestConfig {
    /// Name, by which clients ask for it.
    pub name: String,
    /// Function that answers are computed by.
    pub function: Function,
    /// Clients that may ask.
    pub submit: Submitters,
    /// Time for which the leader gathers requests before it begins with fewer than the most.
    pub window: Duration,
    /// The most requests that are computed together.
    pub most: usize,
    /// Time after which a request that was not answered is refused.
    pub deadline: Duration,
}

/// Functions that requests can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// AES-128 of a secret block under a key that the servers share.
    Aes128,
}

impl Function {
    /// The name by which files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "aes-128",
        }
    }

    /// The function of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        (name == Self::Aes128.name()).then_some(Self::Aes128)
    }
}

/// A kind of either sort.
pub(super) enum Checked {
    Jobs(Box<KindConfig>),
    Requests(RequestConfig),
}

/// The most requests that are computed together, at most: what a note about them holds.
const MOST_REQUESTS: usize = 1 << 14;
/// The longest time for which requests are gathered.
const LONGEST_WINDOW: Duration = Duration::from_secs(1);

/// Clients that may submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitters {
    /// Anyone, also without a name that is proved.
    Anyone,
    /// All clients that the file names.
    Known,
    /// These.
    Named(BTreeSet<String>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SubmitText {
    Word(String),
    Names(BTreeSet<String>),
}

/// A number of jobs of the largest batch, or of another one.
#[derive(Deserialize)]
#[serde(untagged)]
enum AheadText {
    Jobs(usize),
    Sized(AheadTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct AheadTable {
    jobs: usize,
    submissions: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct KindText {
    pub(super) name: String,
    program: Option<PathBuf>,
    requests: Option<String>,
    window: Option<Span>,
    most: Option<usize>,
    #[serde(default)]
    lengths: BTreeMap<String, usize>,
    batch: Option<BatchText>,
    submit: SubmitText,
    #[serde(default)]
    receive: BTreeMap<String, BTreeSet<String>>,
    mix: Option<String>,
    memory: Option<Bytes>,
    deadline: Option<Span>,
    runs: Option<u32>,
    expires: Option<Span>,
    kept: Option<Span>,
    each: Option<usize>,
    holds: Option<String>,
    #[serde(default)]
    held: BTreeMap<String, String>,
    ahead: Option<AheadText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct BatchText {
    dimension: String,
    least: usize,
    most: usize,
    after: Span,
    #[serde(default)]
    clients: BTreeSet<String>,
}

impl KindText {
    /// The kind, or the field that is wrong and how.
    pub(super) fn checked(
        self,
        folder: &Path,
        known: &BTreeMap<String, ClientConfig>,
    ) -> Result<Checked, (String, String)> {
        let wrong = |problem: &str| {
            let at = format!("kinds.{}", self.name);
            Err((at, problem.to_owned()))
        };
        match (&self.program, &self.requests) {
            (Some(_), None) => self
                .checked_jobs(folder, known)
                .map(|kind| Checked::Jobs(Box::new(kind))),
            (None, Some(_)) => self.checked_requests(known).map(Checked::Requests),
            (Some(_), Some(_)) => wrong("a kind has `program` or `requests`, and not both"),
            (None, None) => wrong(
                "give `program`, the file of what jobs compute, or `requests`, the function of requests, as in requests = \"aes-128\"",
            ),
        }
    }

    fn checked_requests(
        self,
        known: &BTreeMap<String, ClientConfig>,
    ) -> Result<RequestConfig, (String, String)> {
        let name = self.name;
        let wrong = |field: &str, problem: String| Err((format!("kinds.{name}{field}"), problem));
        if !is_name(&name) {
            return wrong("", NAME.to_owned());
        }
        let of_jobs = [
            ("lengths", !self.lengths.is_empty()),
            ("batch", self.batch.is_some()),
            ("receive", !self.receive.is_empty()),
            ("mix", self.mix.is_some()),
            ("memory", self.memory.is_some()),
            ("runs", self.runs.is_some()),
            ("expires", self.expires.is_some()),
            ("kept", self.kept.is_some()),
            ("each", self.each.is_some()),
            ("holds", self.holds.is_some()),
            ("held", !self.held.is_empty()),
            ("ahead", self.ahead.is_some()),
        ];
        if let Some((field, _)) = of_jobs.iter().find(|(_, given)| *given) {
            let problem = "it is of kinds with a `program`, and this one takes requests";
            return wrong(&format!(".{field}"), problem.to_owned());
        }
        let asked = self.requests.as_deref().unwrap_or_default();
        let Some(function) = Function::of_name(asked) else {
            return wrong(".requests", format!("`{asked}`: write \"aes-128\""));
        };
        let submit = match submitters(self.submit, known) {
            Ok(submit) => submit,
            Err(problem) => return wrong(".submit", problem),
        };
        let window = self.window.map_or(Duration::from_millis(2), |span| span.0);
        if window > LONGEST_WINDOW {
            return wrong(".window", "it is 1 s at most".to_owned());
        }
        let most = self.most.unwrap_or(4096);
        if !(1..=MOST_REQUESTS).contains(&most) {
            return wrong(".most", format!("{most}: 1 to {MOST_REQUESTS} can be"));
        }
        let deadline = self.deadline.map_or(Duration::from_secs(5), |span| span.0);
        if deadline < Duration::from_millis(100) || deadline <= window {
            let problem = "it is 100 ms at least, and longer than `window`";
            return wrong(".deadline", problem.to_owned());
        }
        Ok(RequestConfig {
            name,
            function,
            submit,
            window,
            most,
            deadline,
        })
    }

    fn checked_jobs(
        self,
        folder: &Path,
        known: &BTreeMap<String, ClientConfig>,
    ) -> Result<KindConfig, (String, String)> {
        let name = self.name;
        let wrong = |field: &str, problem: String| Err((format!("kinds.{name}{field}"), problem));
        if !is_name(&name) {
            return wrong("", NAME.to_owned());
        }
        let of_requests = [
            ("window", self.window.is_some()),
            ("most", self.most.is_some()),
        ];
        if let Some((field, _)) = of_requests.iter().find(|(_, given)| *given) {
            let problem = "it is of kinds of `requests`; batches of a program have `batch`";
            return wrong(&format!(".{field}"), problem.to_owned());
        }
        if self.holds.is_some() {
            let of_batches = [
                ("batch", self.batch.is_some()),
                ("receive", !self.receive.is_empty()),
                ("held", !self.held.is_empty()),
                ("kept", self.kept.is_some()),
                ("ahead", self.ahead.is_some()),
            ];
            if let Some((field, _)) = of_batches.iter().find(|(_, given)| *given) {
                let problem = "it is of kinds that compute, and this one `holds` inputs for others: each submission is taken by itself, nobody fetches it, and it stays until another one takes its place";
                return wrong(&format!(".{field}"), problem.to_owned());
            }
            if !matches!(self.submit, SubmitText::Names(_)) {
                let problem = "name the clients that may load what this kind `holds`, as in submit = [\"owner\"]: who loads decides what all later jobs compute with";
                return wrong(".submit", problem.to_owned());
            }
        }
        if self.held.len() > MOST_HELD {
            let problem = format!(
                "{} are named, and {MOST_HELD} are the most",
                self.held.len()
            );
            return wrong(".held", problem);
        }
        let mut holders = BTreeSet::new();
        for (role, holder) in &self.held {
            let problem = match (holder == &name, holders.insert(holder)) {
                (true, _) => "a kind does not hold its own inputs: name another kind",
                (_, false) => "this kind stands for another client already: give each its own",
                _ => continue,
            };
            return wrong(&format!(".held.{role}"), problem.to_owned());
        }
        let missing = |names: &BTreeSet<String>| missing(names, known);
        let submit = match submitters(self.submit, known) {
            Ok(submit) => submit,
            Err(problem) => return wrong(".submit", problem),
        };
        for (role, names) in &self.receive {
            if let Some(problem) = missing(names) {
                return wrong(&format!(".receive.{role}"), problem);
            }
        }
        let mix = self.mix.as_deref().map(str::parse::<Mix>).transpose();
        let mix = match mix {
            Ok(mix) => mix,
            Err(problem) => return wrong(".mix", problem.to_string()),
        };
        let batch = self.batch.as_ref();
        let (least, most) = batch.map_or((1, 1), |batch| (batch.least, batch.most));
        if least == 0 || most < least || most > MOST {
            let problem = format!(
                "least = {least}, most = {most}: a batch has 1 to {MOST} submissions, and the least is not above the most"
            );
            return wrong(".batch", problem);
        }
        let waits_for = batch.map(|batch| batch.clients.clone()).unwrap_or_default();
        if let Some(problem) = missing(&waits_for) {
            return wrong(".batch.clients", problem);
        }
        if waits_for.len() > most {
            let problem = format!(
                "{} clients, and a batch has {most} submissions (`most`): each of them has one in it",
                waits_for.len()
            );
            return wrong(".batch.clients", problem);
        }
        let span =
            |span: Option<Span>, usual: u64| span.map_or(Duration::from_secs(usual), |span| span.0);
        let runs = self.runs.unwrap_or(5);
        if !(1..=100).contains(&runs) {
            return wrong(".runs", format!("{runs}: 1 to 100 can be"));
        }
        let each = self.each.unwrap_or((4 * most).max(EACH));
        if each == 0 {
            let problem = "0: 1 at least, the most submissions of one client that wait";
            return wrong(".each", problem.to_owned());
        }
        let ahead = match self.ahead.map(|text| text.checked(least, most)).transpose() {
            Ok(ahead) => ahead,
            Err(problem) => return wrong(".ahead", problem),
        };
        Ok(KindConfig {
            each,
            holds: self.holds,
            held: self.held,
            ahead,
            program: folder.join(self.program.unwrap_or_default()),
            lengths: self.lengths,
            dimension: batch.map(|batch| batch.dimension.clone()),
            least,
            most,
            after: batch.map_or(Duration::ZERO, |batch| batch.after.0),
            waits_for,
            submit,
            receive: self.receive,
            mix,
            memory: self.memory.map(|memory| memory.0),
            deadline: span(self.deadline, 600),
            runs,
            expires: span(self.expires, 7 * 86_400),
            kept: span(self.kept, 7 * 86_400),
            name,
        })
    }
}

impl AheadText {
    /// The jobs, where a batch has this many submissions.
    fn checked(self, least: usize, most: usize) -> Result<AheadConfig, String> {
        let (jobs, submissions) = match self {
            Self::Jobs(jobs) => (jobs, most),
            Self::Sized(AheadTable { jobs, submissions }) => (jobs, submissions),
        };
        if !(1..=MOST_AHEAD).contains(&jobs) {
            return Err(format!(
                "{jobs} jobs: 1 to {MOST_AHEAD} can be; leave the field out where each job is to make its own correlations"
            ));
        }
        if !(least..=most).contains(&submissions) {
            return Err(format!(
                "jobs of {submissions} submissions, where a batch has {least} to {most}"
            ));
        }
        Ok(AheadConfig { jobs, submissions })
    }
}

const NAME: &str = "a kind's name has 1 to 64 letters, digits, `-`, `_` and `.`";

/// Finds a name that is not known; tells it, and what to do.
fn missing(names: &BTreeSet<String>, known: &BTreeMap<String, ClientConfig>) -> Option<String> {
    let missing = names.iter().find(|name| !known.contains_key(*name));
    missing.map(|name| format!("`{name}` is not among [[clients]]: add it there"))
}

fn submitters(
    text: SubmitText,
    known: &BTreeMap<String, ClientConfig>,
) -> Result<Submitters, String> {
    match text {
        SubmitText::Word(word) => match word.as_str() {
            "anyone" => Ok(Submitters::Anyone),
            "known" => Ok(Submitters::Known),
            _ => Err(format!(
                "`{word}`: write \"anyone\", \"known\", or a list of clients"
            )),
        },
        SubmitText::Names(names) => match missing(&names, known) {
            Some(problem) => Err(problem),
            None => Ok(Submitters::Named(names)),
        },
    }
}
