//! The tables of TPC-H: what everybody is told of them is true of all rows.

use madrigal_core::Party;
use madrigal_program::Everyone;
use madrigal_sql::files::{Schema, read};
use madrigal_sql::plan;
use madrigal_sql::tpch::{
    COUNT, TABLES, columns, data, query, read_by, row_count, table, write_csv,
};
use madrigal_tables::{Frame, Query};

/// A scale of few rows.
const SCALE: f64 = 0.002;

#[test]
fn all_rows_are_within_the_kinds_of_the_specification() {
    // At the smaller one some parts have a supplier twice.
    for scale in [SCALE, 0.01] {
        for name in TABLES {
            let all = columns(name, scale).into_iter().map(|column| column.name);
            // The text that comments are cut out of takes a second: those that are changed afterwards are enough.
            let has_texts = name == "supplier" && scale == SCALE;
            let is_read = |column: &String| has_texts || !column.ends_with("_comment");
            let all: Vec<String> = all.filter(is_read).collect();
            let table = table(name, scale, &all, row_count(name, scale), 3);
            // Values, their number and the unique key are checked there.
            data(&table, scale).unwrap();
        }
    }
    assert_eq!(row_count("orders", 1.0), 1_500_000);
    assert_eq!(row_count("partsupp", SCALE), 1600);
}

#[test]
fn files_have_the_rows_that_are_made() {
    let folder = tempfile::TempDir::new().unwrap();
    write_csv(SCALE, folder.path()).unwrap();
    let path = folder.path().join("nation.csv");
    let rows = row_count("nation", SCALE);
    let names: Vec<String> = ["n_name", "n_nationkey"].map(String::from).into();
    let made = table("nation", SCALE, &names, rows, 3);
    let schema = Schema {
        name: "nation".into(),
        rows: madrigal_sql::files::RowCount::Exactly(rows),
        unique: Vec::new(),
        least_group: 1,
        columns: made.columns().to_vec(),
    };
    let opened = |table, data| {
        let query = Query::new(&Frame::table(table).unwrap(), 3, Everyone).unwrap();
        let outputs = query
            .computation()
            .simulate(&query.inputs([("nation", &data)]))
            .unwrap();
        let text = query.result(&outputs).unwrap().to_string();
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    let (read_table, read_data) = read(&path, &schema, Party::new(1)).unwrap();
    let made_data = data(&made, SCALE).unwrap();
    let lines = opened(made, made_data);
    assert_eq!(opened(read_table, read_data), lines);
    assert_eq!(lines.len(), 26);
    assert!(
        lines.contains(&"23,UNITED KINGDOM".into()) && lines.contains(&"n_nationkey,n_name".into()),
        "{lines:?}"
    );
}

#[test]
fn queries_name_the_columns_that_they_read() {
    assert_eq!(query(0, 1.0), None);
    assert_eq!(query(COUNT + 1, 1.0), None);
    for number in 1..=COUNT {
        let read = read_by(&query(number, 1.0).unwrap());
        assert!(!read.is_empty(), "{number}");
    }
    let six: Vec<_> = read_by(&query(6, 1.0).unwrap());
    let names = ["l_quantity", "l_extendedprice", "l_discount", "l_shipdate"];
    assert_eq!(six, [("lineitem", names.map(String::from).into())]);
    assert!(query(11, 0.01).unwrap().contains("* 0.01\n"));
    assert!(query(11, 30.0).unwrap().contains("* 0.000003333333\n"));
}

#[test]
fn all_queries_are_steps_on_tables() {
    let scale = 0.01;
    let lines = row_count("lineitem", scale);
    for number in 1..=COUNT {
        let text = query(number, scale).unwrap();
        let frame = |(name, columns): (&str, Vec<String>)| {
            let rows = match name {
                "lineitem" => lines,
                _ => row_count(name, scale),
            };
            let table = table(name, scale, &columns, rows, 3);
            (name.to_owned(), Frame::table(table).unwrap())
        };
        let frames: Vec<(String, Frame)> = read_by(&text).into_iter().map(frame).collect();
        if let Err(error) = plan(&text, &frames) {
            panic!("q{number}: {error}");
        }
    }
}
