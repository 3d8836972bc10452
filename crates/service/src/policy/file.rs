//! The file of a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use madrigal_core::{Digest256, hexadecimal};
use madrigal_noise::{Delta, Epsilon};
use madrigal_program::Privacy;
use serde::Deserialize;

use crate::config::{ClientConfig, ClientText, ConfigError, Function, Span, read_text};

/// The most rules of a policy.
const MAX_RULES: usize = 1024;
/// The most clients that a policy may name.
const MAX_CLIENTS: usize = 4096;
/// The greatest limit of batches: the times of as many are kept.
pub(super) const MAX_BATCHES: u64 = 4096;
/// The word for all submitters that the service's file lets.
const ANY: &str = "any";

/// Rules of a server about what it takes part in.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The file.
    pub file: PathBuf,
    /// Clients that rules name, with the keys and tokens by which they are known.
    pub clients: BTreeMap<String, ClientConfig>,
    /// Rules, one for each program or function.
    pub rules: Vec<Rule>,
}

/// A rule: a program that may be computed, for whom, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Program or function.
    pub subject: Subject,
    /// Clients that may get outputs.
    pub recipients: BTreeSet<String>,
    /// Clients that may submit, where outputs or answers are for those who do.
    pub submitters: Option<PolicyClients>,
    /// The fewest submissions of a batch; 1 for requests.
    pub least: usize,
    /// The most batches.
    pub batches: Option<Batches>,
    /// The most that all batches together may tell of one person, if they are to be private.
    pub budget: Option<Privacy>,
}

/// Something that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A kind of jobs, by its digest.
    Kind(Digest256),
    /// Kinds of requests, by their function.
    Function(Function),
}

/// Clients that may submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyClients {
    /// All that the service's file lets.
    Any,
    /// These.
    Named(BTreeSet<String>),
}

/// A limit of batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    /// The most that may begin.
    pub most: u64,
    /// Time within which they are counted; without it, all are.
    pub per: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyText {
    #[serde(default)]
    clients: Vec<ClientText>,
    #[serde(default)]
    allow: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RuleText {
    program: String,
    #[serde(default)]
    recipients: BTreeSet<String>,
    submitters: Option<SubmittersText>,
    least: Option<usize>,
    batches: Option<u64>,
    per: Option<Span>,
    epsilon: Option<f64>,
    delta: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SubmittersText {
    Word(String),
    Names(BTreeSet<String>),
}

impl Policy {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`]: a file that cannot be read, or a field that says what it may not.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        Self::parse(&read_text(file)?, file)
    }

    /// Reads the text of a file that lies, or would lie, at `file`.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let text: PolicyText = toml::from_str(text).map_err(|error| ConfigError::Text {
            file: file.to_owned(),
            problem: error.to_string(),
        })?;
        let field = |(field, problem): (String, String)| ConfigError::Field {
            file: file.to_owned(),
            field,
            problem,
        };
        let wrong = |at: &str, problem: String| Err(field((at.to_owned(), problem)));
        let sizes = [
            ("clients", text.clients.len(), MAX_CLIENTS),
            ("allow", text.allow.len(), MAX_RULES),
        ];
        if let Some((at, got, most)) = sizes.into_iter().find(|(_, got, most)| got > most) {
            return wrong(at, format!("{got} are named, and {most} are the most"));
        }
        let mut clients = BTreeMap::new();
        for client in text.clients {
            let (name, client) = client.checked().map_err(field)?;
            if clients.insert(name.clone(), client).is_some() {
                return wrong("clients", format!("`{name}` is named twice"));
            }
        }
        let mut rules: Vec<Rule> = Vec::new();
        for (number, rule) in (1..).zip(text.allow) {
            let rule = rule.checked(number, &clients).map_err(field)?;
            let same = |before: &Rule| before.subject == rule.subject;
            if let Some(before) = rules.iter().position(same) {
                let problem = format!(
                    "rules {} and {number} are about {}: write one",
                    before + 1,
                    rule.subject
                );
                return wrong("allow", problem);
            }
            rules.push(rule);
        }
        Ok(Self {
            file: file.to_owned(),
            clients,
            rules,
        })
    }
}

impl RuleText {
    /// The rule, or the field that is wrong and how.
    fn checked(
        self,
        number: usize,
        clients: &BTreeMap<String, ClientConfig>,
    ) -> Result<Rule, (String, String)> {
        let wrong =
            |field: &str, problem: String| Err((format!("allow.{number}.{field}"), problem));
        let subject = match (Function::of_name(&self.program), digest(&self.program)) {
            (Some(function), _) => Subject::Function(function),
            (None, Some(digest)) => Subject::Kind(digest),
            (None, None) => {
                let problem = format!(
                    "`{}`: write the 64 digits that `madrigal serve --check` prints for the kind, or \"aes-128\"",
                    self.program
                );
                return wrong("program", problem);
            }
        };
        let submitters = match self.submitters {
            None => None,
            Some(SubmittersText::Word(word)) if word == ANY => Some(PolicyClients::Any),
            Some(SubmittersText::Word(word)) => {
                let problem = format!("`{word}`: write \"{ANY}\", or a list of clients");
                return wrong("submitters", problem);
            }
            Some(SubmittersText::Names(names)) => Some(PolicyClients::Named(names)),
        };
        let named = match &submitters {
            Some(PolicyClients::Named(names)) => names.iter().collect(),
            _ => Vec::new(),
        };
        let recipients = self.recipients.iter().map(|name| ("recipients", name));
        let submitting = named.into_iter().map(|name| ("submitters", name));
        let unknown = |(_, name): &(&str, &String)| !clients.contains_key(*name);
        if let Some((field, name)) = recipients.chain(submitting).find(unknown) {
            let problem = format!(
                "`{name}` is not among [[clients]] of the policy: add it there with its key or token"
            );
            return wrong(field, problem);
        }
        let of_jobs = [
            ("recipients", !self.recipients.is_empty()),
            ("least", self.least.is_some()),
            ("batches", self.batches.is_some()),
            ("epsilon", self.epsilon.is_some()),
        ];
        let least = match (subject, self.least) {
            (Subject::Function(_), _) => {
                if let Some((field, _)) = of_jobs.iter().find(|(_, given)| *given) {
                    let problem = "it is for programs, and this rule is for requests";
                    return wrong(field, problem.to_owned());
                }
                1
            }
            (Subject::Kind(_), Some(least @ 1..)) => least,
            (Subject::Kind(_), _) => {
                let problem = "write the fewest submissions of a batch, 1 or more";
                return wrong("least", problem.to_owned());
            }
        };
        let per = self.per.map(|per| per.0);
        let batches = match (self.batches, per) {
            (None, None) => None,
            (None, Some(_)) => {
                let problem = "give `batches`, the most that may begin in this time";
                return wrong("per", problem.to_owned());
            }
            (Some(most), _) if most > MAX_BATCHES => {
                let problem = format!("{most}: {MAX_BATCHES} are the most; leave it out for more");
                return wrong("batches", problem);
            }
            (Some(_), Some(per)) if per < Duration::from_secs(1) => {
                return wrong("per", "it is 1 s at least".to_owned());
            }
            (Some(most), per) => Some(Batches { most, per }),
        };
        let budget = match (self.epsilon, self.delta) {
            (None, None) => None,
            (None, Some(_)) => {
                let problem = "give `epsilon`, the most that may be spent, beside it";
                return wrong("delta", problem.to_owned());
            }
            (Some(epsilon), delta) => {
                let epsilon = match Epsilon::new(epsilon) {
                    Ok(epsilon) => epsilon,
                    Err(error) => return wrong("epsilon", error.to_string()),
                };
                let delta = match delta.map_or(Ok(Delta::MILLIONTH), Delta::new) {
                    Ok(delta) => delta,
                    Err(error) => return wrong("delta", error.to_string()),
                };
                Some(Privacy { epsilon, delta })
            }
        };
        Ok(Rule {
            budget,
            subject,
            recipients: self.recipients,
            submitters,
            least,
            batches,
        })
    }
}

/// The digest of 64 digits.
fn digest(digits: &str) -> Option<Digest256> {
    let mut bytes = [0; 32];
    let fits = digits.len() == 64 && hexadecimal::decode(digits.as_bytes(), &mut bytes) == 0;
    fits.then_some(Digest256(bytes))
}

/// As a rule's field has it.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(digest) => write!(f, "{digest}"),
            Self::Function(function) => f.write_str(function.name()),
        }
    }
}

impl fmt::Display for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.per {
            None => write!(f, "{} in all", self.most),
            Some(per) => write!(f, "{} in {}", self.most, humantime::format_duration(per)),
        }
    }
}
