//! Quantiles, deviations, roots, pivots and several distinct counts, against the same in the clear.

use madrigal_program::Party;
use madrigal_tables::{
    Aggregate, Column, Data, Frame, Kind, Literal, Quantile, Table, Value, col, count_distinct,
    deviation, median, quantile, sum,
};
use madrigal_testkit::seed;

use crate::random::Random;
use crate::{in_order, maybe, run, simulated};

fn one_column(name: &str, kind: Kind, values: &[Option<i128>]) -> (Frame, Data) {
    let column = Column::new(name, kind).nullable();
    let table = Table::new("t", Party::new(0), values.len(), vec![column]);
    let values: Vec<Value> = values.iter().map(|value| maybe(*value)).collect();
    let data = Data::new(&table, [values]).unwrap();
    (Frame::table(table).unwrap(), data)
}

/// Roots are those of whole numbers, cut off after six digits, for numbers of every size.
#[test]
fn roots_are_cut_off_after_six_digits() {
    let seed = seed();
    let mut random = Random(seed);
    for bits in [1, 4, 7, 8, 20, 33, 63, 79] {
        let most = (1_i128 << bits) - 1;
        let mut values = vec![None, Some(0), Some(1), Some(-1), Some(most), Some(-most)];
        for _ in 0..6 {
            let number = (i128::from(random.next()) << 32 ^ i128::from(random.next())) & most;
            let square = number.isqrt() * number.isqrt();
            values.extend([number, square, (square - 1).max(0)].map(Some));
        }
        let (frame, data) = one_column("x", Kind::integer(-most, most), &values);
        let frame = frame.with_columns([("r", col("x").root())]).unwrap();
        let root = |value: i128| (value >= 0).then(|| (value * 10_i128.pow(12)).isqrt());
        let wanted = values
            .iter()
            .map(|value| vec![maybe(*value), maybe(value.and_then(root))]);
        let wanted = in_order(wanted.collect());
        let data = [("t", &data)];
        assert_eq!(
            simulated(&frame, &data).unwrap(),
            wanted,
            "seed {seed}, {bits} bits"
        );
        if bits == 20 {
            assert_eq!(run(&frame, &data), wanted, "seed {seed}");
        }
    }
    // A number whose root has no room for six digits has fewer: 2^110 is 33 digits long, so that one digit is left.
    let (frame, data) = one_column("x", Kind::integer(0, 1 << 110), &[Some(1 << 110), Some(2)]);
    let frame = frame.select([("r", col("x").root())]).unwrap();
    let found = simulated(&frame, &[("t", &data)]).unwrap();
    let wanted = [(1_i128 << 55) * 10, 14].map(|root| vec![Value::Number(root)]);
    assert_eq!(found, in_order(wanted.to_vec()));
}

/// The value at a place in order, times the number of parts.
fn at_place(mut values: Vec<i128>, above: i128, below: i128, interpolated: bool) -> Option<i128> {
    values.sort_unstable();
    let count = values.len() as i128;
    if count == 0 {
        return None;
    }
    if !interpolated {
        let place = (count * above + below - 1) / below;
        return Some(values[(place.max(1) - 1) as usize]);
    }
    let (whole, rest) = ((count - 1) * above / below, (count - 1) * above % below);
    let low = values[whole as usize];
    let high = values[(whole as usize + 1).min(values.len() - 1)];
    // Six digits of the quotient.
    Some((low * (below - rest) + high * rest) * 1_000_000 / below)
}

#[test]
fn quantiles_are_values_by_their_places() {
    let seed = seed();
    let mut random = Random(seed);
    let places = [
        (0, 1),
        (1, 1),
        (1, 2),
        (1, 3),
        (19, 20),
        (999_999, 1_000_000),
    ];
    for count in [0, 1, 2, 5, 12, 40] {
        let rows: Vec<(i128, Option<i128>)> = (0..count)
            .map(|_| {
                let value = (random.below(5) > 0).then(|| match random.below(3) {
                    0 => [i32::MIN, i32::MAX, 0][random.below(3)].into(),
                    _ => i128::from(random.next() as i8),
                });
                (random.below(3) as i128 * 1000, value)
            })
            .collect();
        let columns = vec![
            // Keys that are not few, so that rows are sorted.
            Column::new("key", Kind::integer(0, 5000)),
            Column::new("value", Kind::integer(i32::MIN.into(), i32::MAX.into())).nullable(),
        ];
        let table = Table::new("t", Party::new(0), count, columns);
        let numbers = rows
            .iter()
            .map(|row| Value::Number(row.0))
            .collect::<Vec<_>>();
        let values = rows.iter().map(|row| maybe(row.1)).collect();
        let data = Data::new(&table, [numbers, values]).unwrap();
        let frame = Frame::table(table).unwrap();
        let mut told: Vec<(String, Aggregate)> = Vec::new();
        for (at, &(numerator, denominator)) in places.iter().enumerate() {
            told.push((
                format!("c{at}"),
                quantile(col("value"), numerator, denominator),
            ));
            let place = Quantile {
                numerator,
                denominator,
                interpolated: false,
            };
            told.push((format!("d{at}"), Aggregate::Quantile(col("value"), place)));
        }
        told.push(("n".into(), count_distinct(col("value"))));
        // Another expression has its own order.
        told.push(("m".into(), count_distinct(-col("value") % 7)));
        let all = |values: &[i128]| -> Vec<Value> {
            let mut told = Vec::new();
            for (above, below) in places {
                for interpolated in [true, false] {
                    told.push(maybe(at_place(
                        values.to_vec(),
                        above.into(),
                        below.into(),
                        interpolated,
                    )));
                }
            }
            let distinct = |values: Vec<i128>| {
                let distinct: std::collections::BTreeSet<i128> = values.into_iter().collect();
                Value::Number(distinct.len() as i128)
            };
            told.push(distinct(values.to_vec()));
            told.push(distinct(values.iter().map(|value| -value % 7).collect()));
            told
        };
        let data = [("t", &data)];
        let what = format!("seed {seed}, {rows:?}");
        let whole: Vec<i128> = rows.iter().filter_map(|row| row.1).collect();
        let of_all = frame.group(Vec::<String>::new(), told.clone()).unwrap();
        assert_eq!(simulated(&of_all, &data).unwrap(), [all(&whole)], "{what}");
        let mut wanted = Vec::new();
        for key in [0, 1000, 2000] {
            let of_key = rows.iter().filter(|row| row.0 == key);
            if of_key.clone().next().is_none() {
                continue;
            }
            let values: Vec<i128> = of_key.filter_map(|row| row.1).collect();
            wanted.push([vec![Value::Number(key)], all(&values)].concat());
        }
        let grouped = frame.group(["key"], told).unwrap();
        assert_eq!(
            simulated(&grouped, &data).unwrap(),
            in_order(wanted.clone()),
            "{what}"
        );
        if count == 12 {
            assert_eq!(run(&grouped, &data), in_order(wanted), "{what}");
        }
    }
    let (frame, _) = one_column("x", Kind::integer(0, 1), &[None]);
    for (above, below) in [(2, 1), (1, 0), (1, 1_000_001)] {
        let told = vec![("q".to_owned(), quantile(col("x"), above, below))];
        let refused = frame.group(Vec::<String>::new(), told).unwrap_err();
        assert!(
            refused.to_string().contains("no place among values"),
            "{refused}"
        );
    }
}

#[test]
fn texts_have_places_and_pivots_have_columns() {
    let columns = vec![
        Column::new("year", Kind::integer(2000, 2100)),
        Column::new("ward", Kind::choice(["a", "b"])),
        Column::new(
            "name",
            Kind::Text {
                bytes: 20,
                ascii: true,
            },
        ),
        Column::new("pay", Kind::decimal(6, 2)),
    ];
    let table = Table::new("t", Party::new(0), 5, columns);
    let numbers = |values: [i128; 5]| values.map(Value::Number).to_vec();
    let texts = |values: [&str; 5]| values.map(|text| Value::Text(text.into())).to_vec();
    let columns = [
        numbers([2001, 2001, 2002, 2002, 2002]),
        texts(["a", "b", "b", "b", "b"]),
        texts(["zoe", "a long name of 18", "bob", "", "amy"]),
        numbers([100, 250, 300, 500, 700]),
    ];
    let data = Data::new(&table, columns).unwrap();
    let data = [("t", &data)];
    let frame = Frame::table(table).unwrap();
    let middle = Quantile {
        numerator: 1,
        denominator: 2,
        interpolated: false,
    };
    let told = frame
        .group(
            ["year"],
            vec![
                ("name".into(), Aggregate::Quantile(col("name"), middle)),
                ("pay".into(), median(col("pay"))),
                ("spread".into(), deviation(col("pay"))),
            ],
        )
        .unwrap();
    let row = |year, name: &str, pay, spread| {
        vec![
            Value::Number(year),
            Value::Text(name.into()),
            Value::Number(pay),
            Value::Number(spread),
        ]
    };
    // The mean of 1.00 and 2.50 is 1.75, and their variance 1.125; the variance of 3, 5 and 7 is 4.
    let wanted = vec![
        row(2001, "a long name of 18", 1_750_000, 1_060_660),
        row(2002, "amy", 5_000_000, 2_000_000),
    ];
    assert_eq!(simulated(&told, &data).unwrap(), wanted);
    assert_eq!(run(&told, &data), wanted);
    let few = told.columns().len();
    let least = told.with_least_group(3).unwrap();
    assert_eq!(least.columns().len(), few);
    assert_eq!(simulated(&least, &data).unwrap(), wanted[1..]);
    let wards = ["a", "b"].map(Literal::text);
    let pivoted = frame
        .pivot(["year"], "ward", &wards, &[("pay".into(), sum(col("pay")))])
        .unwrap();
    let names: Vec<&str> = pivoted
        .columns()
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["year", "a", "b"]);
    let wanted = vec![
        vec![Value::Number(2001), Value::Number(100), Value::Number(250)],
        vec![Value::Number(2002), Value::Null, Value::Number(1500)],
    ];
    assert_eq!(simulated(&pivoted, &data).unwrap(), wanted);
}
