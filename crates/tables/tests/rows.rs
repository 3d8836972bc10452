//! Random tables against the same work in the clear: few and many rows, all of them invalid or none, many equal keys, the ends of types; in
//! the clear by the program's own meaning, and between parties.

use std::collections::BTreeMap;

use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Everyone, Inputs, Party, Program, Secret};
use madrigal_tables::rows::{Aggregate, Join};
use madrigal_tables::{Key, OpenedRows, Rows};
use madrigal_testkit::seed;

use crate::random::Random;

/// A table in the clear: keys of two types, a value, and whether each row counts.
#[derive(Debug, Clone, Default)]
struct Table {
    a: Vec<i8>,
    b: Vec<u64>,
    value: Vec<i64>,
    valid: Vec<bool>,
}

impl Table {
    fn random(random: &mut Random, rows: usize, keys: usize) -> Self {
        let few = [i8::MIN, -1, 0, 1, i8::MAX];
        let ends = [0, u64::MAX, 1 << 63, 1];
        let values = [0, i64::MIN, i64::MAX, -1];
        // All rows count, none, or some.
        let valid = random.below(4);
        let mut table = Self::default();
        for _ in 0..rows {
            table.a.push(few[random.below(keys.min(5))]);
            table.b.push(match random.below(2) {
                0 => ends[random.below(keys.min(4))],
                _ => random.below(keys) as u64,
            });
            table.value.push(match random.below(3) {
                0 => values[random.below(4)],
                _ => random.next() as i64,
            });
            table.valid.push(match valid {
                0 => true,
                1 => false,
                _ => random.below(3) > 0,
            });
        }
        table
    }

    fn input(&self, p: &mut Program, owner: usize, inputs: &mut Inputs) -> Rows {
        let (owner, rows) = (Party::new(owner), self.a.len());
        let columns = vec![
            p.input::<i8>(owner, [rows]).untyped(),
            p.input::<u64>(owner, [rows]).untyped(),
            p.input::<i64>(owner, [rows]).untyped(),
        ];
        let valid = p.input::<bool>(owner, [rows]);
        *inputs = std::mem::take(inputs)
            .with(([rows], self.a.clone()))
            .with(([rows], self.b.clone()))
            .with(([rows], self.value.clone()))
            .with(([rows], self.valid.clone()));
        let table = Rows::new(columns);
        match self.valid.iter().all(|valid| *valid) {
            true => table,
            false => table.filter(&valid),
        }
    }

    /// The rows that count, as opened: bits of each element.
    fn rows(&self) -> Vec<Vec<u128>> {
        let rows = (0..self.a.len()).filter(|&row| self.valid[row]);
        rows.map(|row| self.row(row)).collect()
    }

    fn row(&self, row: usize) -> Vec<u128> {
        vec![
            self.a[row] as u8 as u128,
            u128::from(self.b[row]),
            self.value[row] as u64 as u128,
        ]
    }
}

fn key(row: &[u128]) -> (i8, u128) {
    (row[0] as u8 as i8, row[1])
}

/// Compares what a program opens with `expected`, in the clear and, where the tables are short, between parties.
fn check(
    program: &Computation,
    inputs: &Inputs,
    opened: &OpenedRows,
    expected: &[Vec<u128>],
    run: bool,
) {
    let outputs = program.simulate(inputs).expect("bounds that hold");
    assert_eq!(opened.rows(&outputs).unwrap(), expected);
    if run {
        let mix = if program.parties() == 3 {
            Mix::R
        } else {
            Mix::AB
        };
        let planned = program.plan(mix, None, &|_| {}).unwrap();
        for ended in planned.run_locally(program, inputs).unwrap() {
            assert_eq!(opened.rows(&ended.outputs).unwrap(), expected, "in {mix}");
        }
    }
}

#[test]
fn tables_are_sorted_grouped_and_cut() {
    let mut random = Random(seed());
    for turn in 0..60 {
        let rows = [0, 1, 2, 3, 10, 40][random.below(6)];
        let keys = [1, 2, 7][random.below(3)];
        let table = Table::random(&mut random, rows, keys);
        let parties = if turn % 3 == 0 { 2 } else { 3 };
        let run = turn % 4 == 0;
        let (mut p, mut inputs) = (Program::new(parties), Inputs::new());
        let secret = table.input(&mut p, 0, &mut inputs);

        let mut sorted = table.rows();
        sorted.sort_by_key(|row| (std::cmp::Reverse(row[1]), key(row).0));
        let opened = secret
            .sort(&[Key::down(1), Key::up(0)])
            .open(&mut p, Everyone);
        let program = p.finish().unwrap();
        check(&program, &inputs, &opened, &sorted, run);

        let (mut p, mut inputs) = (Program::new(parties), Inputs::new());
        let secret = table.input(&mut p, 0, &mut inputs);
        let count = table.rows().len();
        let compacted = secret.compact(&mut p, count).open(&mut p, Everyone);
        let program = p.finish().unwrap();
        check(&program, &inputs, &compacted, &table.rows(), run);

        let mut groups: BTreeMap<(i8, u128), Vec<i64>> = BTreeMap::new();
        for row in table.rows() {
            groups
                .entry(key(&row))
                .or_default()
                .push(row[2] as u64 as i64);
        }
        let expected: Vec<Vec<u128>> = groups
            .iter()
            .map(|(key, values)| {
                let sum = values
                    .iter()
                    .fold(0_i64, |sum, value| sum.wrapping_add(*value));
                let all = [
                    sum,
                    *values.iter().min().unwrap(),
                    *values.iter().max().unwrap(),
                ];
                let [sum, least, greatest] = all.map(|number| number as u64 as u128);
                vec![
                    key.0 as u8 as u128,
                    key.1,
                    values.len() as u128,
                    sum,
                    least,
                    greatest,
                ]
            })
            .collect();
        let (mut p, mut inputs) = (Program::new(parties), Inputs::new());
        let secret = table.input(&mut p, 0, &mut inputs);
        let aggregates = [
            Aggregate::Count,
            Aggregate::Sum(2),
            Aggregate::Least(2),
            Aggregate::Greatest(2),
        ];
        let bound = (turn % 2 == 0).then_some(expected.len());
        let opened = secret
            .group(&mut p, &[0, 1], &aggregates, bound)
            .open(&mut p, Everyone);
        let program = p.finish().unwrap();
        check(&program, &inputs, &opened, &expected, run);

        let mut seen = BTreeMap::new();
        for row in table.rows() {
            seen.entry(key(&row)).or_insert(row);
        }
        let expected: Vec<Vec<u128>> = seen.into_values().collect();
        let (mut p, mut inputs) = (Program::new(parties), Inputs::new());
        let secret = table.input(&mut p, 0, &mut inputs);
        let opened = secret
            .distinct(&mut p, &[0, 1], None)
            .open(&mut p, Everyone);
        let program = p.finish().unwrap();
        check(&program, &inputs, &opened, &expected, run);
    }
}

#[test]
fn many_rows_are_joined_with_one() {
    let mut random = Random(seed());
    for turn in 0..60 {
        let (rows, others) = (
            [0, 1, 5, 30][random.below(4)],
            [0, 1, 6, 20][random.below(4)],
        );
        let many = Table::random(&mut random, rows, 7);
        let mut one = Table::random(&mut random, others, 7);
        // Rows that count have different keys; others may have any.
        let mut seen = std::collections::BTreeSet::new();
        for row in 0..others {
            if one.valid[row] && !seen.insert((one.a[row], one.b[row])) {
                one.valid[row] = false;
            }
        }
        let parties = if turn % 3 == 0 { 2 } else { 3 };
        let run = turn % 4 == 0;
        let matches: BTreeMap<(i8, u128), u128> = one
            .rows()
            .into_iter()
            .map(|row| (key(&row), row[2]))
            .collect();
        let mut rows = many.rows();
        rows.sort_by_key(|row| key(row));
        for join in [Join::Inner, Join::Left, Join::Semi, Join::Anti] {
            let expected: Vec<Vec<u128>> = rows
                .iter()
                .filter_map(|row| {
                    let found = matches.get(&key(row)).copied();
                    let more = match (join, found) {
                        (Join::Inner, Some(found)) => vec![found],
                        (Join::Left, found) => vec![found.unwrap_or(0), found.is_some().into()],
                        (Join::Semi, Some(_)) | (Join::Anti, None) => Vec::new(),
                        _ => return None,
                    };
                    Some(row.iter().copied().chain(more).collect())
                })
                .collect();
            let (mut p, mut inputs) = (Program::new(parties), Inputs::new());
            let many = many.input(&mut p, 0, &mut inputs);
            let one = one.input(&mut p, 1, &mut inputs);
            let joined = many.join(&mut p, &one, &[(0, 0), (1, 1)], join);
            assert_eq!(joined.count(), many.count());
            let opened = joined.open(&mut p, Everyone);
            let program = p.finish().unwrap();
            check(&program, &inputs, &opened, &expected, run);
        }
    }
}

/// Too many groups, too many rows, and two rows to join with: nothing is opened, and the parties learn which bound it was.
#[test]
fn bounds_that_are_exceeded_are_told_and_nothing_else() {
    let refused = |record: &dyn Fn(&mut Program, Rows) -> Rows| {
        let mut p = Program::new(3);
        let x: Secret<u32> = p.input(Party::new(0), [4]);
        let rows = Rows::new(vec![x.untyped()]);
        let _ = record(&mut p, rows).open(&mut p, Everyone);
        let program = p.finish().unwrap();
        let inputs = Inputs::new().with(([4], vec![1_u32, 2, 2, 3]));
        let simulated = program.simulate(&inputs).unwrap_err().to_string();
        let planned = program.plan(Mix::R, None, &|_| {}).unwrap();
        let run = planned
            .run_locally(&program, &inputs)
            .unwrap_err()
            .to_string();
        (simulated, run)
    };
    for (bound, works) in [
        (
            "at most 2 rows",
            &(|p: &mut Program, rows: Rows| rows.group(p, &[0], &[], Some(2)))
                as &dyn Fn(&mut Program, Rows) -> Rows,
        ),
        ("at most 2 rows", &|p, rows| rows.distinct(p, &[0], Some(2))),
        ("at most 3 rows", &|p, rows| rows.compact(p, 3)),
        ("no two rows to join with", &|p, rows| {
            rows.join(p, &rows, &[(0, 0)], Join::Semi)
        }),
    ] {
        let (simulated, run) = refused(works);
        for told in [simulated, run] {
            assert!(told.contains(bound), "{told}");
        }
    }
}
