//! Joins of many rows with many, against all pairs in the clear.

use madrigal_program::Party;
use madrigal_tables::{
    Column, Data, Fault, Frame, Join, Kind, Right, Table, Value, col, count_rows, sum,
};
use madrigal_testkit::seed;

use crate::random::Random;
use crate::{in_order, maybe, run, simulated};

/// Keys, which may be missing, and a number for each row; the first ones count.
type Rows = Vec<(Option<i128>, i128)>;

fn random_rows(random: &mut Random, count: usize, keys: usize) -> Rows {
    (0..count)
        .map(|row| {
            let key = (random.below(6) > 0).then(|| random.below(keys) as i128);
            (key, row as i128)
        })
        .collect()
}

fn table(name: &str, owner: usize, rows: &Rows, more: usize) -> (Frame, Data) {
    let columns = vec![
        Column::new(format!("{name}_key"), Kind::integer(0, 20)).nullable(),
        Column::new(format!("{name}_row"), Kind::integer(0, 1000)),
    ];
    let mut table = Table::new(name, Party::new(owner), rows.len() + more, columns);
    if more > 0 {
        table = table.padded();
    }
    let data = Data::new(
        &table,
        [
            rows.iter().map(|row| maybe(row.0)).collect::<Vec<_>>(),
            rows.iter().map(|row| Value::Number(row.1)).collect(),
        ],
    )
    .unwrap();
    (Frame::table(table).unwrap(), data)
}

fn joined(left: &Rows, right: &Rows, join: Join) -> Vec<Vec<Value>> {
    let row = |one: Option<&(Option<i128>, i128)>, other: Option<&(Option<i128>, i128)>| {
        let side = |row: Option<&(Option<i128>, i128)>| {
            [
                maybe(row.and_then(|row| row.0)),
                maybe(row.map(|row| row.1)),
            ]
        };
        [side(one), side(other)].concat()
    };
    let is_pair = |one: &(Option<i128>, i128), other: &(Option<i128>, i128)| {
        one.0.is_some() && one.0 == other.0
    };
    let mut rows = Vec::new();
    for one in left {
        let before = rows.len();
        let partners = right.iter().filter(|other| is_pair(one, other));
        rows.extend(partners.map(|other| row(Some(one), Some(other))));
        if rows.len() == before && join != Join::Inner {
            rows.push(row(Some(one), None));
        }
    }
    if join == Join::Full {
        let alone = right
            .iter()
            .filter(|other| !left.iter().any(|one| is_pair(one, other)));
        rows.extend(alone.map(|other| row(None, Some(other))));
    }
    in_order(rows)
}

#[test]
fn many_rows_are_joined_with_many() {
    let seed = seed();
    let mut random = Random(seed);
    let sizes = [0, 1, 2, 3, 7, 20, 41];
    for number in 0..40 {
        let [many, others] = [0, 1].map(|_| sizes[random.below(sizes.len())]);
        let keys = 1 + random.below(8);
        let (left, right) = (
            random_rows(&mut random, many, keys),
            random_rows(&mut random, others, keys),
        );
        let padded = [0, 1].map(|_| random.below(2) * random.below(5));
        let (a, a_data) = table("a", 0, &left, padded[0]);
        let (b, b_data) = table("b", 1, &right, padded[1]);
        let data = [("a", &a_data), ("b", &b_data)];
        let join = [Join::Inner, Join::Left, Join::Full][number % 3];
        let wanted = joined(&left, &right, join);
        let exactly = wanted.len();
        let most = exactly + random.below(3);
        let on = [("a_key", "b_key")];
        let frame = a.join_within(&b, &on, join, Some(most)).unwrap();
        let told = format!("seed {seed}, table {number}, {join:?}, {left:?}, {right:?}");
        assert_eq!(simulated(&frame, &data).unwrap(), wanted, "{told}");
        if number % 13 == 0 {
            assert_eq!(run(&frame, &data), wanted, "{told}");
        }
        // A table of one row has each key once.
        if exactly > 0 && left.len() + padded[0] > 1 && right.len() + padded[1] > 1 {
            let short = a.join_within(&b, &on, join, Some(exactly - 1)).unwrap();
            let fault = simulated(&short, &data).unwrap_err();
            let named = format!("at most {} ", exactly - 1);
            assert!(fault.contains(&named), "{fault}: {told}");
        }
    }
}

/// A number of pairs is told of where keys are many on both sides alone, and where all parties may learn whether it holds.
#[test]
fn a_join_of_many_with_many_declares_its_pairs() {
    let rows: Rows = (0..6).map(|row| (Some(row % 2), row)).collect();
    let (a, a_data) = table("a", 0, &rows, 0);
    let (b, b_data) = table("b", 1, &rows, 0);
    let on = [("a_key", "b_key")];
    let refused = a.join(&b, &on, Join::Inner).unwrap_err();
    assert!(matches!(refused, Fault::ManyToMany { .. }), "{refused}");
    // Groups have each key once, so the number is not needed.
    let once = b
        .group(["b_key"], vec![("n".into(), count_rows())])
        .unwrap();
    let frame = a.join_within(&once, &on, Join::Inner, Some(0)).unwrap();
    let data = [("a", &a_data), ("b", &b_data)];
    assert_eq!(simulated(&frame, &data).unwrap().len(), 6);
    // What follows uses the declared number, and columns that may be joined by alone stay so.
    let total = a
        .join_within(&b, &on, Join::Inner, Some(18))
        .unwrap()
        .filter(col("b_row").greater(1))
        .unwrap()
        .group(["a_key"], vec![("t".into(), sum(col("b_row")))])
        .unwrap();
    assert_eq!(total.most_rows(), 6);
    let wanted = [(0, 3 * (2 + 4)), (1, 3 * (3 + 5))];
    let wanted = wanted.map(|(key, sum)| vec![Value::Number(key), Value::Number(sum)]);
    assert_eq!(simulated(&total, &data).unwrap(), in_order(wanted.to_vec()));
    let careful = Table::new(
        "careful",
        Party::new(1),
        2,
        vec![Column::new("key", Kind::integer(0, 20)).with_right(Right::JoinKey)],
    );
    let careful = Frame::table(careful).unwrap();
    let joined = a.join_within(&careful, &[("a_key", "key")], Join::Inner, Some(4));
    let refused = joined.unwrap().filter(col("key").greater(1)).unwrap_err();
    assert!(matches!(refused, Fault::Right { .. }), "{refused}");
}
