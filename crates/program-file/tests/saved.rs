//! What is saved is what is loaded, to the digest and the byte.

use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_noise::{Epsilon, Noise};
use madrigal_program::generator::Recipe;
use madrigal_program::ir::Elementwise;
use madrigal_program::lower::Mix;
use madrigal_program::{
    Client, Computation, Everyone, Fixed, Inputs, Party, Permutation, Plain, Program, Rounding,
    Stages, Tensor, Type,
};
use madrigal_program_file::{ProgramFile, SaveError, SaveProgram};
use madrigal_testkit::seed;

#[track_caller]
fn same(program: &Computation, what: &str) -> Computation {
    let bytes = program
        .to_bytes()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let again = Computation::from_bytes(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    if let Some((a, b)) = (program.describe().iter().zip(again.describe())).find(|(a, b)| *a != b) {
        panic!("{what}: {a} and {b}");
    }
    assert_eq!(program.digest(), again.digest(), "{what}");
    assert_eq!(program.mix(), again.mix(), "{what}");
    assert_eq!(again.to_bytes().unwrap(), bytes, "{what}: bytes");
    let lines = |program: &Computation| {
        let nodes = program
            .graph()
            .nodes()
            .iter()
            .map(|node| node.at.to_string());
        nodes.collect::<Vec<_>>()
    };
    assert_eq!(lines(program), lines(&again), "{what}: lines");
    again
}

#[test]
fn random_programs_are_loaded_as_they_were_saved() {
    let seed = seed();
    for round in 0..250 {
        let parties = [2, 3, 5][round % 3];
        let recipe = Recipe {
            seed: seed.wrapping_add(round as u64),
            parties,
            operations: if round % 4 == 0 { 50 } else { 8 },
            mix: [Mix::AB, Mix::R, Mix::B][round % 3],
            functions: round % 2 == 0,
        };
        let (program, inputs) = recipe.cook().unwrap();
        let what = format!("{recipe:?}");
        let again = same(&program, &what);
        let outputs = |program: &Computation| {
            let outputs = program.simulate(&inputs).unwrap();
            let codes = outputs
                .arrays()
                .flatten()
                .map(|array| array.codes().collect::<Vec<_>>());
            codes.collect::<Vec<_>>()
        };
        assert_eq!(outputs(&program), outputs(&again), "{what}");
    }
}

/// Noise is kept, and so is the privacy that follows from it; files whose noise is used twice do not pass for private.
#[test]
fn noise_is_kept() {
    let clinic = Client::new("clinic");
    let noisy = |twice: bool| {
        let mut p = Program::new(3);
        let ill = p.input_named::<bool>("ill", &clinic, [11]);
        let noise = Noise::new(0.25, 1e-9, 1).unwrap();
        let drawn = p.noise::<i32>(noise, ());
        let count = ill.cast::<i32>().sum(0);
        let _ = p.open_named("ill", &count + &drawn, &clinic);
        if twice {
            let _ = p.open_named("well", -count + drawn, &clinic);
        }
        p.finish().unwrap()
    };
    let program = noisy(false);
    let privacy = same(&program, "noise").privacy();
    assert_eq!(privacy, program.privacy());
    assert_eq!(privacy.unwrap().epsilon, Epsilon::new(0.25).unwrap());
    let error = same(&noisy(true), "noise").privacy().unwrap_err();
    assert!(error.why.contains("more than once"), "{error}");
}

/// What random programs lack: names, circuits, requirements, every kind of receiver, convolutions, shuffles, other roundings and mixes.
#[test]
fn all_parts_of_a_program_are_kept() {
    let clinic = Client::new("clinic");
    let mut b = Builder::new("nand");
    let (x, y) = (b.input(8), b.input(8));
    let both = b.and_all(&x, &y);
    let nand = b.not_all(&both);
    b.output(&nand);
    let nand = b.finish();
    let mut p = Program::new(3)
        .with_default(Mix::AY)
        .with_rounding(Rounding::Probabilistic);
    let flags = p.input_named::<bool>("flags", &clinic, [11]);
    let bytes = p.input::<u8>(Party::new(2), [2, 3]);
    let unused = p.input_named::<u64>("unused", Party::new(1), [4]);
    let prices = p.input_named::<Fixed<i64, 16>>("prices", Party::new(0), [2, 3]);
    let images = p.input::<i32>(Party::new(1), [1, 2, 5, 5]);
    let filters = p.constant(([2, 2, 3, 3], (0..36).collect::<Vec<i32>>()));
    let circuit = p.circuit(&nand, &[&bytes.untyped(), &bytes.untyped()], &[u8::TYPE]);
    p.require_named("no price is below 0", &prices.ge(0.0));
    p.require(&bytes.within(..200));
    let window = madrigal_program::Window::default();
    let convolved = images.untyped().convolve(&filters.untyped(), window);
    p.open_named("circuit", circuit[0].typed::<u8>(), Everyone);
    p.open_named("flags", flags.any(0), (Party::new(1), &clinic));
    p.open((&prices * &prices).exp(), &clinic);
    p.open_tensor(Some("convolved"), &convolved, Party::new(0));
    for shuffled in Tensor::shuffle(&[&bytes.untyped(), &prices.untyped()]) {
        p.open_tensor(None, &shuffled, Everyone);
    }
    let order = Permutation::sorting(&[(&flags.untyped(), true)]);
    let random = Permutation::random(&mut p, 11);
    let order = order.then(&random).inverse();
    p.open_tensor(None, &order.apply(&[&flags.untyped()])[0], Everyone);
    p.open_tensor(None, &order.places(), Everyone);
    p.open(p_none(&unused), Everyone);
    let program = p.finish().unwrap();
    let again = same(&program, "all parts");
    assert_eq!(again.inputs().len(), 5);
    assert_eq!(again.requirements(), program.requirements());
    for (one, other) in program.outputs().iter().zip(again.outputs()) {
        assert_eq!(
            (&one.to, &one.name, &one.tensor_type),
            (&other.to, &other.name, &other.tensor_type)
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.mad");
    program.save(&path).unwrap();
    assert_eq!(Computation::load(&path).unwrap().digest(), program.digest());
    let file = ProgramFile::open(&path, &Default::default()).unwrap();
    assert_eq!(file.dimensions(), &[] as &[String]);
}

/// A view of no elements.
fn p_none(value: &madrigal_program::Secret<u64>) -> madrigal_program::Secret<u64> {
    value.slice(0, 2..2)
}

/// Numbers beside the text that a file's bytes are: each type at the ends of its range.
#[test]
fn constants_of_all_types_are_kept() {
    fn kept<T: Plain>(codes: &[u128]) {
        let numbers: Vec<T> = codes.iter().map(|&code| T::decode(code)).collect();
        let mut p = Program::new(2);
        let constant = p.constant(numbers.clone());
        let opened = p.open(constant, Everyone);
        let program = p.finish().unwrap();
        let again = same(&program, &T::TYPE.to_string());
        assert_eq!(again.simulate(&Inputs::new()).unwrap().get(opened), numbers);
    }
    let codes = [
        0,
        1,
        2,
        127,
        128,
        255,
        1 << 15,
        u128::MAX,
        u128::MAX >> 1,
        1 << 127,
    ];
    kept::<bool>(&codes);
    kept::<u8>(&codes);
    kept::<u16>(&codes);
    kept::<u32>(&codes);
    kept::<u64>(&codes);
    kept::<u128>(&codes);
    kept::<i8>(&codes);
    kept::<i128>(&codes);
    kept::<Fixed<i16, 6>>(&codes);
    kept::<Fixed<i128, 40>>(&codes);
    kept::<u8>(&[]);
}

struct Own;

impl Elementwise for Own {
    fn name(&self) -> String {
        "own".into()
    }

    fn results(&self, operands: &[Type]) -> Result<Vec<Type>, String> {
        Ok(operands.to_vec())
    }

    fn evaluate(&self, operands: &[Vec<u128>]) -> Vec<Vec<u128>> {
        operands.to_vec()
    }

    fn build(
        &self,
        _: &mut Builder,
        operands: &[Vec<madrigal_circuit::Wire>],
    ) -> Vec<Vec<madrigal_circuit::Wire>> {
        operands.to_vec()
    }
}

#[test]
fn what_files_do_not_hold_is_told_with_its_line() {
    let mut p = Program::new(2);
    let x = p.input::<u8>(Party::new(0), ());
    let own = p.each(Arc::new(Own), &[&x.untyped()], 1);
    p.open(own[0].typed::<u8>(), Everyone);
    let error = p.finish().unwrap().to_bytes().unwrap_err();
    let SaveError::Operation { at, operation } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (operation.as_str(), at.file().ends_with("saved.rs")),
        ("own", true)
    );
    let stages = Stages::simulated(2);
    let mut p = stages.program();
    let x = p.input::<u8>(Party::new(0), ());
    p.keep(&x);
    let error = p.finish().unwrap().to_bytes().unwrap_err();
    assert!(matches!(error, SaveError::Stage { .. }), "{error}");
}
