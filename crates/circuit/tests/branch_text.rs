//! Circuits with branches as texts: what they mean, and what is no such text.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use madrigal_circuit::branches::{Branching, Random, nested};
use madrigal_circuit::{Limits, Rows, values};
use proptest::prelude::*;

/// Written by hand: the greater or the smaller of two bits, or their sum, or 0; and what it was chosen by.
const BY_HAND: &str = "\u{feff}# which of three
branches 1
netlist and   # a gate
1 3
2 1 1
1 1
2 1 0 1 2 AND
end
netlist or
1 3\r
2 1 1\r
1 1\r
2 1 0 1 2 OR\r
end\r

circuit sum
  input 1
  input 1
  call and on 0-1
  call or on 1 0
  output 3 2
end
circuit wide
input 2
call and on 0-1
output 2 0
end
circuit whole
input 1
input 1
input 2
choose 2-3 of wide sum wide on 0 1
call wide on 4-5
output 4-5
output
output 3 2 6
end
";

fn read(text: &str) -> Result<Branching, String> {
    let read = Branching::read("own.txt", text.as_bytes(), &Limits::default());
    read.map_err(|error| error.to_string())
}

fn rows(bits: usize, lanes: usize, seed: u64) -> Rows {
    let mut state = seed;
    let mut rows = Rows::new(bits, lanes);
    for row in 0..bits {
        for lane in 0..lanes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            rows.set(row, lane, state >> 63 == 1);
        }
    }
    rows
}

#[test]
fn statements_mean_what_they_say() {
    assert!(Branching::is_text(BY_HAND.as_bytes()));
    assert!(!Branching::is_text(b"1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n"));
    let circuit = read(BY_HAND).unwrap();
    assert_eq!(circuit.name(), "own.txt");
    assert_eq!(
        (circuit.inputs(), circuit.outputs()),
        (&[1, 1, 2][..], &[2, 0, 3][..])
    );
    assert_eq!((circuit.conditionals(), circuit.nesting()), ((1, 3), 1));
    for lane in 0..16u8 {
        let [a, b] = [lane & 1, lane >> 1 & 1];
        let branch = lane >> 2;
        let text = format!("{a} {b} {branch}\n");
        let inputs = values::read("in", text.as_bytes(), &[1, 1, 2], &Default::default()).unwrap();
        // `wide` gives the AND and its first bit, `sum` the OR and the AND.
        let chosen = match branch {
            0 | 2 => [a & b, a],
            1 => [a | b, a & b],
            _ => [0, 0],
        };
        let both = chosen[0] & chosen[1];
        let third = branch >> 1 | (branch & 1) << 1 | both << 2;
        let expected = format!("{} {third}\n", chosen[0] | chosen[1] << 1);
        for found in [
            circuit.evaluate(&inputs),
            circuit.flatten().evaluate(&inputs).unwrap(),
        ] {
            let found = values::write(&found, &[2, 3]).unwrap();
            assert_eq!(found, expected.as_bytes(), "{text}");
        }
    }
}

fn same(circuit: &Branching, seed: u64) {
    let text = circuit.write();
    let again = Branching::read("again", &text, &Limits::default()).unwrap();
    assert_eq!(again.digest(), circuit.digest());
    assert_eq!(
        (again.inputs(), again.outputs()),
        (circuit.inputs(), circuit.outputs())
    );
    let inputs = rows(circuit.input_bits(), 70, seed);
    assert_eq!(again.evaluate(&inputs), circuit.evaluate(&inputs));
    assert_eq!(again.write(), text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Written and read, a circuit is the same, whatever it consists of.
    #[test]
    fn what_is_written_is_read_as_the_same(seed: u64, depth in 0..4_usize, outputs in 0..9_usize) {
        same(&nested(seed, 6, outputs, depth), seed);
    }

    /// Lines of a good text, each cut, doubled or put elsewhere: a circuit or an error with a line of the text.
    #[test]
    fn damaged_texts_are_refused_with_a_line(seed: u64, from in 0..40_usize, to in 0..40_usize, byte in 0..200_usize) {
        let text = nested(seed, 4, 3, 2).write();
        let text = String::from_utf8(text).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        let line = lines[from % lines.len()];
        let cut = &line[..byte % (line.len() + 1)];
        let to = to % lines.len();
        match seed % 4 {
            0 => lines.insert(to, line),
            1 => drop(lines.remove(to)),
            2 => lines[to] = cut,
            _ => lines.truncate(to),
        }
        let count = lines.len() as u64;
        let damaged = lines.join("\n");
        if let Err(error) = Branching::read("damaged", damaged.as_bytes(), &Limits::default()) {
            prop_assert!((1..=count.max(1)).contains(&error.line), "{error}");
        }
    }
}

#[test]
fn random_circuits_of_the_papers_are_written_and_read() {
    let shape = Random {
        ands: 300,
        xors: 300,
        layers: 4,
        ..Random::PAPER
    };
    let circuit = shape.conditional(5, 7).unwrap();
    same(&circuit, 7);
    let widths = circuit.clone().with_inputs(&[100, 31]).unwrap();
    assert_eq!(widths.inputs(), [100, 31]);
    assert!(circuit.with_inputs(&[100, 32]).is_err());
}

#[test]
fn mistakes_are_told_with_their_line() {
    let part = "netlist and\n1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\nend\n";
    let circuit = |lines: &str| format!("branches 1\n{part}circuit c\n{lines}");
    for (text, line, told) in [
        (String::new(), 1, "branches 1"),
        ("branches 2\n".to_owned(), 1, "version '2'"),
        ("branches\n".to_owned(), 1, "branches 1"),
        ("branches 1\n".to_owned(), 1, "there is none"),
        (format!("branches 1\n{part}"), 7, "there is none"),
        ("branches 1\ncircuits c\n".to_owned(), 2, "found 'circuits'"),
        ("branches 1\ncircuit\n".to_owned(), 2, "circuit NAME"),
        (
            "branches 1\ncircuit c d\nend\n".to_owned(),
            2,
            "circuit NAME",
        ),
        (
            "branches 1\ncircuit on\nend\n".to_owned(),
            2,
            "'on' is no name",
        ),
        (
            "branches 1\ncircuit 7\nend\n".to_owned(),
            2,
            "'7' is no name",
        ),
        (
            format!("branches 1\ncircuit {}\nend\n", "x".repeat(65)),
            2,
            "is no name",
        ),
        (
            format!("branches 1\n{part}{part}"),
            8,
            "and is defined a second time",
        ),
        (
            "branches 1\nnetlist a\n1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n".to_owned(),
            6,
            "ends within a",
        ),
        (
            "branches 1\nnetlist a\n1 3\n2 1 1\n1 1\n2 1 0 1 2 XAND\nend\n".to_owned(),
            6,
            "XAND",
        ),
        (
            "branches 1\nnetlist a\n2 4\n2 1 1\n1 1\n2 1 0 1 2 AND\nend\n".to_owned(),
            7,
            "gates",
        ),
        (circuit("input 2\n"), 9, "ends within c"),
        (circuit("input 2\ninput\nend\n"), 10, "input BITS"),
        (circuit("input -2\nend\n"), 9, "input BITS"),
        (circuit("input 16777217\nend\n"), 9, "input bits"),
        (
            circuit("input 2\noutput 0\ninput 2\nend\n"),
            11,
            "move the line up",
        ),
        (circuit("input 2\ncall or on 0 1\nend\n"), 10, "no part or"),
        (circuit("input 2\ncall c on 0 1\nend\n"), 10, "no part c"),
        (
            circuit("input 2\ncall and 0 1\nend\n"),
            10,
            "call PART on WIRES",
        ),
        (
            circuit("input 2\ncall and on 0 2\nend\n"),
            10,
            "wire 2 is read, but only 2 wires",
        ),
        (
            circuit("input 2\ncall and on 0-4294967295\nend\n"),
            10,
            "wire 4294967295 is read",
        ),
        (
            circuit("input 2\ncall and on 0\nend\n"),
            10,
            "has 2 input bits, 1 were given",
        ),
        (circuit("input 2\ncall and on 1-0\nend\n"), 10, "'1-0'"),
        (circuit("input 2\ncall and on 0-\nend\n"), 10, "'0-'"),
        (circuit("input 2\ncall and on -1\nend\n"), 10, "'-1'"),
        (
            circuit("input 2\ncall and on 4294967296\nend\n"),
            10,
            "'4294967296'",
        ),
        (
            circuit("input 3\nchoose 0 of and and 1-2\nend\n"),
            10,
            "choose WIRES of PART",
        ),
        (
            circuit("input 3\nchoose 0 on 1-2 of and and\nend\n"),
            10,
            "choose WIRES of PART",
        ),
        (
            circuit("input 3\nchoose 0 of on 1-2\nend\n"),
            10,
            "it must have 1 to",
        ),
        (
            circuit("input 3\nchoose of and and on 1-2\nend\n"),
            10,
            "needs 1 index bits, 0",
        ),
        (
            circuit("input 3\nchoose 0 of and nor on 1-2\nend\n"),
            10,
            "no part nor",
        ),
        (
            circuit("input 3\ncall and on 0-1\nmake 3\nend\n"),
            11,
            "found 'make'",
        ),
        (circuit("input 3\nend\nend\n"), 11, "found 'end'"),
    ] {
        let error = Branching::read("own", text.as_bytes(), &Limits::default()).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.to_string().contains(told), "{text}: {error}");
    }
}

/// Short texts that mean much: each is refused at once.
#[test]
fn short_texts_do_not_grow() {
    // Each circuit has its predecessor 16 times: of wires, of outputs, and of nothing at all.
    let tower = |input: &str, on: &str, output: &str| {
        let mut text = format!("branches 1\ncircuit c0\n{input}\n{output}\nend\n");
        for level in 1..60 {
            let branches = vec![format!("c{}", level - 1); 16].join(" ");
            let _ = write!(
                text,
                "circuit c{level}\n{input}\nchoose 0 0 0 0 of {branches} on {on}\n{output}\nend\n"
            );
        }
        text
    };
    let ranges = {
        let list = vec!["0-999999"; 1 << 12].join(" ");
        format!("branches 1\ncircuit c\ninput 1000000\noutput {list}\nend\n")
    };
    let wide = {
        let branches = vec!["c"; 4096].join(" ");
        let code = "0 0 0 0 0 0 0 0 0 0 0 0";
        format!(
            "branches 1\ncircuit c\ninput 100000\noutput 0\nend\ncircuit d\ninput 100000\n\
             choose {code} of {branches} on 0-99999\noutput 0\nend\n"
        )
    };
    let inputs = {
        let mut text = "branches 1\n".to_owned();
        for part in 0..4096 {
            let _ = write!(
                text,
                "netlist n{part}\n1 131073\n1 131072\n1 1\n1 1 0 131072 INV\nend\n"
            );
        }
        let branches: Vec<String> = (0..4096).map(|part| format!("n{part}")).collect();
        let code = "0 0 0 0 0 0 0 0 0 0 0 0";
        let branches = branches.join(" ");
        text + &format!(
            "circuit c\ninput 131072\nchoose {code} of {branches} on 0-131071\noutput 0\nend\n"
        )
    };
    for text in [
        inputs,
        tower("input 1", "0", "output 0"),
        tower("input 1", "", "output 0"),
        tower("input 1", "0", ""),
        ranges,
        wide,
    ] {
        let began = Instant::now();
        let told = read(&text).unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(30), "{told}");
        assert!(told.starts_with("own.txt, line "), "{told}");
    }
    // The budget is what the caller says.
    let limits = Limits {
        bytes: 1 << 10,
        ..Limits::default()
    };
    let told = Branching::read("own", BY_HAND.as_bytes(), &limits).unwrap_err();
    assert!(told.to_string().contains("of memory"), "{told}");
}
