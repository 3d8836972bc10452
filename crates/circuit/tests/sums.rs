//! Programs of sums of products against the oracle, and how few sums there are.

use madrigal_circuit::{Builder, Goal, Layered, Limits, LocalOp, Netlist, SumStep, Sums, Wire};
use proptest::prelude::*;

use crate::random::{random_rows, text};

/// Checks what evaluators rely on: rows in range, nothing read before it is written, sums completed in ascending order.
fn check(program: &Sums) {
    let mut written = vec![false; program.rows()];
    written[..program.inputs().len()].fill(true);
    let local = |ops: &[LocalOp], written: &mut [bool]| {
        for &op in ops {
            let (dst, read) = match op {
                LocalOp::Xor { dst, a, b } => {
                    assert!(a != b && dst != b, "{op:?}");
                    (dst, vec![a, b])
                }
                LocalOp::Not { dst, a } => (dst, vec![a]),
                LocalOp::Const { dst, .. } => (dst, Vec::new()),
            };
            assert!(read.iter().all(|&row| written[row as usize]), "{op:?}");
            written[dst as usize] = true;
        }
    };
    for layer in program.layers() {
        local(layer.local, &mut written);
        let mut kept = vec![false; program.kept()];
        for &step in layer.steps {
            let (rows, read, keeps) = match step {
                SumStep::Multiply { a, b, .. } => (vec![a, b], vec![], None),
                SumStep::Keep { to, a, b } => (vec![a, b], vec![], Some(to)),
                SumStep::Add { to, a, b } => (vec![a, b], vec![to], Some(to)),
                SumStep::Xor { to, a, b } => (vec![], vec![a, b], Some(to)),
                SumStep::Give { a, .. } => (vec![], vec![a], None),
                SumStep::GiveXor { a, b, .. } => (vec![], vec![a, b], None),
            };
            assert!(rows.iter().all(|&row| written[row as usize]), "{step:?}");
            assert!(read.iter().all(|&row| kept[row as usize]), "{step:?}");
            keeps.into_iter().for_each(|to| kept[to as usize] = true);
        }
        let made: Vec<u32> = layer.steps.iter().filter_map(|step| step.sum()).collect();
        assert!(made.is_sorted());
        let mut distinct = made;
        distinct.dedup();
        assert!(distinct.into_iter().eq(0..layer.sums.len() as u32));
        let mut rows = layer.sums.to_vec();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(
            rows.len(),
            layer.sums.len(),
            "two sums of a layer share their row"
        );
        rows.iter().for_each(|&row| written[row as usize] = true);
    }
    local(program.tail(), &mut written);
    assert!(program.outputs().iter().all(|&row| written[row as usize]));
    assert!(program.inputs().is_sorted());
}

/// Checks a netlist's sums and gives how many there are.
fn sums_of(netlist: &Netlist, lanes: usize, seed: u64) -> usize {
    let layered = Layered::compile(netlist);
    let sums = Sums::of(&layered);
    check(&sums);
    assert_eq!(sums.digest(), Sums::of(&layered).digest());
    assert!(sums.sum_count() <= layered.and_count());
    assert!(sums.depth() <= layered.depth());
    let inputs = random_rows(netlist.input_bits() as usize, lanes, seed);
    let outputs = sums.interpret(&inputs).expect("as many rows as inputs");
    let expected = netlist.evaluate(&inputs).expect("as many rows as inputs");
    assert!(outputs == expected);
    sums.sum_count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn sums_agree_with_the_oracle(text in text(), lanes in 0usize..200, seed: u64) {
        let netlist = Netlist::read("random", text.as_bytes(), &Limits::default()).unwrap();
        sums_of(&netlist, lanes, seed);
    }

    /// Many XORs of few ANDs, in a few layers: sums that overlap.
    #[test]
    fn sums_that_overlap_agree_with_the_oracle(
        gates in prop::collection::vec((any::<u32>(), any::<u32>(), 0u8..8), 1..120),
        outputs in prop::collection::vec(any::<u32>(), 1..12),
        seed: u64,
    ) {
        let mut builder = Builder::new("overlapping");
        let mut wires = builder.input(6);
        for (a, b, kind) in gates {
            let at = |index: u32| wires[index as usize % wires.len()];
            let (a, b) = (at(a), at(b));
            // Not too deep, so that layers are wide.
            let and = kind < 3 && builder.depth(a).max(builder.depth(b)) < 3;
            wires.push(match kind {
                _ if and => builder.and(a, b),
                7 => builder.not(a),
                _ => builder.xor(a, b),
            });
        }
        let outputs: Vec<Wire> = outputs.iter().map(|&o| wires[o as usize % wires.len()]).collect();
        builder.output(&outputs);
        sums_of(&builder.finish(), 64, seed);
    }
}

/// Products that are pulled to an earlier layer as part of a sum, which is none of theirs once they are there.
#[test]
fn products_are_pulled_no_further_than_their_operands_allow() {
    let netlist = built(&[12], |b, x| {
        let x = &x[0];
        let [e, y, p, q, q2] = [0, 2, 4, 6, 8].map(|at| b.and(x[at], x[at + 1]));
        let (r, s) = (b.and(q, x[10]), b.and(q2, x[11]));
        let (first, second) = (b.xor(e, r), b.xor(y, s));
        let sum = b.xor(first, second);
        let low = b.xor(p, x[0]);
        let output = b.xor(low, sum);
        let both = b.and(r, s);
        let factor = b.and(p, x[3]);
        vec![output, both, b.and(factor, x[2])]
    });
    sums_of(&netlist, 64, 1);
}

/// Sums and products in other words are sent once.
#[test]
fn nothing_is_sent_twice() {
    let text = "8 12\n1 4\n1 1\n\n2 1 0 1 4 AND\n2 1 2 3 5 AND\n2 1 4 5 6 XOR\n2 1 5 4 7 XOR\n\
                2 1 6 7 8 AND\n1 1 7 9 INV\n2 1 8 9 10 AND\n2 1 10 6 11 XOR\n";
    let netlist = Netlist::read("twice", text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(sums_of(&netlist, 64, 1), 1);
    assert_eq!(Sums::of(&Layered::compile(&netlist)).depth(), 1);
}

/// The circuit of a function of bits.
fn built(widths: &[u32], make: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Wire>) -> Netlist {
    let mut builder = Builder::new("built");
    let inputs: Vec<Vec<Wire>> = widths.iter().map(|&width| builder.input(width)).collect();
    let outputs = make(&mut builder, &inputs);
    builder.output(&outputs);
    builder.finish()
}

#[test]
fn an_inner_product_is_one_sum() {
    // Long enough that nothing may go as deep as it is long, and longer than cuts are looked for.
    for bits in [1, 2, 64, 40_000, 70_000] {
        let netlist = built(&[bits; 2], |b, x| {
            let products = x[0].iter().zip(&x[1]);
            let products: Vec<Wire> = products.map(|(&x, &y)| b.and(x, y)).collect();
            let sum = products
                .into_iter()
                .reduce(|sum, product| b.xor(sum, product));
            vec![sum.unwrap()]
        });
        assert_eq!(sums_of(&netlist, 3, 1), 1);
    }
}

/// The product of two polynomials over bits by Karatsuba's method, three products for four.
#[test]
fn a_product_of_polynomials_has_a_sum_for_each_coefficient() {
    fn product(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        if let ([x], [y]) = (x, y) {
            return vec![b.and(*x, *y)];
        }
        let half = x.len() / 2;
        let ((x0, x1), (y0, y1)) = (x.split_at(half), y.split_at(half));
        let (low, high) = (product(b, x0, y0), product(b, x1, y1));
        let (x, y) = (b.xor_all(x0, x1), b.xor_all(y0, y1));
        let mut middle = product(b, &x, &y);
        for part in [&low, &high] {
            middle = b.xor_all(&middle, part);
        }
        let zero = b.constant(false);
        let mut sum = vec![zero; 4 * half - 1];
        for (at, part) in [(0, low), (half, middle), (2 * half, high)] {
            for (i, &wire) in part.iter().enumerate() {
                sum[at + i] = b.xor(sum[at + i], wire);
            }
        }
        sum
    }
    for bits in [2, 4, 8, 16] {
        let netlist = built(&[bits; 2], |b, x| product(b, &x[0], &x[1]));
        assert_eq!(sums_of(&netlist, 64, 1) as u32, 2 * bits - 1);
    }
}

/// A key or a state comes to the sum from before; a value's inversion is not the sum's.
#[test]
fn what_was_there_before_is_added_afterwards() {
    let netlist = built(&[6, 6], |b, x| {
        let [p, q] = [0, 2].map(|i| b.and(x[0][i], x[0][i + 1]));
        let [p, not_q] = [p, b.not(q)];
        // All of p + q beside something else: one sum.
        let mixed = [b.xor(p, x[1][0]), b.xor(not_q, x[1][1])];
        let first = b.xor(mixed[0], mixed[1]);
        let second = b.xor(p, not_q);
        let second = b.xor(second, x[1][2]);
        let later = b.and(first, second);
        vec![b.xor(later, first), second]
    });
    assert_eq!(Layered::compile(&netlist).and_count(), 3);
    assert_eq!(sums_of(&netlist, 64, 1), 2);
}

/// An S-box has four sums that are the sum's in GF(2^4), eight that come out, and between them the inversion has as many as
/// ANDs; the last round's key is one with its output.
#[test]
fn aes_takes_half_as_many_sums_as_ands() {
    for (goal, ands, middle) in [(Goal::Size, 6400, 5), (Goal::Depth, 6600, 6)] {
        let mut builder = Builder::new("aes").with_goal(goal);
        let (key, block) = (builder.input(128), builder.input(128));
        let output = builder.aes128(&key, &block);
        builder.output(&output);
        let netlist = builder.finish();
        let layered = Layered::compile(&netlist);
        assert_eq!(layered.and_count(), ands);
        assert_eq!(sums_of(&netlist, 64, 1), 200 * (4 + middle + 8) - 32);
        let program = Sums::of(&layered);
        assert_eq!(program.depth(), layered.depth());
        assert!(
            program.rows() < layered.rows() * 11 / 10,
            "{}",
            program.rows()
        );
        assert!(program.kept() < 128, "{}", program.kept());
    }
}

/// Two ANDs become one with sums in the place of products, of which the first to stand there is the last to be
/// needed. It ran when that one was due, and what read it before had an XOR in its place: wrong results in R.
#[test]
fn ands_that_become_one_run_when_the_first_of_them_is_needed() {
    let mut builder = Builder::new("two ways to add");
    let wires = builder.input(10);
    let [a, b, c, d, e, f, g, h, r, y] = wires[..] else {
        unreachable!("so many were made");
    };
    let (p, q) = (builder.and(a, b), builder.and(c, d));
    let sum = builder.xor(p, q);
    let left = builder.xor(sum, r);
    let late = builder.and(left, y);
    let other = builder.xor(q, r);
    let right = builder.xor(p, other);
    let early = builder.and(right, y);
    // A chain that makes the second one urgent, and the first one not.
    let chain = [e, f, g]
        .into_iter()
        .fold(early, |sum, wire| builder.and(sum, wire));
    let both = builder.xor(late, h);
    let result = builder.and(chain, both);
    // They are read later, too, so that no row is free once the AND has run, which would have it run ahead.
    builder.output(&[result, chain, right, y]);
    let netlist = builder.finish();
    // Five products after the sum of the first two, of which two are one.
    assert_eq!(sums_of(&netlist, 1 << 10, 1), 6);
}
