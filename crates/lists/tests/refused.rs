//! Files and calls that are refused, and what is said of them.

use madrigal_lists::{Empty, Key, ListError, Normal, Payload, Source};

use crate::Folder;

fn said(bytes: &[u8]) -> String {
    let error = Folder::new()
        .keys(bytes)
        .map(drop)
        .expect_err("wrong")
        .to_string();
    assert!(error.contains("keys.csv"), "{error}");
    error
}

#[test]
fn files_that_are_no_tables() {
    let known: [(&[u8], &str); 8] = [
        (
            b"a,b\n1,2\n",
            "there is no column \"k\"; it has \"a\", \"b\"",
        ),
        (
            b"k,b,k\n1,2,3\n",
            "2 columns are named \"k\": rename all but one; it has",
        ),
        (
            b"k,b\n1,2\n\n3\n",
            "line 4: 1 fields, and the first line has 2",
        ),
        (
            b"k,b\r\n1,2\r\n\"3\r\n\",4,5\r\n",
            "line 3: 3 fields, and the first line has 2",
        ),
        (
            b"k,b\r1,2\r\"3,4\r",
            "line 3: a quote begins a field and none ends it",
        ),
        (
            b"k,\xff\n1,2\n",
            "line 1: the name of column 2 is not in UTF-8",
        ),
        (b"\xff\xfek\0\n\0", "line 1: a text in UTF-16"),
        (b"\"k\n1\n", "line 1: a quote begins a field"),
    ];
    for (bytes, problem) in known {
        let error = said(bytes);
        assert!(error.contains(problem), "{error}");
    }
    // A quote that is not closed does not fill the memory with the rest of the file.
    let mut long = b"k\n1\n\"".to_vec();
    long.resize(40 << 20, b'x');
    let error = said(&long);
    assert!(
        error.contains("line 3: a record of more than 16 MiB"),
        "{error}"
    );
    // Nor do fields without end, with quotes or without.
    let mut many = b"k\n\"\"".to_vec();
    many.resize(15 << 20, b',');
    let error = said(&many);
    assert!(
        error.contains("line 2: 15728637 fields, and the first line has 1"),
        "{error}"
    );
    for begin in [2, 4] {
        let error = said(&many[begin..]);
        assert!(error.contains("columns, and the most are 65536"), "{error}");
    }
    // Names are shown as far as there is room.
    let names: Vec<String> = (0..1000)
        .map(|place| format!("{place}{}", "n".repeat(500)))
        .collect();
    let error = said(names.join(",").as_bytes());
    assert!(
        error.contains("and 980 more") && error.len() < 3000,
        "{error}"
    );
}

#[test]
fn rows_without_keys_are_skipped_refused_or_taken() {
    let folder = Folder::new();
    let path = folder.file("list.csv", "k,x\na,1\n,2\n\"\",3\n");
    let source = Source::new(path, ["x", "k"]).expect("a list");
    let listed = folder.read(&source, 1).expect("a list");
    assert_eq!((listed.rows(), listed.skipped(), listed.keys()), (3, 2, 1));
    let error = folder
        .read(&source.clone().empty(Empty::Refuse), 1)
        .expect_err("empty")
        .to_string();
    assert!(error.contains("line 3, column \"k\": no key"), "{error}");
    let listed = folder.read(&source.empty(Empty::Match), 1).expect("a list");
    assert_eq!((listed.rows(), listed.skipped(), listed.keys()), (3, 0, 3));
}

#[test]
fn files_that_are_no_files() {
    let folder = Folder::new();
    let list = |name: &str| Source::new(folder.0.path().join(name), ["k"]).expect("a list");
    let error = folder
        .read(&list("none.csv"), 1)
        .expect_err("none")
        .to_string();
    assert!(
        error.contains("cannot open") && error.contains("none.csv"),
        "{error}"
    );
    std::fs::create_dir(folder.0.path().join("folder.csv")).expect("a folder");
    let error = folder
        .read(&list("folder.csv"), 1)
        .expect_err("a folder")
        .to_string();
    assert!(error.contains("it is a folder"), "{error}");
}

#[test]
fn calls_that_make_no_sense() {
    let folder = Folder::new();
    let none = Vec::<String>::new();
    assert!(matches!(
        Source::new("list.csv", none),
        Err(ListError::NoColumn)
    ));
    let many = vec!["k"; 65];
    assert!(matches!(
        Source::new("list.csv", many),
        Err(ListError::TooManyColumns { columns: 65 })
    ));
    for name in ["list", "list.txt", ".csv", "list.csv.gz"] {
        assert!(
            matches!(Source::new(name, ["k"]), Err(ListError::Format { .. })),
            "{name}"
        );
    }
    assert!(Source::new("LIST.CSV", ["k"]).is_ok());
    let source = Source::new(folder.file("list.csv", "k\n1\n"), ["k"]).expect("a list");
    for separator in [b'"', b'\n', b'\r', 0, 0x80] {
        let done = source.clone().separator(separator);
        assert!(matches!(done, Err(ListError::Separator { .. })));
    }
    let payload = Payload {
        places: 19,
        ..Payload::integers("n")
    };
    assert!(matches!(
        source.clone().payload(payload),
        Err(ListError::Places { places: 19 })
    ));
    for partitions in [0, 65_537] {
        let done = folder.read(&source, partitions);
        assert!(matches!(done, Err(ListError::Partitions { .. })));
    }
    let listed = folder.read(&source, 65_536).expect("the most");
    let done = listed.partition(65_536);
    assert!(matches!(
        done,
        Err(ListError::Partition {
            partition: 65_536,
            ..
        })
    ));
}

#[test]
fn keys_and_numbers_are_not_shown() {
    let folder = Folder::new();
    let path = folder.file("list.csv", "k,n\nsecret,secret\n");
    let key = Key {
        column: "k".into(),
        normal: Normal::default(),
    };
    let source = Source::with_keys(path, vec![key]).expect("a list");
    let listed = folder.read(&source, 1).expect("a list");
    assert_eq!(
        format!("{listed:?} {:?}", listed.partition(0).expect("one")),
        "Listed(..) Part(..)"
    );
    let source = source.payload(Payload::integers("n")).expect("places");
    let error = folder.read(&source, 1).expect_err("no number");
    assert!(
        !format!("{error} {error:?}").contains("secret"),
        "{error:?}"
    );
}
