//! Convolutions, windows and padding against their definitions, on secrets and on untyped tensors.

use madrigal_circuit::Goal;
use madrigal_engine::{Extension, Matrices, Origin};
use madrigal_program::lower::Mix;
use madrigal_program::{
    Array, Everyone, Fixed, Inputs, Party, Program, Rounding, Shape, Type, Window,
};

use crate::lowering::agrees;
use crate::random::Random;
use crate::running::{runs, runs_with};

const ALICE: Party = Party::new(0);
const BOB: Party = Party::new(1);

/// Sizes of images `[images, channels, rows, columns]` and filters.
type Sizes = ([usize; 4], [usize; 4], Window);

fn cases() -> Vec<Sizes> {
    let plain = Window::default();
    let padded = Window {
        padding: [[1, 0], [2, 1]],
        stride: [2, 1],
        ..plain
    };
    let grouped = Window {
        groups: 2,
        dilation: [2, 1],
        padding: [[1, 1], [0, 0]],
        ..plain
    };
    vec![
        ([1, 1, 1, 1], [1, 1, 1, 1], plain),
        ([1, 2, 4, 5], [3, 2, 3, 2], plain),
        ([2, 1, 4, 3], [2, 1, 2, 2], padded),
        ([2, 4, 4, 4], [6, 2, 2, 3], grouped),
        ([0, 1, 3, 3], [1, 1, 2, 2], plain),
    ]
}

fn elements(random: &mut Random, axes: &[usize]) -> Vec<i32> {
    let count = axes.iter().product();
    let element = || (random.half() >> 40) as i32 - (1 << 23);
    std::iter::repeat_with(element).take(count).collect()
}

/// By the definition.
fn expected((image, filter, window): &Sizes, images: &[i32], filters: &[i32]) -> Vec<i32> {
    let length = |axis: usize| {
        let [before, after] = window.padding[axis];
        let reach = window.dilation[axis] * (filter[2 + axis] - 1) + 1;
        (image[2 + axis] + before + after - reach) / window.stride[axis] + 1
    };
    let pixel = |b: usize, channel: usize, row: isize, column: isize| {
        let inside = row >= 0 && column >= 0;
        let (row, column) = (row as usize, column as usize);
        match inside && row < image[2] && column < image[3] {
            true => images[((b * image[1] + channel) * image[2] + row) * image[3] + column],
            false => 0,
        }
    };
    let mut out = Vec::new();
    for b in 0..image[0] {
        for f in 0..filter[0] {
            let group = f / (filter[0] / window.groups);
            for r in 0..length(0) {
                for c in 0..length(1) {
                    let mut sum = 0_i32;
                    for i in 0..filter[1] {
                        for (y, x) in
                            (0..filter[2]).flat_map(|y| (0..filter[3]).map(move |x| (y, x)))
                        {
                            let at = |axis: usize, output: usize, offset: usize| {
                                (output * window.stride[axis] + offset * window.dilation[axis])
                                    as isize
                                    - window.padding[axis][0] as isize
                            };
                            let weight = ((f * filter[1] + i) * filter[2] + y) * filter[3] + x;
                            let pixel = pixel(b, group * filter[1] + i, at(0, r, y), at(1, c, x));
                            sum = sum.wrapping_add(pixel.wrapping_mul(filters[weight]));
                        }
                    }
                    out.push(sum);
                }
            }
        }
    }
    out
}

#[test]
fn convolutions_are_what_their_definition_says() {
    let mut random = Random::fresh();
    for case in cases() {
        let (image, filter, window) = case;
        let (images, filters) = (
            elements(&mut random, &image),
            elements(&mut random, &filter),
        );
        for public in [false, true] {
            let mut p = Program::new(2);
            let x = p.input::<i32>(ALICE, image);
            let y = match public {
                true => p.constant((filter, filters.clone())),
                false => p.input::<i32>(BOB, filter),
            };
            let opened = p.open(x.convolve(y, window), Everyone);
            let program = p.finish().expect("a program that can be");
            let mut inputs = Inputs::new().with((image, images.clone()));
            if !public {
                inputs = inputs.with((filter, filters.clone()));
            }
            let outputs = program.simulate(&inputs).expect("inputs as declared");
            assert_eq!(
                outputs.get(opened),
                expected(&case, &images, &filters),
                "{case:?}"
            );
            for mix in [Mix::AB, Mix::B, Mix::ALPHA_BETA] {
                let what = format!("{case:?}, public filters {public}");
                agrees(&program, &inputs, mix, Goal::Size, &what);
                runs(&program, &inputs, mix, Goal::Size, &what);
            }
        }
    }
}

/// In R, and among more parties, with a fixed point.
#[test]
fn convolutions_of_numbers_are_rounded_once() {
    type Number = Fixed<i32, 8>;
    let image: Vec<Number> = (0..18)
        .filter_map(|i| Number::from_f64(f64::from(i) * 0.37 - 2.0))
        .collect();
    let filter: Vec<Number> = (0..8)
        .filter_map(|i| Number::from_f64(1.5 - f64::from(i) * 0.4))
        .collect();
    for (mix, parties) in [(Mix::R, 3), (Mix::AB, 3), (Mix::AB, 5)] {
        let mut p = Program::new(parties);
        let x = p.input::<Number>(ALICE, [1, 2, 3, 3]);
        let y = p.input::<Number>(BOB, [1, 2, 2, 2]);
        let opened = p.open(x.convolve(y, Window::default()), Everyone);
        let program = p.finish().expect("a program that can be");
        let inputs = Inputs::new()
            .with(([1, 2, 3, 3], image.clone()))
            .with(([1, 2, 2, 2], filter.clone()));
        let outputs = program.simulate(&inputs).expect("inputs as declared");
        let raw = |numbers: &[Number]| numbers.iter().map(|n| n.raw()).collect::<Vec<_>>();
        let case = ([1, 2, 3, 3], [1, 2, 2, 2], Window::default());
        let sums = expected(&case, &raw(&image), &raw(&filter));
        let rounded: Vec<i32> = sums.iter().map(|sum| sum >> 8).collect();
        assert_eq!(raw(&outputs.get(opened)), rounded);
        runs(
            &program,
            &inputs,
            mix,
            Goal::Size,
            "a convolution of numbers",
        );
    }
}

/// One convolution for all rows of a map: with the same filters, and with their own.
#[test]
fn rows_of_a_map_are_convolved_together() {
    let mut random = Random::fresh();
    let images = elements(&mut random, &[3, 2, 2, 4, 4]);
    let filters = elements(&mut random, &[3, 2, 1, 2, 3]);
    let window = Window {
        groups: 2,
        padding: [[1, 0], [0, 0]],
        ..Window::default()
    };
    for own in [true, false] {
        let mut p = Program::new(2);
        let x = p.input::<i32>(ALICE, [3, 2, 2, 4, 4]);
        let y = p.input::<i32>(BOB, [3, 2, 1, 2, 3]);
        let one = y.at(0, 1);
        let rows = match own {
            true => p.map((x, y), |_, (x, y)| x.convolve(y, window)),
            false => p.map(x, |_, x| x.convolve(&one, window)),
        };
        let opened = p.open(rows, Everyone);
        let program = p.finish().expect("a program that can be");
        let inputs = Inputs::new()
            .with(([3, 2, 2, 4, 4], images.clone()))
            .with(([3, 2, 1, 2, 3], filters.clone()));
        let outputs = program.simulate(&inputs).expect("inputs as declared");
        let case = ([2, 2, 4, 4], [2, 1, 2, 3], window);
        let mut all = Vec::new();
        for row in 0..3 {
            let filters = match own {
                true => &filters[row * 12..][..12],
                false => &filters[12..24],
            };
            all.extend(expected(&case, &images[row * 64..][..64], filters));
        }
        assert_eq!(outputs.get(opened), all);
        for mix in [Mix::AB, Mix::ALPHA_BETA, Mix::B] {
            runs(&program, &inputs, mix, Goal::Size, "rows convolved");
        }
    }
}

/// A job whose matrix triples are made by encryption gives the same, at the declared cost.
#[test]
fn products_from_encrypted_matrices() {
    let mut random = Random::fresh();
    let image = [2, 2, 5, 5];
    let images = elements(&mut random, &image);
    let filters = elements(&mut random, &[4, 1, 3, 3]);
    let matrix = elements(&mut random, &[5, 7]);
    let window = Window {
        groups: 2,
        ..Window::default()
    };
    for (mix, parties, threads) in [
        (Mix::AB, 2, 1),
        (Mix::AB, 3, 1),
        (Mix::ALPHA_BETA, 2, 1),
        (Mix::AB, 2, 2),
    ] {
        let mut p = Program::new(parties);
        let x = p.input::<i32>(ALICE, image);
        let y = p.input::<i32>(BOB, [4, 1, 3, 3]);
        let z = p.input::<i32>(BOB, [5, 7]);
        let made = x.convolve(y, window).slice(3, ..2).reshape([8, 3, 2]);
        let product = z.slice(1, ..2).matmul(made.transpose());
        let positive = product.gt(0);
        p.open((product, positive), Everyone);
        let program = p.finish().expect("a program that can be");
        let inputs = Inputs::new()
            .with((image, images.clone()))
            .with(([4, 1, 3, 3], filters.clone()))
            .with(([5, 7], matrix.clone()));
        let origin = Origin::Ot {
            extension: Extension::default(),
            threads,
            matrices: Matrices::Lattice,
        };
        let how = (mix, Goal::Size);
        runs_with(&program, &inputs, how, "encrypted matrices", &|spec| {
            (spec.origin, spec.threads) = (origin.clone(), threads);
        });
    }
}

/// Shapes that do not fit are errors of the program.
#[test]
fn convolutions_that_cannot_be_are_named() {
    let plain = Window::default();
    let cases: [(&[usize], &[usize], Window); 6] = [
        (&[1, 2, 3, 3], &[1, 1, 2, 2], plain),
        (&[1, 1, 3, 3], &[1, 1, 4, 2], plain),
        (&[1, 3, 3], &[1, 1, 2, 2], plain),
        (&[1, 1, 3, 3], &[1, 1, 0, 2], plain),
        (&[1, 2, 3, 3], &[3, 1, 2, 2], Window { groups: 2, ..plain }),
        (
            &[1, 1, 3, 3],
            &[1, 1, 2, 2],
            Window {
                stride: [0, 1],
                ..plain
            },
        ),
    ];
    for (image, filter, window) in cases {
        let mut p = Program::new(2);
        let x = p.input::<i32>(ALICE, image);
        let y = p.input::<i32>(BOB, filter);
        p.open(x.convolve(y, window), Everyone);
        let error = p.finish().expect_err("a convolution that cannot be");
        let text = error.to_string();
        assert!(text.contains("a convolution of images"), "{text}");
        assert!(text.contains("convolutions.rs"), "{text}");
    }
}

/// Untyped: padded, in windows, the greatest of each: as pooling does it.
#[test]
fn windows_of_padded_images() {
    let element = Type::fixed(32, 8).expect("a type");
    let shape = |axes: &[usize]| Shape::checked(axes).expect("a shape");
    let numbers: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 30) - 15.0).collect();
    let mut p = Program::new(2);
    let x = p.tensor_input(None, ALICE, element, &[1, 1, 5, 6]);
    let least = Array::from_f64(element, &Shape::scalar(), &[-1000.0]).expect("in range");
    let least = p.tensor_constant(least);
    let padded = x.pad(2, 1, 1, &least).slice(2, ..6).pad(3, 0, 2, &least);
    let windows = padded.windows([2, 3], [2, 2], [1, 2]);
    assert_eq!(windows.shape().axes(), [2, 3, 1, 1, 3, 2]);
    let greatest = windows.reshape([6, 3, 2]).greatest(0);
    assert_eq!(p.open_tensor(None, &greatest, BOB), 0);
    let program = p.finish().expect("a program that can be");
    let image = Array::from_f64(element, &shape(&[1, 1, 5, 6]), &numbers).expect("in range");
    let inputs = Inputs::new().with_array(None, image);
    let outputs = program.simulate(&inputs).expect("inputs as declared");
    let found = outputs.arrays().next().flatten().expect("an output");
    let pixel = |row: usize, column: usize| match (row.checked_sub(1), column < 6) {
        (Some(row), true) => numbers[row * 6 + column],
        _ => -1000.0,
    };
    let mut expected = Vec::new();
    for (row, column) in (0..3).flat_map(|r| (0..2).map(move |c| (2 * r, 2 * c))) {
        let places = (0..2).flat_map(|y| (0..3).map(move |x| (row + y, column + 2 * x)));
        let numbers = places.map(|(row, column)| pixel(row, column));
        expected.push(numbers.fold(f64::NEG_INFINITY, f64::max));
    }
    assert_eq!(found.to_f64(), expected);
    for mix in [Mix::AB, Mix::AY2, Mix::ALPHA_BETA, Mix::B] {
        runs(&program, &inputs, mix, Goal::Depth, "windows");
    }
}

#[test]
fn another_type_than_the_one_asked_for_is_named() {
    let mut p = Program::new(2);
    let x = p.tensor_input(None, ALICE, Type::fixed(64, 16).expect("a type"), &[2]);
    let back = x.typed::<Fixed<i64, 16>>().untyped();
    let product = back.times(&x).truncate(16, Rounding::Exact);
    p.open(product.typed::<i64>(), Everyone);
    let text = p.finish().expect_err("another type").to_string();
    assert!(
        text.contains("Fixed<i64, 16> where one of i64 is wanted"),
        "{text}"
    );
    assert_eq!(Type::fixed(24, 8), None);
    assert_eq!(Type::fixed(32, 31), None);
    let one = Shape::scalar();
    let narrow = Type::fixed(16, 8).expect("a type");
    assert!(Array::from_f64(narrow, &one, &[128.0]).is_none());
    assert!(Array::from_f64(narrow, &one, &[f64::NAN]).is_none());
    assert!(Array::from_f64(narrow, &one, &[1.0, 2.0]).is_none());
}
