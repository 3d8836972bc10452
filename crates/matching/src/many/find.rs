//! Lists of many parties in a session: they are read, encrypted, and compared by who learns the answer.

use std::sync::Arc;
use std::time::Instant;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::over::Over;

use madrigal_core::{Party, Phase};
use madrigal_engine::{Matrices, Origin, Progress};
use madrigal_net::{Channel, Context, Fact, Session};
use madrigal_psi::{Security, salt};
use madrigal_psi_programs::{Keyed, KeyedPlan, OwnPart};

use super::own::{Own, lens, rows};
use super::{Many, limits, tags};
use crate::failure::{Unmatched, give_up};
use crate::find::listed;
use crate::found::Found;
use crate::numbers::spent;
use crate::question::Question;
use crate::task::Task;

/// The most keys that a list may be said to have: beyond it, a message is none of ours.
const MOST_SAID: u64 = 1 << 40;

/// Reads this party's list and tells whom the task names which of their rows have keys of all lists, in jobs of a session of three parties or more, from
/// job number `number` on. What a task says of receivers counts for nothing here.
///
/// # Errors
/// [`Failure`]: questions other than for rows; a list that cannot be read, a bound that it exceeds; lists that are too long; those of the session.
pub async fn find_many(
    session: &Session,
    number: u32,
    task: &Task,
    many: &Many,
    observe: &dyn Fn(Progress),
) -> Result<Found> {
    let (me, parties) = (session.me(), session.parties());
    if task.question != Question::Rows {
        let problem = "three parties or more learn rows alone: ask for nothing else";
        return Err(Unmatched::Flags(problem.to_owned()).into());
    }
    task.check(me)?;
    many.check(task, parties)?;
    let threads = session.common_threads(parties)?;
    let to = many.to_text(parties);
    let job = session
        .job(number, &many.facts(task, &to), task.deadline)
        .await?;
    let context = job.context();
    let begun = Instant::now();
    let listed = listed(&context, task, salt(&context), observe).await?;
    let read = begun.elapsed().as_secs_f64();
    let keys = listed.keys();
    let own = task.bound.unwrap_or(keys);
    if own < keys {
        return Err(give_up(&context, Unmatched::Bound { keys, bound: own }));
    }
    task.count_for(&to, None)
        .map_err(|error| give_up(&context, error))?;
    let sizes = agree(&context, own).await?;
    limits::check(&sizes, Some(me), task.most).map_err(|error| give_up(&context, error))?;
    let own = Own::draw(&context, &listed, own as usize);
    let own = own.map_err(|error| give_up(&context, error))?;
    let mut cost = spent(&job);
    job.finish().await?;
    // All parties have read their lists now.
    let begun = Instant::now();
    let mut next_job = number + 1;
    let mut found = vec![false; listed.keys() as usize];
    // Where a list is empty, none has anything in common with it, and nothing else is told.
    if !sizes.contains(&0) {
        let plan = plan(many, &task.over, &sizes, threads)?;
        let part = OwnPart {
            key: own.key,
            digests: &own.digests,
        };
        let run = plan.run(session, next_job, part, task.deadline, observe);
        let mut made = run.await.map_err(Failure::from)?;
        next_job = made.next_job;
        cost.setup += made.cost.setup;
        cost.online += made.cost.online;
        if many.to.contains(&me) {
            let ours = made.of.swap_remove(me.index());
            let all = tags::in_all(&ours, &mut made.of);
            for (&number, _) in own.numbers.iter().zip(&all).filter(|(_, all)| **all) {
                if let Some(found) = found.get_mut(number as usize) {
                    *found = true;
                }
            }
        }
    }
    let matches = match many.to.contains(&me) {
        true => Some(rows(&listed, &found).map_err(Unmatched::from)?),
        false => None,
    };
    Ok(Found {
        matches,
        threads,
        next_job,
        cost,
        seconds: [read, begun.elapsed().as_secs_f64()],
        ..Found::nothing(task, listed, sizes)
    })
}

impl Many {
    /// Checks that this many parties can have what a task asks for.
    fn check(&self, task: &Task, parties: usize) -> Result<()> {
        let problem = if task.security != Security::SemiHonest {
            "three parties or more match their lists if all follow the protocol alone: ask for no security against others"
        } else if task.state.is_some() {
            "three parties or more keep no state of a run: leave it out"
        } else if task.source.all_keys().len() != 1 {
            "rows have one key each where three parties or more match their lists: name one"
        } else if parties < 3 || !self.protocol.parties.contains(&parties) {
            "three parties match their lists in R or B, and more in B"
        } else if self.to.is_empty() || self.to.iter().any(|party| party.index() >= parties) {
            "receivers are some of the parties, and one at least"
        } else {
            return Ok(());
        };
        Err(Unmatched::Flags(problem.to_owned()).into())
    }

    /// Receivers, as `--to` has them.
    pub(super) fn to_text(&self, parties: usize) -> String {
        if Party::all(parties).all(|party| self.to.contains(&party)) {
            return "all".to_owned();
        }
        let numbers = self.to.iter().map(|party| party.index().to_string());
        numbers.collect::<Vec<_>>().join(",")
    }

    /// Facts that parties compare before they read.
    fn facts(&self, task: &Task, to: &str) -> Vec<Fact> {
        let mut facts = task.facts();
        if let Some((_, value)) = facts.iter_mut().find(|(name, _)| name == "--to") {
            to.clone_into(value);
        }
        let protocol = self.protocol.name.to_owned();
        facts.push(("--protocol".to_owned(), protocol));
        facts.push((
            "the line of --link or --network".to_owned(),
            format!("{:?}", task.over.line()),
        ));
        let extension = task.over.choose(1, 1 << 26).extension;
        facts.push(("--extension".to_owned(), extension.to_string()));
        facts
    }
}

/// The plan for lists of these sizes: all parties make the same.
pub(super) fn plan(many: &Many, over: &Over, sizes: &[u64], threads: usize) -> Result<KeyedPlan> {
    let over = over.clone();
    let keyed = Keyed {
        to: many.to.clone(),
        line: over.line(),
        threads,
        origin: Arc::new(move |needs| {
            let extension = over.choose(threads, needs.steps()).extension;
            Origin::Ot {
                extension,
                threads,
                matrices: Matrices::Ot,
            }
        }),
        ..Keyed::new(many.protocol, lens(sizes))
    };
    KeyedPlan::new(&keyed).map_err(|error| Unmatched::Keyed(error).into())
}

/// Tells all others how many different keys the own list has, or a bound, and hears of theirs: all sizes by the parties' order. One round of 8 bytes to each.
async fn agree(context: &Context, own: u64) -> Result<Vec<u64>> {
    let context = context.enter(Phase::Online, "sizes of lists");
    let mut channels = Vec::new();
    for peer in context.peers() {
        channels.push(context.channel(peer)?);
    }
    for Channel { tx, .. } in &mut channels {
        tx.send(own.to_le_bytes().to_vec()).await?;
    }
    context.flush();
    let mut sizes = Vec::with_capacity(channels.len() + 1);
    for Channel { rx, .. } in &mut channels {
        // Others may still be reading their lists.
        let told = rx.recv_idle(8).await?;
        let size = u64::from_le_bytes(*told.first_chunk().unwrap_or(&[0; 8]));
        if size > MOST_SAID {
            let problem = format!("a list of {size} keys; the most are {MOST_SAID}");
            return Err(rx.refuse(problem).into());
        }
        sizes.push(size);
    }
    sizes.insert(context.me().index(), own);
    // Who tells several sizes is found out at the end of the job, before anything follows from them.
    let all: Vec<usize> = lens(&sizes);
    context.tally("sizes of lists", &all);
    Ok(sizes)
}

/// The cost of that at one of `parties` parties.
pub(super) fn agree_cost(parties: usize) -> (u64, u64) {
    (8 * (parties as u64 - 1), 1)
}
