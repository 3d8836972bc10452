//! Parquet files: lists of them are those of CSV files with the same values.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use madrigal_lists::{
    Duplicates, Extra, Keep, Key, ListError, Listed, Matches, Normal, Payload, Source,
};
use madrigal_testkit::seed;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::{Folder, Random, go};

const SCHEMA: &str = "message list {
    optional binary name (UTF8);
    required int64 id;
    optional int32 born (DATE);
    required fixed_len_byte_array(5) amount (DECIMAL(10, 2));
    optional int32 small (INTEGER(32, false));
    required double ratio;
    optional boolean told;
    optional int64 seen (TIMESTAMP(MILLIS, true));
    optional group deep { optional int32 leaf; optional int32 other; }
}";

/// Columns as CSV has them; `deep` is left out.
const HEADER: &str = "name,id,born,amount,small,ratio,told,seen";

/// Rows of a test's file.
struct Row {
    name: Option<String>,
    id: i64,
    born: Option<i32>,
    amount: i64,
    small: Option<u32>,
}

/// Writes rows in groups of some.
fn write(path: &Path, rows: &[Row], group: usize, second: bool) {
    let schema = Arc::new(parse_message_type(SCHEMA).expect("a schema"));
    let version = match second {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    };
    let compression = match second {
        true => Compression::ZSTD(ZstdLevel::default()),
        false => Compression::SNAPPY,
    };
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(compression)
        .set_data_page_row_count_limit(50)
        .set_write_batch_size(50)
        .build();
    let file = File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("it");
    for rows in rows.chunks(group) {
        let mut group = writer.next_row_group().expect("a group");
        let mut column = 0;
        macro_rules! column {
            ($type:ty, $value:expr) => {{
                let value: fn(&Row) -> Option<_> = $value;
                let levels: Vec<i16> = rows.iter().map(|row| value(row).is_some().into()).collect();
                let values: Vec<_> = rows.iter().filter_map(value).collect();
                let mut writer = group.next_column().expect("no fault").expect("a column");
                let typed = writer.typed::<$type>();
                typed
                    .write_batch(&values, Some(&levels), None)
                    .expect("values");
                writer.close().expect("a column");
                column += 1;
            }};
        }
        column!(ByteArrayType, |row| row
            .name
            .as_deref()
            .map(ByteArray::from));
        column!(Int64Type, |row| Some(row.id));
        column!(Int32Type, |row| row.born);
        column!(FixedLenByteArrayType, |row| {
            let bytes = row.amount.to_be_bytes()[3..].to_vec();
            Some(FixedLenByteArray::from(bytes))
        });
        column!(Int32Type, |row| row.small.map(|small| small as i32));
        column!(DoubleType, |row| Some(row.id as f64 / 8.0));
        column!(BoolType, |row| row.born.map(|born| born > 0));
        column!(Int64Type, |row| row
            .born
            .map(|born| i64::from(born) * 86_400_000 + 1));
        column!(Int32Type, |_| None);
        column!(Int32Type, |_| None);
        assert_eq!(column, 10);
        group.close().expect("a group");
    }
    writer.close().expect("a file");
}

/// Days as text, one after the other from 1970-01-01.
fn day(number: i32) -> String {
    let (mut year, mut left) = (1970, number);
    let leap = |year: i32| year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    let length = |year| if leap(year) { 366 } else { 365 };
    while left < 0 {
        year -= 1;
        left += length(year);
    }
    while left >= length(year) {
        left -= length(year);
        year += 1;
    }
    let mut month = 0;
    let months = [
        31,
        28 + i32::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    while left >= months[month] {
        left -= months[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, left + 1)
}

fn cents(amount: i64) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    let size = amount.unsigned_abs();
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

/// A row as CSV.
fn line(row: &Row) -> String {
    let name = match row.name.as_deref() {
        None => String::new(),
        Some(name) if name.is_empty() || name.contains(['"', ',', '\n']) => {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
        Some(name) => name.to_owned(),
    };
    let born = row.born.map(day).unwrap_or_default();
    let small = row.small.map(|small| small.to_string()).unwrap_or_default();
    let told = row
        .born
        .map_or(String::new(), |born| (born > 0).to_string());
    let seen = row
        .born
        .map_or(String::new(), |born| format!("{} 00:00:00.001", day(born)));
    let ratio = row.id as f64 / 8.0;
    format!(
        "{name},{},{born},{},{small},{ratio},{told},{seen}\n",
        row.id,
        cents(row.amount)
    )
}

fn rows(random: &mut Random, count: usize) -> Vec<Row> {
    let row = |_| Row {
        name: (random.below(5) > 0).then(|| {
            let name = random.of(&["", "a", "b,c", "d \"e\"\nf", "g", "käse"]);
            format!("{name}{}", ["", "1", "2"][random.below(3)])
        }),
        id: random
            .of(&[&0, &-1, &i64::MIN, &i64::MAX, &7])
            .wrapping_add(random.below(3) as i64),
        born: (random.below(4) > 0).then(|| random.below(80_000) as i32 - 30_000),
        amount: random.below(1 << 39) as i64 - (1 << 38),
        small: (random.below(3) > 0).then(|| random.word() as u32),
    };
    (0..count).map(row).collect()
}

/// All that a list has.
fn all(listed: &Listed) -> Vec<(u128, Vec<u32>, Option<i64>)> {
    let mut all = Vec::new();
    for partition in 0..listed.partitions() {
        let part = listed.partition(partition).expect("a partition");
        for (place, &digest) in part.digests().iter().enumerate() {
            let value = part.values().map(|values| values[place]);
            all.push((digest.into(), part.rows(place).to_vec(), value));
        }
    }
    all
}

#[test]
fn lists_are_those_of_csv_and_rows_become_csv() {
    let mut random = Random::new(seed());
    let folder = Folder::new();
    for round in 0..12 {
        let count = [0, 1, 5000][round.min(2)].min(1 + random.below(5000) * round);
        let rows = rows(&mut random, count);
        let path = folder.0.path().join("list.parquet");
        write(&path, &rows, 1 + random.below(3000), round % 2 == 0);
        let lines: Vec<String> = rows.iter().map(line).collect();
        let csv = folder.file("list.csv", format!("{HEADER}\n{}", lines.concat()));
        let keys: &[&str] = [
            &["name"][..],
            &["id", "born"],
            &["amount"],
            &["small", "told"],
        ][round % 4];
        let payload = || Payload {
            places: 3,
            duplicates: Duplicates::First,
            ..Payload::integers("amount")
        };
        let list = |path: &Path| {
            let source = Source::new(path, keys.iter().copied()).expect("a list");
            let mut source = source.payload(payload()).expect("places");
            if round % 3 == 1 {
                // Rows with another key besides.
                let key = |column: &str| Key {
                    column: column.to_owned(),
                    normal: Normal::default(),
                };
                source = source.or(vec![key("name"), key("id")]).expect("a key");
            }
            folder.read(&source, 3).expect("a list")
        };
        let (ours, theirs) = (list(&path), list(&csv));
        assert_eq!(ours.rows() as usize, rows.len());
        assert_eq!(ours.skipped(), theirs.skipped());
        assert!(all(&ours) == all(&theirs), "columns {keys:?}");
        assert_eq!(ours.left_out(), ["deep"]);
        let mut matches = Matches::with_values(&ours, &folder.room(1 << 20));
        let mut expected = format!("{HEADER},n\n");
        for (row, line) in lines.iter().enumerate() {
            if random.below(2) == 0 {
                matches.set(row as u32, row as i64).expect("a row");
                expected += &format!("{},{row}\n", line.trim_end_matches('\n'));
            }
        }
        let extra = Extra {
            name: "n".into(),
            places: 0,
        };
        let mut out = Vec::new();
        let done = ours.write_rows(&matches, Keep::Matched, Some(&extra), &mut out, &mut go);
        assert_eq!(done.expect("rows"), matches.marked());
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}

#[test]
fn columns_that_have_no_text_are_refused_with_their_type() {
    let folder = Folder::new();
    let path = folder.0.path().join("list.parquet");
    let mut random = Random::new(seed());
    write(&path, &rows(&mut random, 40), 40, false);
    for (column, told) in [
        ("ratio", "values of type DOUBLE"),
        ("seen", "Timestamp"),
        ("deep", "values of type nested"),
        (
            "leaf",
            "there is no column \"leaf\"; it has \"name\", \"id\", \"born\"",
        ),
    ] {
        let source = Source::new(&path, [column]).expect("a list");
        let error = folder.read(&source, 1).expect_err(column).to_string();
        assert!(error.contains(told), "{error}");
    }
    let source = Source::new(&path, ["id"]).expect("a list");
    let source = source.payload(Payload::integers("born")).expect("places");
    let error = folder.read(&source, 1).expect_err("a date").to_string();
    assert!(
        error.contains("column \"born\": values of type Date"),
        "{error}"
    );
    let source = Source::new(&path, ["id"]).expect("a list");
    let few = Payload {
        range: 0..=1,
        places: 2,
        ..Payload::integers("amount")
    };
    let error = folder
        .read(&source.payload(few).expect("places"), 1)
        .expect_err("much")
        .to_string();
    assert!(
        error.contains("row ")
            && error.contains(", column \"amount\": a number that is not from 0.00 to 0.01"),
        "{error}"
    );
}

/// Files that were changed at random give an error, or a list: no panic, and no memory without end.
#[test]
fn damaged_files_are_errors() {
    let mut random = Random::new(seed());
    let folder = Folder::new();
    let path = folder.0.path().join("list.parquet");
    let mut refused = 0;
    for second in [false, true] {
        write(&path, &rows(&mut random, 300), 200, second);
        let whole = std::fs::read(&path).expect("a file");
        for _ in 0..300 {
            let mut bytes = whole.clone();
            for _ in 0..1 + random.below(3) {
                let place = random.below(bytes.len());
                bytes[place] = random.word() as u8;
            }
            if random.below(10) == 0 {
                bytes.truncate(random.below(bytes.len()));
            }
            let path = folder.file("damaged.parquet", bytes);
            let source = Source::new(path, ["name", "small"]).expect("a list");
            match folder.read(&source, 2) {
                Ok(listed) => drop(listed),
                Err(ListError::Content { .. } | ListError::Column { .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(refused > 50, "{refused}");
    let path = folder.file("none.parquet", "");
    let error = folder
        .read(&Source::new(path, ["k"]).expect("a list"), 1)
        .expect_err("empty");
    assert!(
        error.to_string().contains("no whole Parquet file"),
        "{error}"
    );
}
