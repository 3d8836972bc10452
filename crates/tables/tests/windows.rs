//! Windows over random tables, against the same in the clear.

use madrigal_program::Party;
use madrigal_tables::{
    Column, Data, Extent, Frame, Kind, Right, SortKey, Table, Value, Window, col, count,
    count_rows, greatest, least, mean, sum,
};
use madrigal_testkit::seed;

use crate::random::Random;
use crate::{maybe, run, simulated};

/// A row in the clear: its number, the partition, the order and a value, of which some may be missing.
#[derive(Debug, Clone, Copy)]
struct Row {
    id: i128,
    part: Option<i128>,
    place: Option<i128>,
    value: Option<i128>,
}

fn random_rows(random: &mut Random, count: usize) -> Vec<Row> {
    let parts = 1 + random.below(4);
    let places = 1 + random.below(9);
    let ends = [i64::MIN.into(), i64::MAX.into(), 0, -1, 1];
    (0..count)
        .map(|id| Row {
            id: id as i128,
            part: (random.below(5) > 0).then(|| random.below(parts) as i128),
            place: (random.below(5) > 0).then(|| random.below(places) as i128 - 4),
            value: (random.below(4) > 0).then(|| match random.below(2) {
                0 => ends[random.below(5)],
                _ => i128::from(random.next() as i16),
            }),
        })
        .collect()
}

fn table(rows: &[Row], more: usize) -> (Frame, Data) {
    let columns = vec![
        Column::new("id", Kind::integer(0, 1000)),
        Column::new("part", Kind::integer(0, 9)).nullable(),
        Column::new("place", Kind::integer(-4, 9)).nullable(),
        Column::new("value", Kind::integer(i64::MIN.into(), i64::MAX.into())).nullable(),
    ];
    let mut table = Table::new("t", Party::new(0), rows.len() + more, columns);
    if more > 0 {
        table = table.padded();
    }
    let column = |value: fn(&Row) -> Option<i128>| -> Vec<Value> {
        rows.iter().map(|row| maybe(value(row))).collect()
    };
    let columns = [
        column(|row| Some(row.id)),
        column(|row| row.part),
        column(|row| row.place),
        column(|row| row.value),
    ];
    let data = Data::new(&table, columns).unwrap();
    (Frame::table(table).unwrap(), data)
}

/// What windows are asked for, and what they are in the clear for the row `at` of its partition's rows, which are in order; `peers` are the rows
/// that are equal to it in the order.
struct Asked {
    name: &'static str,
    window: Window,
    told: fn(&[Row], usize, std::ops::Range<usize>) -> Option<i128>,
}

fn values(rows: &[Row]) -> Vec<i128> {
    rows.iter().filter_map(|row| row.value).collect()
}

fn total(rows: &[Row]) -> Option<i128> {
    let values = values(rows);
    (!values.is_empty()).then(|| values.iter().sum())
}

fn near(rows: &[Row], at: usize, before: usize, after: usize) -> &[Row] {
    &rows[at.saturating_sub(before)..(at + after + 1).min(rows.len())]
}

fn asked() -> Vec<Asked> {
    let value = || col("value");
    let rows = |before: Option<usize>, after: Option<usize>| Extent::Rows { before, after };
    let ask = |name, window, told| Asked { name, window, told };
    vec![
        ask("number", Window::RowNumber, |_, at, _| Some(at as i128 + 1)),
        ask("rank", Window::Rank, |_, _, peers| {
            Some(peers.start as i128 + 1)
        }),
        ask("dense", Window::DenseRank, |rows, at, _| {
            let places: std::collections::BTreeSet<_> =
                rows[..=at].iter().map(|row| (row.place, row.id)).collect();
            Some(places.len() as i128)
        }),
        ask("lag", Window::Lag(value(), 1), |rows, at, _| {
            at.checked_sub(1).and_then(|at| rows[at].value)
        }),
        ask("lag3", Window::Lag(value(), 3), |rows, at, _| {
            at.checked_sub(3).and_then(|at| rows[at].value)
        }),
        ask("far", Window::Lag(value(), 5000), |_, _, _| None),
        ask("lead", Window::Lead(value(), 2), |rows, at, _| {
            rows.get(at + 2).and_then(|row| row.value)
        }),
        ask("here", Window::Lead(value(), 0), |rows, at, _| {
            rows[at].value
        }),
        ask(
            "first",
            Window::First(value(), Extent::Partition),
            |rows, _, _| rows[0].value,
        ),
        ask(
            "first2",
            Window::First(value(), rows(Some(2), Some(0))),
            |rows, at, _| near(rows, at, 2, 0)[0].value,
        ),
        ask(
            "last",
            Window::Last(value(), rows(Some(0), Some(2))),
            |rows, at, _| near(rows, at, 0, 2).last().unwrap().value,
        ),
        ask(
            "last_all",
            Window::Last(value(), Extent::Partition),
            |rows, _, _| rows.last().unwrap().value,
        ),
        ask(
            "all",
            Window::Told(count_rows(), Extent::Partition),
            |rows, _, _| Some(rows.len() as i128),
        ),
        ask(
            "there",
            Window::Told(count(value()), rows(Some(1), Some(3))),
            |rows, at, _| Some(values(near(rows, at, 1, 3)).len() as i128),
        ),
        ask(
            "sum",
            Window::Told(sum(value()), Extent::Partition),
            |rows, _, _| total(rows),
        ),
        ask(
            "up_to",
            Window::Told(sum(value()), Extent::UP_TO_HERE),
            |rows, at, _| total(&rows[..=at]),
        ),
        ask(
            "moving",
            Window::Told(sum(value()), rows(Some(2), Some(1))),
            |rows, at, _| total(near(rows, at, 2, 1)),
        ),
        ask(
            "rest",
            Window::Told(sum(value()), rows(Some(0), None)),
            |rows, at, _| total(&rows[at..]),
        ),
        ask(
            "least",
            Window::Told(least(value()), Extent::UP_TO_HERE),
            |rows, at, _| values(&rows[..=at]).into_iter().min(),
        ),
        ask(
            "greatest",
            Window::Told(greatest(value()), Extent::Partition),
            |rows, _, _| values(rows).into_iter().max(),
        ),
        ask(
            "greatest3",
            Window::Told(greatest(value()), rows(Some(1), Some(2))),
            |rows, at, _| values(near(rows, at, 1, 2)).into_iter().max(),
        ),
        ask(
            "least_rest",
            Window::Told(least(value()), rows(Some(1), None)),
            |rows, at, _| values(&rows[at.saturating_sub(1)..]).into_iter().min(),
        ),
        ask(
            "least_next",
            Window::Told(least(value()), rows(None, Some(2))),
            |rows, at, _| values(&rows[..(at + 3).min(rows.len())]).into_iter().min(),
        ),
    ]
}

/// Rows of each partition in order, with those that are equal in it.
fn in_clear(rows: &[Row], asked: &[Asked], by: fn(&Row) -> (bool, i128, i128)) -> Vec<Vec<Value>> {
    let mut parts: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        match parts.iter_mut().find(|part| part[0].part == row.part) {
            Some(part) => part.push(*row),
            None => parts.push(vec![*row]),
        }
    }
    let mut made = Vec::new();
    for part in &mut parts {
        part.sort_by_key(by);
        for at in 0..part.len() {
            let is_peer = |row: &Row| by(row) == by(&part[at]);
            let start = part.iter().position(is_peer).unwrap();
            let end = start + part[start..].iter().take_while(|row| is_peer(row)).count();
            let told = asked
                .iter()
                .map(|asked| maybe((asked.told)(part, at, start..end)));
            made.push([vec![Value::Number(part[at].id)], told.collect()].concat());
        }
    }
    crate::in_order(made)
}

#[test]
fn windows_tell_what_they_tell_in_the_clear() {
    let seed = seed();
    let mut random = Random(seed);
    for (number, count) in [0, 1, 2, 3, 8, 30, 33, 47].into_iter().enumerate() {
        let rows = random_rows(&mut random, count);
        let (frame, data) = table(&rows, number % 3);
        let data = [("t", &data)];
        let asked = asked();
        let functions = |asked: &[Asked]| {
            let functions = asked.iter();
            functions
                .map(|one| (one.name.to_owned(), one.window.clone()))
                .collect::<Vec<_>>()
        };
        let names: Vec<&str> = std::iter::once("id")
            .chain(asked.iter().map(|one| one.name))
            .collect();
        // The number of the row decides between rows that are equal otherwise.
        let order = [SortKey::down("place"), SortKey::up("id")];
        let told = frame.window(["part"], order, functions(&asked)).unwrap();
        let told = told.only(&names).unwrap();
        let wanted = in_clear(&rows, &asked, |row| {
            (row.place.is_none(), -row.place.unwrap_or(0), row.id)
        });
        let what = format!("seed {seed}, {count} rows, {rows:?}");
        assert_eq!(simulated(&told, &data).unwrap(), wanted, "{what}");
        if count == 8 {
            assert_eq!(run(&told, &data), wanted, "{what}");
        }
        // Rows that are equal in the order: ranks, and numbers of all up to them.
        let ties = vec![
            Asked {
                name: "rank",
                window: Window::Rank,
                told: |_, _, peers| Some(peers.start as i128 + 1),
            },
            Asked {
                name: "dense",
                window: Window::DenseRank,
                told: |rows, _, peers| {
                    let places: std::collections::BTreeSet<_> =
                        rows[..peers.end].iter().map(|row| row.place).collect();
                    Some(places.len() as i128)
                },
            },
            Asked {
                name: "up_to",
                window: Window::Told(sum(col("value")), Extent::Peers),
                told: |rows, _, peers| total(&rows[..peers.end]),
            },
            Asked {
                name: "most",
                window: Window::Told(greatest(col("value")), Extent::Peers),
                told: |rows, _, peers| values(&rows[..peers.end]).into_iter().max(),
            },
        ];
        let order = || {
            let nulls_first = true;
            [SortKey {
                nulls_first,
                ..SortKey::up("place")
            }]
        };
        let told = frame.window(["part"], order(), functions(&ties)).unwrap();
        let told = told
            .only(&["id", "rank", "dense", "up_to", "most"])
            .unwrap();
        let wanted = in_clear(&rows, &ties, |row| {
            (row.place.is_some(), row.place.unwrap_or(0), 0)
        });
        assert_eq!(simulated(&told, &data).unwrap(), wanted, "{what}");
        // Numbers of rows that are equal in the order are different, and come after those of rows before.
        let number = vec![("number".to_owned(), Window::RowNumber)];
        let numbered = frame.window(["part"], order(), number).unwrap();
        let numbered = simulated(&numbered, &data).unwrap();
        let mut keys: Vec<String> = Vec::new();
        for row in &numbered {
            keys.push(format!("{:?} {:?}", row[1], row[4]));
            let at = |row: &[Value]| match row[4] {
                Value::Number(number) => number,
                _ => panic!("a number"),
            };
            let before = numbered.iter().filter(|other| {
                let place = |row: &[Value]| match row[2] {
                    Value::Number(place) => Some(place),
                    _ => None,
                };
                other[1] == row[1] && place(other) < place(row)
            });
            assert!(at(row) > before.count() as i128, "{what}");
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), rows.len(), "{what}");
    }
}

/// A group of the partition that a window was told of takes its order over, and the first row of each partition is known to be one.
#[test]
fn windows_are_followed_by_groups_and_joins() {
    let rows: Vec<Row> = (0..50)
        .map(|id| Row {
            id,
            part: Some(id % 7),
            place: Some(id % 5 - 2),
            value: Some(id * id),
        })
        .collect();
    let (frame, data) = table(&rows, 0);
    let data = [("t", &data)];
    let part = col("part") + 0;
    let frame = frame
        .select([("part", part), ("id", col("id")), ("value", col("value"))])
        .unwrap();
    let windows = vec![
        ("number".to_owned(), Window::RowNumber),
        (
            "mean".to_owned(),
            Window::Told(mean(col("value")), Extent::Partition),
        ),
    ];
    let told = frame
        .window(["part"], [SortKey::down("value")], windows)
        .unwrap();
    let first = told.filter(col("number").equals(1)).unwrap();
    // The greatest value of each part, beside the rows: no pairs need be declared.
    let first = first
        .select([
            ("p", col("part")),
            ("most", col("value")),
            ("m", col("mean")),
        ])
        .unwrap();
    let joined = frame
        .join(&first, &[("part", "p")], madrigal_tables::Join::Inner)
        .unwrap()
        .filter(col("value").equals(col("most")))
        .unwrap()
        .only(&["id"])
        .unwrap();
    let found = simulated(&joined, &data).unwrap();
    let wanted: Vec<Vec<Value>> = (43..50).map(|id| vec![Value::Number(id)]).collect();
    assert_eq!(found, crate::in_order(wanted));
}

#[test]
fn windows_keep_the_rights_of_columns() {
    let columns = vec![
        Column::new("ward", Kind::integer(0, 9)),
        Column::new("pay", Kind::integer(0, 9)).with_right(Right::Aggregate),
        Column::new("key", Kind::integer(0, 9)).with_right(Right::JoinKey),
    ];
    let frame = Frame::table(Table::new("t", Party::new(0), 5, columns)).unwrap();
    let by = |partition: &str, order: &str| {
        let rank = vec![("rank".to_owned(), Window::Rank)];
        frame.window([partition], [SortKey::up(order)], rank)
    };
    let right = |frame: Frame| frame.columns().last().unwrap().right;
    assert_eq!(right(by("ward", "ward").unwrap()), Right::Shown);
    assert_eq!(right(by("ward", "pay").unwrap()), Right::Aggregate);
    assert!(by("ward", "key").is_err() && by("key", "ward").is_err());
    let total = vec![(
        "t".to_owned(),
        Window::Told(sum(col("pay")), Extent::Partition),
    )];
    let none: [SortKey; 0] = [];
    assert_eq!(
        right(frame.window(["ward"], none, total).unwrap()),
        Right::Aggregate
    );
}
