//! Two institutions have a list of persons each. How many are in both, how many of these fall into each of
//! one's groups, and the sum of what the other one paid for each group; all learn these, and nothing about
//! any one person. Identifiers are compared in pairs, so lists should be short.
//!
//! A person who is listed twice would be counted twice, or have a cost that nobody paid; one in a group that there is not
//! would be counted nowhere. Each owner sees that in its own list, and goes no further.
//!
//! ```sh
//! cargo run --release --example cross_table -- --local 2 --patients 6 --insured 5 --groups 3 \
//!     -i patient=11,12,13,14,15,16 -i group=0,1,2,0,1,2 -i insured=16,14,12,10,8 -i cost=5,70,900,1,1
//! ```

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::{App, Must};
use madrigal::program::{Everyone, Opened};

const HOSPITAL: Party = Party::new(0);
const INSURER: Party = Party::new(1);

pub(crate) fn command() -> App<[Opened<u32>; 2]> {
    App::new(
        "cross_table",
        "Persons that are in two lists, counted by the groups of the first, and summed up by the numbers of the second",
        |p, numbers| {
            let [patients, insured, groups] = ["patients", "insured", "groups"].map(|n| numbers.get(n));
            let patient = p.input_named::<u32>("patient", HOSPITAL, [patients]);
            let group = p.input_named::<u32>("group", HOSPITAL, [patients]);
            let person = p.input_named::<u32>("insured", INSURER, [insured]);
            let cost = p.input_named::<u32>("cost", INSURER, [insured]);

            let (in_both, cost) = patient.join_on(&person, &cost);
            let all = p.constant((0..groups as u32).collect::<Vec<_>>());
            // Who is where: a row for each group.
            let place = all.reshape([groups, 1]).eq(group) & in_both;
            let costs = place.select(cost, 0).sum(1);
            [
                p.open_named("count", place.count(1), Everyone),
                p.open_named("cost", costs, Everyone),
            ]
        },
    )
    .number("patients", 6, 1 << 12, "Persons in the first list")
    .number("insured", 5, 1 << 12, "Persons in the second list")
    .number("groups", 3, 1 << 8, "Groups, which are numbered from 0")
    .requiring("patient", |_| Must::Differ, "list each person once")
    .requiring("insured", |_| Must::Differ, "list each person once")
    .requiring(
        "group",
        |numbers| Must::AtMost(numbers.get("groups") as u128 - 1),
        "groups are numbered from 0: correct it, or give another number of --groups at all parties",
    )
    .requiring(
        "cost",
        |_| Must::SumToAtMost(u32::MAX.into()),
        "a group's cost has 32 bits: give costs in a larger unit",
    )
    .telling(|&[count, cost], outputs, _| {
        let rows = outputs.get(count).into_iter().zip(outputs.get(cost)).enumerate();
        rows.map(|(group, (count, cost))| format!("group {group}: {count} in both, cost {cost}\n"))
            .collect()
    })
}

fn main() -> ExitCode {
    command().main()
}
