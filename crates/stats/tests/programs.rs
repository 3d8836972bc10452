//! Random tables: what the programs mean, and what parties open, against the definitions.

use madrigal_program::lower::Mix;
use madrigal_stats::{Answers, Held};
use proptest::prelude::*;
use proptest::sample::select;

use crate::oracle::{Asking, Row, asking, by_columns, by_rows, compare, question};

/// Rows, of which few or many values are missing; numbers at the ends of the range too.
pub fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    const END: i64 = (1 << 40) - 1;
    let pay = prop_oneof![
        6 => -1_000_i64..200_000,
        1 => select(vec![-END, END, 0, 100_049, 100_050, -500]),
    ];
    let age = 18_i64..70;
    let joined = prop_oneof![6 => 10_000_i64..20_000, 1 => select(vec![-719_162, 2_932_896])];
    let row = (
        proptest::option::weighted(0.8, pay),
        proptest::option::weighted(0.9, age),
        proptest::option::weighted(0.9, joined),
        proptest::option::weighted(0.9, 0_usize..3),
    );
    let row = row.prop_map(|(pay, age, joined, ward)| Row {
        pay,
        age,
        joined,
        ward,
    });
    proptest::collection::vec(row, 0..=most)
}

/// Cuts rows at places.
fn cut(rows: &[Row], places: &[usize]) -> Vec<Vec<Row>> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place % (rows.len() + 1))
        .collect();
    places.sort_unstable();
    let starts = [0].into_iter().chain(places.iter().copied());
    let ends = places.iter().copied().chain([rows.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| rows[start..end].to_vec())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn programs_of_rows_mean_the_definitions(
        rows in rows(40),
        places in proptest::collection::vec(0_usize..100, 1..5),
        (by, least, pad) in (any::<bool>(), select(vec![1, 2, 5]), any::<bool>()),
    ) {
        let parts = cut(&rows, &places);
        let question = question(Held::Rows, by, least, pad.then_some(41));
        let files: Vec<_> = by_rows(&parts).into_iter().map(Some).collect();
        compare(&question, &parts, &asking(&question, &files).simulated(&question));
    }

    #[test]
    fn programs_of_columns_mean_the_definitions(
        rows in rows(30),
        holders in [0_usize..3, 0..3, 0..3, 0..3],
        (by, least) in (any::<bool>(), select(vec![1, 2, 5])),
    ) {
        let question = question(Held::Columns, by, least, None);
        // Without groups nobody has the ward alone, which nothing is asked of.
        let ward = if by { holders[3] } else { holders[0] };
        let holders = [holders[0], holders[1], holders[2], ward];
        let mut files = by_columns(&rows, holders, 3);
        if files.iter().any(Option::is_none) {
            // Someone who holds nothing helps.
            files.sort_by_key(Option::is_none);
        }
        compare(&question, &[rows], &asking(&question, &files).simulated(&question));
    }
}

/// Runs the program as all parties.
pub fn run(asking: &Asking, question: &madrigal_stats::Question, mix: Mix) -> Answers {
    let planned = asking.answering.program.plan(mix, None, &|_| {}).unwrap();
    let ended = planned
        .run_locally(&asking.answering.program, &asking.inputs)
        .unwrap();
    let told = |outputs| Answers::new(question, &asking.agreed, &asking.answering, outputs);
    let first = told(&ended[0].outputs);
    for other in &ended {
        assert_eq!(told(&other.outputs), first);
    }
    first
}

fn some_rows(count: usize) -> Vec<Row> {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut rows = rows(count).new_tree(&mut runner).unwrap().current();
    let more = rows.clone();
    rows.extend(more.into_iter().cycle().take(count));
    rows.truncate(count);
    rows
}

#[test]
fn parties_open_what_the_programs_mean() {
    let rows = some_rows(23);
    for (places, mixes) in [
        (&[9][..], &["A+B", "alpha+beta", "Y2"][..]),
        (&[3, 3], &["R", "A+Y"]),
        (&[0, 4, 9, 15], &["A+B"]),
    ] {
        let parts = cut(&rows, places);
        let files: Vec<_> = by_rows(&parts).into_iter().map(Some).collect();
        let question = question(Held::Rows, true, 3, None);
        let asking = asking(&question, &files);
        for mix in mixes {
            compare(
                &question,
                &parts,
                &run(&asking, &question, mix.parse().unwrap()),
            );
        }
    }
    for (holders, parties, mixes) in [
        ([0, 1, 1, 0], 2, &["A+B", "A+Y2"][..]),
        ([0, 1, 2, 1], 3, &["R"]),
        ([0, 1, 2, 3], 5, &["A+B"]),
    ] {
        let files = by_columns(&rows, holders, parties);
        let question = question(Held::Columns, true, 3, None);
        let asking = asking(&question, &files);
        for mix in mixes {
            compare(
                &question,
                std::slice::from_ref(&rows),
                &run(&asking, &question, mix.parse().unwrap()),
            );
        }
    }
}
