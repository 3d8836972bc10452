//! Queries on tables.

use madrigal_engine::evaluate_program;
use madrigal_net::Error;
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Party};
use madrigal_tables::{
    Column, Data, Expression, Extent, Frame, Join, Kind, Query, SortKey, Table, Value, Window, col,
    count_rows, decimal, greatest, mean, median, sum,
};
use madrigal_testkit::seed;
use madrigal_testkit::transcripts::{must_agree, must_see_a_leak, ones_of};

fn numbers(values: &[i128]) -> Vec<Value> {
    values.iter().map(|&value| Value::Number(value)).collect()
}

fn texts(values: &[&str]) -> Vec<Value> {
    values
        .iter()
        .map(|&value| Value::Text(value.into()))
        .collect()
}

#[test]
fn claims_of_patients_are_joined_and_grouped() {
    let patients = Table::new(
        "patients",
        Party::new(0),
        4,
        vec![
            Column::new("id", Kind::integer(0, 1000)),
            Column::new(
                "ward",
                Kind::Text {
                    bytes: 20,
                    ascii: true,
                },
            ),
        ],
    )
    .unique(&["id"]);
    let claims = Table::new(
        "claims",
        Party::new(1),
        6,
        vec![
            Column::new("patient", Kind::integer(0, 100_000)),
            Column::new("amount", Kind::decimal(9, 2)),
        ],
    );
    let patient_data = Data::new(
        &patients,
        [
            numbers(&[7, 3, 9, 11]),
            texts(&["surgery", "cardiology", "surgery", "ear, nose and throat"]),
        ],
    )
    .unwrap();
    let claim_data = Data::new(
        &claims,
        [
            numbers(&[3, 7, 7, 9, 55, 3]),
            numbers(&[1050, 250, 100, -75, 900, 1]),
        ],
    )
    .unwrap();
    let patients = Frame::table(patients).unwrap();
    let claims = Frame::table(claims).unwrap();
    let frame = claims
        .filter(col("amount").greater(decimal(2, 2)))
        .unwrap()
        .join(&patients, &[("patient", "id")], Join::Inner)
        .unwrap()
        .group(
            ["ward"],
            vec![
                ("claims".into(), count_rows()),
                ("total".into(), sum(col("amount") * decimal(110, 2))),
                ("mean".into(), mean(col("amount"))),
                ("most".into(), greatest(col("amount"))),
            ],
        )
        .unwrap()
        .sort([SortKey::down("total")])
        .unwrap();
    let query = Query::new(&frame, 3, Everyone).unwrap();
    let inputs = query.inputs([("patients", &patient_data), ("claims", &claim_data)]);
    let outputs = query.computation().simulate(&inputs).unwrap();
    let answer = query.result(&outputs).unwrap();
    assert_eq!(
        answer.to_string(),
        "ward,claims,total,mean,most\ncardiology,1,11.5500,10.500000,10.50\nsurgery,2,3.8500,1.750000,2.50\n"
    );
    let planned = query.computation().plan(Mix::R, None, &|_| {}).unwrap();
    for party in planned.run_locally(query.computation(), &inputs).unwrap() {
        assert_eq!(query.result(&party.outputs).unwrap(), answer);
    }
}

/// A table of a key and a number, and one of names of keys.
fn tables(rows: usize) -> [Table; 2] {
    let numbers = vec![
        Column::new("key", Kind::integer(0, 999)),
        Column::new("amount", Kind::decimal(9, 2)),
    ];
    let names = vec![
        Column::new("id", Kind::integer(0, 999)),
        Column::new(
            "name",
            Kind::Text {
                bytes: 3,
                ascii: true,
            },
        )
        .nullable(),
    ];
    [
        Table::new("numbers", Party::new(0), rows, numbers).padded(),
        Table::new("names", Party::new(1), rows, names).unique(&["id"]),
    ]
}

/// What a party receives is independent of what the others' tables contain, as long as what everybody knows is the same: here of all rows
/// being equal or different, found or not, kept or not, and of how many rows there are below the bound.
#[test]
fn what_a_party_receives_is_independent_of_the_tables() {
    const ROWS: usize = 36;
    let [many, one] = tables(ROWS);
    let frames = [&many, &one].map(|table| Frame::table(table.clone()).unwrap());
    let frame = frames[0]
        .filter(col("amount").greater(decimal(0, 2)))
        .unwrap()
        .join(&frames[1], &[("key", "id")], Join::Left)
        .unwrap()
        .group(
            ["name"],
            vec![
                ("total".into(), sum(col("amount"))),
                ("n".into(), count_rows()),
            ],
        )
        .unwrap()
        .sort([SortKey::down("total")])
        .unwrap();
    must_tell_nothing(&frame, &many, &one);
}

/// Many rows that find many, of which some find all and others none; places in windows; values by their places.
#[test]
fn what_a_party_receives_is_independent_of_pairs_and_windows() {
    const ROWS: usize = 6;
    let [many, one] = tables(ROWS);
    let rows = Frame::table(many.clone()).unwrap();
    let so_far = Window::Told(sum(col("amount")), Extent::UP_TO_HERE);
    let windows = vec![("sum".into(), so_far), ("rank".into(), Window::Rank)];
    let frame = rows
        .window(["key"], [SortKey::up("amount")], windows)
        .unwrap()
        .join_within(&rows, &[("key", "key")], Join::Left, Some(ROWS * ROWS))
        .unwrap()
        .group(
            ["key"],
            vec![
                ("middle".into(), median(col("amount_right"))),
                ("most".into(), greatest(col("sum"))),
            ],
        )
        .unwrap();
    must_tell_nothing(&frame, &many, &one);
}

/// Checks that a party receives as many ones at each place, whatever the first table contains.
fn must_tell_nothing(frame: &Frame, many: &Table, one: &Table) {
    let seed = seed();
    must_see_a_leak();
    let rows = many.rows();
    let query = Query::new(frame, 3, Party::new(2)).unwrap();
    let planned = query.computation().plan(Mix::R, None, &|_| {}).unwrap();
    let known = Data::new(
        one,
        [
            numbers(&(0..rows as i128).map(|row| 7 * row).collect::<Vec<_>>()),
            (0..rows)
                .map(|row| {
                    if row % 3 == 0 {
                        Value::Null
                    } else {
                        Value::Text(format!("{}", row % 5))
                    }
                })
                .collect(),
        ],
    )
    .unwrap();
    let ones = |keys: &[i128], amounts: &[i128], seed: u64| {
        let data = Data::new(many, [numbers(keys), numbers(amounts)]).unwrap();
        let inputs = query.inputs([("numbers", &data), ("names", &known)]);
        let (query, planned, inputs) = (&query, &planned, &inputs);
        ones_of(3, Party::new(1), seed, async |context, _| {
            let given = planned
                .given(query.computation(), inputs, context.me())
                .unwrap();
            let ended = evaluate_program(&context, &planned.plan, given, &|_| {}).await;
            ended.map_err(|error| Error::bug(error.to_string()))?;
            Ok(Vec::new())
        })
    };
    let same = ones(&vec![7; rows], &vec![99_999_999; rows], seed);
    let fewer = 5 * rows as i128 / 9;
    let keys: Vec<i128> = (0..fewer).map(|row| 13 * row).collect();
    let amounts: Vec<i128> = (0..fewer).map(|row| 5 * (row % 7) - 15).collect();
    let different = ones(&keys, &amounts, !seed);
    must_agree(&same, &different, &format!("a query, seed {seed}"));
}

/// A bound that is too small ends the run at all parties, and tells that alone, whatever way groups and rows are found.
#[test]
fn bounds_of_queries_are_kept() {
    let [many, one] = tables(40);
    let data = Data::new(&many, [numbers(&[1, 2, 3]), numbers(&[5, 5, 6])]).unwrap();
    let keys: Vec<i128> = (0..40).collect();
    let names = (0..40).map(|row| Value::Text(format!("{row}"))).collect();
    let named = Data::new(&one, [numbers(&keys), names]).unwrap();
    let frames = [many, one].map(|table| Frame::table(table).unwrap());
    let found = frames[0]
        .join(&frames[1], &[("key", "id")], Join::Inner)
        .unwrap();
    let few = found.with_columns([("few", col("key").less(3))]).unwrap();
    for (frame, told) in [
        (frames[0].bound(2).unwrap(), "at most 2 rows"),
        (
            found.group_within(["key"], Vec::new(), Some(2)).unwrap(),
            "at most 2 groups by key",
        ),
        (
            found.group_within(["amount"], Vec::new(), Some(1)).unwrap(),
            "at most 1 groups by amount",
        ),
        (
            few.group_within(["few"], Vec::new(), Some(1)).unwrap(),
            "at most 1 groups by few",
        ),
    ] {
        let query = Query::new(&frame, 3, Everyone).unwrap();
        let inputs = query.inputs([("numbers", &data), ("names", &named)]);
        let simulated = query
            .computation()
            .simulate(&inputs)
            .unwrap_err()
            .to_string();
        let planned = query.computation().plan(Mix::R, None, &|_| {}).unwrap();
        let run = planned
            .run_locally(query.computation(), &inputs)
            .unwrap_err()
            .to_string();
        for text in [simulated, run] {
            assert!(text.contains(told), "{text}");
        }
    }
}

/// A group that follows a join by its key is not sorted again, and gives what it gives without the join's order.
#[test]
fn groups_after_joins_take_the_joins_order() {
    let [many, one] = tables(200);
    let unsorted = many.clone();
    let data = Data::new(
        &many,
        [
            numbers(&(0..150).map(|row| row * 17 % 61).collect::<Vec<_>>()),
            numbers(&(0..150).map(|row| row - 75).collect::<Vec<_>>()),
        ],
    )
    .unwrap();
    let keys: Vec<i128> = (0..200).rev().map(|row| 2 * row).collect();
    let names = (0..200)
        .map(|row| {
            if row % 9 == 0 {
                Value::Null
            } else {
                Value::Text(format!("{}", row % 40))
            }
        })
        .collect();
    let named = Data::new(&one, [numbers(&keys), names]).unwrap();
    let frames = [unsorted, one].map(|table| Frame::table(table).unwrap());
    let told = || {
        vec![
            ("total".into(), sum(col("amount"))),
            ("most".into(), greatest(col("amount"))),
        ]
    };
    let found = frames[0]
        .filter(col("amount").differs(decimal(7, 2)))
        .unwrap()
        .join(&frames[1], &[("key", "id")], Join::Inner)
        .unwrap();
    let fused = found.group(["key", "name"], told()).unwrap();
    // A column that nothing is known of has the same groups.
    let apart = found
        .with_columns([("key", col("key") + col("key") - col("key"))])
        .unwrap()
        .group(["key", "name"], told())
        .unwrap();
    let mut rows = Vec::new();
    let mut sorts = Vec::new();
    for frame in [fused, apart] {
        let query = Query::new(&frame, 3, Everyone).unwrap();
        let inputs = query.inputs([("numbers", &data), ("names", &named)]);
        let answer = query
            .result(&query.computation().simulate(&inputs).unwrap())
            .unwrap();
        let mut all = answer.rows;
        all.sort_by_key(|row| format!("{row:?}"));
        rows.push(all);
        let described = query.computation().describe();
        sorts.push(
            described
                .iter()
                .filter(|line| line.contains("sort by keys"))
                .count(),
        );
    }
    assert_eq!(rows[0], rows[1]);
    assert!(rows[0].len() > 20 && sorts[0] < sorts[1], "{sorts:?}");
}

/// A wide text that nothing is computed of is looked up for the few rows of the result, and does not move along with all rows before.
#[test]
fn wide_texts_are_looked_up_at_the_end() {
    let address = Kind::Text {
        bytes: 64,
        ascii: true,
    };
    let key = || Kind::integer(0, 999);
    let people = Table::new(
        "people",
        Party::new(0),
        40,
        vec![
            Column::new("person", key()),
            Column::new("address", address),
        ],
    )
    .unique(&["person"]);
    let orders = vec![Column::new("order", key()), Column::new("buyer", key())];
    let orders = Table::new("orders", Party::new(1), 60, orders).unique(&["order"]);
    let lines = vec![
        Column::new("line", key()),
        Column::new("price", Kind::decimal(6, 2)),
    ];
    let lines = Table::new("lines", Party::new(2), 90, lines);
    let street = |person: i128| format!("{person} of the longest street of the whole town");
    let persons: Vec<i128> = (0..40).map(|row| 7 * row % 40).collect();
    let streets = persons.iter().map(|&one| Value::Text(street(one)));
    let of_people = Data::new(&people, [numbers(&persons), streets.collect()]).unwrap();
    let numbered: Vec<i128> = (0..60).collect();
    let buyers: Vec<i128> = (0..60).map(|row| row % 45).collect();
    let of_orders = Data::new(&orders, [numbers(&numbered), numbers(&buyers)]).unwrap();
    let sold: Vec<i128> = (0..90).map(|row| row * 31 % 70).collect();
    let prices: Vec<i128> = (0..90).map(|row| 100 + row * row % 97).collect();
    let of_lines = Data::new(&lines, [numbers(&sold), numbers(&prices)]).unwrap();
    let frames = [&lines, &orders, &people].map(|table| Frame::table(table.clone()).unwrap());
    let told = |address: Expression| {
        frames[0]
            .join(&frames[1], &[("line", "order")], Join::Inner)
            .unwrap()
            .join(&frames[2], &[("buyer", "person")], Join::Inner)
            .unwrap()
            .with_columns([("address", address)])
            .unwrap()
            .group(
                ["person", "address"],
                vec![("total".into(), sum(col("price")))],
            )
            .unwrap()
            .sort([SortKey::down("total"), SortKey::up("person")])
            .unwrap()
            .first(5)
            .unwrap()
    };
    let mut totals: std::collections::BTreeMap<i128, i128> = std::collections::BTreeMap::new();
    for (line, price) in sold.iter().zip(&prices) {
        let buyer = numbered.iter().position(|order| order == line);
        if let Some(buyer) = buyer.map(|at| buyers[at]).filter(|buyer| *buyer < 40) {
            *totals.entry(buyer).or_default() += price;
        }
    }
    let mut wanted: Vec<(i128, i128)> = totals.into_iter().collect();
    wanted.sort_by_key(|&(person, total)| (-total, person));
    let wanted: Vec<Vec<Value>> = wanted[..5]
        .iter()
        .map(|&(person, total)| {
            let text = Value::Text(street(person));
            vec![Value::Number(person), text, Value::Number(total)]
        })
        .collect();
    // A text that is computed moves along.
    let mut bytes = Vec::new();
    for address in [col("address"), col("address").piece(0, 64)] {
        let query = Query::new(&told(address), 3, Everyone).unwrap();
        let data = [
            ("people", &of_people),
            ("orders", &of_orders),
            ("lines", &of_lines),
        ];
        let outputs = query.computation().simulate(&query.inputs(data)).unwrap();
        assert_eq!(query.result(&outputs).unwrap().rows, wanted);
        let planned = query.computation().plan(Mix::R, None, &|_| {}).unwrap();
        bytes.push(planned.plan.cost(Party::new(1)).online.bytes_sent);
    }
    assert!(2 * bytes[0] < bytes[1], "{bytes:?}");
}
