//! Floating-point circuits against the machine's own: all numbers of 16 bits where one is asked for,
//! random ones of 32 and 64 bits, with many near the edges.

#![allow(
    clippy::unwrap_used,
    clippy::type_complexity,
    reason = "a failed unwrap is a failed test with a location"
)]

use madrigal_circuit::blocks::float::Format;
use madrigal_circuit::{Builder, Goal, Wire};

use crate::blocks::{GOALS, Random, build, evaluate};

type Two = fn(&mut Builder, Format, &[Wire], &[Wire]) -> Vec<Wire>;
type Relation = fn(&mut Builder, Format, &[Wire], &[Wire]) -> Wire;

/// Bits of a number whose exponent is likely to be extreme, or near that of the number before.
fn bits(random: &mut Random, format: Format, before: u64) -> u64 {
    let (exponent, fraction) = match format.width() {
        16 => (5, 10),
        32 => (8, 23),
        _ => (11, 52),
    };
    let word = random.word();
    let all = (1 << exponent) - 1;
    let near = (before >> fraction & all)
        .wrapping_add(random.word() % 9)
        .wrapping_sub(4);
    let exponent = match word % 8 {
        0 => 0,
        1 => all,
        2 => all - 1,
        3 => 1 + random.word() % 3,
        4 | 5 => near & all,
        // Where products and quotients leave the range.
        6 => (all / 2).wrapping_sub(near).wrapping_add(random.word() % 9) & all,
        _ => random.word() & all,
    };
    let mask = (1 << fraction) - 1;
    let written = match random.word() % 6 {
        0 => 0,
        1 => mask,
        2 => 1 << (random.word() % fraction),
        3 => mask << (random.word() % fraction) & mask,
        _ => random.word() & mask,
    };
    (word >> 63) << (format.width() - 1) | exponent << fraction | written
}

fn pairs(random: &mut Random, format: Format, count: usize) -> Vec<Vec<u128>> {
    let mut before = 0;
    let mut next = |_| {
        let one = bits(random, format, before);
        before = one;
        let other = if random.word().is_multiple_of(16) {
            one
        } else {
            bits(random, format, one)
        };
        vec![one.into(), other.into()]
    };
    (0..count).map(&mut next).collect()
}

/// The bits of a result: one NaN for all.
fn f32_bits(value: f32) -> u128 {
    if value.is_nan() {
        0x7fc0_0000
    } else {
        value.to_bits().into()
    }
}

fn f64_bits(value: f64) -> u128 {
    if value.is_nan() {
        0x7ff8_0000_0000_0000
    } else {
        value.to_bits().into()
    }
}

#[test]
fn arithmetic() {
    let rows: [(Two, fn(f32, f32) -> f32, fn(f64, f64) -> f64); 4] = [
        (Builder::float_add, |a, b| a + b, |a, b| a + b),
        (Builder::float_sub, |a, b| a - b, |a, b| a - b),
        (Builder::float_mul, |a, b| a * b, |a, b| a * b),
        (Builder::float_div, |a, b| a / b, |a, b| a / b),
    ];
    let mut random = Random::new();
    for (number, (circuit, single, double)) in rows.into_iter().enumerate() {
        for goal in GOALS {
            for format in [Format::F32, Format::F64] {
                let width = format.width() as u32;
                let netlist = build(goal, &[width; 2], &|b, x| {
                    vec![circuit(b, format, &x[0], &x[1])]
                });
                let cases = pairs(&mut random, format, 20_000);
                for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
                    let expected = if format == Format::F32 {
                        let [a, b] = [case[0], case[1]].map(|v| f32::from_bits(v as u32));
                        f32_bits(single(a, b))
                    } else {
                        let [a, b] = [case[0], case[1]].map(|v| f64::from_bits(v as u64));
                        f64_bits(double(a, b))
                    };
                    assert!(
                        got == [expected],
                        "row {number}, {goal:?}, {format:?}: {case:x?} give {got:x?}, not {expected:x}"
                    );
                }
            }
        }
    }
}

#[test]
fn square_roots() {
    let mut random = Random::new();
    for goal in GOALS {
        let netlist = build(goal, &[32], &|b, x| vec![b.float_sqrt(Format::F32, &x[0])]);
        let cases: Vec<_> = pairs(&mut random, Format::F32, 20_000);
        let cases: Vec<_> = cases.into_iter().map(|pair| vec![pair[0]]).collect();
        for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
            let expected = f32_bits(f32::from_bits(case[0] as u32).sqrt());
            assert!(
                got == [expected],
                "{goal:?}: {case:x?} gives {got:x?}, not {expected:x}"
            );
        }
        let netlist = build(goal, &[64], &|b, x| vec![b.float_sqrt(Format::F64, &x[0])]);
        let cases: Vec<_> = pairs(&mut random, Format::F64, 20_000);
        let cases: Vec<_> = cases.into_iter().map(|pair| vec![pair[0]]).collect();
        for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
            let expected = f64_bits(f64::from_bits(case[0] as u64).sqrt());
            assert!(
                got == [expected],
                "{goal:?}: {case:x?} gives {got:x?}, not {expected:x}"
            );
        }
    }
}

#[test]
fn comparisons() {
    let relations: [(Relation, fn(f64, f64) -> bool); 3] = [
        (Builder::float_less, |a, b| a < b),
        (Builder::float_less_or_equal, |a, b| a <= b),
        (Builder::float_equal, |a, b| a == b),
    ];
    let mut random = Random::new();
    for (circuit, plain) in relations {
        for goal in GOALS {
            for format in [Format::F32, Format::F64] {
                let width = format.width() as u32;
                let netlist = build(goal, &[width; 2], &|b, x| {
                    vec![vec![circuit(b, format, &x[0], &x[1])]]
                });
                let cases = pairs(&mut random, format, 20_000);
                for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
                    let [a, b] = [case[0], case[1]].map(|bits| match format {
                        Format::F32 => f32::from_bits(bits as u32).into(),
                        _ => f64::from_bits(bits as u64),
                    });
                    assert_eq!(
                        got,
                        [u128::from(plain(a, b))],
                        "{goal:?}, {format:?}: {case:x?}"
                    );
                }
            }
        }
    }
}

#[test]
fn integers_and_back() {
    let mut random = Random::new();
    for goal in GOALS {
        for width in [1, 8, 24, 32, 64] {
            let netlist = build(goal, &[width], &|b, x| {
                let x = &x[0];
                vec![
                    b.float_from_unsigned(Format::F32, x),
                    b.float_from_signed(Format::F32, x),
                    b.float_from_unsigned(Format::F64, x),
                    b.float_from_signed(Format::F64, x),
                ]
            });
            let cases: Vec<_> = (0..4000).map(|_| vec![random.number(width)]).collect();
            for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
                let unsigned = case[0] as u64;
                let signed = (unsigned << (64 - width)) as i64 >> (64 - width);
                let expected = [
                    f32_bits(unsigned as f32),
                    f32_bits(signed as f32),
                    f64_bits(unsigned as f64),
                    f64_bits(signed as f64),
                ];
                assert_eq!(got, expected, "{goal:?}, {width} bits: {case:x?}");
            }
        }
        let netlist = build(goal, &[32, 64], &|b, x| {
            let mut outputs = Vec::new();
            for (format, x) in [(Format::F32, &x[0]), (Format::F64, &x[1])] {
                for width in [8, 32, 64] {
                    outputs.push(b.float_to_unsigned(format, x, width));
                    outputs.push(b.float_to_signed(format, x, width));
                }
            }
            outputs
        });
        let singles = pairs(&mut random, Format::F32, 10_000);
        let doubles = pairs(&mut random, Format::F64, 10_000);
        let cases: Vec<_> = singles
            .iter()
            .zip(&doubles)
            .map(|(a, b)| vec![a[0], b[0]])
            .collect();
        for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
            let (single, double) = (
                f32::from_bits(case[0] as u32),
                f64::from_bits(case[1] as u64),
            );
            let mut expected = Vec::new();
            for value in [f64::from(single), double] {
                expected.extend([u128::from(value as u8), u128::from(value as i8 as u8)]);
                expected.extend([u128::from(value as u32), u128::from(value as i32 as u32)]);
                expected.extend([u128::from(value as u64), u128::from(value as i64 as u64)]);
            }
            assert_eq!(got, expected, "{goal:?}: {case:x?}");
        }
    }
}

/// The value of a number of 16 bits.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let value = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -value } else { value }
}

/// The number of 16 bits next to a value, ties to even: of two neighbours in order, by their distances.
fn to_half(value: f64) -> u16 {
    if value.is_nan() {
        return 0x7e00;
    }
    let sign = if value.is_sign_negative() { 1 << 15 } else { 0 };
    let value = value.abs();
    // The first number above; infinity stands where the next finite one would.
    let at = |bits: u16| if bits == 0x7c00 { 65536.0 } else { half(bits) };
    let (mut low, mut high) = (0, 0x7c00);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if at(middle) <= value {
            low = middle
        } else {
            high = middle
        }
    }
    let (below, above) = (value - at(low), at(high) - value);
    let up = above < below || (above == below && low % 2 == 1);
    sign | if up { high } else { low }
}

#[test]
fn formats() {
    let mut random = Random::new();
    let doubles = pairs(&mut random, Format::F64, 20_000);
    for goal in GOALS {
        // Every number of 16 bits, up and back, and its root.
        let netlist = build(goal, &[16], &|b, x| {
            let wide = b.float_convert(Format::F16, &x[0], Format::F32);
            let wider = b.float_convert(Format::F16, &x[0], Format::F64);
            let back = b.float_convert(Format::F32, &wide, Format::F16);
            vec![back, b.float_sqrt(Format::F16, &x[0]), wide, wider]
        });
        let cases: Vec<_> = (0..1 << 16).map(|bits| vec![bits]).collect();
        for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
            let value = half(case[0] as u16);
            let same = if value.is_nan() { 0x7e00 } else { case[0] };
            let root = u128::from(to_half(value.sqrt()));
            let expected = [same, root, f32_bits(value as f32), f64_bits(value)];
            assert!(
                got == expected,
                "{goal:?}: {case:x?} gives {got:x?}, not {expected:x?}"
            );
        }
        // Down, where most leave the range.
        let netlist = build(goal, &[64], &|b, x| {
            let single = b.float_convert(Format::F64, &x[0], Format::F32);
            let half = b.float_convert(Format::F64, &x[0], Format::F16);
            vec![
                b.float_convert(Format::F32, &single, Format::F64),
                single,
                half,
            ]
        });
        // Half of them with exponents near those of the narrower formats.
        let cases = doubles.iter().map(|pair| {
            let bits = pair[0] as u64;
            let exponent = 0x3ff - 160 + random.word() % 320;
            let near = bits & 0x800f_ffff_ffff_ffff | exponent << 52;
            vec![u128::from(if random.word().is_multiple_of(2) {
                bits
            } else {
                near
            })]
        });
        let cases: Vec<_> = cases.collect();
        for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
            let value = f64::from_bits(case[0] as u64);
            let single = value as f32;
            let expected = [
                f64_bits(single.into()),
                f32_bits(single),
                u128::from(to_half(value)),
            ];
            assert!(
                got == expected,
                "{goal:?}: {case:x?} gives {got:x?}, not {expected:x?}"
            );
        }
    }
}

#[test]
fn halves_are_added_and_multiplied() {
    let mut random = Random::new();
    // Doubles have more than twice the digits of a half and two, so that rounding twice is rounding
    // once (Figueroa, "When is double rounding innocuous?", 1995).
    let rows: [(Two, fn(f64, f64) -> f64); 3] = [
        (Builder::float_add, |a, b| a + b),
        (Builder::float_mul, |a, b| a * b),
        (Builder::float_div, |a, b| a / b),
    ];
    for (circuit, plain) in rows {
        let netlist = build(Goal::Size, &[16; 2], &|b, x| {
            vec![circuit(b, Format::F16, &x[0], &x[1])]
        });
        let cases = pairs(&mut random, Format::F16, 50_000);
        for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
            let expected = to_half(plain(half(case[0] as u16), half(case[1] as u16)));
            assert!(
                got == [u128::from(expected)],
                "{case:x?} give {got:x?}, not {expected:x}"
            );
        }
    }
}
