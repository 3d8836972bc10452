//! Costs of a query's steps.

use std::collections::BTreeMap;

use madrigal_core::time::{Link, Rates};
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Party};
use madrigal_tables::{
    Column, Data, Frame, Join, Kind, Query, SortKey, Table, Value, col, count_rows, decimal, sum,
};

/// Two tables with a key and a number each: the first has a bound of rows, the second a number of rows, and its keys are unique.
pub(crate) struct Case {
    claims: Table,
    patients: Table,
}

impl Case {
    pub(crate) fn new(claims: usize, patients: usize) -> Self {
        let columns = |key: &str, number: &str| {
            vec![
                Column::new(key, Kind::integer(0, 999)),
                Column::new(number, Kind::decimal(9, 2)).nullable(),
            ]
        };
        let (own, others) = (columns("patient", "amount"), columns("id", "debt"));
        Self {
            claims: Table::new("claims", Party::new(1), claims, own).padded(),
            patients: Table::new("patients", Party::new(0), patients, others).unique(&["id"]),
        }
    }

    /// Values of all rows, of the first table by their numbers; ids are these, and each debt comes twice.
    pub(crate) fn inputs(&self, query: &Query, claim: impl Fn(i128) -> (i128, i128)) -> Inputs {
        self.inputs_of(query, self.claims.rows(), claim, |row| (row, row / 2))
    }

    /// Values of as many rows of the first table, and of all rows of the second, whose keys are to be unique.
    pub(crate) fn inputs_of(
        &self,
        query: &Query,
        rows: usize,
        claim: impl Fn(i128) -> (i128, i128),
        patient: impl Fn(i128) -> (i128, i128),
    ) -> Inputs {
        let data = |table: &Table, rows: usize, row: &dyn Fn(i128) -> (i128, i128)| {
            let (keys, numbers): (Vec<i128>, Vec<i128>) = (0..rows as i128).map(row).unzip();
            let values = |all: Vec<i128>| all.into_iter().map(Value::Number).collect::<Vec<_>>();
            Data::new(table, [values(keys), values(numbers)]).unwrap()
        };
        let claims = data(&self.claims, rows, &claim);
        let patients = data(&self.patients, self.patients.rows(), &patient);
        query.inputs([("claims", &claims), ("patients", &patients)])
    }
}

/// A filter, a join, a group, an order and the first rows.
pub(crate) fn frame(case: &Case) -> Frame {
    let [claims, patients] =
        [&case.claims, &case.patients].map(|table| Frame::table(table.clone()).unwrap());
    claims
        .filter(col("amount").greater(decimal(500, 2)))
        .unwrap()
        .join(&patients, &[("patient", "id")], Join::Inner)
        .unwrap()
        .group(
            ["debt"],
            vec![
                ("n".into(), count_rows()),
                ("total".into(), sum(col("amount"))),
            ],
        )
        .unwrap()
        .sort([SortKey::down("total")])
        .unwrap()
        .first(5)
        .unwrap()
}

/// What the steps send, and the correlations that they use up, are those of the whole query, at every party.
#[test]
fn steps_add_up_to_the_query() {
    let (rates, link) = (Rates::ZEN_5, Link::default());
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 2), (Mix::AB, 3)] {
        let query = Query::new(&frame(&Case::new(40, 36)), parties, Everyone).unwrap();
        let planned = query.computation().plan(mix, None, &|_| {}).unwrap();
        let steps = query.steps();
        assert_eq!(
            steps.last(),
            Some(&("result opened".to_owned(), 5)),
            "{steps:?}"
        );
        for party in Party::all(parties) {
            let part = |operation| planned.executable.part(operation);
            let groups = planned.plan.group_estimates(party, &rates, &link, part);
            let whole = planned.plan.cost(party);
            let sent = groups.values().map(|group| group.online.bytes_sent);
            assert_eq!(sent.sum::<u64>(), whole.online.bytes_sent, "{mix}, {party}");
            let messages = groups.values().map(|group| group.online.messages);
            assert_eq!(
                messages.sum::<u64>(),
                whole.online.messages,
                "{mix}, {party}"
            );
            let mut needs = BTreeMap::new();
            for (kind, count) in groups.values().flat_map(|group| group.needs.kinds()) {
                *needs.entry(kind.to_string()).or_insert(0) += count;
            }
            let expected = planned.plan.needs().kinds().into_iter();
            let expected = expected.map(|(kind, count)| (kind.to_string(), count));
            assert_eq!(needs, expected.collect(), "{mix}, {party}");
            for (part, group) in &groups {
                assert!(
                    group.online.rounds <= whole.online.rounds,
                    "{mix}, {party}: {part:?}"
                );
                // All that travels belongs to a step.
                let step = part.and_then(|part| steps.get(part as usize));
                assert!(
                    step.is_some() || group.online.messages == 0,
                    "{mix}, {party}: {part:?} sends {} bytes",
                    group.online.bytes_sent
                );
            }
            let last = &groups[&Some(steps.len() as u32 - 1)];
            assert!(last.online.bytes_sent > 0, "{mix}, {party}");
        }
    }
}
