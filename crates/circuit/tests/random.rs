//! Random netlists: the layered program against the oracle, and the files against themselves.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says why it skips"
)]

use std::fmt::Write as _;

use std::collections::BTreeSet;

use madrigal_circuit::{
    Builder, Format, Goal, Layer, Layered, Limits, LocalOp, Netlist, Rounds, Rows, WriteError,
};
use proptest::prelude::*;

/// A random gate: its kind and, modulo what there is, its operands.
type Choice = (u8, Vec<u16>);

fn choice() -> impl Strategy<Value = Choice> {
    (0u8..12, prop::collection::vec(any::<u16>(), 2..8))
}

/// A valid Bristol Fashion text: any gates, operands that favour recent wires, wire numbers of gates in
/// any order, outputs that reach into the inputs when there are few gates.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let widths = prop::collection::vec(0u32..6, 1..4);
    (
        widths,
        prop::collection::vec(choice(), 0..60),
        prop::collection::vec(any::<u16>(), 1..4),
        any::<u64>(),
    )
        .prop_map(|(inputs, choices, outputs, order)| compose(&inputs, &choices, &outputs, order))
}

fn compose(inputs: &[u32], choices: &[Choice], outputs: &[u16], order: u64) -> String {
    let input_bits: u32 = inputs.iter().sum();
    let mut gates: Vec<(Vec<u32>, Vec<u32>, &str)> = Vec::new();
    let mut wires = input_bits;
    for (kind, picks) in choices {
        let out = wires;
        if wires == 0 || *kind == 11 {
            gates.push((vec![u32::from(picks[0] & 1)], vec![out], "EQ"));
            wires += 1;
            continue;
        }
        let pick = |i: usize| {
            let pick = u32::from(picks[i]);
            // Half of the operands are among the last eight wires, so that netlists become deep.
            if pick & 1 == 0 {
                pick / 2 % wires
            } else {
                wires - 1 - (pick / 2 % 8).min(wires - 1)
            }
        };
        let (ins, outs, word) = match kind {
            0..=2 => (vec![pick(0), pick(1)], 1, "XOR"),
            3..=6 => (vec![pick(0), pick(1)], 1, "AND"),
            7 => (vec![pick(0), pick(1)], 1, "OR"),
            8 => (
                vec![pick(0)],
                1,
                if picks[1] & 1 == 0 { "INV" } else { "NOT" },
            ),
            9 => (vec![pick(0)], 1, "EQW"),
            _ => {
                let lanes = picks.len() / 2;
                ((0..2 * lanes).map(pick).collect(), lanes as u32, "MAND")
            }
        };
        gates.push((ins, (out..out + outs).collect(), word));
        wires += outs;
    }
    // A pseudorandom order of the numbers above the inputs.
    let mut numbers: Vec<u32> = (0..wires).collect();
    let mut state = order | 1;
    for i in (input_bits + 1..wires).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let j = input_bits + (state >> 33) as u32 % (i - input_bits + 1);
        numbers.swap(i as usize, j as usize);
    }
    let mut left = wires;
    let take = |&width: &u16| {
        let width = (u32::from(width) % 9).min(left);
        left -= width;
        width
    };
    let outputs: Vec<u32> = outputs.iter().map(take).collect();
    let mut text = format!("{} {wires}\n", gates.len());
    for widths in [inputs, &outputs] {
        let list: Vec<_> = widths.iter().map(u32::to_string).collect();
        writeln!(text, "{} {}", widths.len(), list.join(" ")).unwrap();
    }
    for (ins, outs, word) in gates {
        write!(text, "\n{} {}", ins.len(), outs.len()).unwrap();
        ins.iter().for_each(|&w| {
            write!(
                text,
                " {}",
                if word == "EQ" { w } else { numbers[w as usize] }
            )
            .unwrap()
        });
        outs.iter()
            .for_each(|&w| write!(text, " {}", numbers[w as usize]).unwrap());
        write!(text, " {word}").unwrap();
    }
    text
}

pub(crate) fn random_rows(rows: usize, lanes: usize, mut state: u64) -> Rows {
    let mut all = Rows::new(rows, lanes);
    for byte in all.as_bytes_mut() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        *byte = (state >> 56) as u8;
    }
    all.clear_padding();
    all
}

/// Checks what evaluators rely on: rows in range, nothing read before it is written, the stated aliasing.
fn check(program: &Layered) {
    let mut written = vec![false; program.rows()];
    written[..program.inputs().len()].fill(true);
    let local = |ops: &[LocalOp], written: &mut [bool]| {
        for &op in ops {
            let dst = match op {
                LocalOp::Xor { dst, a, b } => {
                    assert!(
                        written[a as usize] && written[b as usize] && a != b && dst != b,
                        "{op:?}"
                    );
                    dst
                }
                LocalOp::Not { dst, a } => {
                    assert!(written[a as usize], "{op:?}");
                    dst
                }
                LocalOp::Const { dst, .. } => dst,
            };
            written[dst as usize] = true;
        }
    };
    for layer in program.layers() {
        local(layer.local, &mut written);
        assert!(!layer.ands.is_empty());
        for and in layer.ands {
            assert!(
                written[and.a as usize] && written[and.b as usize] && and.a != and.b,
                "{and:?}"
            );
        }
        let mut targets: Vec<_> = layer.ands.iter().map(|and| and.dst).collect();
        targets.iter().for_each(|&dst| written[dst as usize] = true);
        targets.sort_unstable();
        targets.dedup();
        assert_eq!(
            targets.len(),
            layer.ands.len(),
            "two ANDs of a layer share their row"
        );
    }
    local(program.tail(), &mut written);
    assert!(program.outputs().iter().all(|&row| written[row as usize]));
    assert!(program.inputs().is_sorted());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn layered_agrees_with_the_oracle(text in text(), lanes in 0usize..200, seed: u64) {
        let netlist = Netlist::read("random", text.as_bytes(), &Limits::default()).unwrap();
        let program = Layered::compile(&netlist);
        check(&program);
        let stats = netlist.stats();
        prop_assert!(program.depth() <= stats.and_depth as usize);
        prop_assert!(program.and_count() as u64 <= stats.and + stats.or);
        prop_assert_eq!(Layered::compile(&netlist).digest(), program.digest());

        let inputs = random_rows(netlist.input_bits() as usize, lanes, seed);
        let expected = netlist.evaluate(&inputs).unwrap();
        prop_assert!(program.interpret(&inputs).unwrap() == expected);
    }

    #[test]
    fn written_and_read_again(text in text(), seed: u64) {
        let netlist = Netlist::read("random", text.as_bytes(), &Limits::default()).unwrap();
        let again = Netlist::read("random", &netlist.write().unwrap(), &Limits::default()).unwrap();
        prop_assert_eq!(&again, &netlist);
        prop_assert_eq!(again.digest(), netlist.digest());

        match netlist.write_as(Format::Bristol) {
            Ok(old) => {
                let old = Netlist::read("old", &old, &Limits::default()).unwrap();
                prop_assert_eq!(old.format(), Format::Bristol);
                prop_assert_eq!(old.output_bits(), netlist.output_bits());
                let inputs = random_rows(netlist.input_bits() as usize, 64, seed);
                prop_assert!(old.evaluate(&inputs).unwrap() == netlist.evaluate(&inputs).unwrap());
            }
            Err(WriteError::Inputs { found }) => prop_assert!(found > 2),
            Err(WriteError::Outputs { found }) => prop_assert!(found != 1),
            Err(WriteError::InputIsOutput) => prop_assert!(netlist.output_wires().start < netlist.input_bits()),
            Err(WriteError::Constant) => prop_assert_eq!(netlist.input_bits(), 0),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Netlist::read("noise", &bytes, &Limits::default());
    }

    #[test]
    fn damaged_files_are_read_or_refused(text in text(), at: prop::sample::Index, byte: u8, cut: bool) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        let limits = Limits { wires: 1 << 16, ..Limits::default() };
        if let Ok(netlist) = Netlist::read("damaged", &bytes, &limits) {
            check(&Layered::compile(&netlist));
        }
    }

    #[test]
    fn built_arithmetic_is_arithmetic(a: u16, b: u16, choose: bool) {
        let mut builder = Builder::new("arithmetic");
        let (x, c, y) = (builder.input(16), builder.input(1), builder.input(16));
        let (sum, difference) = (builder.add(&x, &y), builder.sub(&x, &y));
        let comparisons = [builder.less(&x, &y), builder.equal(&x, &y)];
        let selected = builder.select(c[0], &x, &y);
        for value in [&sum, &difference, &comparisons.to_vec(), &selected, &x, &sum] {
            builder.output(value);
        }
        let netlist = builder.finish();
        let line = format!("{a:x} {:x} {b:x}", u8::from(choose));
        let inputs = madrigal_circuit::values::read("line", line.as_bytes(), netlist.inputs(), &Default::default()).unwrap();
        let sum = a.wrapping_add(b);
        let expected = format!(
            "{sum:04x} {:04x} {:x} {:04x} {a:04x} {sum:04x}\n",
            a.wrapping_sub(b),
            u8::from(a < b) | u8::from(a == b) << 1,
            if choose { a } else { b },
        );
        let program = Layered::compile(&netlist);
        check(&program);
        // The comparison is one more carry of the difference.
        prop_assert_eq!(program.and_count(), 15 + 15 + 1 + 15 + 16);
        for outputs in [netlist.evaluate(&inputs).unwrap(), program.interpret(&inputs).unwrap()] {
            let text = madrigal_circuit::values::write(&outputs, netlist.outputs()).unwrap();
            prop_assert_eq!(String::from_utf8(text).unwrap(), expected.clone());
        }
    }
}

/// More lanes than the oracle takes at once, with ends in the middle of a word.
#[test]
fn the_oracle_goes_through_blocks_of_lanes() {
    let text = "3 6\n1 3\n1 2\n\n2 1 0 1 3 AND\n2 1 3 2 4 XOR\n1 1 0 5 INV\n";
    let netlist = Netlist::read("blocks", text.as_bytes(), &Limits::default()).unwrap();
    for lanes in [4095, 4096, 4097, 10_000] {
        let inputs = random_rows(3, lanes, lanes as u64);
        let outputs = netlist.evaluate(&inputs).unwrap();
        for lane in 0..lanes {
            let [a, b, c] = [0, 1, 2].map(|wire| inputs.get(wire, lane));
            assert_eq!(outputs.get(0, lane), (a & b) ^ c, "lane {lane} of {lanes}");
            assert_eq!(outputs.get(1, lane), !a, "lane {lane} of {lanes}");
        }
    }
}

/// Checks the layers of a netlist that go together, found anew: by the definition, over all wires of the compiled program.
fn check_rounds(netlist: &Netlist) {
    check_rounds_of(&Layered::compile(netlist));
    let in_pairs = Layered::compile(netlist).in_pairs();
    check_rounds_of(&in_pairs);
    check(&in_pairs);
    assert!(Rounds::of_two(&in_pairs).count() <= Layered::compile(netlist).depth());
}

fn check_rounds_of(program: &Layered) {
    let rounds = Rounds::of_two(program);
    let single = Rounds::of_one(program);
    assert!(!single.has_pairs());
    assert_eq!(single.count(), program.depth());
    let mut layers = program.layers().peekable();
    for round in rounds.of(program) {
        assert_eq!(layers.next(), Some(round.first));
        let results =
            |layer: Layer<'_>| -> Vec<u32> { layer.ands.iter().map(|and| and.dst).collect() };
        // Every row as the set of results of the first layer that it is the sum of.
        let mut parts = vec![BTreeSet::new(); program.rows()];
        for (place, row) in results(round.first).into_iter().enumerate() {
            parts[row as usize] = BTreeSet::from([place as u32]);
        }
        let Some(&next) = layers.peek() else {
            assert!(round.second.is_none());
            continue;
        };
        let mut written = BTreeSet::new();
        for &op in next.local {
            let (dst, part) = match op {
                LocalOp::Xor { dst, a, b } => (dst, &parts[a as usize] ^ &parts[b as usize]),
                LocalOp::Not { dst, a } => (dst, parts[a as usize].clone()),
                LocalOp::Const { dst, .. } => (dst, BTreeSet::new()),
            };
            parts[dst as usize] = part;
            written.insert(dst);
        }
        for row in results(round.first) {
            written.remove(&row);
        }
        let Some((second, takes)) = round.second else {
            continue;
        };
        assert_eq!(layers.next(), Some(second));
        let [mut x, mut y] = takes
            .operands()
            .each_ref()
            .map(|takes| takes.iter().peekable());
        let mut both = Vec::new();
        for (place, and) in (0..).zip(second.ands) {
            let taken = [(&mut x, and.a), (&mut y, and.b)].map(|(takes, row)| {
                let mut taken = Vec::new();
                while let Some(take) = takes.next_if(|take| take.and == place) {
                    taken.push(take.from);
                }
                let part: Vec<u32> = parts[row as usize].iter().copied().collect();
                assert_eq!(part, taken);
                assert!(taken.len() <= 2);
                taken
            });
            for &first in &taken[0] {
                both.extend(taken[1].iter().map(|&second| (place, [first, second])));
            }
        }
        assert_eq!((x.next(), y.next()), (None, None));
        assert_eq!(takes.both(), both);
        assert_eq!(takes.overwritten(), Vec::from_iter(written));
        assert!(takes.overwritten().len() <= rounds.overwritten());
    }
    assert_eq!(layers.next(), None);
}

proptest! {
    #[test]
    fn layers_go_together_where_operands_take_few_results(text in text()) {
        check_rounds(&Netlist::read("random", text.as_bytes(), &Limits::default()).unwrap());
    }
}

/// Prefix networks halve their rounds, and so do chains; the S-box of AES takes sums of many results.
#[test]
fn sums_take_half_as_many_rounds() {
    for (goal, width, layers, rounds) in [
        (Goal::Depth, 64, 6, 3),
        (Goal::Depth, 32, 5, 3),
        (Goal::Size, 64, 63, 32),
    ] {
        let mut builder = Builder::new("sum").with_goal(goal);
        let [a, b] = [width, width].map(|width| builder.input(width));
        let sum = builder.add(&a, &b);
        builder.output(&sum);
        let netlist = builder.finish();
        assert_eq!(Layered::compile(&netlist).depth(), layers);
        assert_eq!(
            Rounds::of_two(&Layered::compile(&netlist).in_pairs()).count(),
            rounds,
            "{goal:?}, {width} bits"
        );
        check_rounds(&netlist);
    }
    let mut builder = Builder::new("aes").with_goal(Goal::Depth);
    let [key, block] = [128, 128].map(|width| builder.input(width));
    let encrypted = builder.aes128(&key, &block);
    builder.output(&encrypted);
    check_rounds(&builder.finish());
}
