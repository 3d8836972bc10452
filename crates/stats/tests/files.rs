//! Files, questions and cards that are wrong: each with its message; files that were changed at random.

use madrigal_core::text::own_data_is_shown;
use madrigal_stats::table::{Records, names};
use madrigal_stats::{
    Agreed, Ask, Asked, Card, Groups, Held, Holding, Question, Value, inputs, learned,
};
use proptest::prelude::*;

use crate::oracle::{self, by_rows};
use crate::programs::rows;

fn asked(name: &str) -> Asked {
    Asked {
        name: name.to_owned(),
        places: None,
        range: None,
    }
}

/// The mean of pay, by ward.
fn mean(held: Held) -> Question {
    Question {
        held,
        columns: vec![asked("pay")],
        asks: vec![Ask::Mean(0)],
        by: Some(Groups {
            column: "ward".to_owned(),
            names: vec!["A".to_owned(), "B".to_owned()],
            other: false,
        }),
        least: 5,
        pad: None,
    }
}

fn read(question: &Question, text: &str) -> Result<Holding, String> {
    let held = Holding::read(question, 2, text.as_bytes(), ',');
    held.map_err(|error| error.to_string())
}

#[test]
fn wrong_files_are_refused_with_their_place() {
    assert!(!own_data_is_shown());
    let mut question = mean(Held::Rows);
    question.columns[0].places = Some(2);
    let range = ["0", "5000.5"].map(|end| Value::read(end).unwrap());
    question.columns[0].range = Some((range[0], range[1]));
    for (text, expected) in [
        (
            "",
            "it is empty; expected a line with the names of the columns, then a line for each row",
        ),
        (
            "\n\n",
            "it is empty; expected a line with the names of the columns, then a line for each row",
        ),
        (
            "pay\n1",
            "there is no column ward, but pay; correct the name, or the first line",
        ),
        (
            "pay,ward,pay\n",
            "the first line names column pay twice; rename one",
        ),
        (
            "pay,ward\n1,A,2\n",
            "line 2: it has 3 cells, and the first line names 2 columns; if cells are separated by something else than ',', say so",
        ),
        (
            "pay,ward\n1,A\n\n2,B\n",
            "line 3: it is empty, and others follow; write NA for a missing value, or take the line out",
        ),
        (
            "pay,ward\n1,\"A\n2,B\n",
            "line 2, column 2: the quote that begins this cell is not closed; close it, and write a quote within as \"\"",
        ),
        (
            "pay,ward\n1,\"A\"x\n",
            "line 2, column 2: there is text behind the quote that ends the cell; write a quote within as \"\"",
        ),
        (
            "pay,ward\r1,A\r",
            "line 1: a carriage return without a line feed; save the table with line ends of Unix or Windows",
        ),
        (
            "pay,ward\n\"1,5\",A\n",
            "line 2, column pay: the cell has a comma; write numbers with a decimal point and nothing between thousands, as 1234.5",
        ),
        (
            "pay,ward\n\"1,234.5\",A\n",
            "line 2, column pay: the cell has a comma; write numbers with a decimal point and nothing between thousands, as 1234.5",
        ),
        (
            "pay,ward\n1e3,A\n",
            "line 2, column pay: the cell has an exponent; write its digits, as 1200 for 1.2e3",
        ),
        (
            "pay,ward\n0.1234567891,A\n",
            "line 2, column pay: the cell has more than 9 digits after the point; round it",
        ),
        (
            "pay,ward\n1099511627776,A\n",
            "line 2, column pay: the cell is too large: numbers are less than 1099511627776 units of the last place from 0; take a larger unit, or round",
        ),
        (
            "pay,ward\n1,A\n\"x\ny\",A\n",
            "line 3, column pay: the cell is neither a number, as -12.5, nor a date, as 2024-02-29, nor missing (an empty cell or NA)",
        ),
        (
            "pay,ward\n1,A\n2024-02-29,A\n",
            "line 3, column pay: the cell is of another kind than the cells above it, which are numbers",
        ),
        (
            "pay,ward\n2023-02-29,A\n",
            "line 2, column pay: the cell is no day of the calendar, from 0001-01-01 to 9999-12-31",
        ),
        (
            "pay,ward\n1.125,A\n",
            "line 2, column pay: the cell has more digits after the point than the 2 of its column; round it, or say that there are more",
        ),
        (
            "pay,ward\n5000.51,A\n",
            "line 2, column pay: the value is out of the range of the column, 0.00 to 5000.50; correct one of them",
        ),
        (
            "pay,ward\n1,A\n1,C\n",
            "line 3, column ward: the cell is none of the groups A, B; name it, or have others in a group of their own",
        ),
    ] {
        assert_eq!(read(&question, text).unwrap_err(), expected, "{text:?}");
    }
    let bytes = b"pay,ward\n1,\xff\n";
    let wrong = Holding::read(&question, 2, bytes, ',').unwrap_err();
    let expected =
        "line 2: this is no text, for the byte 0xff is not UTF-8; save the table as UTF-8";
    assert_eq!(wrong.to_string(), expected);
    question.held = Held::Columns;
    let none = read(&question, "id,name\n1,x\n").unwrap_err();
    assert_eq!(
        none,
        "none of the columns that are asked for is here, but id, name; correct the names, or leave the file out"
    );
}

#[test]
fn rows_are_at_most_as_many_as_bounds_are_for() {
    let mut question = mean(Held::Rows);
    question.asks = vec![Ask::Quantiles(0, vec![])];
    question.pad = Some(2);
    let wrong = read(&question, "pay,ward\n1,A\n1,A\n1,A\n").unwrap_err();
    assert_eq!(
        wrong,
        "it has 3 rows, and is to be filled up to 2; fill up to more"
    );
    question.pad = None;
    let text = "pay,ward\n".to_owned() + &"1,A\n".repeat(madrigal_stats::MOST_ROWS / 64 + 1);
    let wrong = Holding::read(&question, 64, text.as_bytes(), ',').unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "it has more than 65536 rows, which is the most for one of 64 parties; split it"
    );
}

/// Cards of two parties, and what they come to.
fn agree(question: &Question, texts: [&str; 2]) -> Result<Agreed, String> {
    let held = texts.map(|text| read(question, text).unwrap());
    let cards = held.map(|held| Card::new(question, &held).bytes());
    Agreed::new(question, &cards).map_err(|error| error.to_string())
}

#[test]
fn tables_that_do_not_go_together_are_told() {
    let rows = mean(Held::Rows);
    assert_eq!(
        agree(&rows, ["pay,ward\n1,A\n", "pay,ward\n2024-02-29,A\n"]).unwrap_err(),
        "column pay has numbers at party 0 and dates at party 1; make them alike"
    );
    // A column without a value is of any kind.
    agree(&rows, ["pay,ward\nNA,A\n", "pay,ward\n2024-02-29,A\n"]).unwrap();
    let columns = mean(Held::Columns);
    for (texts, expected) in [
        (
            ["pay\n1\n", "ward\nA\nB\n"],
            "party 0 has 1 rows and party 1 has 2; all need the same rows in the same order, or say that parties hold rows",
        ),
        (
            ["pay,ward\n1,A\n", "ward\nA\n"],
            "column ward is held by party 0 and by party 1; take it out of one's table, or say that parties hold rows",
        ),
        (["ward\nA\n", "id,pay\n1,2\n"], ""),
    ] {
        assert_eq!(
            agree(&columns, texts).err().unwrap_or_default(),
            expected,
            "{texts:?}"
        );
    }
    let held = [
        read(&columns, "pay\n1\n").unwrap(),
        Holding::nothing(&columns),
    ];
    let cards = held.map(|held| Card::new(&columns, &held).bytes());
    let wrong = Agreed::new(&columns, &cards).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "no party holds column ward; correct the name, or the table of the party that should"
    );
    let nothing = Card::new(&rows, &Holding::nothing(&rows)).bytes();
    let wrong = Agreed::new(&rows, &[nothing.clone(), nothing]).unwrap_err();
    assert_eq!(wrong.to_string(), "no party has a table; give one at least");
}

/// A value that has its place among those of its own table, and not among those that the parties agree on.
#[test]
fn values_are_in_range_in_the_places_of_all() {
    let question = mean(Held::Rows);
    let texts = ["pay,ward\n1,A\n1099511627775,B\n", "pay,ward\n0.25,A\n"];
    let agreed = agree(&question, texts).unwrap();
    assert_eq!(agreed.columns[0].places, 2);
    let held = texts.map(|text| read(&question, text).unwrap());
    let wrong = inputs(&question, &agreed, 0, &held[0]).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "line 3, column pay: the value is out of the range of the column, -10995116277.75 to 10995116277.75; correct one of them"
    );
    assert!(inputs(&question, &agreed, 1, &held[1]).is_ok());
}

#[test]
fn wrong_questions_are_refused() {
    let check = |change: &dyn Fn(&mut Question)| {
        let mut question = mean(Held::Rows);
        change(&mut question);
        question.check().map_err(|error| error.to_string())
    };
    let value = |text: &str| Value::read(text).unwrap();
    assert_eq!(check(&|_| {}), Ok(()));
    for (change, expected) in [
        (
            &(|one: &mut Question| one.asks.clear()) as &dyn Fn(&mut Question),
            "no statistic is asked for",
        ),
        (
            &|one| one.asks.push(Ask::Mean(0)),
            "mean pay is asked for twice",
        ),
        (
            &|one| one.asks = vec![Ask::Correlation(0, 0)],
            "the correlation of pay with itself is 1",
        ),
        (
            &|one| one.least = 0,
            "the fewest members of a group are 1 at least",
        ),
        (
            &|one| one.columns[0].name = "ward".into(),
            "column ward has the groups, and can have no other statistic",
        ),
        (
            &|one| one.by.as_mut().unwrap().names[1] = "A".into(),
            "the groups of ward are to be named, each once",
        ),
        (
            &|one| one.asks = vec![Ask::Histogram(0, vec![value("1"), value("0.5")])],
            "the edges of the histogram of pay are to rise, and to be numbers or dates alike",
        ),
        (
            &|one| one.asks = vec![Ask::Histogram(0, vec![value("1"), value("2024-02-29")])],
            "the edges of the histogram of pay are to rise, and to be numbers or dates alike",
        ),
        (
            &|one| one.columns[0].range = Some((value("1"), value("1"))),
            "the range of pay is to go from its least to its greatest value, both numbers or dates",
        ),
        (
            &|one| one.pad = Some(10),
            "rows are filled up to 4194304 at most, and only where each party has rows of its own and quantiles are asked for: nothing else tells how many rows a party has",
        ),
    ] {
        assert_eq!(check(change).unwrap_err(), expected);
    }
    let mut sum = mean(Held::Rows);
    sum.asks = vec![Ask::Sum(0)];
    let wrong = read(&sum, "pay,ward\n2024-02-29,A\n").unwrap_err();
    assert_eq!(
        wrong,
        "the sum of column pay, which has dates, is not to be had: days do not add up; ask for the mean"
    );
}

#[test]
fn values_are_read_exactly() {
    for (text, units) in [
        ("0", 0),
        ("-0.05", -5),
        ("+12.50", 1250),
        (".5", 50),
        ("7.", 700),
        ("10995116277.75", (1 << 40) - 1),
    ] {
        assert_eq!(Value::read(text).unwrap().units(2), Some(units), "{text}");
    }
    assert_eq!(Value::read("0.125").unwrap().units(2), None);
    for (text, days) in [
        ("1970-01-01", 0),
        ("2000-02-29", 11_016),
        ("0001-01-01", -719_162),
        ("9999-12-31", 2_932_896),
    ] {
        assert_eq!(Value::read(text).unwrap(), Value::Date(days));
        assert_eq!(madrigal_stats::Day(days).to_string(), text);
    }
    for text in [
        "1900-02-29",
        "2024-13-01",
        "2024-00-10",
        "2024-04-31",
        "0000-01-01",
    ] {
        assert!(Value::read(text).is_err(), "{text}");
    }
    assert_eq!(names("pay, \"a, b\"\n").unwrap(), ["pay", "a, b"]);
}

#[test]
fn what_is_learned_is_told() {
    let told = learned(&oracle::question(Held::Rows, true, 5, Some(9)), 3);
    for line in [
        "Each of the 3 parties will learn, and nothing else of the tables:\n",
        "- of each of the 3 groups by ward: the sum of pay and the number of its values, and so the mean\n",
        "- that no party has more rows than all are filled up to; ",
        "Withheld is what rests on fewer than 5 values, all parties' together or all but one party's",
        "A quantile is the value of one member.\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let told = learned(&oracle::question(Held::Columns, false, 1, None), 2);
    assert!(told.contains("Nothing is withheld, however few"), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A file that was changed is refused, or read; whatever a peer tells is refused, or agreed on within bounds.
    #[test]
    fn changed_files_and_cards_never_panic(
        rows in rows(8),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(b'"'), Just(b','), Just(b'\n'), Just(b'-')]), 1..4),
        by in any::<bool>(),
    ) {
        let question = oracle::question(Held::Rows, by, 5, None);
        let changed = |text: &[u8]| {
            let mut bytes = text.to_vec();
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            bytes
        };
        let text = by_rows(std::slice::from_ref(&rows)).remove(0);
        let whole = Holding::read(&question, 2, text.as_bytes(), ',').unwrap();
        let card = Card::new(&question, &whole).bytes();
        if let Ok(held) = Holding::read(&question, 2, &changed(text.as_bytes()), ',') {
            prop_assert!(held.rows <= 4 * rows.len() + 4);
            let cards = [Card::new(&question, &held).bytes(), card.clone()];
            if let Ok(agreed) = Agreed::new(&question, &cards) {
                let _ = inputs(&question, &agreed, 0, &held);
            }
        }
        if let Ok(agreed) = Agreed::new(&question, &[card.clone(), changed(&card)]) {
            prop_assert!(agreed.columns.iter().all(|one| one.places <= 9));
            prop_assert!(agreed.rows.iter().all(|&rows| rows <= madrigal_stats::MOST_ROWS));
        }
    }

    /// Cells that are written with quotes are read as they were.
    #[test]
    fn quoted_cells_are_read_as_written(
        table in (1_usize..4).prop_flat_map(|columns| proptest::collection::vec(proptest::collection::vec("[a-c\" ,;\n]{0,5}", columns), 1..5)),
    ) {
        let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let lines = table.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(";"));
        let text = lines.collect::<Vec<_>>().join("\r\n");
        let mut records = Records::new(text.as_bytes(), ';').unwrap();
        for row in &table {
            let record = records.read().unwrap().unwrap();
            prop_assert_eq!(record.cells().collect::<Vec<_>>(), row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        prop_assert!(records.read().unwrap().is_none());
    }
}
