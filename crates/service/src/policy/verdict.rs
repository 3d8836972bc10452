//! The verdict of a policy on a kind, and the rule that would allow one that is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use madrigal_core::Digest256;
use madrigal_program::{Exposed, Privacy};

use super::file::{Batches, Policy, PolicyClients, Rule, Subject};
use crate::config::{ClientConfig, Submitters};
use crate::kind::{Kind, Receivers};
use crate::requests::RequestKind;

/// The verdict on a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// There is no policy: the kind holds as the service's file has it.
    NoPolicy,
    /// A rule allows it.
    Allowed(Allowed),
    /// No rule does.
    Refused(Box<Refusal>),
}

/// Bounds that a rule sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// Number of the rule in its file, from 1.
    pub rule: usize,
    /// The fewest submissions of a batch.
    pub least: usize,
    /// The most batches.
    pub batches: Option<Batches>,
    /// The most that all batches together may tell of one person, and what one of them tells.
    pub budget: Option<Budget>,
}

/// A budget of epsilons and deltas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The most that may be spent.
    pub most: Privacy,
    /// Spent by each batch.
    pub each: Privacy,
}

impl Budget {
    /// Whether a batch may begin once this was spent.
    pub(super) fn allows(&self, spent: Privacy) -> bool {
        spent.epsilon.plus(self.each.epsilon) <= self.most.epsilon
            && spent.delta.plus(self.each.delta) <= self.most.delta
    }
}

/// A kind that the policy does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind.
    pub kind: String,
    /// Reason, with the policy's file.
    pub why: String,
    /// The rule that would allow it, as the policy's file has it.
    pub rule: String,
}

/// A kind as a policy looks at it.
struct Asked<'a> {
    kind: &'a str,
    subject: Subject,
    /// Clients that get outputs, each with one of those outputs.
    recipients: BTreeMap<&'a str, &'a str>,
    /// Whether those who submit get outputs or answers, or load what later jobs compute with.
    to_submitters: bool,
    /// Kinds that hold inputs for this one, or nothing; whether this one holds some.
    holders: Vec<&'a str>,
    holds: bool,
    submit: &'a Submitters,
    /// The fewest and the most submissions of a batch.
    sizes: (usize, usize),
    /// Privacy of one batch, or why it has none.
    privacy: Result<Privacy, &'a Exposed>,
    /// Clients as the service's file has them.
    clients: &'a BTreeMap<String, ClientConfig>,
}

impl Policy {
    /// The verdict on a kind of jobs, where the service knows these clients.
    pub fn on_jobs(&self, kind: &Kind, clients: &BTreeMap<String, ClientConfig>) -> Verdict {
        let mut recipients = BTreeMap::new();
        for output in &kind.outputs {
            if let Receivers::Named(names) = &output.to {
                recipients.extend(names.iter().map(|name| (&**name, &*output.name)));
            }
        }
        let own = |receivers: &Receivers| !matches!(receivers, Receivers::Named(_));
        self.on(&Asked {
            kind: &kind.config.name,
            subject: Subject::Kind(Digest256(kind.digest)),
            recipients,
            to_submitters: kind.config.holds.is_some()
                || kind.outputs.iter().any(|output| own(&output.to)),
            holders: kind.holders(),
            holds: kind.config.holds.is_some(),
            submit: &kind.config.submit,
            sizes: (kind.config.least, kind.config.most),
            privacy: kind.privacy.as_ref().copied(),
            clients,
        })
    }

    /// The verdict on a kind of requests, where the service knows these clients.
    pub fn on_requests(
        &self,
        kind: &RequestKind,
        clients: &BTreeMap<String, ClientConfig>,
    ) -> Verdict {
        self.on(&Asked {
            kind: &kind.config.name,
            subject: Subject::Function(kind.config.function),
            recipients: BTreeMap::new(),
            to_submitters: true,
            holders: Vec::new(),
            holds: false,
            submit: &kind.config.submit,
            sizes: (1, 1),
            // No rule for requests has a budget.
            privacy: Ok(Privacy::default()),
            clients,
        })
    }

    fn on(&self, asked: &Asked<'_>) -> Verdict {
        let mut rules = (1..).zip(&self.rules);
        let found = rules.find(|(_, rule)| rule.subject == asked.subject);
        let fault = match found {
            None => Some("no rule is about it; this one would allow it".to_owned()),
            Some((number, rule)) => self.fault(rule, asked).map(|fault| {
                format!(
                    "rule {number} does not allow it: {fault}. Once that is right, the rule is this"
                )
            }),
        };
        match (fault, found) {
            (None, Some((number, rule))) => Verdict::Allowed(Allowed {
                rule: number,
                least: rule.least.max(asked.sizes.0),
                batches: rule.batches,
                budget: (rule.budget.zip(asked.privacy.ok()))
                    .map(|(most, each)| Budget { most, each }),
            }),
            (fault, found) => Verdict::Refused(Box::new(Refusal {
                kind: asked.kind.to_owned(),
                why: format!("{}: {}", self.file.display(), fault.unwrap_or_default()),
                rule: self.wanted(asked, found.map(|(_, rule)| rule)),
            })),
        }
    }

    /// Reason why the rule of this program does not allow the kind, if so.
    fn fault(&self, rule: &Rule, asked: &Asked<'_>) -> Option<String> {
        let mut recipients = asked.recipients.iter();
        if let Some((name, output)) = recipients.find(|(name, _)| !rule.recipients.contains(**name))
        {
            return Some(format!(
                "client `{name}` gets output `{output}`, and `recipients` does not name it"
            ));
        }
        let mut names: BTreeSet<&str> = asked.recipients.keys().copied().collect();
        match (&rule.submitters, asked.submit) {
            (None, _) if asked.holds => {
                return Some(
                    "those who submit load what later jobs compute with, and `submitters` does not name them"
                        .to_owned(),
                );
            }
            (None, _) if asked.to_submitters => {
                return Some(
                    "those who submit get outputs or answers, and `submitters` is not there"
                        .to_owned(),
                );
            }
            (None | Some(PolicyClients::Any), _) => {}
            (Some(PolicyClients::Named(allowed)), Submitters::Named(may)) => {
                if let Some(name) = may.iter().find(|name| !allowed.contains(*name)) {
                    return Some(format!(
                        "client `{name}` may submit, and `submitters` does not name it"
                    ));
                }
                names.extend(may.iter().map(String::as_str));
            }
            (Some(PolicyClients::Named(_)), Submitters::Anyone | Submitters::Known) => {
                return Some(
                    "`submitters` names clients, and the kind's `submit` does not".to_owned(),
                );
            }
        }
        let mut names = names.into_iter();
        if let Some(name) = names.find(|name| !self.is_pinned(name, asked)) {
            return Some(format!(
                "client `{name}` has another key or token in the service's file than in the policy: ask the client which one is right, and correct the file that is wrong"
            ));
        }
        if let Some(most) = rule.budget {
            let each = match asked.privacy {
                Ok(each) => each,
                Err(exposed) => {
                    return Some(format!("it has a budget (`epsilon`), and {exposed}"));
                }
            };
            if !(Budget { most, each }).allows(Privacy::default()) {
                return Some(format!(
                    "a batch spends {}, and its budget is {}",
                    in_words(each),
                    in_words(most)
                ));
            }
        }
        let most = asked.sizes.1;
        (rule.least > most).then(|| {
            format!(
                "`least` is {}, and batches of the kind have {most} submissions at the most",
                rule.least
            )
        })
    }

    /// Whether the policy and the service's file say the same of a client.
    fn is_pinned(&self, name: &str, asked: &Asked<'_>) -> bool {
        let ours = self.clients.get(name);
        ours.is_some() && ours == asked.clients.get(name)
    }

    /// The rule that would allow a kind, with the clients that it names and that the policy does not have so.
    fn wanted(&self, asked: &Asked<'_>, rule: Option<&Rule>) -> String {
        let mut names: BTreeSet<&str> = asked.recipients.keys().copied().collect();
        let submitters = match asked.submit {
            _ if !asked.to_submitters && rule.is_none_or(|rule| rule.submitters.is_none()) => None,
            Submitters::Anyone | Submitters::Known => Some("\"any\"".to_owned()),
            Submitters::Named(may) => {
                names.extend(may.iter().map(String::as_str));
                Some(list(may.iter().map(String::as_str)))
            }
        };
        let mut text = String::new();
        for name in names.iter().filter(|name| !self.is_pinned(name, asked)) {
            let _ = writeln!(text, "[[clients]]\nname = \"{name}\"");
            let client = asked.clients.get(*name);
            let fields = client.map(|client| [("key", client.key), ("token-sha256", client.token)]);
            for (field, value) in fields.into_iter().flatten() {
                if let Some(value) = value {
                    let _ = writeln!(text, "{field} = \"{value}\"");
                }
            }
            text.push('\n');
        }
        let _ = writeln!(text, "# kind {}", asked.kind);
        if !asked.holders.is_empty() {
            let holders = asked.holders.join(", ");
            let _ = writeln!(text, "# It computes with what these kinds hold: {holders}.");
        }
        if asked.holds {
            let _ = writeln!(
                text,
                "# Submitters load what other kinds of this program compute with."
            );
        }
        let _ = writeln!(text, "[[allow]]\nprogram = \"{}\"", asked.subject);
        if !asked.recipients.is_empty() {
            let recipients = list(asked.recipients.keys().copied());
            let _ = writeln!(text, "recipients = {recipients}");
        }
        if let Some(submitters) = submitters {
            let _ = writeln!(text, "submitters = {submitters}");
        }
        if let Subject::Kind(_) = asked.subject {
            let (least, most) = asked.sizes;
            let least = rule.map_or(least, |rule| rule.least.clamp(least, most));
            let _ = writeln!(text, "least = {least}");
        }
        if let Some(Batches { most, per }) = rule.and_then(|rule| rule.batches) {
            let _ = writeln!(text, "batches = {most}");
            if let Some(per) = per {
                let per = humantime::format_duration(per);
                let _ = writeln!(text, "per = \"{per}\"");
            }
        }
        // A budget that is too small, or that noise is wanting for, is not made larger or left out here.
        if let (Some(_), Some(budget)) = (asked.privacy.ok(), rule.and_then(|rule| rule.budget)) {
            let _ = writeln!(
                text,
                "epsilon = {}\ndelta = {}",
                budget.epsilon, budget.delta
            );
        }
        text
    }
}

/// An epsilon and a delta.
pub(crate) fn in_words(privacy: Privacy) -> String {
    format!("epsilon {} and delta {}", privacy.epsilon, privacy.delta)
}

/// A list of names, as TOML has it. Names have no characters that would need more.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", names.join(", "))
}

impl Verdict {
    /// The rule that allows it, with its limits.
    pub(crate) fn allowed(&self) -> Option<Allowed> {
        match self {
            Self::Allowed(allowed) => Some(allowed.clone()),
            Self::NoPolicy | Self::Refused(_) => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPolicy => {
                write!(
                    f,
                    "taken as the service's file has it: there is no `policy`"
                )
            }
            Self::Allowed(Allowed {
                rule,
                least,
                batches,
                budget,
            }) => {
                write!(f, "allowed by rule {rule}, from {least} submissions on")?;
                if let Some(batches) = batches {
                    write!(f, ", batches: {batches}")?;
                }
                match budget {
                    None => Ok(()),
                    Some(Budget { most, each }) => {
                        let (each, most) = (in_words(*each), in_words(*most));
                        write!(f, ", each spends {each} of {most}")
                    }
                }
            }
            Self::Refused(refusal) => write!(f, "refused: {}", refusal.why),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kind `{}`: {}:\n\n{}", self.kind, self.why, self.rule)
    }
}
