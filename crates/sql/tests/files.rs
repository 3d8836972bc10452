//! Files to tables and back.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int8Array,
    ListArray, RecordBatch, StringArray, TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::Int32Type;
use madrigal_program::{Everyone, Party};
use madrigal_sql::files::{Format, RowCount, Schema, bytes, infer, read};
use madrigal_tables::{Answer, Frame, Query};
use parquet::arrow::ArrowWriter;
use tempfile::TempDir;

/// The values of a file as a query opens them, with a schema.
fn through(path: &Path, schema: &Schema) -> Result<Answer, String> {
    let (table, data) = read(path, schema, Party::new(0)).map_err(|error| error.to_string())?;
    let frame = Frame::table(table).unwrap();
    let query = Query::new(&frame, 2, Everyone).unwrap();
    let inputs = query.inputs([(&*schema.name, &data)]);
    let outputs = query.computation().simulate(&inputs).unwrap();
    let mut answer = query.result(&outputs).unwrap();
    // Rows come in an order that nobody knows.
    answer.rows.sort_by_key(|row| format!("{row:?}"));
    Ok(answer)
}

fn sorted(answer: &Answer) -> Vec<String> {
    let mut lines: Vec<String> = answer.to_string().lines().skip(1).map(Into::into).collect();
    lines.sort();
    lines
}

fn file(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

fn schema(rows: &str, columns: &str) -> Schema {
    Schema::parse(&format!("name = \"t\"\n{rows}\n[columns]\n{columns}\n")).unwrap()
}

const CLAIMS: &str = "\u{feff}id,ward,amount,born,at,paid,note\n\
    1,surgery,12.5,2024-02-29,2024-02-29 12:30:00,true,\"a, \"\"b\"\"\"\n\
    -2,ear,-0.75,1970-01-01,1970-01-01T00:00:00.000001Z,false,Zoë\n\
    300,ear,100,0001-01-01,9999-12-31 23:59,TRUE,\n";

#[test]
fn a_csv_file_goes_with_the_schema_that_it_gives() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "claims of 2024.csv", CLAIMS);
    let inferred = infer(&path, &["ward".into()]).unwrap();
    let text = inferred.to_toml();
    let schema = Schema::parse(&text).unwrap();
    assert_eq!(schema, inferred.schema);
    assert_eq!(
        (&*schema.name, schema.rows),
        ("claims_of_2024", RowCount::Exactly(3))
    );
    for line in [
        "id = \"i16\"",
        "# All of these texts become known to everybody.\nward = [\"ear\", \"surgery\"]",
        "amount = \"decimal(9, 2)\"",
        "born = \"date\"",
        "at = \"time\"",
        "paid = \"bool\"",
        "note = { kind = \"text(8)\", nullable = true }",
    ] {
        assert!(text.contains(line), "{text} lacks {line}");
    }
    let answer = through(&path, &schema).unwrap();
    assert_eq!(
        sorted(&answer),
        [
            "-2,ear,-0.75,1970-01-01,1970-01-01 00:00:00.000001,false,Zoë",
            "1,surgery,12.50,2024-02-29,2024-02-29 12:30:00.000000,true,\"a, \"\"b\"\"\"",
            "300,ear,100.00,0001-01-01,9999-12-31 23:59:00.000000,true,",
        ]
    );
    // The result is a file of the same schema, in both formats.
    for format in [Format::Csv, Format::Parquet] {
        let name = if format == Format::Csv {
            "again.csv"
        } else {
            "again.PARQUET"
        };
        let again = file(&folder, name, bytes(&answer, format).unwrap());
        assert_eq!(
            sorted(&through(&again, &schema).unwrap()),
            sorted(&answer),
            "{format:?}"
        );
    }
    let again = infer(&folder.path().join("again.PARQUET"), &[])
        .unwrap()
        .schema;
    let kinds: Vec<_> = again
        .columns
        .iter()
        .map(|one| one.kind.to_string())
        .collect();
    assert_eq!(kinds[1], "text(8, ascii)");
    assert_eq!(kinds[3..6], ["date", "time", "bool"]);
}

#[test]
fn rows_beyond_the_known_ones_stay_secret() {
    let folder = TempDir::new().unwrap();
    let path = file(&folder, "t.csv", "a,b\n1,x\n2,y\n");
    let bound = schema("at_most = 5", "b = \"text(1)\"\na = \"u8\"");
    assert_eq!(sorted(&through(&path, &bound).unwrap()), ["x,1", "y,2"]);
    let one = schema("at_most = 1", "a = \"u8\"");
    let problem = through(&path, &one).unwrap_err();
    assert!(
        problem.contains("at most 1 rows") && problem.contains("t.csv, line 3"),
        "{problem}"
    );
    let three = schema("rows = 3", "a = \"u8\"");
    let problem = through(&path, &three).unwrap_err();
    assert!(problem.contains("3 rows, and 2 are given"), "{problem}");
    let empty = file(&folder, "e.csv", "a,b\n");
    let none = schema("at_most = 2", "a = \"u8\"");
    assert_eq!(sorted(&through(&empty, &none).unwrap()), [""; 0]);
    assert_eq!(
        infer(&empty, &[]).unwrap().schema.rows,
        RowCount::Exactly(0)
    );
}

#[test]
fn wrong_csv_files_name_line_and_column() {
    let folder = TempDir::new().unwrap();
    let of = |kind: &str| schema("rows = 2", &format!("a = {kind}"));
    let cases: &[(&[u8], &str, &[&str])] = &[
        (
            b"a\n1\n300\n",
            "\"u8\"",
            &["line 3", "row 2", "\"a\"", "beyond"],
        ),
        (b"a\n1\nx\n", "\"u8\"", &["line 3", "row 2", "no number"]),
        (b"a\n1\n1.5\n", "\"u8\"", &["no integer"]),
        (b"a\n1\n1e3\n", "\"u8\"", &["no number"]),
        (
            b"a\n1\n170141183460469231731687303715884105728\n",
            "\"i64\"",
            &["no number"],
        ),
        (b"a\n1\n0.125\n", "\"decimal(9, 2)\"", &["2 digits"]),
        (b"a\n1\n99.96\n", "\"decimal(0.00..=99.95)\"", &["beyond"]),
        (
            b"a\n2024-02-29\n2023-02-29\n",
            "\"date\"",
            &["row 2", "no date"],
        ),
        (
            b"a\n2024-02-29\n2024-02-29 24:00:00\n",
            "\"time\"",
            &["no time"],
        ),
        (
            b"a\n2024-02-29\n2024-02-29 12:00.5\n",
            "\"time\"",
            &["no time"],
        ),
        (b"a\nt\nyes\n", "\"bool\"", &["neither true nor false"]),
        (b"a,b\n1,2\n,3\n", "\"u8\"", &["row 2", "nullable"]),
        (b"a\nabc\nabcd\n", "\"text(3)\"", &["longer"]),
        (
            b"a\nabc\n\xc3\xab\n",
            "\"text(3, ascii)\"",
            &["several bytes"],
        ),
        (b"a\nabc\n\xff\n", "\"text(3)\"", &["line 3", "UTF-8"]),
        (b"a\nabc\na\0\n", "\"text(3)\"", &["zero byte"]),
        (b"a\nx\nz\n", "[\"x\", \"y\"]", &["not one of them"]),
        (b"b\nx\nz\n", "\"bool\"", &["no column \"a\"", "\"b\""]),
        (b"a,a\n1,2\n1,2\n", "\"u8\"", &["two columns"]),
        (b"a,b\n1,2\n1\n", "\"u8\"", &["line 3", "1 fields"]),
        (b"", "\"u8\"", &["no names"]),
        (b"\xff\n1\n", "\"u8\"", &["UTF-8"]),
    ];
    for (content, kind, parts) in cases {
        let path = file(&folder, "wrong.csv", content);
        let problem = through(&path, &of(kind)).expect_err(&String::from_utf8_lossy(content));
        for part in ["wrong.csv"].iter().chain(*parts) {
            assert!(problem.contains(part), "{problem} lacks {part}");
        }
    }
    let problem = through(&folder.path().join("none.csv"), &of("\"u8\"")).unwrap_err();
    assert!(problem.contains("none.csv"), "{problem}");
    let problem = through(&file(&folder, "t.txt", ""), &of("\"u8\"")).unwrap_err();
    assert!(problem.contains(".csv"), "{problem}");
    let problem = infer(&file(&folder, "t.csv", "a\n1\n"), &["b".into()]).unwrap_err();
    assert!(problem.to_string().contains("no column \"b\""), "{problem}");
    let twice =
        Schema::parse("name = \"t\"\nrows = 3\nunique = [[\"a\"]]\n[columns]\na = \"i8\"").unwrap();
    let path = file(&folder, "t.csv", "a\n7\n-1\n7\n");
    let problem = through(&path, &twice).unwrap_err();
    assert!(problem.contains("rows 1 and 3"), "{problem}");
}

#[test]
fn a_quote_that_is_not_closed_takes_no_memory_without_end() {
    let folder = TempDir::new().unwrap();
    let mut content = b"a\n1\n\"".to_vec();
    content.resize(40 << 20, b'\n');
    let path = file(&folder, "t.csv", content);
    let problem = through(&path, &schema("rows = 2", "a = \"text(3)\"")).unwrap_err();
    assert!(problem.contains("closing quote"), "{problem}");
}

#[test]
fn ends_of_ranges_and_codes_keep_what_they_are() {
    let folder = TempDir::new().unwrap();
    let path = file(
        &folder,
        "t.csv",
        "a,b,c,zip,d\n-128,0,-9999999.99,01234,0.5\n127,18446744073709551615,9999999.99,99999,1000\n",
    );
    let known = schema(
        "rows = 2",
        "a = \"i8\"\nb = \"u64\"\nc = \"decimal(9, 2)\"\nzip = \"text(5, ascii)\"",
    );
    assert_eq!(
        sorted(&through(&path, &known).unwrap()),
        [
            "-128,0,-9999999.99,01234",
            "127,18446744073709551615,9999999.99,99999",
        ]
    );
    let inferred = infer(&path, &[]).unwrap().schema;
    let kinds: Vec<_> = inferred
        .to_toml()
        .lines()
        .skip(4)
        .map(String::from)
        .collect();
    assert_eq!(
        kinds,
        [
            "a = \"i8\"",
            "b = \"integer(-9999999999999999999999999999..=9999999999999999999999999999)\"",
            "c = \"decimal(9, 2)\"",
            "zip = \"text(8, ascii)\"",
            "d = \"decimal(9, 1)\"",
        ]
    );
}

/// Columns as a Parquet file.
fn parquet(folder: &TempDir, name: &str, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    file(folder, name, writer.into_inner().unwrap())
}

#[test]
fn a_parquet_file_has_its_types() {
    let folder = TempDir::new().unwrap();
    let decimal = Decimal128Array::from(vec![Some(150), Some(-5), None]);
    let second = 1_000_000_000;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("tiny", Arc::new(Int8Array::from(vec![-128, 127, 0]))),
        ("large", Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1]))),
        (
            "money",
            Arc::new(decimal.with_precision_and_scale(10, 2).unwrap()),
        ),
        (
            "day",
            Arc::new(Date32Array::from(vec![Some(0), None, Some(19_782)])),
        ),
        (
            "at",
            Arc::new(TimestampNanosecondArray::from(vec![0, second, -second])),
        ),
        (
            "yes",
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
        ),
        (
            "word",
            Arc::new(
                ["b", "a", "b"]
                    .into_iter()
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
        ),
        (
            "text",
            Arc::new(StringArray::from(vec![Some("é, x"), None, Some("")])),
        ),
        ("part", Arc::new(Float64Array::from(vec![0.1, -2.5, 1e6]))),
    ];
    let path = parquet(&folder, "t.parquet", columns);
    let inferred = infer(&path, &["word".into()]).unwrap();
    let kinds: Vec<_> = inferred
        .schema
        .to_toml()
        .lines()
        .skip(4)
        .map(String::from)
        .collect();
    assert_eq!(
        kinds,
        [
            "tiny = \"i8\"",
            "large = \"u64\"",
            "money = { kind = \"decimal(10, 2)\", nullable = true }",
            "day = { kind = \"date\", nullable = true }",
            "at = \"time\"",
            "yes = { kind = \"bool\", nullable = true }",
            "word = [\"a\", \"b\"]",
            "text = { kind = \"text(8)\", nullable = true }",
            "part = \"decimal(18, 6)\"",
        ]
    );
    let answer = through(&path, &inferred.schema).unwrap();
    assert_eq!(
        sorted(&answer),
        [
            "-128,18446744073709551615,1.50,1970-01-01,1970-01-01 00:00:00.000000,true,b,\"é, x\",0.100000",
            "0,1,,2024-02-29,1969-12-31 23:59:59.000000,,b,,1000000.000000",
            "127,0,-0.05,,1970-01-01 00:00:01.000000,false,a,,-2.500000",
        ]
    );
    // Columns may be fewer and in another order.
    let some = schema("rows = 3", "word = \"text(2)\"\ntiny = \"decimal(9, 3)\"");
    assert_eq!(
        sorted(&through(&path, &some).unwrap()),
        ["a,127.000", "b,-128.000", "b,0.000"]
    );
}

#[test]
fn wrong_parquet_files_name_the_column() {
    let folder = TempDir::new().unwrap();
    let nan: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN]));
    let nanos: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![1]));
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let path = parquet(
        &folder,
        "t.parquet",
        vec![("a", nan), ("b", nanos), ("c", Arc::new(list))],
    );
    for (columns, part) in [
        ("a = \"decimal(9, 2)\"", "too large, or none"),
        ("a = \"bool\"", "another kind"),
        ("b = \"time\"", "finer"),
        ("b = \"date\"", "time of the day"),
        ("c = \"u8\"", "\"c\" has values of the type"),
        ("d = \"u8\"", "no column \"d\""),
    ] {
        let problem = through(&path, &schema("rows = 1", columns)).unwrap_err();
        assert!(
            problem.contains(part) && problem.contains("t.parquet"),
            "{problem} lacks {part}"
        );
    }
    assert!(infer(&path, &[]).is_err_and(|error| error.to_string().contains("\"c\"")));
    let whole = fs::read(&path).unwrap();
    let one = schema("rows = 1", "b = \"time\"");
    for end in [0, 3, 4, 100, whole.len() - 1] {
        let cut = file(&folder, "cut.parquet", &whole[..end]);
        let problem = through(&cut, &one).unwrap_err();
        assert!(problem.contains("cut.parquet"), "{problem}");
    }
    // A changed byte gives an error or other values, and no panic.
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        let changed = file(&folder, "changed.parquet", bytes);
        let _ = infer(&changed, &[]);
        let _ = read(&changed, &one, Party::new(0));
    }
}

/// A proposed kind of long decimals leaves room for their sum, so that a first query on them is not refused.
#[test]
fn sums_of_proposed_decimals_have_room() {
    let folder = TempDir::new().unwrap();
    for number in [
        "1.25",
        "99999999.99",
        "-9223372036854775808",
        "123456789012345678901234.5678",
    ] {
        let path = file(&folder, "t.csv", format!("pay,more\n{number},0.5\n"));
        let schema = infer(&path, &[]).unwrap().schema;
        let frame = Frame::table(schema.table(Party::new(0)).padded()).unwrap();
        let query = "select sum(pay) from t";
        assert!(
            madrigal_sql::plan(query, &[("t".into(), frame)]).is_ok(),
            "{number}"
        );
    }
}
