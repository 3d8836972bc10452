//! Matching in a session: both parties' lists are read, and the question is answered.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::provenance::now;
use madrigal_core::{Party, Phase};
use madrigal_engine::Progress;
use madrigal_lists::{Listed, Room, read};
use madrigal_net::{Context, Job, Session, on_threads};
use madrigal_psi::{MOST_IN_BINS, PsiPlan, Role, Sizes, agree, intersect, salt};

use crate::cells::{CELLS, Cells, Learns, MOST, partitions};
use crate::failure::{Unmatched, give_up};
use crate::found::Found;
use crate::noisy;
use crate::numbers::{self, Known, check_sums, in_bins, spent};
use crate::question::{Question, Told};
use crate::state::{Cut, Folder, Going, Header, Kept, StateError, begin, id};
use crate::task::Task;

/// Reads this party's list and answers the question, in one or two jobs of a session of two parties, from job number `number` on. A run that
/// [keeps its state](Task::state) goes on where an earlier one was lost; [`Found::forget`] removes what it kept.
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
            "two parties match their lists so, and {} were named",
            session.parties()
        ))
        .into());
    }
    task.check(session.me())?;
    let threads = session.common_threads(2)?;
    let folder = match &task.state {
        Some(state) => {
            let folder = state.open(&task.question(session.me()));
            Some(folder.map_err(Unmatched::from)?)
        }
        None => None,
    };
    let job = session.job(number, &task.facts(), task.deadline).await?;
    let context = job.context();
    let mut going = match folder {
        Some(folder) => {
            let going = begin(&context, folder, task.to).await?;
            if going.alone {
                return recalled(task, session.me(), going.folder);
            }
            Some(going)
        }
        None => None,
    };
    let kept = going.as_ref().and_then(|going| going.folder.kept.as_ref());
    let salt = kept.map_or_else(|| salt(&context), Kept::salt);
    let begun = Instant::now();
    let listed = listed(&context, task, salt, observe).await?;
    let read = begun.elapsed().as_secs_f64();
    let keys = listed.keys();
    let own = task.bound.unwrap_or(keys);
    if own < keys {
        return Err(give_up(&context, Unmatched::Bound { keys, bound: own }));
    }
    if matches!(task.question, Question::Numbers { sums: true, .. }) {
        check_sums(&listed, own).map_err(|error| give_up(&context, error))?;
    }
    if let Some(going) = &mut going {
        let begun = has_begun(going, task, context.me(), salt, &listed);
        begun.map_err(|error| give_up(&context, error))?;
    }
    let kept = going.as_ref().and_then(|going| going.folder.kept.as_ref());
    let counted = task.count(kept.map(Kept::id));
    counted.map_err(|error| give_up(&context, error))?;
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
    if let Some(kept) = kept {
        let same = kept.check_sizes(known.sizes);
        same.map_err(|error| give_up(&context, error))?;
    }
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
        going,
    };
    match task.question {
        Question::Rows | Question::Join => matching.rows(listed, observe).await,
        Question::Numbers { .. } | Question::Shares => matching.bins(listed, observe).await,
    }
}

/// Checks that the list is that of the run's state, or writes one: the run is known by it before it is counted.
fn has_begun(
    going: &mut Going,
    task: &Task,
    me: Party,
    salt: [u8; 32],
    listed: &Listed,
) -> std::result::Result<(), StateError> {
    if let Some(kept) = &going.folder.kept {
        return kept.check_list(listed);
    }
    let question = task.question(me);
    let id = going.id.take().unwrap_or_else(|| id(&salt, &question));
    going.folder.begin(Header {
        salt,
        question,
        id,
        begun: now(),
        payloads: task.question == Question::Join,
        sum: listed.sum(),
    })
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
    going: Option<Going>,
}

impl Matching<'_> {
    async fn rows(mut self, listed: Listed, observe: &dyn Fn(Progress)) -> Result<Found> {
        let (task, sizes, context) = (self.task, self.known.sizes, self.job.context());
        let me = context.me();
        let receiver = task.to.receiver(sizes, task.security);
        let before = self.going.as_ref().and_then(|going| going.partitions);
        let partitions = match before {
            Some(partitions) => partitions,
            None => partitions(
                Sizes::of(sizes, receiver),
                self.threads,
                task.keys_of_partition(),
                task.security,
            ),
        };
        let both = task.to == Told::Both;
        let plan = PsiPlan::new(Sizes::of(sizes, receiver), partitions, both);
        let plan = plan.map_err(|error| give_up(&context, error))?;
        let mut plan = plan.with_security(task.security);
        if task.question == Question::Join {
            plan = plan.with_payloads();
        }
        let mut before = 0;
        let mut own_kept = None;
        if let Some(Going { folder, done, .. }) = &mut self.going {
            if let Some(kept) = &mut folder.kept
                && kept.of_lists().is_none()
            {
                let told = kept.tell_sizes(Cut { sizes, partitions });
                told.map_err(|error| give_up(&context, error))?;
            }
            before = done.iter().filter(|&&done| done).count();
            plan = plan.without(|partition| done.get(partition) == Some(&true));
            own_kept = folder.kept.take();
        }
        let room = task.room();
        let cells = Arc::new(Cells::new(
            listed,
            partitions,
            learns(task, me, &room),
            own_kept,
        ));
        cells.recall().map_err(|error| give_up(&context, error))?;
        let closing = Closing(Some(Arc::clone(&cells)));
        let list: Arc<Cells> = Arc::clone(&cells);
        let mut done = before as u64;
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
            Some(reason) => Failure::from(reason),
            None => error.into(),
        })?;
        let cost = spent(&self.job);
        self.job.finish().await?;
        closing.all_is_well();
        let matching = self.begun.elapsed().as_secs_f64();
        let cells = Arc::into_inner(cells);
        let cells = cells.ok_or_else(|| Failure::bug("a thread that has ended has the list"))?;
        let (listed, matches, keys, kept) = cells.into_matches();
        if let Some(kept) = &kept {
            // The answer is there. Without this note a run that comes to nothing now has to meet the other party again.
            let _ = kept.finish();
        }
        let folder = self.going.map(|going| Folder::with(going.folder, kept));
        Ok(Found {
            matches: task.to.names(me).then_some((matches, keys)),
            partitions,
            before,
            threads: self.threads,
            next_job: self.number + 1,
            cost,
            seconds: [self.read, matching],
            folder,
            ..Found::nothing(task, listed, sizes)
        })
    }

    async fn bins(self, listed: Listed, observe: &dyn Fn(Progress)) -> Result<Found> {
        let (task, known, context) = (self.task, &self.known, self.job.context());
        let receiver = task.to.of_bins(known.sizes);
        let made = in_bins(&context, known, receiver, &listed, task.alone).await?;
        let drawn = task.noise.map(|noise| noisy::draw(&context, noise));
        let mut cost = spent(&self.job);
        self.job.finish().await?;
        let mut next_job = self.number + 1;
        let (mut answer, mut in_bins) = (None, None);
        if task.question == Question::Shares {
            in_bins = Some(made);
        } else {
            let given = (&made, drawn.as_deref());
            let (told, more) =
                numbers::answer(self.session, next_job, task, known, given, observe).await?;
            answer = told;
            next_job += 1;
            cost.setup += more.setup;
            cost.online += more.online;
        }
        Ok(Found {
            drawn,
            answer,
            in_bins,
            threads: self.threads,
            next_job,
            cost,
            seconds: [self.read, self.begun.elapsed().as_secs_f64()],
            ..Found::nothing(task, listed, known.sizes)
        })
    }
}

/// Closes what a run writes to, unless all is well.
struct Closing(Option<Arc<Cells>>);

impl Closing {
    fn all_is_well(mut self) {
        self.0 = None;
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        if let Some(cells) = &self.0 {
            cells.close();
        }
    }
}

/// Results that a party's list will hear.
fn learns<'a>(task: &Task, me: Party, room: &'a Room) -> Learns<'a> {
    match (task.to.names(me), task.question) {
        (false, _) => Learns::Nothing,
        (true, Question::Join) => Learns::Payloads(room),
        (true, _) => Learns::Keys,
    }
}

/// The answer that a directory has. The other party is not asked.
///
/// # Errors
/// [`Failure`]: a list that cannot be read, or has changed; a ledger that does not have the run, and refuses it.
pub(crate) fn recalled(task: &Task, me: Party, mut folder: Folder) -> Result<Found> {
    let kept = folder.kept.take();
    let kept = kept.ok_or_else(|| Failure::bug("a directory without a state"))?;
    let begun = Instant::now();
    let lists = kept.of_lists();
    let Cut { sizes, partitions } =
        lists.ok_or_else(|| Failure::bug("an answer of no partitions"))?;
    let room = task.room();
    let watch = &mut |_| ControlFlow::Continue(());
    let listed = read(&task.source, &kept.salt(), CELLS, &room, watch).map_err(Unmatched::from)?;
    kept.check_list(&listed).map_err(Unmatched::from)?;
    task.count(Some(kept.id())).map_err(Unmatched::from)?;
    let read = begun.elapsed().as_secs_f64();
    let cells = Cells::new(listed, partitions, learns(task, me, &room), Some(kept));
    cells.recall()?;
    let (listed, matches, keys, kept) = cells.into_matches();
    let mut earlier = None;
    if let Some(kept) = &kept {
        // From now on nobody has to meet the other party for it.
        let _ = kept.finish();
        earlier = Some(kept.begun().to_owned());
    }
    folder.kept = kept;
    Ok(Found {
        matches: task.to.names(me).then_some((matches, keys)),
        partitions,
        before: partitions,
        seconds: [read, 0.0],
        earlier,
        folder: Some(folder),
        ..Found::nothing(task, listed, sizes)
    })
}

/// Reads the list on a thread of its own, while this one answers the other party.
pub(crate) async fn listed(
    context: &Context,
    task: &Task,
    salt: [u8; 32],
    observe: &dyn Fn(Progress),
) -> Result<Listed> {
    let source = task.source.clone();
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
