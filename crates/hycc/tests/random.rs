//! Random programs of several modules, against what they mean.

use madrigal_circuit::Limits;
use madrigal_hycc::{BitSharing, Flat, Linked, Options, Sharing};
use madrigal_testkit::hycc::{HyccModule, HyccType, op};
use madrigal_testkit::seed;

use crate::common::run;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    fn pick(&mut self, of: &[u32]) -> u32 {
        of[self.below(of.len())]
    }
}

/// Gates of all kinds on words of `width` and bits, some of each of which are made of the others.
fn body(
    random: &mut Random,
    module: &mut HyccModule,
    words: &mut Vec<u32>,
    bits: &mut Vec<u32>,
    width: u32,
) {
    for _ in 0..4 + random.below(12) {
        match random.below(12) {
            0..=4 if !words.is_empty() => {
                let (a, b) = (random.pick(words), random.pick(words));
                words.push(match random.below(4) {
                    0 => module.gate(op::ADD, &[a, b]),
                    1 => module.gate(op::SUB, &[a, b]),
                    2 => module.gate(op::NEG, &[a]),
                    _ => module.gate(op::MUL, &[a, b]),
                });
            }
            5 => words.push(module.constant(width.into(), random.next() >> random.below(64))),
            6 if !words.is_empty() => {
                let word = random.pick(words);
                bits.extend(module.split(word, width));
            }
            7 if !bits.is_empty() => {
                let word: Vec<u32> = (0..width).map(|_| random.pick(bits)).collect();
                words.push(module.combine(&word));
            }
            8 => bits.push(module.gate(op::ONE, &[])),
            _ if !bits.is_empty() => {
                let (a, b) = (random.pick(bits), random.pick(bits));
                bits.push(match random.below(4) {
                    0 => module.gate(op::AND, &[a, b]),
                    1 => module.gate(op::OR, &[a, b]),
                    2 => module.gate(op::XOR, &[a, b]),
                    _ => module.gate(op::NOT, &[a]),
                });
            }
            _ => {}
        }
    }
}

/// A word: of those there are, or of bits.
fn word(random: &mut Random, words: &[u32], bits: &[u32], width: u32) -> Vec<u32> {
    match !words.is_empty() && (bits.is_empty() || random.below(2) == 0) {
        true => vec![random.pick(words)],
        false => (0..width).map(|_| random.pick(bits)).collect(),
    }
}

/// A module of this name with inputs `x` and `y`, and calls of the others.
fn module(random: &mut Random, name: &str, callees: &[&str], width: u32) -> HyccModule {
    let ty = HyccType::int(width.into());
    let mut module = HyccModule::new(name);
    let (mut words, mut bits) = (Vec::new(), Vec::new());
    let mut keep = |random: &mut Random, wires: Vec<u32>| match wires.len() {
        1 => words.push(wires[0]),
        _ => bits.extend(wires.into_iter().filter(|_| random.below(4) > 0)),
    };
    let pin = |random: &mut Random| [1, width as u8][random.below(2)];
    for (input, owner) in [("x", 0), ("y", 1)] {
        let pin = pin(random);
        keep(random, module.input(input, owner, &ty, pin));
    }
    let made: Vec<_> = callees
        .iter()
        .map(|callee| {
            let pin = pin(random);
            module.call(callee, &[("r", ty.clone())], pin).remove(0)
        })
        .collect();
    // In another order than that of their data: a call's return is there once its arguments are.
    for (call, returns) in made.into_iter().enumerate().rev() {
        for argument in ["y", "x"] {
            let from = word(random, &words, &bits, width);
            module.argument(call, argument, &ty, &from);
        }
        match returns.len() {
            1 => words.push(returns[0]),
            _ => bits.extend(returns),
        }
    }
    body(random, &mut module, &mut words, &mut bits, width);
    let from = word(random, &words, &bits, width);
    module.output("r", &ty, &from);
    if name == "mpc_main" {
        for (place, word) in words.iter().enumerate().step_by(3) {
            module.output(&format!("w{place}"), &ty, &[*word]);
        }
        for (place, bit) in bits.iter().enumerate().step_by(5) {
            module.output(&format!("b{place}"), &HyccType::bool(), &[*bit]);
        }
    }
    module
}

fn program(random: &mut Random, width: u32) -> Flat {
    let callees: [(&str, &[&str]); 4] = [
        ("mpc_main", &["a", "b", "a", "c"]),
        ("a", &["b", "c"]),
        ("b", &["c"]),
        ("c", &[]),
    ];
    let modules = callees.map(|(name, callees)| {
        let bytes = module(random, name, callees, width).bytes();
        let module = madrigal_circuit::hycc::Module::read(name, &bytes, &Limits::default());
        let sharing = [BitSharing::Gmw, BitSharing::Yao][random.below(2)];
        (module.unwrap(), sharing)
    });
    let linked = Linked::new(modules.into(), &Limits::default()).unwrap();
    linked.flatten().unwrap()
}

fn inputs(random: &mut Random, flat: &Flat, runs: usize) -> Vec<Vec<Vec<u8>>> {
    let mut bits = |width: u64| {
        let word = match random.below(4) {
            0 => 0,
            1 => u64::MAX,
            _ => random.next(),
        };
        (0..width)
            .map(|bit| (word >> (bit % 64) & 1) as u8)
            .collect()
    };
    let mut run = || {
        flat.inputs
            .iter()
            .map(|input| bits(input.ty.bits()))
            .collect()
    };
    (0..runs).map(|_| run()).collect()
}

/// Options that `parties` parties can run, drawn at random.
fn options(random: &mut Random, parties: usize) -> Options {
    let mut of = |all: &[Sharing]| all[random.below(all.len())];
    let usual = Options::default();
    match (parties, of(&[Sharing::A, Sharing::R])) {
        (2, _) => Options {
            words: of(&[Sharing::A, Sharing::ALPHA]),
            layered: of(&[Sharing::B, Sharing::BETA]),
            garbled: Some(of(&[Sharing::Y, Sharing::Y2, Sharing::BETA])),
            bits: None,
        },
        (3, Sharing::R) => Options {
            words: Sharing::R,
            bits: Some(Sharing::R),
            ..usual
        },
        _ => Options {
            layered: of(&[Sharing::B, Sharing::Y]),
            ..usual
        },
    }
}

/// Random programs by 2, 3 and 5 parties, in the partition that the random modules have and in protocols that are drawn for
/// each of its kinds.
#[test]
fn random_programs_mean_what_they_say() {
    let seed = seed();
    println!("seed {seed}");
    let mut random = Random(seed);
    for round in 0..40 {
        let width = [8, 16, 32, 64][round % 4];
        let flat = program(&mut random, width);
        let runs = [1, 3, 70][random.below(3)];
        let inputs = inputs(&mut random, &flat, runs);
        let parties = [2, 3, 2, 5][(round + round / 4) % 4];
        let options = options(&mut random, parties);
        println!("round {round}: {width} bits, {parties} parties, {runs} runs, {options:?}");
        run(&flat, &options, parties, &inputs);
    }
}

/// Protocols that no conversion joins, or that are for another number of parties.
#[test]
fn protocols_that_do_not_fit_are_told() {
    let flat = program(&mut Random(1), 8);
    let told = |options: Options, parties: usize| {
        let to: Vec<_> = madrigal_core::Party::all(parties).collect();
        let made = madrigal_hycc::Hybrid::new(&flat, &options, parties, 1, &to);
        made.unwrap_err().to_string()
    };
    let usual = Options::default();
    for (options, parties, expected) in [
        (
            Options {
                words: Sharing::ALPHA,
                ..usual
            },
            3,
            "alpha is for 2 parties, not 3",
        ),
        (
            Options {
                layered: Sharing::BETA,
                ..usual
            },
            3,
            "beta is for 2 parties, not 3",
        ),
        (
            Options {
                garbled: Some(Sharing::Y2),
                ..usual
            },
            5,
            "Y2 is for 2 parties, not 5",
        ),
        (
            Options {
                words: Sharing::R,
                ..usual
            },
            3,
            "words in R to bits in B",
        ),
        (
            Options {
                bits: Some(Sharing::R),
                ..usual
            },
            3,
            "words in A to bits in R",
        ),
        (
            Options {
                words: Sharing::B,
                ..usual
            },
            2,
            "on ring elements, A for one, not in B",
        ),
        (
            Options {
                layered: Sharing::ALPHA,
                ..usual
            },
            2,
            "on bits, B for one, not in alpha",
        ),
    ] {
        let told = told(options, parties);
        assert!(told.contains(expected), "{told}");
    }
}
