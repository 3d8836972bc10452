//! Programs against sums in the clear.

use madrigal_kernels::{Block, Prg};
use madrigal_program::lower::Mix;
use madrigal_program::{Everyone, Inputs, Outputs, Program};
use madrigal_psi_programs::{Ask, Matched, Parts, Question, check_payloads};
use madrigal_testkit::seed;

use crate::{RECEIVER, SENDER};

/// Bins of both parties, made of a seed.
struct Made {
    parts: Parts,
    /// Whether each bin's item is in both sets.
    is_in: Vec<bool>,
    payloads: Vec<i64>,
    own: Vec<i64>,
    /// Inputs in the order of a question for all.
    words: [Vec<u64>; 5],
}

impl Made {
    /// Bins of which some match, or all, or none.
    fn new(seed: u64, bins: usize, payload: impl Fn(u64) -> i64) -> Self {
        let parts = Parts::new(bins, RECEIVER, SENDER);
        let mut prg = Prg::new(Block::new(seed, bins as u64));
        let mut column = || {
            let mut words = vec![0; bins];
            prg.fill_words(&mut words);
            words
        };
        let [found, mut targets, masks, chances, drawn] = [(); 5].map(|()| column());
        let is_in: Vec<bool> = chances
            .iter()
            .map(|chance| chance % 3 == seed % 3)
            .collect();
        for (bin, _) in is_in.iter().enumerate().filter(|(_, is_in)| **is_in) {
            targets[bin] = found[bin];
        }
        // One bit makes tags differ.
        if let Some(bin) = is_in.iter().position(|is_in| !is_in) {
            targets[bin] = found[bin] ^ 1 << (seed % u64::from(parts.tag_bits));
        }
        let payloads: Vec<i64> = drawn.iter().map(|&word| payload(word)).collect();
        let own: Vec<i64> = chances.iter().map(|&word| payload(word)).collect();
        // Elsewhere the receiver has anything.
        let masked = (0..bins).map(|bin| match is_in[bin] {
            true => masks[bin].wrapping_add(payloads[bin] as u64),
            false => drawn[bin],
        });
        let masked = masked.collect();
        let own_words = own.iter().map(|&own| own as u64).collect();
        Self {
            parts,
            is_in,
            payloads,
            own,
            words: [found, targets, masked, masks, own_words],
        }
    }

    fn inputs(&self, question: &Question) -> Inputs {
        let [found, targets, masked, masks, own] = self.words.clone();
        let mut inputs = Inputs::new().with(found).with(targets);
        if question.has(Ask::Sum) {
            inputs = inputs.with(masked).with(masks);
        }
        if question.has(Ask::OwnSum) {
            inputs = inputs.with(own);
        }
        inputs
    }

    fn sum(&self, of: &[i64]) -> i64 {
        let both = self.is_in.iter().zip(of).filter(|(is_in, _)| **is_in);
        both.fold(0, |sum, (_, &number)| sum.wrapping_add(number))
    }

    /// Asks in the clear and on shares, and compares.
    fn check(&self, asks: &[Ask], mix: Mix) {
        let question = Question::new(asks.iter().copied());
        let asked = question.program(self.parts, Everyone).unwrap();
        let inputs = self.inputs(&question);
        let right = |outputs: &Outputs| {
            let count = self.is_in.iter().filter(|is_in| **is_in).count() as u64;
            assert_eq!(
                asked.count.map(|it| outputs.get(it)),
                question.has(Ask::Count).then(|| vec![count])
            );
            let sum = question
                .has(Ask::Sum)
                .then(|| vec![self.sum(&self.payloads)]);
            assert_eq!(asked.sum.map(|it| outputs.get(it)), sum);
            let own = question.has(Ask::OwnSum).then(|| vec![self.sum(&self.own)]);
            assert_eq!(asked.own_sum.map(|it| outputs.get(it)), own);
        };
        right(&asked.program.simulate(&inputs).unwrap());
        let planned = asked.program.plan(mix, None, &|_| {}).unwrap();
        for ended in planned.run_locally(&asked.program, &inputs).unwrap() {
            right(&ended.outputs);
        }
    }
}

#[test]
fn questions_are_answered() {
    let seed = seed();
    let all = [Ask::Count, Ask::Sum, Ask::OwnSum];
    let small = |word: u64| (word as i64) >> 40;
    for (asks, bins, mix) in [
        (&all[..], 1, Mix::AB),
        (&all[..], 1000, Mix::AB),
        (&all[..1], 113, Mix::AB),
        (&all[1..2], 500, Mix::ALPHA_BETA),
        (&all[2..], 64, Mix::AB),
    ] {
        Made::new(seed, bins, small).check(asks, mix);
    }
    // None match, and all do.
    let mut none = Made::new(seed, 130, small);
    none.words[1] = none.words[0].iter().map(|tag| !tag).collect();
    none.is_in.fill(false);
    none.check(&all, Mix::AB);
    let mut every = Made::new(seed, 130, small);
    every.words[1] = every.words[0].clone();
    every.is_in.fill(true);
    let masked = every.words[3].iter().zip(&every.payloads);
    every.words[2] = masked
        .map(|(mask, &payload)| mask.wrapping_add(payload as u64))
        .collect();
    every.check(&all, Mix::AB);
}

/// Payloads at the ends of 64 bits, whose sums wrap, and at the ends of what is allowed, whose sums do not.
#[test]
fn payloads_of_all_sizes() {
    let seed = seed();
    let ends = [i64::MIN, i64::MAX, -1, 0, 1 << 62];
    let made = Made::new(seed, 200, |word| ends[(word % 5) as usize]);
    made.check(&[Ask::Sum, Ask::OwnSum], Mix::AB);
    for items in [0, 1, 2, 3, 200, u64::MAX] {
        let most = check_payloads(&[i64::MIN], items).unwrap_err().most;
        assert!(i128::from(most) * i128::from(items) < 1 << 63, "{items}");
        assert_eq!(check_payloads(&[most, 0, -most], items), Ok(()));
        if let Some(more) = most.checked_add(1) {
            let error = check_payloads(&[0, more], items).unwrap_err();
            assert_eq!((error.place, error.value, error.items), (1, more, items));
            assert!(error.to_string().contains("at place 1"), "{error}");
        }
    }
}

/// Tags are compared in all bits that are said, and in no others.
#[test]
fn tags_are_compared_in_their_low_bits() {
    for (bins, bits) in [
        (0, 40),
        (1, 40),
        (2, 41),
        (3, 42),
        (1 << 20, 60),
        ((1 << 20) + 1, 61),
        (1 << 24, 64),
        (u64::MAX, 64),
    ] {
        assert_eq!(Parts::tag_bits_for(bins), bits, "{bins}");
    }
    let tag = 0x0123_4567_89ab_cdef_u64;
    for tag_bits in [1, 40, 63, 64] {
        let parts = Parts {
            tag_bits,
            ..Parts::new(65, RECEIVER, SENDER)
        };
        let mut p = Program::new(2);
        let in_both = Matched::new(&mut p, parts).in_both().clone();
        let in_both = p.open(in_both, SENDER);
        let mut targets: Vec<u64> = (0..64).map(|bit| tag ^ 1 << bit).collect();
        targets.push(tag);
        let inputs = Inputs::new().with(vec![tag; 65]).with(targets);
        let program = p.finish().unwrap();
        let expected: Vec<bool> = (0..65).map(|bit| bit >= tag_bits).collect();
        assert_eq!(
            program.run_locally(&inputs).unwrap()[1].get(in_both),
            expected
        );
    }
}

/// A program of a caller's own: how many payloads of items in both sets are above a limit, and the sum of products with the receiver's
/// numbers.
#[test]
fn programs_go_on_with_single_items() {
    let made = Made::new(seed(), 300, |word| (word as i64) >> 44);
    let mut p = Program::new(2);
    let matched = Matched::new(&mut p, made.parts);
    let payload = matched.payload(&mut p);
    let own = matched.own_payload(&mut p);
    let values = matched.values(&payload);
    let above = (values.gt(1000) & matched.in_both()).cast::<u32>().sum(0);
    let products = values.dot(matched.values(&own));
    let (above, products) = p.open((above, products), RECEIVER);
    let program = p.finish().unwrap();
    let inputs = made.words.iter().cloned();
    let inputs = inputs.fold(Inputs::new(), |inputs, words| inputs.with(words));
    let both: Vec<usize> = (0..300).filter(|&bin| made.is_in[bin]).collect();
    let expected = both
        .iter()
        .filter(|&&bin| made.payloads[bin] > 1000)
        .count() as u32;
    let product = |&bin: &usize| made.payloads[bin] * made.own[bin];
    let sum: i64 = both.iter().map(product).sum();
    let outputs = program.run_locally(&inputs).unwrap();
    assert_eq!(outputs[0].get(above), [expected]);
    assert_eq!(outputs[0].get(products), [sum]);
}

/// Bytes and triples of a sum: a comparison for each bin, and an OT each way.
#[test]
fn sums_cost_hardly_more_than_comparisons() {
    let parts = Parts::new(10_000, RECEIVER, SENDER);
    let bytes = |asks: &[Ask]| {
        let question = Question::new(asks.iter().copied());
        let asked = question.program(parts, Everyone).unwrap();
        let planned = asked.program.plan(Mix::AB, None, &|_| {}).unwrap();
        planned.plan.cost(SENDER).online.bytes_sent
    };
    let (count, sum) = (bytes(&[Ask::Count]), bytes(&[Ask::Sum]));
    // 126 bits of a comparison and 8 bytes and a bit of each OT.
    assert!(count < 10_000 * 16 + 5000, "{count}");
    assert!(sum < 10_000 * 24 + 5000, "{sum}");
}
