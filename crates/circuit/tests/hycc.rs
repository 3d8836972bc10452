//! HyCC's modules and bundles: what programs mean, and what is none.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and tells its seed"
)]

use std::path::Path;

use madrigal_circuit::Limits;
use madrigal_circuit::hycc::{BitSharing, Bundle, Flat, LinkError, Linked, Module, Type};
use madrigal_testkit::hycc::{HyccModule, HyccType, op};
use madrigal_testkit::shared_data;
use serde_json::Value;

fn read(file: &str, bytes: &[u8]) -> Module {
    Module::read(file, bytes, &Limits::default()).unwrap()
}

fn link(modules: &[HyccModule]) -> Result<Linked, LinkError> {
    let modules = (0..).zip(modules).map(|(number, module)| {
        let file = format!("{number}.circ");
        (read(&file, &module.bytes()), BitSharing::Yao)
    });
    Linked::new(modules.collect(), &Limits::default())
}

fn bits(value: u64, width: usize) -> Vec<u8> {
    (0..width).map(|bit| (value >> bit & 1) as u8).collect()
}

fn number(bits: &[u8]) -> u64 {
    (0..)
        .zip(bits)
        .fold(0, |all, (at, &bit)| all | u64::from(bit) << at)
}

/// One module with every gate: a's lowest bit decides over `-(a * b - a) + 0xbeef`, bit by bit.
fn every_gate() -> HyccModule {
    let word = HyccType::int(16);
    let mut module = HyccModule::new("mpc_main");
    let a = module.input("INPUT_A", 0, &word, 16)[0];
    let b = module.input("INPUT_B", 1, &word, 1);
    let b_word = module.combine(&b);
    let product = module.gate(op::MUL, &[a, b_word]);
    let less = module.gate(op::SUB, &[product, a]);
    let negative = module.gate(op::NEG, &[less]);
    let constant = module.constant(16, 0xffff_beef);
    let sum = module.gate(op::ADD, &[negative, constant]);
    let (sums, a_bits) = (module.split(sum, 16), module.split(a, 16));
    let one = module.gate(op::ONE, &[]);
    let zero = module.gate(op::NOT, &[one]);
    let keep = module.gate(op::AND, &[a_bits[0], one]);
    let kept: Vec<u32> = sums
        .iter()
        .map(|&bit| module.gate(op::AND, &[bit, keep]))
        .collect();
    let either = module.gate(op::OR, &[a_bits[1], b[1]]);
    let odd = module.gate(op::XOR, &[either, zero]);
    module.output("OUTPUT_again", &word, &b);
    module.output("OUTPUT_kept", &word, &kept);
    module.output("OUTPUT_odd", &HyccType::bool(), &[odd]);
    module.output("OUTPUT_word", &word, &[sum]);
    module
}

#[test]
fn gates_mean_what_they_say() {
    let linked = link(&[every_gate()]).unwrap();
    let flat = linked.flatten().unwrap();
    for (a, b) in [
        (0u16, 0u16),
        (3, 5),
        (0xffff, 2),
        (0x8001, 0x7fff),
        (1234, 4321),
    ] {
        let found = flat.evaluate(&[bits(a.into(), 16), bits(b.into(), 16)]);
        let found: Vec<u64> = found.iter().map(|bits| number(bits)).collect();
        let word = a
            .wrapping_mul(b)
            .wrapping_sub(a)
            .wrapping_neg()
            .wrapping_add(0xbeef);
        let kept = if a & 1 == 1 { word } else { 0 };
        let odd = (a | b) >> 1 & 1;
        assert_eq!(found, [b, kept, odd, word].map(u64::from), "{a} {b}");
    }
}

/// `main` calls `twice` (on words) and `most` (on bits), the second before the first in the file, with
/// arguments in another order than the callee has them.
fn calls() -> [HyccModule; 3] {
    let byte = HyccType::int(8);
    let mut main = HyccModule::new("mpc_main");
    let a = main.input("INPUT_A", 0, &byte, 8)[0];
    let b = main.input("INPUT_B", 1, &byte, 8)[0];
    let both = main.call("both", &[("return_value", byte.clone())], 8)[0][0];
    let twice = main.call("twice", &[("return_value", byte.clone())], 8)[0][0];
    let sum = main.gate(op::ADD, &[twice, b]);
    main.output("return_value", &byte, &[both]);
    main.argument(0, "second", &byte, &[sum]);
    main.argument(0, "first", &byte, &[a]);
    main.argument(1, "x", &byte, &[a]);
    let mut twice = HyccModule::new("twice");
    let x = twice.input("x", 0, &byte, 8)[0];
    let sum = twice.gate(op::ADD, &[x, x]);
    twice.output("return_value", &byte, &[sum]);
    // first & !second
    let mut both = HyccModule::new("both");
    let first = both.input("first", 0, &byte, 1);
    let second = both.input("second", 0, &byte, 1);
    let of = first.iter().zip(&second).map(|(&a, &b)| {
        let b = both.gate(op::NOT, &[b]);
        both.gate(op::AND, &[a, b])
    });
    let of: Vec<u32> = of.collect();
    both.output("return_value", &byte, &of);
    [main, twice, both]
}

#[test]
fn calls_are_resolved_by_name() {
    let flat = link(&calls()).unwrap().flatten().unwrap();
    for (a, b) in [(0u8, 0u8), (0xff, 1), (0x5a, 0x33)] {
        let found = flat.evaluate(&[bits(a.into(), 8), bits(b.into(), 8)]);
        let expected = a & !a.wrapping_add(a).wrapping_add(b);
        assert_eq!(number(&found[0]), u64::from(expected));
    }
}

#[test]
fn types_tell_their_leaves() {
    let ty = HyccType::members(&[("x", HyccType::int(8).array(2)), ("y", HyccType::bool())]);
    let mut module = HyccModule::new("m");
    let wires = module.input("INPUT_A", 0, &ty.array(2), 1);
    module.output("r", &ty.array(2), &wires);
    let module = read("m.circ", &module.bytes());
    let ty: &Type = &module.inputs()[0].ty;
    assert_eq!(ty.to_string(), "{x: int8[2], y: bool}[2]");
    let places: Vec<_> = ty
        .leaves()
        .iter()
        .map(|leaf| (leaf.first, leaf.bits))
        .collect();
    assert_eq!(places, [(0, 8), (8, 8), (16, 1), (17, 8), (25, 8), (33, 1)]);
}

#[test]
fn modules_that_do_not_fit_are_refused() {
    let refused = |modules: &[HyccModule]| link(modules).unwrap_err().to_string();
    let [main, twice, both] = calls();
    let with = |modules: &[&HyccModule]| {
        let modules: Vec<_> = modules.iter().map(|&module| module.clone()).collect();
        refused(&modules)
    };
    assert!(with(&[&main, &twice]).contains("calls \"both\", which no file has"));
    assert!(with(&[&twice, &both]).contains("no module is named mpc_main"));
    assert!(with(&[&main, &twice, &both, &twice]).contains("both the module \"twice\""));
    let byte = HyccType::int(8);
    let other = |input: &str, width, output: &str| {
        let mut other = HyccModule::new("twice");
        let ty = HyccType::int(width);
        let x = other.input(input, 0, &ty, 1);
        other.output(output, &ty, &x);
        other
    };
    let told = with(&[&main, &other("z", 8, "return_value"), &both]);
    assert!(told.contains("no argument \"z\""), "{told}");
    let told = with(&[&main, &other("x", 16, "return_value"), &both]);
    assert!(told.contains("of 8 bits, where it has 16"), "{told}");
    let told = with(&[&main, &other("x", 8, "result"), &both]);
    assert!(told.contains("a return \"return_value\""), "{told}");
    // A module that calls itself.
    let mut own = HyccModule::new("mpc_main");
    let x = own.input("x", 0, &byte, 8);
    let r = own.call("mpc_main", &[("r", byte.clone())], 8);
    own.output("r", &byte, &r[0]);
    own.argument(0, "x", &byte, &x);
    assert!(refused(&[own]).contains("calls itself"));
    // A call whose argument is its return.
    let mut circle = HyccModule::new("mpc_main");
    let r = circle.call("twice", &[("return_value", byte.clone())], 8);
    circle.output("r", &byte, &r[0]);
    circle.argument(0, "x", &byte, &r[0]);
    let told = Module::read("c.circ", &circle.bytes(), &Limits::default()).unwrap_err();
    assert!(
        told.to_string().contains("depend on what it returns"),
        "{told}"
    );
}

/// Each module calls the one below it twice: 2^40 gates in a few kilobytes.
#[test]
fn calls_do_not_multiply_without_limit() {
    let byte = HyccType::int(8);
    let name = |level: usize| match level {
        0 => "mpc_main".to_owned(),
        _ => format!("m{level}"),
    };
    let of = |level: usize| {
        let mut module = HyccModule::new(&name(level));
        let x = module.input("x", 0, &byte, 8);
        let r: Vec<_> = (0..2)
            .map(|_| module.call(&name(level + 1), &[("r", byte.clone())], 8)[0][0])
            .collect();
        let sum = module.gate(op::ADD, &[r[0], r[1]]);
        module.output("r", &byte, &[sum]);
        (0..2).for_each(|call| module.argument(call, "x", &byte, &x));
        module
    };
    let mut modules: Vec<_> = (0..40).map(of).collect();
    let mut last = HyccModule::new(&name(40));
    let x = last.input("x", 0, &byte, 8);
    last.output("r", &byte, &x);
    modules.push(last);
    let refused = link(&modules).unwrap_err().to_string();
    assert!(refused.contains("wires with all of its calls"), "{refused}");
}

/// Every prefix of a file, and the file with any byte changed, is read or refused, and soon.
#[test]
fn damage_is_read_or_refused() {
    for module in calls().iter().chain([&every_gate()]) {
        let whole = module.bytes();
        for end in 0..whole.len() {
            let cut = Module::read("cut", &whole[..end], &Limits::default());
            assert!(cut.is_err(), "{end} of {} bytes", whole.len());
            for byte in [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xc5, 0xe0, 0xff] {
                let mut changed = whole.clone();
                changed[end] = byte;
                if let Ok(module) = Module::read("changed", &changed, &Limits::default()) {
                    let alone = Linked::new(vec![(module, BitSharing::Gmw)], &Limits::default());
                    drop(alone.map(|linked| linked.flatten()));
                }
            }
        }
        let mut longer = whole.clone();
        longer.push(0);
        let refused = Module::read("longer", &longer, &Limits::default()).unwrap_err();
        assert_eq!(refused.offset, whole.len() as u64);
    }
}

/// Modules of which each calls the next one twice, and the last has these gates.
fn doubled(depth: usize, ones: usize) -> Vec<HyccModule> {
    let name = |at: usize| match at {
        0 => "mpc_main".to_owned(),
        _ => format!("m{at}"),
    };
    let caller = |at: usize| {
        let mut module = HyccModule::new(&name(at));
        for _ in 0..2 {
            module.call(&name(at + 1), &[], 1);
        }
        module
    };
    let mut last = HyccModule::new(&name(depth));
    for _ in 0..ones {
        last.gate(op::ONE, &[]);
    }
    (0..depth).map(caller).chain([last]).collect()
}

/// 42 modules of 60 bytes that each call the next one twice had 2^42 calls, which were followed one by one: reading them
/// did not end. With one gate at the end of 28 of them, reading took 6 GB.
#[test]
fn calls_that_double_are_refused_before_they_are_followed() {
    for (depth, ones) in [(42, 0), (42, 1), (28, 0), (28, 1), (100, 0)] {
        let modules = doubled(depth, ones);
        let bytes: usize = modules.iter().map(|module| module.bytes().len()).sum();
        assert!(bytes < 8_000, "{bytes}");
        let refused = link(&modules).unwrap_err();
        let memory = matches!(refused, LinkError::Memory { .. });
        let wires = matches!(refused, LinkError::Limit { .. });
        assert!(memory || wires && depth > 28, "{depth}: {refused}");
    }
    let flat = link(&doubled(10, 3)).unwrap().flatten().unwrap();
    assert_eq!(flat.nodes.len(), 3 << 10);
}

/// A limit of bytes is one for all that calls make.
#[test]
fn a_program_takes_no_more_than_its_limit_of_bytes() {
    let modules = || {
        let modules = doubled(6, 100);
        let read = |module: &HyccModule| (read("m.circ", &module.bytes()), BitSharing::Yao);
        modules.iter().map(read).collect()
    };
    let limits = |bytes| Limits {
        bytes,
        ..Limits::default()
    };
    assert!(Linked::new(modules(), &limits(2 << 20)).is_ok());
    let refused = Linked::new(modules(), &limits(1 << 20)).unwrap_err();
    assert!(
        refused.to_string().contains("the program has 6400 wires"),
        "{refused}"
    );
}

/// Calls as deep as they may go, on a small stack: how deep a file calls is not how deep the reader does.
#[test]
fn deep_calls_need_no_stack() {
    let byte = HyccType::int(8);
    let link_in_one = |index: usize| {
        let name = match index {
            0 => "mpc_main".to_owned(),
            _ => format!("m{index}"),
        };
        let mut module = HyccModule::new(&name);
        let a = module.input("a", 0, &byte, 8)[0];
        match index {
            127 => {
                let sum = module.gate(op::ADD, &[a, a]);
                module.output("r", &byte, &[sum]);
            }
            _ => {
                let next = format!("m{}", index + 1);
                let made = module.call(&next, &[("r", byte.clone())], 8)[0][0];
                let sum = module.gate(op::ADD, &[made, made]);
                module.output("r", &byte, &[sum]);
                module.argument(0, "a", &byte, &[a]);
            }
        }
        module
    };
    let modules: Vec<_> = (0..128).map(link_in_one).collect();
    let small = std::thread::Builder::new().stack_size(64 << 10);
    let made = small.spawn(move || link(&modules).unwrap().flatten().unwrap().nodes.len());
    assert_eq!(made.unwrap().join().unwrap(), 129);
}

/// A name that ended a line was written as another variable's value.
#[test]
fn names_are_seen_as_what_they_are() {
    for name in ["a\nOUTPUT_b := 1;", "a\u{1b}[2J", "a\u{202e}b", "a\u{2028}"] {
        let mut module = HyccModule::new("mpc_main");
        let a = module.input("INPUT_A", 0, &HyccType::int(8), 8);
        module.output(name, &HyccType::int(8), &a);
        let refused = Module::read("m.circ", &module.bytes(), &Limits::default()).unwrap_err();
        assert!(refused.to_string().contains("cannot be seen"), "{refused}");
    }
}

/// Several bytes changed at random: what is still read can be put together and evaluated.
#[test]
fn random_damage_is_read_or_refused() {
    let limits = Limits {
        gates: 1 << 12,
        wires: 1 << 14,
        input_bits: 1 << 12,
        values: 64,
        bytes: 1 << 24,
    };
    let mut state = madrigal_testkit::seed();
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let whole = calls().map(|module| module.bytes());
    let alone = [every_gate().bytes()];
    let mut read = 0;
    for _ in 0..20_000 {
        let mut files = match random(2) {
            0 => whole.to_vec(),
            _ => alone.to_vec(),
        };
        for _ in 0..1 + random(3) {
            let file = random(files.len());
            let place = random(files[file].len());
            files[file][place] = match random(3) {
                0 => random(256) as u8,
                1 => files[file][place].wrapping_add(1),
                _ => files[file][place] ^ 1 << random(8),
            };
        }
        let modules = files.iter().map(|bytes| {
            let module = Module::read("changed", bytes, &limits)?;
            Ok((module, BitSharing::Gmw))
        });
        let modules: Result<Vec<_>, madrigal_circuit::hycc::ModuleError> = modules.collect();
        let Ok(modules) = modules else { continue };
        let flat = Linked::new(modules, &limits).and_then(|linked| linked.flatten());
        let Ok(flat) = flat else { continue };
        let ones = |width: u64| vec![1; width as usize];
        let inputs: Vec<_> = flat
            .inputs
            .iter()
            .map(|input| ones(input.ty.bits()))
            .collect();
        for (output, bits) in flat.outputs.iter().zip(flat.evaluate(&inputs)) {
            assert_eq!(bits.len() as u64, output.ty.bits());
        }
        read += 1;
    }
    println!("{read} of 20000 were programs");
    assert!(read > 500);
}

/// Announcements of a few bytes take no memory.
#[test]
fn announcements_take_no_memory() {
    let header = |counts: [u32; 6]| {
        let mut bytes = vec![0x6c, 0xc0, 0x11, 0xcb, 5];
        counts
            .iter()
            .for_each(|count| bytes.extend(count.to_le_bytes()));
        bytes.extend(b"m\0\0");
        bytes
    };
    let told = |bytes: &[u8]| Module::read("m.circ", bytes, &Limits::default()).unwrap_err();
    // Very many gates, pins, inputs and calls.
    for counts in [
        [u32::MAX, 0, 0, 0, 0, 0],
        [0, u32::MAX, 0, 0, 0, 0],
        [0, 0, 0, u32::MAX, 0, 0],
        [0, 0, u32::MAX, 0, 0, 0],
        [0, 0, 0, 0, u32::MAX, 0],
        [0, 0, 0, 0, 0, u32::MAX],
        [1 << 26, 1 << 24, 1 << 30, 1 << 16, 1 << 16, 1 << 20],
    ] {
        drop(told(&header(counts)));
    }
    // An array of arrays of arrays of 2^60 bits.
    let mut types = header([0, 1, 0, 1, 0, 0]);
    types.extend(b"x\0\0");
    for _ in 0..40 {
        types.extend([3, 0xff, 0xff, 0x3f]);
    }
    assert!(told(&types).to_string().contains("the limit is"));
    // Groups of groups of groups of pins, and of nothing.
    let mut pins = header([0, 4, 0, 0, 0, 0]);
    for _ in 0..9 {
        pins.extend([0x40, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    }
    pins.push(1);
    assert!(told(&pins).to_string().contains("input pins"));
    let end = pins.len() - 1;
    pins.truncate(end);
    pins.extend([0x80, 0]);
    assert!(told(&pins).to_string().contains("input pins"));
    pins.truncate(end);
    pins.extend([0x40; 200]);
    drop(told(&pins));
}

#[test]
fn bundles_name_files_and_sharings() {
    let text = b"\xef\xbb\xbfa<int32[2],b:c>@arith.circ\r\n\n sub/b@bool_depth.circ \nb@bool_size.circ : gmw\n\
        x:y@bool_depth.circ:yao\nplain.circ\n";
    let bundle = Bundle::read("p.cmb", text).unwrap();
    let found: Vec<_> = bundle
        .entries
        .iter()
        .map(|entry| (&entry.path[..], entry.sharing.letter(), entry.line))
        .collect();
    assert_eq!(
        found,
        [
            ("a<int32[2],b:c>@arith.circ", "Y", 1),
            ("sub/b@bool_depth.circ", "B", 3),
            ("b@bool_size.circ", "B", 4),
            ("x:y@bool_depth.circ", "Y", 5),
            ("plain.circ", "Y", 6),
        ]
    );
    for (text, told) in [
        (
            &b"a.circ : bgw\n"[..],
            "p.cmb, line 1: \"bgw\" is no sharing",
        ),
        (b"a.circ\n\xff\n", "p.cmb, line 2: the line is no text"),
        (b"\n  \n", "p.cmb: the bundle names no module"),
    ] {
        assert!(
            Bundle::read("p.cmb", text)
                .unwrap_err()
                .to_string()
                .starts_with(told)
        );
    }
}

fn load(path: &Path) -> Flat {
    let folder = path.parent().unwrap();
    let (name, text) = (path.display().to_string(), std::fs::read(path).unwrap());
    let entries = match name.ends_with(".cmb") {
        true => Bundle::read(&name, &text).unwrap().entries,
        false => {
            let module = Module::read(&name, &text, &Limits::default()).unwrap();
            let linked = Linked::new(vec![(module, BitSharing::Gmw)], &Limits::default());
            return linked.unwrap().flatten().unwrap();
        }
    };
    let modules = entries.iter().map(|entry| {
        let path = folder.join(&entry.path);
        let bytes = std::fs::read(&path).unwrap();
        (read(&path.display().to_string(), &bytes), entry.sharing)
    });
    let linked = Linked::new(modules.collect(), &Limits::default());
    linked.unwrap().flatten().unwrap()
}

/// The bits of a hexadecimal number.
fn flat(value: &Value, width: usize) -> Vec<u8> {
    let digits = value.as_str().unwrap().trim_start_matches("0x");
    let nibbles = digits
        .chars()
        .rev()
        .map(|digit| digit.to_digit(16).unwrap());
    let mut bits: Vec<u8> = nibbles
        .flat_map(|nibble| (0..4).map(move |bit| (nibble >> bit & 1) as u8))
        .collect();
    assert!(bits.iter().skip(width).all(|&bit| bit == 0), "{digits}");
    bits.resize(width, 0);
    bits
}

/// All bundles and single files of the collection, where it is at hand.
#[test]
fn all_shared_data() {
    let Some(shared) = shared_data() else { return };
    let folder = shared.join("data/circuits/hycc");
    let answers = std::fs::read_to_string(folder.join("known_answers.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    let mut count = 0;
    for answer in answers["programs"].as_object().unwrap().values() {
        let lists = ["bundles", "files"]
            .into_iter()
            .filter_map(|key| answer[key].as_array());
        for file in lists.flatten() {
            let file = file.as_str().unwrap();
            let program = load(&folder.join(file));
            for case in answer["cases"].as_array().unwrap() {
                let given = program
                    .inputs
                    .iter()
                    .map(|input| flat(&case["flat_inputs"][&input.name], input.ty.bits() as usize));
                let given: Vec<_> = given.collect();
                let found = program.evaluate(&given);
                for (output, found) in program.outputs.iter().zip(found) {
                    let expected = &case["flat_outputs"][&output.name];
                    assert_eq!(
                        found,
                        flat(expected, found.len()),
                        "{file}: {}",
                        output.name
                    );
                }
                count += 1;
            }
        }
    }
    println!("{count} answers");
    assert!(count > 300, "{count} answers in {}", folder.display());
}
