//! The number-theoretic transform of Z_p\[X\]/(X^n + 1) for primes p < 2^50, and sums of products of
//! transformed elements: the arithmetic of encryption from lattices over a ring.
//!
//! The negacyclic transform takes the values at the odd powers of a primitive 2n-th root of unity psi
//! (Longa, Naehrig, CANS 2016), in bit-reversed order, by butterflies that leave values below 4p
//! (Harvey, J. Symb. Comput. 60, 2014). A factor w known beforehand comes with its quotient
//! floor(2^52 w / p), so that plain Rust and the instructions that multiply 52-bit integers (AVX-512
//! IFMA, at the level `vaes512` where the processor has them) do the same with the same tables. At the
//! other levels of x86-64 processors that have AVX2 and FMA compute with doubles. All results lie in
//! \[0, p): they are equal at every level.
//!
//! No branch and no index depends on the elements; on p, n and lengths they do. That elements are
//! below p is the caller's to see to, and to check where a peer sends them: of others the results mean
//! nothing, and arithmetic that is checked for overflow may panic.

use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Kernels, portable};

mod tables;

pub(crate) use tables::{Factor, LIMB, LIMB_MASK, Modulus, Twiddles, is_prime};

/// The most products of [`Sums`] between carries: their low limbs fill 64 bits.
const PRODUCTS: u32 = 1 << (64 - LIMB);

/// Code that runs.
#[derive(Clone, Copy)]
enum Path {
    Portable,
    // Invariant: `x86::has_fma()`.
    #[cfg(target_arch = "x86_64")]
    Fma,
    // Invariant: `x86::has_ifma()`.
    #[cfg(target_arch = "x86_64")]
    Ifma,
}

impl Path {
    fn of(kernels: Kernels) -> Self {
        #[cfg(target_arch = "x86_64")]
        if kernels.level() == crate::Level::Vaes512 && crate::x86::has_ifma() {
            return Self::Ifma;
        }
        #[cfg(target_arch = "x86_64")]
        if kernels.level() != crate::Level::Portable && crate::x86::has_fma() {
            return Self::Fma;
        }
        let _ = kernels;
        Self::Portable
    }
}

/// Calls one kernel of the transform on a [`Path`].
macro_rules! follow {
    ($path:expr, $kernel:ident ( $($argument:expr),* $(,)? )) => {
        match $path {
            Path::Portable => portable::ntt::$kernel($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this path is taken only where AVX2 and FMA were detected.
            Path::Fma => unsafe { crate::x86::fma::$kernel($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this path is taken only where AVX-512 F and IFMA were detected.
            Path::Ifma => unsafe { crate::x86::ifma::$kernel($($argument),*) },
        }
    };
}

/// The transform for one prime and degree. Its tables (32 bytes a coefficient) are public.
#[derive(Clone)]
pub struct Ntt {
    path: Path,
    n: usize,
    modulus: Modulus,
    forward: Twiddles,
    inverse: Twiddles,
}

impl Kernels {
    /// [`Ntt::new`] at this handle's level.
    ///
    /// # Panics
    /// In the same cases as [`Ntt::new`].
    #[must_use]
    pub fn ntt(self, prime: u64, n: usize) -> Ntt {
        let (forward, inverse) = tables::twiddles(prime, n);
        let path = Path::of(self);
        #[cfg(target_arch = "x86_64")]
        let (forward, inverse) = match path {
            Path::Fma => (
                crate::x86::fma::twiddles(&forward, prime),
                crate::x86::fma::twiddles(&inverse, prime),
            ),
            _ => (forward, inverse),
        };
        Ntt {
            path,
            n,
            modulus: Modulus::new(prime),
            forward,
            inverse,
        }
    }

    /// [`Sums::new`] at this handle's level.
    ///
    /// # Panics
    /// In the same cases as [`Sums::new`].
    #[must_use]
    pub fn sums(self, n: usize) -> Sums {
        tables::check_degree(n);
        Sums {
            path: Path::of(self),
            lo: vec![0; n],
            hi: vec![0; n],
            top: Vec::new(),
            count: 0,
        }
    }
}

impl Ntt {
    /// The tables for `prime` and polynomials of `n` coefficients, run at the default level.
    ///
    /// # Panics
    /// Unless `n` is a power of two from 64 to 32768 and `prime` is a prime below 2^50 that is
    /// 1 mod 2n.
    #[must_use]
    pub fn new(prime: u64, n: usize) -> Self {
        Kernels::detect().ntt(prime, n)
    }

    /// The modulus p.
    #[must_use]
    pub const fn prime(&self) -> u64 {
        self.modulus.p
    }

    /// The number of coefficients n.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.n
    }

    /// Whether there is no coefficient: never.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Transforms in place: from coefficients in [0, p), lowest first, to the values at the odd powers of the
    /// root in [0, p): value j belongs to the power 2 rev(j) + 1, with rev(j) the log2 n bits of j
    /// reversed.
    ///
    /// # Panics
    /// Unless there are n values; so do the functions below for each argument.
    pub fn forward(&self, values: &mut [u64]) {
        self.check("forward", values.len());
        follow!(self.path, forward(values, &self.forward, &self.modulus));
    }

    /// Transforms back in place: from the values that [`Ntt::forward`] gives to the coefficients in [0, p), the
    /// factor 1 / n included.
    pub fn inverse(&self, values: &mut [u64]) {
        self.check("inverse", values.len());
        follow!(self.path, inverse(values, &self.inverse, &self.modulus));
    }

    /// `out[i] = x[i] * y[i]` mod p; all in [0, p).
    pub fn multiply(&self, x: &[u64], y: &[u64], out: &mut [u64]) {
        self.check("multiply", x.len());
        self.check("multiply", y.len());
        self.check("multiply", out.len());
        follow!(self.path, multiply(x, y, out, &self.modulus));
    }

    /// `x[i] += y[i]` mod p; all in [0, p).
    pub fn add_assign(&self, x: &mut [u64], y: &[u64]) {
        self.check("add_assign", x.len());
        self.check("add_assign", y.len());
        follow!(self.path, add_assign(x, y, &self.modulus));
    }

    /// `x[i] -= y[i]` mod p; all in [0, p).
    pub fn sub_assign(&self, x: &mut [u64], y: &[u64]) {
        self.check("sub_assign", x.len());
        self.check("sub_assign", y.len());
        follow!(self.path, sub_assign(x, y, &self.modulus));
    }

    /// `x[i] *= c` mod p; all in [0, p), and `c` may be secret too.
    pub fn scale(&self, x: &mut [u64], c: u64) {
        self.check("scale", x.len());
        let factor = Factor::new(c, self.modulus.p);
        follow!(self.path, scale(x, factor, &self.modulus));
    }

    /// `out[i] = x[i]` mod p, in [0, p), for any integers.
    pub fn residues(&self, x: &[i64], out: &mut [u64]) {
        self.check("residues", x.len());
        self.check("residues", out.len());
        follow!(self.path, residues(x, out, &self.modulus));
    }

    fn check(&self, operation: &str, length: usize) {
        assert_eq!(
            length, self.n,
            "{operation}: {length} values, but this transform is for {}",
            self.n
        );
    }
}

impl fmt::Debug for Ntt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Ntt");
        out.field("prime", &self.modulus.p).field("n", &self.n);
        out.finish_non_exhaustive()
    }
}

/// Sums of products of transformed elements, not yet reduced: a multiplication and two additions a
/// product, and one reduction in the end. Wiped when dropped, never shown.
///
/// A sum is `lo + 2^52 hi + 2^104 top`. Each product adds its lowest 52 bits to `lo` and the other
/// 48 to `hi`; after 4096 products what is above 52 bits of either moves up, and only then is there a
/// `top`. There is room for 2^55 products.
pub struct Sums {
    path: Path,
    lo: Vec<u64>,
    hi: Vec<u64>,
    /// Empty until the first carry.
    top: Vec<u64>,
    /// Products in `lo` since the last carry, which itself leaves as much as one.
    count: u32,
}

impl Sums {
    /// `n` sums, all zero, run at the default level.
    ///
    /// # Panics
    /// Unless `n` is a power of two from 64 to 32768.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Kernels::detect().sums(n)
    }

    /// Adds `x[i] * y[i]` to sum i; the factors in [0, p) for the p of [`Sums::take`], or any below
    /// 2^50.
    ///
    /// # Panics
    /// Unless there are as many of either as sums.
    pub fn add(&mut self, x: &[u64], y: &[u64]) {
        assert!(
            x.len() == self.lo.len() && y.len() == self.lo.len(),
            "Sums::add: {} by {} values for {} sums",
            x.len(),
            y.len(),
            self.lo.len()
        );
        if self.count == PRODUCTS {
            self.carry();
        }
        self.count += 1;
        follow!(self.path, add_products(x, y, &mut self.lo, &mut self.hi));
    }

    /// Writes the sums mod p into `out`, in [0, p); then the sums are zero again.
    ///
    /// # Panics
    /// Unless `ntt` and `out` have as many elements as there are sums.
    pub fn take(&mut self, ntt: &Ntt, out: &mut [u64]) {
        ntt.check("Sums::take", self.lo.len());
        ntt.check("Sums::take", out.len());
        follow!(
            self.path,
            reduce(&mut self.lo, &mut self.hi, out, &ntt.modulus)
        );
        if !self.top.is_empty() {
            let shift = ntt.modulus.limb2;
            follow!(self.path, scale(&mut self.top, shift, &ntt.modulus));
            follow!(self.path, add_assign(out, &self.top, &ntt.modulus));
            self.top.zeroize();
        }
        self.count = 0;
    }

    /// Moves what is above 52 bits of each limb into the next.
    fn carry(&mut self) {
        self.top.resize(self.lo.len(), 0);
        for ((lo, hi), top) in self.lo.iter_mut().zip(&mut self.hi).zip(&mut self.top) {
            *hi += *lo >> LIMB;
            *lo &= LIMB_MASK;
            *top += *hi >> LIMB;
            *hi &= LIMB_MASK;
        }
        self.count = 1;
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        self.lo.zeroize();
        self.hi.zeroize();
        self.top.zeroize();
    }
}

impl ZeroizeOnDrop for Sums {}

madrigal_core::opaque!(Sums);

/// The reduction alone, at a level.
pub(crate) fn reduce_at(kernels: Kernels, p: u64, lo: &mut [u64], hi: &mut [u64], out: &mut [u64]) {
    let modulus = Modulus::new(p);
    follow!(Path::of(kernels), reduce(lo, hi, out, &modulus));
}
