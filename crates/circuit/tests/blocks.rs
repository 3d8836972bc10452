//! Operators' circuits against the machine's own arithmetic, for both goals: all values of small widths,
//! random and extreme ones of others.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::type_complexity,
    clippy::manual_checked_ops,
    reason = "a test may fail, and says with what seed"
)]

use madrigal_circuit::blocks::sorting_network;
use madrigal_circuit::{Builder, Goal, Layered, Netlist, Rows, Wire};

pub(crate) const GOALS: [Goal; 2] = [Goal::Size, Goal::Depth];

/// A generator of test values (xorshift64*), whose seed is printed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        let seed = std::env::var("MADRIGAL_TEST_SEED").map_or_else(
            |_| {
                let now = std::time::SystemTime::now();
                now.duration_since(std::time::UNIX_EPOCH)
                    .unwrap()
                    .as_nanos() as u64
                    | 1
            },
            |text| text.parse().unwrap(),
        );
        println!("MADRIGAL_TEST_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Numbers of all lengths, and those around powers of two.
    pub(crate) fn number(&mut self, width: u32) -> u128 {
        let word = u128::from(self.word()) << 64 | u128::from(self.word());
        let shift = u32::try_from(self.word() % 128).unwrap();
        let near = (self.word() % 5) as u128;
        let value = match self.word() % 4 {
            0 => (1_u128 << shift).wrapping_add(near).wrapping_sub(2),
            1 => word >> shift,
            _ => word,
        };
        value & mask(width)
    }
}

pub(crate) fn mask(width: u32) -> u128 {
    u128::MAX.checked_shr(128 - width).unwrap_or(0)
}

/// The netlist of a function of numbers of these widths.
pub(crate) fn build(
    goal: Goal,
    widths: &[u32],
    function: &dyn Fn(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>,
) -> Netlist {
    let mut builder = Builder::new("test").with_goal(goal);
    let inputs: Vec<_> = widths.iter().map(|&width| builder.input(width)).collect();
    for output in function(&mut builder, &inputs) {
        builder.output(&output);
    }
    builder.finish()
}

/// Outputs for each case of inputs; the layered program must agree.
pub(crate) fn evaluate(netlist: &Netlist, cases: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let mut rows = Rows::new(netlist.input_bits() as usize, cases.len());
    for (lane, case) in cases.iter().enumerate() {
        let bits = netlist.inputs().iter().zip(case);
        let bits = bits.flat_map(|(&width, &value)| (0..width).map(move |bit| value >> bit & 1));
        for (row, bit) in bits.enumerate() {
            rows.set(row, lane, bit == 1);
        }
    }
    let outputs = netlist.evaluate(&rows).unwrap();
    assert!(
        Layered::compile(netlist)
            .interpret(&rows)
            .unwrap()
            .as_bytes()
            == outputs.as_bytes()
    );
    let value = |lane: usize, first: u32, width: u32| {
        let bit = |at: u32| u128::from(outputs.get((first + at) as usize, lane)) << at;
        (0..width).map(bit).sum()
    };
    (0..cases.len())
        .map(|lane| {
            let mut first = 0;
            let each = netlist.outputs().iter().map(|&width| {
                first += width;
                value(lane, first - width, width)
            });
            each.collect()
        })
        .collect()
}

/// Holds a circuit against a plain function, for both goals.
fn check(
    widths: &[u32],
    circuit: &dyn Fn(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>,
    plain: &dyn Fn(&[u128]) -> Vec<u128>,
    random: &mut Random,
) {
    let bits: u32 = widths.iter().sum();
    let cases: Vec<Vec<u128>> = if bits <= 12 {
        let case = |mut all: u128| {
            let each = widths.iter().map(move |&width| {
                let value = all & mask(width);
                all >>= width;
                value
            });
            each.collect()
        };
        (0..1 << bits).map(case).collect()
    } else {
        let mut case = |_| widths.iter().map(|&width| random.number(width)).collect();
        (0..600).map(&mut case).collect()
    };
    for goal in GOALS {
        let netlist = build(goal, widths, circuit);
        for (case, got) in cases.iter().zip(evaluate(&netlist, &cases)) {
            assert_eq!(got, plain(case), "{goal:?}, {widths:?} bits, of {case:x?}");
        }
    }
}

fn sign(value: u128, width: u32) -> i128 {
    (value << (128 - width)) as i128 >> (128 - width)
}

const WIDTHS: [u32; 11] = [1, 2, 3, 4, 5, 6, 8, 16, 31, 32, 64];

/// Two numbers of each of these widths.
fn check_pairs(
    circuit: &dyn Fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Vec<Wire>>,
    plain: &dyn Fn(u32, u128, u128) -> Vec<u128>,
) {
    let mut random = Random::new();
    for width in WIDTHS {
        let mask = mask(width);
        check(
            &[width; 2],
            &|builder, inputs| circuit(builder, &inputs[0], &inputs[1]),
            &|values| {
                plain(width, values[0], values[1])
                    .into_iter()
                    .map(|v| v & mask)
                    .collect()
            },
            &mut random,
        );
    }
}

/// The highest bit of a sum, which alone is made in another way than beside others.
#[test]
fn signs_of_sums() {
    check_pairs(
        &|b, x, y| {
            let (sum, difference) = (b.add(x, y), b.sub(x, y));
            let top = |number: &[Wire]| number[number.len() - 1..].to_vec();
            vec![top(&sum), top(&difference), difference[..1].to_vec()]
        },
        &|width, x, y| {
            let top = |number: u128| number >> (width - 1) & 1;
            let difference = x.wrapping_sub(y);
            vec![top(x.wrapping_add(y)), top(difference), difference & 1]
        },
    );
}

/// Carries out of the lowest bits, several out of every place, and out of all.
#[test]
fn carries() {
    for part in 0..=4 {
        let at = |width: u32| (width * part / 4).max(1);
        check_pairs(
            &|b, x, y| {
                let [low, all] = b.carries(x, y, at(x.len() as u32) as usize);
                vec![vec![low], vec![all]]
            },
            &|width, x, y| {
                let carry = |at: u32| ((x & mask(at)) + (y & mask(at))) >> at & 1;
                vec![carry(at(width)), carry(width)]
            },
        );
    }
}

#[test]
fn sums_of_many() {
    let mut random = Random::new();
    for (width, count) in [
        (1, 3),
        (3, 4),
        (8, 1),
        (8, 5),
        (16, 3),
        (31, 9),
        (64, 2),
        (64, 7),
    ] {
        check(
            &vec![width; count],
            &|b, inputs| vec![b.add_all(inputs)],
            &|values| {
                let sum = values
                    .iter()
                    .fold(0_u128, |sum, &value| sum.wrapping_add(value));
                vec![sum & mask(width)]
            },
            &mut random,
        );
    }
}

#[test]
fn sums_and_differences() {
    check_pairs(
        &|b, x, y| {
            let (difference, borrow) = b.sub_with_borrow(x, y);
            let wide = b.add_wide(x, y);
            let (low, carry) = wide.split_at(x.len());
            vec![
                b.add(x, y),
                b.sub(x, y),
                b.negate(x),
                low.to_vec(),
                carry.to_vec(),
                difference,
                vec![borrow],
            ]
        },
        &|width, x, y| {
            let carry = (x + y) >> width;
            vec![
                x + y,
                x.wrapping_sub(y),
                x.wrapping_neg(),
                x + y,
                carry,
                x.wrapping_sub(y),
                (x < y).into(),
            ]
        },
    );
}

#[test]
fn signs() {
    check_pairs(
        &|b, x, y| {
            vec![
                b.abs(x),
                b.negate_if(x, y[0]),
                b.increment_if(x, y[0]),
                b.add_or_sub(x, y, y[0]),
            ]
        },
        &|width, x, y| {
            let flag = y & 1;
            vec![
                sign(x, width).unsigned_abs(),
                if flag == 1 { x.wrapping_neg() } else { x },
                x + flag,
                if flag == 1 { x.wrapping_sub(y) } else { x + y },
            ]
        },
    );
}

#[test]
fn comparisons() {
    check_pairs(
        &|b, x, y| {
            let bits = [
                b.less(x, y),
                b.less_signed(x, y),
                b.equal(x, y),
                b.is_zero(x),
            ];
            let mut outputs: Vec<_> = bits.map(|bit| vec![bit]).to_vec();
            let (min, max) = (b.min(x, y), b.max(x, y));
            outputs.extend([min.0, max.0]);
            outputs
        },
        &|width, x, y| {
            let signed = sign(x, width) < sign(y, width);
            vec![
                (x < y).into(),
                signed.into(),
                (x == y).into(),
                (x == 0).into(),
                x.min(y),
                x.max(y),
            ]
        },
    );
}

#[test]
fn the_least_and_the_greatest_of_many() {
    let mut random = Random::new();
    for count in [1, 2, 3, 5, 8, 13] {
        check(
            &vec![if count < 4 { 3 } else { 7 }; count],
            &|b, inputs| {
                let ((least, low), (greatest, high)) = (b.least(inputs), b.greatest(inputs));
                let [low, high] = [low, high].map(|place| b.zero_extend(&place, 8));
                vec![least, low, greatest, high]
            },
            &|values| {
                let (least, greatest) =
                    (*values.iter().min().unwrap(), *values.iter().max().unwrap());
                let place = |of| values.iter().position(|&v| v == of).unwrap() as u128;
                vec![least, place(least), greatest, place(greatest)]
            },
            &mut random,
        );
    }
}

#[test]
fn products() {
    check_pairs(
        &|b, x, y| {
            let halves = |wide: Vec<Wire>| {
                let (low, high) = wide.split_at(x.len());
                [low.to_vec(), high.to_vec()]
            };
            let wide = [b.mul_wide(x, y), b.mul_wide_signed(x, y), b.square_wide(x)];
            let mut outputs = vec![b.mul(x, y), b.square(x)];
            outputs.extend(wide.into_iter().flat_map(halves));
            outputs
        },
        &|width, x, y| {
            let signed = sign(x, width).wrapping_mul(sign(y, width)) as u128;
            let (wide, square) = (x * y, x * x);
            vec![
                wide,
                square,
                wide,
                wide >> width,
                signed,
                signed >> width,
                square,
                square >> width,
            ]
        },
    );
}

#[test]
fn products_of_different_widths() {
    let mut random = Random::new();
    for widths in [[1, 7], [9, 3], [24, 17], [48, 80]] {
        check(
            &widths,
            &|b, inputs| vec![b.mul_wide(&inputs[0], &inputs[1])],
            &|values| vec![values[0].wrapping_mul(values[1]) & mask(widths[0] + widths[1])],
            &mut random,
        );
    }
}

#[test]
fn quotients() {
    check_pairs(
        &|b, x, y| {
            let (q, r) = b.divide(x, y);
            let (signed_q, signed_r) = b.divide_signed(x, y);
            vec![q, r, signed_q, signed_r]
        },
        &|width, x, y| {
            let (sx, sy) = (sign(x, width), sign(y, width));
            let (q, r) = if y == 0 {
                (u128::MAX, x)
            } else {
                (x / y, x % y)
            };
            let (sq, sr) = if y == 0 { (-1, sx) } else { (sx / sy, sx % sy) };
            vec![q, r, sq as u128, sr as u128]
        },
    );
}

#[test]
fn quotients_with_a_fixed_point() {
    for fraction in [1, 5, 30] {
        check_pairs(
            &|b, x, y| vec![b.divide_fixed(x, y, fraction)],
            &|width, x, y| {
                let (sx, sy) = (sign(x, width), sign(y, width));
                // Beyond the width, where words end.
                let wide = |whole: i128, rest: i128| {
                    (0..fraction).fold((whole, rest), |(q, r), _| {
                        let (digit, rest) = (2 * r / sy, 2 * r % sy);
                        (q.wrapping_mul(2).wrapping_add(digit), rest)
                    })
                };
                vec![match sy {
                    0 => u128::MAX,
                    _ => wide(sx / sy, sx % sy).0 as u128,
                }]
            },
        );
    }
}

#[test]
fn square_roots() {
    let mut random = Random::new();
    for width in [2, 4, 6, 8, 12, 32, 64] {
        check(
            &[width],
            &|b, inputs| {
                let (root, inexact) = b.square_root(&inputs[0]);
                vec![root, vec![inexact]]
            },
            &|values| {
                let root = values[0].isqrt();
                vec![root, (root * root != values[0]).into()]
            },
            &mut random,
        );
    }
}

#[test]
fn shifts() {
    let mut random = Random::new();
    for (width, amount) in [
        (1, 1),
        (1, 3),
        (5, 4),
        (8, 3),
        (8, 4),
        (16, 5),
        (31, 7),
        (64, 6),
        (64, 8),
    ] {
        check(
            &[width, amount],
            &|b, inputs| {
                let (a, by) = (&inputs[0], &inputs[1]);
                vec![
                    b.shift_left(a, by),
                    b.shift_right(a, by),
                    b.shift_right_signed(a, by),
                    b.rotate_left(a, by),
                    b.leading_zeros(a),
                    b.count_ones(a),
                ]
            },
            &|values| {
                let (a, by, mask) = (values[0], values[1] as u32, mask(width));
                let signed = sign(a, width) >> by.min(127);
                let turn = by % width;
                let rotated = a << turn | a >> (width - turn).min(127);
                let zeros = a.leading_zeros() + width - 128;
                vec![
                    a.checked_shl(by).unwrap_or(0) & mask,
                    a.checked_shr(by).unwrap_or(0),
                    signed as u128 & mask,
                    rotated & mask,
                    zeros.into(),
                    a.count_ones().into(),
                ]
            },
            &mut random,
        );
    }
}

#[test]
fn choices() {
    let mut random = Random::new();
    for count in [1_usize, 2, 3, 4, 5, 7, 8] {
        let mut widths = vec![4];
        widths.extend(vec![5; count]);
        check(
            &widths,
            &|b, inputs| {
                let index = b.zero_extend(&inputs[0], 4);
                let entry = b.look_up(&inputs[1..], &index);
                let code = b.one_hot(&index, count);
                let public: Vec<_> = (0..count).map(|at| b.number(at as u128 * 7, 8)).collect();
                let (first, second) = b.swap_if(index[0], &inputs[1], &inputs[count]);
                let valid = b.look_up(&public, &index);
                vec![entry, code, valid, first, second]
            },
            &|values| {
                let (index, table) = (values[0] as usize, &values[1..]);
                // Past the end, a look-up follows those bits of the index that there are entries for.
                let place = place(index, count);
                let ends = [table[0], table[count - 1]];
                let swap = index & 1;
                let code = if index < count { 1 << index } else { 0 };
                vec![
                    table[place],
                    code,
                    place as u128 * 7,
                    ends[swap],
                    ends[1 - swap],
                ]
            },
            &mut random,
        );
    }
}

/// Entry of `count` that the tree of choices comes to.
fn place(index: usize, count: usize) -> usize {
    let mut places: Vec<usize> = (0..count).collect();
    for bit in 0..4 {
        let odd = index >> bit & 1;
        places = places
            .chunks(2)
            .map(|pair| pair[odd.min(pair.len() - 1)])
            .collect();
    }
    places[0]
}

/// All inputs of zeros and ones are sorted, so all inputs are (Knuth, The Art of Computer Programming,
/// volume 3, theorem 5.3.4 Z).
#[test]
fn sorting_networks_sort() {
    for count in 0..=12_usize {
        let network = sorting_network(count);
        let log = count.next_power_of_two().trailing_zeros() as usize;
        assert!(
            network.len() <= log * (log + 1) / 2,
            "{count}: {} layers",
            network.len()
        );
        for layer in &network {
            let mut touched = vec![false; count];
            for &(low, high) in layer {
                assert!(low < high && !touched[low] && !touched[high]);
                (touched[low], touched[high]) = (true, true);
            }
        }
        for input in 0..1_u32 << count {
            let mut bits: Vec<bool> = (0..count).map(|at| input >> at & 1 == 1).collect();
            for &(low, high) in network.iter().flatten() {
                if bits[low] & !bits[high] {
                    bits.swap(low, high);
                }
            }
            assert!(bits.is_sorted(), "{count}: {input:b}");
        }
    }
}

#[test]
fn numbers_are_sorted_with_what_they_carry() {
    let mut random = Random::new();
    check(
        &[6; 9],
        &|b, inputs| {
            let mut numbers = inputs.to_vec();
            let mut along: Vec<_> = inputs.iter().map(|n| b.not_all(n)).collect();
            b.sort(&mut numbers, &mut along);
            numbers.extend(along);
            numbers
        },
        &|values| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable();
            let along: Vec<_> = sorted.iter().map(|n| !n & 63).collect();
            [sorted, along].concat()
        },
        &mut random,
    );
}

/// The answer of FIPS 197, appendix B, and AES of the `aes` of the kernels on random blocks.
#[test]
fn aes() {
    let bits = |bytes: u128| bytes.swap_bytes();
    let (key, block) = (
        0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c,
        0x3243_f6a8_885a_308d_3131_98a2_e037_0734,
    );
    let mut random = Random::new();
    let mut cases = vec![vec![bits(key), bits(block)]];
    cases.extend((0..100).map(|_| vec![random.number(128), random.number(128)]));
    for goal in GOALS {
        let netlist = build(goal, &[128; 2], &|b, inputs| {
            vec![b.aes128(&inputs[0], &inputs[1])]
        });
        let outputs = evaluate(&netlist, &cases);
        assert_eq!(
            outputs[0],
            [bits(0x3925_841d_02dc_09fb_dc11_8597_196a_0b32)]
        );
        for (case, output) in cases.iter().zip(outputs) {
            let [key, block] = [case[0], case[1]].map(madrigal_kernels::Block::from);
            let expected = madrigal_kernels::Aes128::new(key).encrypt(block);
            assert_eq!(output, [u128::from(expected)]);
        }
    }
}

/// "abc", of FIPS 180-4's examples, and random blocks against the `sha2` crate.
#[test]
fn sha256() {
    use sha2::Digest;
    let mut random = Random::new();
    for goal in GOALS {
        let netlist = build(goal, &[128; 4], &|b, inputs| {
            let start = b.sha256_start();
            let digest = b.sha256_block(&start, &inputs.concat());
            digest.chunks(128).map(<[Wire]>::to_vec).collect()
        });
        // Messages of up to 55 bytes are one block: 0x80, zeros, and the length in bits.
        let mut messages = vec![b"abc".to_vec(), Vec::new()];
        messages.extend((0..30).map(|_| {
            let length = (random.word() % 56) as usize;
            (0..length)
                .map(|_| random.word() as u8)
                .collect::<Vec<u8>>()
        }));
        let blocks = messages.iter().map(|message| {
            let mut block = message.clone();
            block.push(0x80);
            block.resize(56, 0);
            block.extend((8 * message.len() as u64).to_be_bytes());
            block
                .chunks(16)
                .map(|b| u128::from_le_bytes(b.try_into().unwrap()))
                .collect()
        });
        let blocks: Vec<Vec<u128>> = blocks.collect();
        for (message, output) in messages.iter().zip(evaluate(&netlist, &blocks)) {
            let digest: Vec<u8> = output.iter().flat_map(|half| half.to_le_bytes()).collect();
            assert_eq!(digest, sha2::Sha256::digest(message).as_slice());
        }
    }
}
