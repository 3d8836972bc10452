//! One party's process.

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::time::Instant;

use madrigal_app::over::Over;
use madrigal_app::processes::{self, Clock, Listening, Starter};
use madrigal_app::threads::cores;
use madrigal_core::Party;
use madrigal_lists::{Duplicates, Extra, Keep, Payload, Source};
use madrigal_matching::{
    Found, MOST_KEYS, Many, Question, Task, Told, Unmatched, find, find_many, shares,
};
use madrigal_net::Session;
use madrigal_operations::Backend;

use super::lists;
use super::messages::{Assignment, Done, MANY, Workload, of_parties};
use crate::args::Patience;
use crate::exit::{Failure, Result};
use crate::figures::peak_rss_bytes;
use crate::reach::Network;

/// Takes part as the starter says, and tells it the outcome.
pub fn run() -> Result<()> {
    processes::take_part(compute)
}

fn compute(assignment: Assignment, starter: Starter) -> Result<Done> {
    let mut all = of_parties(assignment.parties).into_iter();
    let workload = all.find(|one| one.name == assignment.name);
    let workload = workload.ok_or_else(|| Failure::bug("a workload that nobody knows"))?;
    let task = task(&assignment, &workload)?;
    let party = Listening::new(assignment.transport)?;
    let meeting = starter.begin(party.ready())?;
    let me = Party::checked(assignment.me, assignment.parties).map_err(Failure::bug)?;
    let link = (Network::parse(&assignment.network)?, &Patience::default());
    let work = async |session: &Session| {
        let clock = Clock::start();
        let begun = Instant::now();
        let protocol = MANY.iter().find(|one| one.0 == assignment.name);
        let many = protocol.map(|&(_, sharing)| Many {
            to: Party::all(assignment.parties).collect(),
            protocol: Backend::of(sharing),
        });
        let mut found = match &many {
            Some(many) => find_many(session, 1, &task, many, &|_| ()).await?,
            None => find(session, 1, &task, &|_| ()).await?,
        };
        if let Some(in_bins) = &found.in_bins {
            let started = Instant::now();
            let (_, cost) = shares(session, found.next_job, &task, in_bins, &|_| ()).await?;
            found.cost.setup += cost.setup;
            found.cost.online += cost.online;
            found.seconds[1] += started.elapsed().as_secs_f64();
        }
        Ok((found, begun, clock.stop()))
    };
    let (found, begun, used) = party.meet_over(me, &meeting, link, assignment.threads, work)?;
    write(&found, &assignment)?;
    let seconds = begun.elapsed().as_secs_f64();
    check(&found, &assignment)?;
    Ok(Done {
        seconds,
        seconds_read: found.seconds[0],
        seconds_protocol: found.seconds[1],
        bytes_sent: found.cost.setup.bytes_sent + found.cost.online.bytes_sent,
        spilled: found.listed.spilled(),
        peak_rss_bytes: peak_rss_bytes(),
        connections: used.connections,
    })
}

fn task(assignment: &Assignment, workload: &Workload) -> Result<Task> {
    let source = Source::new(lists::path(&assignment.folder, assignment.me), ["email"]);
    let mut source = source.map_err(Unmatched::from)?;
    let is_join = workload.question == Question::Join;
    let with_payload = match workload.question {
        Question::Rows | Question::Numbers { sums: false, .. } => false,
        Question::Join | Question::Numbers { .. } | Question::Shares => true,
    };
    if with_payload && assignment.me == 1 {
        let payload = Payload {
            duplicates: Duplicates::First,
            ..Payload::integers("amount")
        };
        source = source.payload(payload).map_err(Unmatched::from)?;
    }
    let mut over = Over::default();
    over.or_network(&assignment.network, true);
    over.or_extension_for_many();
    Ok(Task {
        source,
        question: workload.question,
        security: workload.security,
        to: if is_join {
            Told::One(Party::new(0))
        } else {
            Told::Both
        },
        places: 0,
        noise: None,
        bound: None,
        memory: assignment.memory << 20,
        folder: assignment.folder.clone(),
        over,
        most: MOST_KEYS,
        ledger: None,
        alone: cores(),
        state: None,
        deadline: None,
    })
}

/// Writes the rows that match.
fn write(found: &Found, assignment: &Assignment) -> Result<()> {
    let Some((matches, _)) = &found.matches else {
        return Ok(());
    };
    let path = assignment
        .folder
        .join(format!("{}-matches.csv", assignment.me));
    let file = File::create(path).map_err(Failure::system("cannot write rows"))?;
    let extra = (found.question == Question::Join).then(|| Extra {
        name: "theirs".to_owned(),
        places: 0,
    });
    let watch = &mut |_| ControlFlow::Continue(());
    let mut to = BufWriter::new(file);
    let written = (found.listed).write_rows(matches, Keep::Matched, extra.as_ref(), &mut to, watch);
    written.map_err(Unmatched::from)?;
    Ok(())
}

/// Holds the result against what it must be.
fn check(found: &Found, assignment: &Assignment) -> Result<()> {
    let common = lists::common(assignment.items);
    if let Some(answer) = &found.answer {
        let keys = lists::keys(0, assignment.items);
        let sum: u64 = (keys.end - common..keys.end).map(lists::amount).sum();
        let right = answer.keys.is_none_or(|keys| keys as u64 == common)
            && answer.sums[1].is_none_or(|found| found as u64 == sum);
        if !right {
            return Err(Failure::bug(format!(
                "{answer:?} is told of {common} keys whose payloads are {sum}"
            )));
        }
    }
    match &found.matches {
        Some((matches, keys)) if *keys != common || matches.marked() != common => {
            let problem =
                format!("{keys} keys were found in all lists, which have {common} in common");
            Err(Failure::bug(problem))
        }
        _ => Ok(()),
    }
}
