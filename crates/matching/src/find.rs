//! Matching in a session: both parties' lists are read, and the question is answered.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use madrigal_app::failure::{Failure, Result};
use madrigal_app::over::Over;
use madrigal_app::provenance::now;
use madrigal_core::{Cost, Party, Phase};
use madrigal_engine::Progress;
use madrigal_lists::{Listed, Matches, Room, Source, read};
use madrigal_net::{Context, Error, Fact, Job, Session, on_threads};
use madrigal_psi::{MOST_IN_BINS, PsiPlan, Role, Sizes, agree, intersect, salt};

use crate::cells::{CELLS, Cells, Learns, MOST, partitions};
use crate::failure::Unmatched;
use crate::ledger::{Entry, Ledger, LedgerError};
use crate::numbers::{self, Answer, InBins, Known, check_sums, in_bins, spent};

/// Questions to two lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Which rows have keys that the other list has, too.
    Rows,
    /// Which rows have keys that the other list has, too, and the other list's payload of each: for one party.
    Join,
    /// Numbers alone.
    Numbers {
        /// How many keys both lists have.
        keys: bool,
        /// The sum of the payloads of these keys, of each list that has payloads.
        sums: bool,
    },
    /// Nothing is told: both parties get what a program on secrets goes on from.
    Shares,
}

impl Question {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Join => "join",
            Self::Numbers { keys, sums } => match (keys, sums) {
                (true, false) => "size",
                (false, true) => "sum",
                _ => "size and sum",
            },
            Self::Shares => "shares",
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
    pub(crate) fn receiver(self, sizes: [u64; 2]) -> Party {
        match self {
            Self::One(one) => one,
            Self::Both => Party::new(usize::from(sizes[1] < sizes[0])),
        }
    }

    /// The receiver where lists are put into bins, which are compared: fewer are better.
    pub(crate) fn of_bins(self, sizes: [u64; 2]) -> Party {
        match self {
            _ if sizes[0] != sizes[1] => Self::Both.receiver(sizes),
            to => to.receiver(sizes),
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
    /// Network between the parties, by which the plan of a program is made, the same at both parties.
    pub over: Over,
    /// The most keys that the other party's list may have.
    pub most: u64,
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
    /// Rows that match, and the number of different keys among them; `None` at a party that does not learn it, and for other questions.
    pub matches: Option<(Matches, u64)>,
    /// Numbers that were asked for; `None` likewise.
    pub answer: Option<Answer>,
    /// Inputs of a program that goes on, where they were asked for.
    pub in_bins: Option<InBins>,
    /// Different keys of both lists, by the parties' order, or the bounds that were told.
    pub sizes: [u64; 2],
    /// Partitions of the lists.
    pub partitions: usize,
    /// Threads of each party.
    pub threads: usize,
    /// Number of the session's next job.
    pub next_job: u32,
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
        let mut facts = vec![
            fact("what is asked of the lists", question.to_owned()),
            fact("--to", self.to.text()),
            fact("--normal", self.source.normal_text()),
            fact("columns of a key", self.source.keys().len().to_string()),
            fact(
                "--empty",
                format!("{:?}", self.source.empties()).to_lowercase(),
            ),
        ];
        if self.question != Question::Rows {
            facts.push(fact("--places", self.places.to_string()));
        }
        if let Question::Numbers { .. } = self.question {
            // The program is planned later: nothing must be told before parties that differ here.
            facts.push(fact(
                "the line of --link or --network",
                format!("{:?}", self.over.line()),
            ));
            let extension = self.over.choose(1, 1 << 26).extension;
            facts.push(fact("--extension", extension.to_string()));
        }
        facts
    }

    /// Checks that a party brings what the question needs.
    pub(crate) fn check(&self, me: Party) -> Result<(), Unmatched> {
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
            Question::Numbers { sums: false, .. } if brings => wrong(
                "--payload: the number of keys does not need it; leave it out, or ask for --sum",
            ),
            Question::Numbers { .. } | Question::Shares => Ok(()),
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

/// Reads this party's list and answers the question, in one or two jobs of a session of two parties, from job number `number` on.
///
/// # Errors
/// [`Failure`]: a list that cannot be read, a bound that it exceeds; those of the session.
pub async fn find(
    session: &Session,
    number: u32,
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
    let job = session.job(number, &task.facts(), task.deadline).await?;
    let context = job.context();
    let begun = Instant::now();
    let listed = listed(&context, task, observe).await?;
    let read = begun.elapsed().as_secs_f64();
    let keys = listed.keys();
    let own = task.bound.unwrap_or(keys);
    if own < keys {
        return Err(give_up(&context, Unmatched::Bound { keys, bound: own }));
    }
    if matches!(task.question, Question::Numbers { sums: true, .. }) {
        check_sums(&listed, own).map_err(|error| give_up(&context, error))?;
    }
    task.count().map_err(|error| give_up(&context, error))?;
    let brings = listed.source().numbers().is_some();
    let [first, second] = agree(&context, own, brings.into()).await?;
    let known = Known {
        sizes: [first.0, second.0],
        payloads: [first.1 == 1, second.1 == 1],
    };
    let most = match task.question {
        Question::Rows | Question::Join => MOST,
        Question::Numbers { .. } | Question::Shares => MOST_IN_BINS,
    };
    let me = context.me().index();
    let (own, other) = (known.sizes[me], known.sizes[1 - me]);
    if own > most {
        return Err(give_up(&context, Unmatched::TooLong { keys: own, most }));
    }
    let most = most.min(task.most);
    if other > most {
        return Err(give_up(
            &context,
            Unmatched::OtherTooLong { keys: other, most },
        ));
    }
    if matches!(task.question, Question::Numbers { sums: true, .. }) && known.payloads == [false; 2]
    {
        let problem = "--sum: neither party has a --payload to add up; give one, or ask for --size";
        return Err(give_up(&context, Unmatched::Flags(problem.to_owned())));
    }
    // Both parties have read their lists now.
    let matching = Matching {
        session,
        number,
        job,
        task,
        known,
        threads,
        begun: Instant::now(),
        read,
    };
    match task.question {
        Question::Rows | Question::Join => matching.rows(listed, observe).await,
        Question::Numbers { .. } | Question::Shares => matching.bins(listed, observe).await,
    }
}

/// A job in which both lists have been read.
struct Matching<'a> {
    session: &'a Session,
    number: u32,
    job: Job,
    task: &'a Task,
    known: Known,
    threads: usize,
    begun: Instant,
    read: f64,
}

impl Matching<'_> {
    async fn rows(self, listed: Listed, observe: &dyn Fn(Progress)) -> Result<Found> {
        let (task, sizes, context) = (self.task, self.known.sizes, self.job.context());
        let me = context.me();
        let receiver = task.to.receiver(sizes);
        let partitions = partitions(sizes[0].max(sizes[1]), self.threads);
        let both = task.to == Told::Both;
        let plan = PsiPlan::new(Sizes::of(sizes, receiver), partitions, both);
        let mut plan = plan.map_err(|error| give_up(&context, error))?;
        if task.question == Question::Join {
            plan = plan.with_payloads();
        }
        let room = task.room();
        let learns = match (task.to.names(me), task.question) {
            (false, _) => Learns::Nothing,
            (true, Question::Join) => Learns::Payloads(&room),
            (true, _) => Learns::Keys,
        };
        let cells = Arc::new(Cells::new(listed, partitions, learns));
        let list: Arc<Cells> = Arc::clone(&cells);
        let mut done = 0;
        let tell = |_| {
            done += 1;
            observe(Progress {
                phase: Phase::Online,
                done,
                total: partitions as u64,
            });
        };
        let role = Role::of(me, receiver);
        let done = intersect(&context, &plan, role, list, self.threads, tell).await;
        done.map_err(|error| match cells.failure() {
            Some(reason) => Failure::from(Unmatched::from(reason)),
            None => error.into(),
        })?;
        let cost = spent(&self.job);
        self.job.finish().await?;
        let matching = self.begun.elapsed().as_secs_f64();
        let cells = Arc::into_inner(cells);
        let cells = cells.ok_or_else(|| Failure::bug("a thread that has ended has the list"))?;
        let (listed, matches, keys) = cells.into_matches();
        Ok(Found {
            question: task.question,
            listed,
            matches: task.to.names(me).then_some((matches, keys)),
            answer: None,
            in_bins: None,
            sizes,
            partitions,
            threads: self.threads,
            next_job: self.number + 1,
            cost,
            seconds: [self.read, matching],
        })
    }

    async fn bins(self, listed: Listed, observe: &dyn Fn(Progress)) -> Result<Found> {
        let (task, known, context) = (self.task, &self.known, self.job.context());
        let receiver = task.to.of_bins(known.sizes);
        let made = in_bins(&context, known, receiver, &listed).await?;
        let mut cost = spent(&self.job);
        self.job.finish().await?;
        let mut next_job = self.number + 1;
        let (mut answer, mut in_bins) = (None, None);
        if task.question == Question::Shares {
            in_bins = Some(made);
        } else {
            let (told, more) =
                numbers::answer(self.session, next_job, task, known, &made, observe).await?;
            answer = told;
            next_job += 1;
            cost.setup += more.setup;
            cost.online += more.online;
        }
        Ok(Found {
            question: task.question,
            listed,
            matches: None,
            answer,
            in_bins,
            sizes: known.sizes,
            partitions: 1,
            threads: self.threads,
            next_job,
            cost,
            seconds: [self.read, self.begun.elapsed().as_secs_f64()],
        })
    }
}

/// Ends the job for both parties. The other one is not told why: it may be about the list.
pub(crate) fn give_up(context: &Context, why: impl Into<Unmatched>) -> Failure {
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
