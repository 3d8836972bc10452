//! Kinds of jobs as a service's file has them.

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
    /// Clients without whose submissions no batch starts.
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
}

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct KindText {
    pub(super) name: String,
    program: PathBuf,
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
    ) -> Result<KindConfig, (String, String)> {
        let name = self.name;
        let wrong = |field: &str, problem: String| Err((format!("kinds.{name}{field}"), problem));
        if !is_name(&name) {
            let problem = "a kind's name has 1 to 64 letters, digits, `-`, `_` and `.`";
            return wrong("", problem.to_owned());
        }
        let missing = |names: &BTreeSet<String>| {
            let missing = names.iter().find(|name| !known.contains_key(*name));
            missing.map(|name| format!("`{name}` is not among [[clients]]: add it there"))
        };
        let submit = match self.submit {
            SubmitText::Word(word) => match word.as_str() {
                "anyone" => Submitters::Anyone,
                "known" => Submitters::Known,
                _ => {
                    let problem =
                        format!("`{word}`: write \"anyone\", \"known\", or a list of clients");
                    return wrong(".submit", problem);
                }
            },
            SubmitText::Names(names) => match missing(&names) {
                Some(problem) => return wrong(".submit", problem),
                None => Submitters::Named(names),
            },
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
        let span =
            |span: Option<Span>, usual: u64| span.map_or(Duration::from_secs(usual), |span| span.0);
        let runs = self.runs.unwrap_or(5);
        if !(1..=100).contains(&runs) {
            return wrong(".runs", format!("{runs}: 1 to 100 can be"));
        }
        Ok(KindConfig {
            program: folder.join(self.program),
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
