//! The number-theoretic transform against its definition, and every level against the portable one.

use madrigal_kernels::{Kernels, Level, Ntt, Sums};

/// Reproduces a failed run when set to the seed that it printed.
const SEED_VARIABLE: &str = "MADRIGAL_TEST_SEED";

#[allow(
    clippy::print_stdout,
    reason = "the harness shows it when a test fails"
)]
fn note(text: &str) {
    println!("{text}");
}

/// Random words (SplitMix64); prints its seed, which the test harness shows on failure.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = match std::env::var(SEED_VARIABLE) {
            Ok(seed) => seed
                .parse()
                .expect("MADRIGAL_TEST_SEED is a decimal number"),
            Err(_) => std::time::UNIX_EPOCH
                .elapsed()
                .map_or(1, |time| time.as_nanos() as u64),
        };
        note(&format!("{SEED_VARIABLE}={seed}"));
        Self(seed)
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn values(&mut self, n: usize, p: u64) -> Vec<u64> {
        (0..n).map(|_| self.word() % p).collect()
    }
}

fn portable() -> Kernels {
    Kernels::at(Level::Portable).expect("portable is everywhere")
}

fn levels() -> impl Iterator<Item = Kernels> {
    Level::available().filter_map(Kernels::at)
}

fn product(x: u64, y: u64, p: u64) -> u64 {
    (u128::from(x) * u128::from(y) % u128::from(p)) as u64
}

fn power(base: u64, mut exponent: u64, p: u64) -> u64 {
    let (mut result, mut square) = (1, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, square, p);
        }
        square = product(square, square, p);
        exponent >>= 1;
    }
    result
}

/// Fermat's test with a few bases, enough to pick candidates: `Ntt::new` has an exact one.
fn looks_prime(p: u64) -> bool {
    [2, 3, 5, 7, 11, 13]
        .iter()
        .all(|&base| p == base || !p.is_multiple_of(base) && power(base, p - 1, p) == 1)
}

/// The largest primes below 2^`bits` that are 1 mod `step`.
fn primes(bits: u32, step: u64) -> impl Iterator<Item = u64> {
    let first = ((1 << bits) - 2) / step * step + 1;
    (0..first / step)
        .map(move |k| first - k * step)
        .filter(|&p| looks_prime(p))
}

/// Primes for transforms of n coefficients: the largest few, and small ones.
fn moduli(n: usize) -> Vec<u64> {
    let step = 2 * n as u64;
    let mut moduli: Vec<u64> = primes(50, step).take(3).collect();
    moduli.extend(primes(50, 65536).take(1));
    moduli.extend(primes(49, step).take(1));
    moduli.extend(primes(30, step).take(1));
    // The smallest of all.
    let smallest = (1..).map(|k| k * step + 1).find(|&p| looks_prime(p));
    moduli.extend(smallest);
    moduli
}

const DEGREES: [usize; 10] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768];

/// Random values, and those at the ends of the range.
fn inputs(random: &mut Random, n: usize, p: u64) -> Vec<Vec<u64>> {
    let ends = |random: &mut Random| {
        let end = |_| [0, 1, p - 1, p - 2][random.word() as usize % 4];
        (0..n).map(end).collect()
    };
    let mut unit = vec![0; n];
    unit[n - 1] = p - 1;
    vec![
        random.values(n, p),
        vec![0; n],
        vec![1; n],
        vec![p - 1; n],
        ends(random),
        (0..n as u64).map(|i| i % 2 * (p - 1)).collect(),
        unit,
    ]
}

/// x y mod X^n + 1, by definition.
fn convolution(x: &[u64], y: &[u64], p: u64) -> Vec<u64> {
    let n = x.len();
    let mut z = vec![0; n];
    for (i, &x) in x.iter().enumerate() {
        for (j, &y) in y.iter().enumerate() {
            let term = product(x, y, p);
            let term = if i + j < n { term } else { (p - term) % p };
            z[(i + j) % n] = (z[(i + j) % n] + term) % p;
        }
    }
    z
}

#[test]
fn the_inverse_undoes_the_transform_and_levels_agree() {
    let mut random = Random::new();
    for n in DEGREES {
        for p in moduli(n) {
            let oracle = portable().ntt(p, n);
            for input in inputs(&mut random, n, p) {
                let mut transformed = input.clone();
                oracle.forward(&mut transformed);
                assert!(transformed.iter().all(|&x| x < p));
                let mut foreign = input.clone();
                oracle.inverse(&mut foreign);
                for kernels in levels() {
                    let what = format!("{} with n = {n}, p = {p}", kernels.level());
                    let ntt = kernels.ntt(p, n);
                    let mut values = input.clone();
                    ntt.forward(&mut values);
                    assert!(values == transformed, "forward at {what}");
                    ntt.inverse(&mut values);
                    assert!(values == input, "inverse of forward at {what}");
                    ntt.inverse(&mut values);
                    assert!(values == foreign, "inverse at {what}");
                }
            }
        }
    }
}

#[test]
fn products_are_negacyclic_convolutions() {
    let mut random = Random::new();
    for n in [64, 128, 512] {
        for p in moduli(n) {
            let x = inputs(&mut random, n, p);
            let y = inputs(&mut random, n, p);
            for (x, y) in x.iter().zip(y.iter().chain([&x[3]])) {
                let expected = convolution(x, y, p);
                for kernels in levels() {
                    let ntt = kernels.ntt(p, n);
                    let (mut x, mut y) = (x.clone(), y.clone());
                    ntt.forward(&mut x);
                    ntt.forward(&mut y);
                    let mut z = vec![0; n];
                    ntt.multiply(&x, &y, &mut z);
                    ntt.inverse(&mut z);
                    assert_eq!(z, expected, "{} with p = {p}", kernels.level());
                }
            }
        }
    }
}

#[test]
fn values_are_at_odd_powers_in_bit_reversed_order() {
    for n in [64, 256] {
        for p in moduli(n) {
            let ntt = Ntt::new(p, n);
            // X itself gives the powers of the root.
            let mut powers = vec![0; n];
            powers[1] = 1;
            ntt.forward(&mut powers);
            let root = powers[0];
            assert_eq!(power(root, n as u64, p), p - 1);
            for (j, &value) in powers.iter().enumerate() {
                let reversed = j.reverse_bits() >> (usize::BITS - n.ilog2());
                assert_eq!(value, power(root, 2 * reversed as u64 + 1, p));
            }
        }
    }
}

#[test]
fn operations_on_elements() {
    let mut random = Random::new();
    for n in [64, 1024, 8192] {
        for p in moduli(n) {
            let (x, y) = (inputs(&mut random, n, p), inputs(&mut random, n, p));
            for (x, y) in x.iter().zip(&y).chain(x.iter().zip(y.iter().rev())) {
                let c = y[n / 2];
                let zip = |f: fn(u64, u64, u64) -> u64| -> Vec<u64> {
                    x.iter().zip(y).map(|(&x, &y)| f(x, y, p)).collect()
                };
                let scaled: Vec<u64> = x.iter().map(|&x| product(x, c, p)).collect();
                for kernels in levels() {
                    let (ntt, level) = (kernels.ntt(p, n), kernels.level());
                    let mut z = vec![u64::MAX; n];
                    ntt.multiply(x, y, &mut z);
                    assert!(z == zip(product), "multiply at {level}, p = {p}");
                    z.clone_from(x);
                    ntt.add_assign(&mut z, y);
                    assert!(z == zip(|x, y, p| (x + y) % p), "add at {level}, p = {p}");
                    z.clone_from(x);
                    ntt.sub_assign(&mut z, y);
                    assert!(
                        z == zip(|x, y, p| (x + p - y) % p),
                        "sub at {level}, p = {p}"
                    );
                    z.clone_from(x);
                    ntt.scale(&mut z, c);
                    assert!(z == scaled, "scale at {level}, p = {p}");
                }
            }
        }
    }
}

#[test]
fn residues_of_signed_integers() {
    let mut random = Random::new();
    for n in [64, 8192] {
        for p in moduli(n) {
            let mut x: Vec<i64> = (0..n).map(|_| random.word() as i64).collect();
            let p_signed = p as i64;
            let edges = [
                0,
                1,
                -1,
                p_signed,
                -p_signed,
                p_signed - 1,
                1 << 52,
                -1 << 52,
                i64::MAX,
                i64::MIN,
            ];
            x[..edges.len()].copy_from_slice(&edges);
            let expected: Vec<u64> = x.iter().map(|x| x.rem_euclid(p_signed) as u64).collect();
            for kernels in levels() {
                let mut out = vec![u64::MAX; n];
                kernels.ntt(p, n).residues(&x, &mut out);
                assert!(out == expected, "residues at {}, p = {p}", kernels.level());
            }
        }
    }
}

#[test]
fn sums_of_few_products() {
    let mut random = Random::new();
    for n in [64, 8192] {
        for p in moduli(n) {
            for kernels in levels() {
                let ntt = kernels.ntt(p, n);
                let mut sums = kernels.sums(n);
                let mut out = vec![u64::MAX; n];
                // Twice, because taking leaves zeros.
                for count in [0, 1, 5, 1] {
                    let mut expected = vec![0; n];
                    for _ in 0..count {
                        let (x, y) = (random.values(n, p), random.values(n, p));
                        sums.add(&x, &y);
                        for ((sum, &x), &y) in expected.iter_mut().zip(&x).zip(&y) {
                            *sum = (*sum + product(x, y, p)) % p;
                        }
                    }
                    sums.take(&ntt, &mut out);
                    assert!(out == expected, "{} with p = {p}", kernels.level());
                }
            }
        }
    }
}

#[test]
fn sums_of_many_products_carry() {
    let n = 64;
    for p in [primes(50, 128).next(), primes(20, 128).next()]
        .into_iter()
        .flatten()
    {
        for kernels in levels() {
            let ntt = kernels.ntt(p, n);
            let mut sums = kernels.sums(n);
            let mut out = vec![0; n];
            // Factors for which the low limb of the product is as large as it can be.
            let (x, y) = low_limb_of_ones(p);
            for (x, y) in [(p - 1, p - 1), (x, y), (1, p - 1)] {
                let square = u128::from(x) * u128::from(y);
                let x: Vec<u64> = (0..n as u64).map(|i| if i == 7 { 0 } else { x }).collect();
                let y = vec![y; n];
                for count in [4095, 4096, 4097, 8191, 8192, 8193, 70_000] {
                    for _ in 0..count {
                        sums.add(&x, &y);
                    }
                    sums.take(&ntt, &mut out);
                    let expected = (square * count % u128::from(p)) as u64;
                    for (i, &out) in out.iter().enumerate() {
                        let expected = if i == 7 { 0 } else { expected };
                        assert_eq!(out, expected, "{count} at {}, p = {p}", kernels.level());
                    }
                }
            }
        }
    }
}

/// Factors below p whose product has 52 ones at the bottom, or (1, 1) for small p.
fn low_limb_of_ones(p: u64) -> (u64, u64) {
    let mask = (1 << 52) - 1;
    // y is -1 / x mod 2^52, by Newton's iteration.
    let mut pairs = (1..p.min(1000)).step_by(2).map(|k| {
        let x = p - 1 - k;
        let y = (0..6).fold(1u64, |y, _| {
            y.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(y)))
        });
        (x, y.wrapping_neg() & mask)
    });
    pairs.find(|&(_, y)| y < p).unwrap_or((1, 1))
}

#[test]
fn sums_show_nothing() {
    assert_eq!(format!("{:?}", Sums::new(64)), "Sums(..)");
}

#[test]
fn what_is_no_transform_is_refused() {
    let prime = primes(50, 16384).next().expect("there are many");
    let composite = (1..)
        .map(|k| (1 << 49) + 1 + k * 128)
        .find(|&p| !looks_prime(p))
        .expect("there are many");
    for (p, n) in [
        (prime, 32),
        (prime, 65536),
        (prime, 8191),
        (prime, 0),
        (composite, 64),
        (prime + 2, 8192),
        (1, 64),
        (0, 64),
        ((1 << 60) + 1, 64),
        // 1 mod 256, but not mod 512.
        (257 + 512, 256),
    ] {
        let refused = std::panic::catch_unwind(|| Ntt::new(p, n));
        assert!(refused.is_err(), "p = {p}, n = {n}");
    }
    assert!(std::panic::catch_unwind(|| Sums::new(100)).is_err());
    assert!(std::panic::catch_unwind(|| Ntt::new(prime, 8192).forward(&mut [0; 64])).is_err());
}
