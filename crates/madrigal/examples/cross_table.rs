//! Two institutions have a list of persons each. How many are in both, how many of these fall into each of
//! one's groups, and the sum of what the other one paid for each group; all learn these, and nothing about
//! any one person. Identifiers are compared in pairs, so lists should be short.
//!
//! ```sh
//! cargo run --release --example cross_table -- --local 2 --patients 6 --insured 5 --groups 3 \
//!     -i patient=11,12,13,14,15,16 -i group=0,1,2,0,1,2 -i insured=16,14,12,10,8 -i cost=5,70,900,1,1
//! ```

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::App;
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
    .telling(|&[count, cost], outputs, _| {
        let rows = outputs.get(count).into_iter().zip(outputs.get(cost)).enumerate();
        rows.map(|(group, (count, cost))| format!("group {group}: {count} in both, cost {cost}\n"))
            .collect()
    })
}

fn main() -> ExitCode {
    command().main()
}
