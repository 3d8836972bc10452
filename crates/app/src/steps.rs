//! Costs of a program's steps, where it has some: those of a query on tables.

use madrigal_core::time::{Link, Rates};
use madrigal_program::Planned;
use serde::Serialize;

use crate::costs::Costs;
use crate::groups::{Group, groups};
use crate::numbers::{Table, bytes, count, seconds, table};

/// Parties of which each has a column in the table of steps.
const SHOWN: usize = 3;

/// A step of a program: [`Program::part`](madrigal_program::Program::part) was told its place among all steps.
#[derive(Debug, Clone)]
pub struct Step {
    /// The step in words.
    pub name: String,
    /// Number of rows that it gives, or the most that it can give.
    pub rows: usize,
}

impl Step {
    /// Steps with these names and rows.
    pub fn all(steps: impl IntoIterator<Item = (String, usize)>) -> Vec<Self> {
        let step = |(name, rows)| Self { name, rows };
        steps.into_iter().map(step).collect()
    }
}

/// One step's costs.
#[derive(Debug, Clone, Serialize)]
pub struct StepCosts {
    /// The step in words.
    pub step: String,
    /// Rows that it gives, or the most that it can give; `null` for what belongs to no step.
    pub rows: Option<usize>,
    /// Cost of its correlations if they were made by themselves, without what starts them, at the party that has most of each: steps do not
    /// add up to the whole setup.
    pub setup: Costs,
    /// Cost online, at the party that has most of each; rounds are its own, and steps side by side share them.
    pub online: Costs,
    /// Payload that each party sends online; all steps together send what the whole does.
    pub online_bytes_sent: Vec<u64>,
}

/// Costs of a program's steps in their order, on machines with these rates over such links, and at the end of what belongs to none of them;
/// no steps give none.
pub fn costs(steps: &[Step], planned: &Planned, rates: &Rates, link: &Link) -> Vec<StepCosts> {
    if steps.is_empty() {
        return Vec::new();
    }
    let mut groups = groups(planned, rates, link);
    let parties = planned.plan.spec().graph.parties();
    let mut take = |part: Option<u32>| {
        let at = groups.iter().position(|group| group.part == part);
        at.map(|at| groups.swap_remove(at))
    };
    let made = |step: &str, rows: Option<usize>, group: Option<Group>| {
        let group = group.unwrap_or_default();
        let mut sent = group.sent;
        // A step that only moves elements has no operation.
        sent.resize(parties, 0);
        StepCosts {
            step: step.to_owned(),
            rows,
            setup: group.setup,
            online: group.online,
            online_bytes_sent: sent,
        }
    };
    let mut all: Vec<StepCosts> = (0..)
        .zip(steps)
        .map(|(place, step)| made(&step.name, Some(step.rows), take(Some(place))))
        .collect();
    let rest = take(None).map(|group| made("what belongs to no step", None, Some(group)));
    all.extend(rest.filter(|rest| rest.setup.messages + rest.online.messages > 0));
    all
}

/// Steps as a table, whose last line has the whole plan's costs.
pub(crate) fn steps_table(steps: &[StepCosts], whole: [&Costs; 2], sent: &[u64]) -> Table {
    let has_setup = whole[0].messages > 0;
    let mut header = vec!["step".to_owned(), "rows".to_owned()];
    if has_setup {
        header.extend(["setup", "sends in setup"].map(String::from));
    }
    header.extend(["online", "rounds"].map(String::from));
    match sent.len() <= SHOWN {
        true => header.extend((0..sent.len()).map(|party| format!("party {party} sends online"))),
        false => header.push("sends online".to_owned()),
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header);
    let mut add = |name: &str, rows: Option<usize>, [setup, online]: [&Costs; 2], sent: &[u64]| {
        let time = |costs: &Costs| costs.seconds.map_or_else(String::new, seconds);
        let rows = rows.map_or_else(String::new, |rows| count(rows as u64));
        let mut row = vec![madrigal_core::text::plain(name).into_owned(), rows];
        if has_setup {
            row.extend([time(setup), bytes(setup.bytes_sent)]);
        }
        row.extend([time(online), count(online.rounds)]);
        match sent.len() <= SHOWN {
            true => row.extend(sent.iter().map(|sent| bytes(*sent))),
            false => row.push(bytes(online.bytes_sent)),
        }
        table.add_row(row);
    };
    for one in steps {
        let costs = [&one.setup, &one.online];
        add(&one.step, one.rows, costs, &one.online_bytes_sent);
    }
    add("together", None, whole, sent);
    table
}

/// Payload that each party sends online.
pub(crate) fn sent_online(planned: &Planned) -> Vec<u64> {
    let parties = planned.plan.spec().graph.parties();
    let parties = madrigal_core::Party::all(parties);
    let sent = |party| planned.plan.cost(party).online.bytes_sent;
    parties.map(sent).collect()
}
