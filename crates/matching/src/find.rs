//! Matching in a session: both parties' lists are read, and the question is answered.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_app::failure::{Failure, Result};
use madrigal_app::provenance::now;
use madrigal_core::{Cost, Party, Phase};
use madrigal_engine::Progress;
use madrigal_lists::{Listed, Matches, Room, Source, read};
use madrigal_net::{Context, Error, Fact, Session, on_threads};
use madrigal_psi::{PsiPlan, Role, Sizes, agree, intersect, salt};

use crate::cells::{CELLS, Cells, Learns, MOST, partitions};
use crate::failure::Unmatched;
use crate::ledger::{Entry, Ledger, LedgerError};

/// Questions to two lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Which rows have keys that the other list has, too.
    Rows,
    /// Which rows have keys that the other list has, too, and the other list's payload of each: for one party.
    Join,
}

impl Question {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Join => "join",
        }
    }
}

/// Those who learn the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// Both parties.
    Both,
    /// One party.
    One(Party),
}

impl Told {
    /// Whether a party learns the answer.
    pub fn names(self, party: Party) -> bool {
        match self {
            Self::Both => true,
            Self::One(one) => one == party,
        }
    }

    /// The receiver of the protocol: who learns the answer, or of both the one with the shorter list.
    fn receiver(self, sizes: [u64; 2]) -> Party {
        match self {
            Self::One(one) => one,
            Self::Both => Party::new(usize::from(sizes[1] < sizes[0])),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Both => "all".to_owned(),
            Self::One(one) => one.index().to_string(),
        }
    }
}

/// One party's part.
#[derive(Clone, Debug)]
pub struct Task {
    /// List of this party.
    pub source: Source,
    /// Question, the same at both parties.
    pub question: Question,
    /// Those who learn the answer, the same at both parties.
    pub to: Told,
    /// Digits after the point of payloads, the same at both parties.
    pub places: u32,
    /// Number that the other party is told in place of the number of different keys; not less than that.
    pub bound: Option<u64>,
    /// Bytes of memory for the list's digests, beyond which they go to a file.
    pub memory: u64,
    /// Directory for that file.
    pub folder: PathBuf,
    /// Ledger in which the list's owner counts queries, and name of the other party there.
    pub ledger: Option<(Ledger, String)>,
    /// Time after which the job is given up.
    pub deadline: Option<Duration>,
}

/// Outcome of one party.
pub struct Found {
    /// Question that was answered.
    pub question: Question,
    /// List of this party.
    pub listed: Listed,
    /// Rows that match, and the number of different keys among them; `None` at a party that does not learn it.
    pub matches: Option<(Matches, u64)>,
    /// Different keys of both lists, by the parties' order, or the bounds that were told.
    pub sizes: [u64; 2],
    /// Partitions of the lists.
    pub partitions: usize,
    /// Threads of each party.
    pub threads: usize,
    /// Cost by the counters.
    pub cost: Cost,
    /// Seconds in which the list was read, and in which lists were matched.
    pub seconds: [f64; 2],
}

impl Task {
    /// What both parties compare.
    fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| (name.to_owned(), value);
        let question = self.question.name();
        vec![
            fact("what is asked of the lists", question.to_owned()),
            fact("--to", self.to.text()),
            fact("--normal", self.source.normal_text()),
            fact("--places", self.places.to_string()),
        ]
    }

    /// Checks that a party brings what the question needs.
    fn check(&self, me: Party) -> Result<(), Unmatched> {
        let wrong = |problem: &str| Err(Unmatched::Flags(problem.to_owned()));
        let brings = self.source.numbers().is_some();
        match self.question {
            Question::Rows if brings => {
                wrong("--payload: the question does not need it; leave it out, or ask with --join")
            }
            Question::Rows => Ok(()),
            Question::Join if self.to == Told::Both => wrong(
                "--join: one party learns payloads, and the other one has them; name that party with --to",
            ),
            Question::Join if self.to.names(me) == brings => wrong(
                "--join: the party that --to names has no --payload, and the other one has: correct either",
            ),
            Question::Join => Ok(()),
        }
    }

    fn room(&self) -> Room {
        Room {
            memory: self.memory,
            folder: self.folder.clone(),
        }
    }

    /// Counts the query in the list's ledger.
    fn count(&self) -> Result<(), LedgerError> {
        let Some((ledger, with)) = &self.ledger else {
            return Ok(());
        };
        let entry = Entry {
            when: now(),
            with: with.clone(),
            list: self.source.path().display().to_string(),
            question: format!("{}, for {}", self.question.name(), self.to.text()),
        };
        ledger.count(&entry).map(drop)
    }
}

/// Reads this party's list and answers the question, as job number `job` of a session of two parties.
///
/// # Errors
/// [`Failure`]: a list that cannot be read, a bound that it exceeds; those of the session.
pub async fn find(
    session: &Session,
    job: u32,
    task: &Task,
    observe: &dyn Fn(Progress),
) -> Result<Found> {
    if session.parties() != 2 {
        return Err(Unmatched::Flags(format!(
            "two parties match their lists, and {} were named",
            session.parties()
        ))
        .into());
    }
    task.check(session.me())?;
    let threads = session.common_threads(2)?;
    let job = session.job(job, &task.facts(), task.deadline).await?;
    let context = job.context();
    let begun = Instant::now();
    let listed = listed(&context, task, observe).await?;
    let read = begun.elapsed().as_secs_f64();
    let keys = listed.keys();
    let own = task.bound.unwrap_or(keys);
    if own < keys {
        return Err(give_up(&context, Unmatched::Bound { keys, bound: own }));
    }
    task.count().map_err(|error| give_up(&context, error))?;
    let sizes = agree(&context, own).await?;
    if let Some(&keys) = sizes.iter().find(|&&keys| keys > MOST) {
        return Err(give_up(&context, Unmatched::TooLong { keys, most: MOST }));
    }
    // Both parties have read their lists now.
    let begun = Instant::now();
    let me = context.me();
    let receiver = task.to.receiver(sizes);
    let partitions = partitions(sizes[0].max(sizes[1]), threads);
    let plan = PsiPlan::new(
        Sizes::of(sizes, receiver),
        partitions,
        task.to == Told::Both,
    );
    let mut plan = plan.map_err(|error| give_up(&context, error))?;
    if task.question == Question::Join {
        plan = plan.with_payloads();
    }
    let room = task.room();
    let learns = match (task.to.names(me), task.question) {
        (false, _) => Learns::Nothing,
        (true, Question::Rows) => Learns::Keys,
        (true, Question::Join) => Learns::Payloads(&room),
    };
    let cells = Arc::new(Cells::new(listed, partitions, learns));
    let mut done = 0;
    let list: Arc<Cells> = Arc::clone(&cells);
    intersect(
        &context,
        &plan,
        Role::of(me, receiver),
        list,
        threads,
        |_| {
            done += 1;
            observe(Progress {
                phase: Phase::Online,
                done,
                total: partitions as u64,
            });
        },
    )
    .await?;
    let cost = Cost {
        setup: job.spent(Phase::Setup),
        online: job.spent(Phase::Online),
    };
    job.finish().await?;
    let matching = begun.elapsed().as_secs_f64();
    let cells = Arc::into_inner(cells)
        .ok_or_else(|| Failure::bug("a thread that has ended has the list"))?;
    let (listed, matches, keys) = cells.into_matches();
    Ok(Found {
        question: task.question,
        listed,
        matches: task.to.names(me).then_some((matches, keys)),
        sizes,
        partitions,
        threads,
        cost,
        seconds: [read, matching],
    })
}

/// Ends the job for both parties. The other one is not told why: it may be about the list.
fn give_up(context: &Context, why: impl Into<Unmatched>) -> Failure {
    context.fail(Error::Ended {
        reason: "its list cannot be matched as it is".to_owned(),
    });
    why.into().into()
}

/// Reads the list on a thread of its own, while this one answers the other party.
async fn listed(context: &Context, task: &Task, observe: &dyn Fn(Progress)) -> Result<Listed> {
    let (source, salt) = (task.source.clone(), salt(context));
    let room = task.room();
    let stopped = context.clone();
    let work = move |tell: &dyn Fn(madrigal_lists::Progress)| {
        let mut watch = |progress| {
            tell(progress);
            match stopped.check() {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        Ok(read(&source, &salt, CELLS, &room, &mut watch))
    };
    let progress = |progress: madrigal_lists::Progress| {
        observe(Progress {
            phase: Phase::Setup,
            done: progress.done,
            total: progress.all,
        });
    };
    let mut read = on_threads(context, [work], progress).await?;
    match read.pop() {
        Some(Ok(listed)) => Ok(listed),
        Some(Err(error)) => {
            // A pass that was stopped says so; what stopped it is the job's failure.
            context.check()?;
            Err(give_up(context, error))
        }
        None => Err(Failure::bug("a thread without a result")),
    }
}
