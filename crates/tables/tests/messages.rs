//! Messages of a query: how many there are, from whom to whom, in which steps and how long, is a matter of public sizes alone.

use std::collections::BTreeMap;

use madrigal_engine::evaluate_program;
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Party};
use madrigal_tables::{Answer, Query};
use madrigal_testkit::{Transcript, World, seed};

use crate::costs::{Case, frame};

/// Lengths of all messages by receiver, sender, step and place in it, and the rows that each party learns.
type Run = (
    BTreeMap<(Party, Party, u64, u32), usize>,
    Vec<Option<Answer>>,
);

/// A row's key and its number, by its place.
type Content = dyn Fn(i128) -> (i128, i128);

/// Runs a query as all parties.
fn run(query: &Query, mix: Mix, inputs: &Inputs, seed: u64) -> Run {
    let planned = query.computation().plan(mix, None, &|_| {}).unwrap();
    let parties = query.computation().parties();
    let (mut lengths, mut learnt) = (BTreeMap::new(), Vec::new());
    for to in Party::all(parties) {
        let (transcript, transports) = Transcript::of(to, mesh(parties));
        let world = World::light(parties, seed);
        let planned = &planned;
        let work = move |context: Context| async move {
            let program = query.computation();
            let given = planned.given(program, inputs, context.me()).unwrap();
            let ended = evaluate_program(&context, &planned.plan, given, &|_| {}).await;
            let values = ended.map_err(|error| Error::bug(error.to_string()))?;
            let outputs = planned.executable.outputs(&values).unwrap();
            Ok(query.result(&outputs))
        };
        let results = world.run_over(transports, work);
        learnt = results
            .into_iter()
            .map(|result| result.unwrap().0)
            .collect();
        for ((from, step, place), bytes) in transcript.places() {
            lengths.insert((to, from, step, place), bytes.len());
        }
    }
    (lengths, learnt)
}

/// Tables of equal public sizes give the same messages, whatever they contain: rows that are all equal or all different, found or not, kept or
/// not, as many as the bound or none. Those whom the result is not for learn no rows.
#[test]
fn messages_of_queries_depend_on_public_sizes_alone() {
    let seed = seed();
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2)] {
        let case = Case::new(20, 9);
        let query = Query::new(&frame(&case), parties, Party::new(1)).unwrap();
        // Rows of the first table, and of the second, whose keys are unique.
        let contents: [[&Content; 2]; 4] = [
            [&|_| (3, 99_999_999), &|row| (8 - row, 7)],
            [&|row| (row % 9, 501 + row), &|row| (row, row / 2)],
            [&|row| (900 - row, 501), &|row| (900 - 100 * row, row)],
            [&|row| (row, -row), &|row| (row + 500, 999_999_999 - row)],
        ];
        let found = [1, 5, 1, 0];
        let mut first: Option<BTreeMap<_, usize>> = None;
        for (number, [claim, patient]) in contents.into_iter().enumerate() {
            // The first and the last have as many rows as the bound says, the others fewer.
            let rows = [20, 13, 1, 20][number];
            let inputs = case.inputs_of(&query, rows, claim, patient);
            let (lengths, learnt) = run(&query, mix, &inputs, seed.wrapping_add(number as u64));
            let wanted = query.computation().simulate(&inputs).unwrap();
            let wanted = query.result(&wanted);
            assert_eq!(wanted.as_ref().unwrap().rows.len(), found[number], "{mix}");
            for (party, answer) in Party::all(parties).zip(learnt) {
                match party.index() {
                    1 => assert_eq!(answer, wanted, "{mix}, content {number}, seed {seed}"),
                    _ => assert!(answer.is_none(), "{mix}: {party}"),
                }
            }
            assert!(lengths.len() > 50, "{mix}: {} messages", lengths.len());
            match &first {
                None => first = Some(lengths),
                Some(first) => assert!(*first == lengths, "{mix}, content {number}, seed {seed}"),
            }
        }
        // Another bound is another size.
        let other = Case::new(21, 9);
        let query = Query::new(&frame(&other), parties, Party::new(1)).unwrap();
        let inputs = other.inputs_of(&query, 20, contents[0][0], contents[0][1]);
        assert!(first != Some(run(&query, mix, &inputs, seed).0), "{mix}");
    }
}
