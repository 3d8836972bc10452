//! Files that are wrong: each is refused, none panics, hangs or takes more memory than its length allows.

use madrigal_program::{Computation, Everyone, Party, Program};
use madrigal_program_file::proto::{self, length::Sort};
use madrigal_program_file::{BindError, Limits, ProgramFile, ReadError, SaveProgram, fuzz_read};
use proptest::prelude::*;

/// A program with loops, branches, functions, constants and clients.
fn sample() -> Vec<u8> {
    let mut p = Program::new(2);
    let x = p.input_named::<u16>("x", Party::new(0), [4]);
    let table = p.input::<u16>(Party::new(1), [6]);
    let found = x.look_up(&table);
    let looped = p.repeat(3, found, |_, _, state| &state + 3u16);
    let mapped = p.map(looped.reshape([2, 2]), |_, row| row.greatest(0));
    let chosen = p.if_secret(mapped.gt(9u16), |_| &mapped * 2u16, |_| &mapped - 1u16);
    let sorted = chosen.sort();
    p.require_named("small", &x.within(..6));
    p.open_named("sorted", sorted, Everyone);
    p.finish().unwrap().to_bytes().unwrap()
}

#[test]
fn the_sample_is_read() {
    let program = Computation::from_bytes(&sample()).unwrap();
    assert_eq!(program.requirements().len(), 1);
}

#[test]
fn no_beginning_of_a_file_is_one() {
    let bytes = sample();
    for length in 0..bytes.len() {
        if let Ok(program) = Computation::from_bytes(&bytes[..length]) {
            // What is left out are outputs and requirements, with all that leads to them: never without notice.
            panic!(
                "{length} of {} bytes: {:?}",
                bytes.len(),
                program.describe()
            );
        }
    }
}

#[test]
fn what_is_no_program_is_told_as_such() {
    let error = ProgramFile::read(b"1 2 3", &Limits::default()).unwrap_err();
    assert!(matches!(error, ReadError::Other), "{error}");
    let mut bytes = sample();
    bytes[16] = 9;
    let error = ProgramFile::read(&bytes, &Limits::default()).unwrap_err();
    assert!(
        matches!(error, ReadError::Version { found: 9, known: 1 }),
        "{error}"
    );
    let error = ProgramFile::open("/", &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("a folder"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.mad");
    let error = ProgramFile::open(&path, &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("none.mad"), "{error}");
}

/// A program of one input of 4 numbers with these nodes behind it.
fn with(nodes: Vec<proto::Node>, operations: &[&str]) -> proto::Program {
    let input = proto::Node {
        lengths: vec![0],
        ..proto::Node::default()
    };
    let names = ["input"].iter().chain(operations);
    let last = nodes.len() as u32;
    let holder = proto::Holder {
        who: Some(proto::holder::Who::Party(0)),
    };
    proto::Program {
        parties: 2,
        mix: "A+B".into(),
        inputs: vec![proto::Input {
            owner: Some(holder.clone()),
            r#type: "u8".into(),
            axes: vec![8],
            ..proto::Input::default()
        }],
        operations: names.map(|name| (*name).to_owned()).collect(),
        graph: Some(proto::Graph {
            nodes: [vec![input], nodes].concat(),
            results: vec![last],
        }),
        outputs: vec![proto::Output {
            to: vec![holder],
            ..proto::Output::default()
        }],
        ..proto::Program::default()
    }
}

fn node(lengths: &[i64], texts: &[&str]) -> proto::Node {
    proto::Node {
        operation: 1,
        operands: vec![0],
        lengths: lengths.to_vec(),
        texts: texts.iter().map(|&text| text.to_owned()).collect(),
        ..proto::Node::default()
    }
}

#[track_caller]
fn refused(message: proto::Program) -> BindError {
    let bytes = ProgramFile::of_message(message).to_bytes();
    let file = ProgramFile::read(&bytes, &Limits::default()).unwrap();
    file.bind(&[]).unwrap_err()
}

#[test]
fn parts_that_do_not_fit_are_named() {
    let told = |name: &str, one: proto::Node, words: &str| {
        let error = refused(with(vec![one], &[name])).to_string();
        assert!(error.contains(words), "{name}: {error}");
    };
    told("fly", node(&[], &[]), "operation \"fly\"");
    told("sum", node(&[2], &[]), "along axis 1");
    told("sum", node(&[], &[]), "0 numbers, and it has 1");
    told("sum", node(&[0, 0], &[]), "2 numbers");
    told("square", node(&[0], &[]), "1 numbers, and it has 0");
    told("cast", node(&[], &["u9"]), "\"u9\" is no type");
    told("cast", node(&[], &[]), "0 texts");
    told("to", node(&[], &["Z"]), "no sharing \"Z\"");
    told(
        "function",
        node(&[], &["sine", "u8", "u8"]),
        "no function \"sine\"",
    );
    told(
        "function",
        node(&[], &["sigmoid", "u8", "u8"]),
        "no function",
    );
    told("circuit", node(&[], &["own", "u8"]), "circuit");
    told("random", node(&[], &["i8"]), "");
    told("random", node(&[-2], &["u8"]), "a length would be -1");
    let million = "1000000";
    told("noise", node(&[], &[million, "1.5"]), "no number");
    told(
        "noise",
        node(&[], &[million, million, "0", "i64"]),
        "each = 0",
    );
    told("noise", node(&[], &["0", million, "1", "i64"]), "epsilon");
    told("noise", node(&[], &[million, million]), "2 texts");
    told(
        "noise",
        node(&[], &[million, million, "1", "i8"]),
        "does not hold",
    );
    told(
        "noise",
        node(&[], &[million, million, "1", "i64"]),
        "random bits",
    );
    told(
        "constant",
        node(&[8], &["u8"]),
        "0 bytes of elements, and 4 of u8 have 4",
    );
    told("ratio", node(&[2, 0], &["u8"]), "1 / 0");
    told("sort_by", node(&[4], &[]), "the direction 2 of a key");
    told("sort_by", node(&[0, 0], &[]), "");
    told("sort_by", node(&[], &[]), "");
    told("shuffle", node(&[0], &[]), "1 numbers, and it has 0");
    told("move_rows", node(&[0], &[]), "1 numbers, and it has 0");
    told("move_rows", node(&[], &[]), "");
    told("numbers_of_rows", node(&[2], &[]), "");
    told("repeat", node(&[8, 2], &[]), "0 bodies");
    told("view", node(&[0, 2], &[]), "numbers");
    told("view", node(&[0, 16, 2], &[]), "reaches beyond");
    told("view", node(&[-2, 2, 2], &[]), "a length would be -1");
    told("reshape", node(&[-8], &[]), "a length would be -4");
    told("reshape", node(&[1], &[]), "length 0, and there are 0");
    told("convolve", node(&[0; 16], &[]), "");
    told("choose", node(&[], &[]), "");
    told("input", node(&[2], &[]), "1, and there are 1");
    told("argument", node(&[0], &[]), "0, and there are 0");
    let mut message = with(vec![node(&[0], &[])], &["sum"]);
    message.graph.as_mut().unwrap().results = vec![9];
    assert!(refused(message).to_string().contains("value 9"));
    let mut message = with(vec![node(&[0], &[])], &["sum"]);
    message.graph.as_mut().unwrap().nodes[1].operands = vec![1];
    assert!(refused(message).to_string().contains("value 1"));
    let mut message = with(vec![node(&[0], &[])], &["sum"]);
    message.inputs[0].owner = None;
    assert!(
        refused(message)
            .to_string()
            .contains("neither party nor client")
    );
    let mut message = with(vec![node(&[0], &[])], &["sum"]);
    message.outputs[0].to.clear();
    assert!(
        refused(message).to_string().contains("nobody"),
        "no receiver"
    );
    let mut message = with(vec![node(&[0], &[])], &["sum"]);
    message.mix = "Q".into();
    assert!(
        refused(message)
            .to_string()
            .contains("\"Q\" cannot be a mix")
    );
    let mut message = with(vec![node(&[0], &[])], &["sum"]);
    message.parties = u32::MAX;
    refused(message);
}

/// A file cannot have rows moved to places that somebody brings: repeated ones would be opened.
#[test]
fn rows_move_by_permutations_alone() {
    let with_operands =
        |operation, operands: &[u32], lengths: &[i64], texts: &[&str]| proto::Node {
            operation,
            operands: operands.to_vec(),
            ..node(lengths, texts)
        };
    let names = ["cast", "move_rows", "numbers_of_rows"];
    let brought = vec![
        with_operands(1, &[0], &[], &["u32"]),
        with_operands(2, &[1, 0], &[], &[]),
    ];
    let error = refused(with(brought, &names)).to_string();
    assert!(error.contains("no permutation"), "{error}");
    let numbered = vec![
        with_operands(3, &[], &[8], &[]),
        with_operands(2, &[1, 0], &[], &[]),
    ];
    let file = ProgramFile::of_message(with(numbered.clone(), &names));
    assert!(file.bind(&[]).is_ok());
    let mut long = numbered;
    long[0].lengths = vec![1 << 34];
    let error = refused(with(long, &names)).to_string();
    assert!(error.contains("less than 2^32 rows"), "{error}");
}

/// The table of schema/PROGRAM.md has the operations that are known, and no others.
#[test]
fn all_operations_are_documented() {
    let page = include_str!("../../../schema/PROGRAM.md");
    let (_, table) = page.split_once("| operation | operands |").unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut listed: Vec<&str> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .collect();
    let mut known = madrigal_program_file::operations();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
    for name in known {
        let unknown = |error: &BindError| matches!(error, BindError::Operation { .. });
        let file = ProgramFile::of_message(with(vec![node(&[], &[])], &[name]));
        assert!(
            !file.bind(&[]).is_err_and(|error| unknown(&error)),
            "{name}"
        );
    }
}

/// Few bytes that stand for very many elements are refused where they begin to.
#[test]
fn values_that_are_too_large_are_refused() {
    let most = 1_i64 << 40;
    let view = node(&[0, 2 * most, 0], &[]);
    let error = refused(with(vec![view], &["view"]));
    assert!(matches!(error, BindError::Elements { .. }), "{error}");
    let body = proto::Graph {
        nodes: vec![
            proto::Node {
                operation: 2,
                operands: vec![],
                lengths: vec![0],
                ..proto::Node::default()
            },
            node(&[], &[]),
        ],
        results: vec![1],
    };
    let mut body = body;
    body.nodes[1].operation = 3;
    let repeat = proto::Node {
        bodies: vec![body],
        ..node(&[2 * most, 2], &[])
    };
    let error = refused(with(vec![repeat], &["repeat", "argument", "negate"]));
    assert!(matches!(error, BindError::Elements { .. }), "{error}");
}

/// Bodies within bodies are not followed for ever, and empty messages do not become many.
#[test]
fn files_that_would_become_much_are_refused() {
    let mut graph = proto::Graph::default();
    for _ in 0..40 {
        let inner = proto::Node {
            bodies: vec![graph],
            ..proto::Node::default()
        };
        graph = proto::Graph {
            nodes: vec![inner],
            results: vec![],
        };
    }
    let mut message = with(vec![], &[]);
    message.graph = Some(graph);
    let bytes = ProgramFile::of_message(message).to_bytes();
    let error = ProgramFile::read(&bytes, &Limits::default()).unwrap_err();
    assert!(
        matches!(error, ReadError::TooMany { limit: 16, .. }),
        "{error}"
    );
    let mut message = with(vec![], &[]);
    message.graph.as_mut().unwrap().nodes = vec![proto::Node::default(); 1 << 20];
    let bytes = ProgramFile::of_message(message).to_bytes();
    let error = ProgramFile::read(&bytes, &Limits::default()).unwrap_err();
    assert!(matches!(error, ReadError::Memory(_)), "{error}");
    let limits = Limits {
        parts: 100,
        ..Limits::default()
    };
    let error = ProgramFile::read(&bytes, &limits).unwrap_err();
    assert!(
        matches!(error, ReadError::TooMany { limit: 100, .. }),
        "{error}"
    );
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    let of = |sort: Sort, left, right| {
        let mut message = with(vec![node(&[1], &[])], &["reshape"]);
        message.lengths = vec![proto::Length {
            sort: sort.into(),
            left,
            right,
        }];
        refused(message).to_string()
    };
    assert!(of(Sort::Quotient, 2, 0).contains("1 divided by 0 is no length"));
    assert!(of(Sort::QuotientUp, 2, 0).contains("divided by 0"));
    assert!(of(Sort::Difference, 2, 4).contains("a length would be -1"));
    assert!(of(Sort::Dimension, 0, 0).contains("dimension 0, and there are 0"));
    assert!(of(Sort::Unknown, 0, 0).contains("unknown sort"));
    assert!(of(Sort::Sum, 1, 0).contains("length 0, and there are 0"));
    for sort in [Sort::Sum, Sort::Product, Sort::Difference] {
        of(sort, i64::MAX - 1, -i64::MAX + 1);
        of(sort, i64::MIN, i64::MIN);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Bytes that are changed, cut out or put in: a file is refused, or it is another program.
    #[test]
    fn changed_files_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..6)) {
        let mut bytes = sample();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                _ if byte % 2 == 0 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
            prop_assume!(!bytes.is_empty());
        }
        // The length follows, so that the message is looked at.
        if let Some(length) = bytes.len().checked_sub(28) {
            bytes[20..28].copy_from_slice(&(length as u64).to_le_bytes());
        }
        fuzz_read(&bytes);
    }
}
