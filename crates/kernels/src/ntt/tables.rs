//! The constants of a transform.

use crate::opaque::opaque_word;

/// The bits of a limb: what IFMA multiplies.
pub(crate) const LIMB: u32 = 52;
pub(crate) const LIMB_MASK: u64 = (1 << LIMB) - 1;

/// A factor known beforehand, with what multiplies by it without a division (Shoup).
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    /// w, below p.
    pub(crate) value: u64,
    /// floor(2^52 w / p), below 2^52.
    pub(crate) quotient: u64,
}

impl Factor {
    /// Takes the same time for every `value`, as a processor's division need not: one bit of the
    /// quotient after the other.
    pub(crate) fn new(value: u64, p: u64) -> Self {
        let (mut quotient, mut rest) = (0, value);
        for _ in 0..LIMB {
            let less = (2 * rest).wrapping_sub(p);
            let negative = opaque_word((less as i64 >> 63) as u64);
            rest = less.wrapping_add(p & negative);
            quotient = 2 * quotient + 1 - (negative & 1);
        }
        Self { value, quotient }
    }
}

/// Constants that reduce to [0, p).
#[derive(Clone, Copy)]
pub(crate) struct Modulus {
    pub(crate) p: u64,
    /// 1: the product with it is a reduction.
    pub(crate) one: Factor,
    /// 2^52 mod p.
    pub(crate) limb: Factor,
    /// 2^104 mod p.
    pub(crate) limb2: Factor,
    /// -2^63 mod p: what a signed number is too large by when its sign bit is turned.
    pub(crate) minus_sign: u64,
}

impl Modulus {
    pub(crate) fn new(p: u64) -> Self {
        let limb = (1 << LIMB) % p;
        Self {
            p,
            one: Factor::new(1, p),
            limb: Factor::new(limb, p),
            minus_sign: p - (1 << 63) % p,
            limb2: Factor::new(product(limb, limb, p), p),
        }
    }
}

/// The factors of all butterflies: those of the stage with m groups are at m..2m.
#[derive(Clone)]
pub(crate) struct Twiddles {
    pub(crate) values: Vec<u64>,
    pub(crate) quotients: Vec<u64>,
}

impl Twiddles {
    fn new(values: Vec<u64>, p: u64) -> Self {
        let quotients = values.iter().map(|&w| Factor::new(w, p).quotient);
        Self {
            quotients: quotients.collect(),
            values,
        }
    }

    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> Factor {
        Factor {
            value: self.values[index],
            quotient: self.quotients[index],
        }
    }

    /// The factors of log2 `ROWS` stages for the group to which factor `index` of the first of them
    /// belongs: that one at 1, those of the next stage at 2 and 3, and so on; at 0 is factor 0.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn stages<const ROWS: usize>(&self, index: usize) -> [Factor; ROWS] {
        let mut factors = [self.at(0); ROWS];
        for stage in 0..ROWS.ilog2() {
            let count = 1 << stage;
            let values = &self.values[index * count..][..count];
            let quotients = &self.quotients[index * count..][..count];
            for i in 0..count {
                factors[count + i] = Factor {
                    value: values[i],
                    quotient: quotients[i],
                };
            }
        }
        factors
    }
}

/// The factors of the transform and of its inverse. Factor k of the one is psi^rev(k), of the other
/// its inverse; but the inverse's last stage also divides by n: its factor 0 is 1 / n, for sums, and
/// its factor 1, for differences, has 1 / n in it.
pub(super) fn twiddles(p: u64, n: usize) -> (Twiddles, Twiddles) {
    check_degree(n);
    assert!(
        p < 1 << 50 && p % (2 * n as u64) == 1 && is_prime(p),
        "a transform of {n} coefficients needs a prime below 2^50 that is 1 mod {}, not {p}",
        2 * n
    );
    let psi = root(p, n as u64);
    let bits = n.ilog2();
    let powers = |base: u64| {
        let mut values = vec![0; n];
        let mut power = 1;
        for k in 0..n {
            values[k.reverse_bits() >> (usize::BITS - bits)] = power;
            power = product(power, base, p);
        }
        values
    };
    let forward = powers(psi);
    let mut inverse = powers(power(psi, p - 2, p));
    inverse[0] = power(n as u64, p - 2, p);
    inverse[1] = product(inverse[0], inverse[1], p);
    (Twiddles::new(forward, p), Twiddles::new(inverse, p))
}

pub(super) fn check_degree(n: usize) {
    assert!(
        n.is_power_of_two() && (64..=32768).contains(&n),
        "a transform has a power of two from 64 to 32768 coefficients, not {n}"
    );
}

/// The primitive 2n-th root of unity that is the (p - 1) / 2n-th power of the smallest base for which
/// that is one: so all parties have the same.
fn root(p: u64, n: u64) -> u64 {
    let candidates = (2..p).map(|base| power(base, (p - 1) / (2 * n), p));
    // n is a power of two: an element has order 2n if and only if its n-th power is -1.
    let psi = candidates
        .into_iter()
        .find(|&psi| power(psi, n, p) == p - 1);
    assert!(psi.is_some(), "{p} has no root of unity of order {}", 2 * n);
    psi.unwrap_or_default()
}

/// Miller and Rabin's test, which is exact below 3.3 * 10^24 with the first 13 primes as bases
/// (Sorenson, Webster, Math. Comp. 86, 2017).
pub(crate) fn is_prime(p: u64) -> bool {
    const BASES: [u64; 13] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
    if p < 2 || BASES.iter().any(|&base| p.is_multiple_of(base)) {
        return BASES.contains(&p);
    }
    let twos = (p - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut x = power(base, p >> twos, p);
        let mut good = x == 1 || x == p - 1;
        for _ in 1..twos {
            x = product(x, x, p);
            good |= x == p - 1;
        }
        good
    })
}

/// x y mod p, for what is public.
fn product(x: u64, y: u64, p: u64) -> u64 {
    (u128::from(x) * u128::from(y) % u128::from(p)) as u64
}

/// base^exponent mod p, for what is public.
fn power(mut base: u64, mut exponent: u64, p: u64) -> u64 {
    let mut result = 1 % p;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, base, p);
        }
        base = product(base, base, p);
        exponent >>= 1;
    }
    result
}
