//! Stages of VOLE, and what they cost.
//!
//! # The assumption, and why silent OT's parameters will not do
//! Learning parity with noise as in [silent OT](SilentParams), but secrets and errors are elements of 64 or 128 bits, and the
//! code, which has the ones and zeros that silent OT's has, is one over the field of two elements: B problems at
//! once with one code and errors in the same places. That is not as hard as one such problem. A solver takes as many rows as unknowns and
//! solves them for all bits; if fewer than B of these rows have errors, some linear map of the bits is
//! zero on all of them, and the solution is right under that map, which shows in the rank of what it
//! leaves elsewhere (interleaved codes: Metzner and Kapturowski, 1990). In the main stage of silent OT
//! such a set of rows has 132 errors, so with B = 128 every second try would succeed, at 2^40 bit operations.
//! `cargo xtask lpn` computes this attack, with lists and in dense minors of any choice, beside all others; its tests hold all to
//! 2^132. Hence errors are four to sixteen times as dense as for OTs,
//! in smaller codes, which are the faster for it, since their tables fit the second-level cache or nearly so:
//!
//! | stage | B | n | bin | t | k | interleaved, any minor | interleaved, all columns | statistical, any minor | algebraic, one map | algebraic, any map | base |
//! |---|---|---|---|---|---|---|---|---|---|---|---|
//! | first | 64 | 81 920 | 2^4 | 5 120 | 8 192 | 2^166 | 2^304 | 2^183 | 2^358 | 2^297 | 13 312 |
//! | main | 64 | 2 097 152 | 2^7 | 16 384 | 65 536 | 2^139 | 2^310 | 2^181 | 2^233 | 2^188 | 81 920 |
//! | first | 128 | 100 352 | 2^4 | 6 272 | 9 728 | 2^144 | 2^309 | 2^216 | 2^411 | 2^290 | 16 000 |
//! | main | 128 | 2 097 152 | 2^7 | 16 384 | 83 968 | 2^139 | 2^351 | 2^240 | 2^317 | 2^227 | 100 352 |
//!
//! # Algebraic attacks
//! They are computed up to degree 12, beyond the cheapest degree of each stage. For OTs a bin's sum is an equation without noise. Here
//! it is none, because an error may be anything; with sums known the first stages would fall at 2^73 and 2^54, so errors must stay uniform.
//!
//! - *One map*: an attacker fixes a linear map of the B bits to one, under which half of the bins have no error, so that
//!   a guess of error-free places is right the more often. Degrees 7, 8, 9 and 11 are the cheapest.
//! - *Any map*: the map is B unknowns more. Some map is zero on any B - 1 errors, so that whole bins are guessed to have none for
//!   free, or single places until B errors are met. Degrees 7, 6, 9 and 7 are the cheapest. Several maps at once need as high a
//!   degree, with more monomials.
//!
//! # Light sums of rows that cancel
//! The lightest have some 903, 4975, 1060 and 6876 rows in the four codes: by counting, with the codes' sparsity (1064, 6741, 1254 and 9030 in
//! codes without it). Statistical decoding with sums hardly heavier would take 2^84, 2^57, 2^99 and 2^78 of them, if they could be had for
//! nothing, and so break all four, as it would silent OT's. Nobody knows how to find them: to find *one* takes
//! lists of 2^830 and more entries. The table's figure is for the sums that lists can find.
//!
//! `docs/LPN.md` explains all figures; tests compare them with what `cargo xtask lpn` computes.

use core::fmt;
use core::marker::PhantomData;

use madrigal_kernels::Element;
use madrigal_kernels::ggm::TREES;

use crate::cost::Cost;
use crate::silent::{SilentParams, Stage};

const FIRST_64: Stage = Stage::of_elements(64, 4, 5_120, 8_192);
const MAIN_64: Stage = Stage::of_elements(64, 7, 16_384, 65_536);
const FIRST_128: Stage = Stage::of_elements(128, 4, 6_272, 9_728);
const MAIN_128: Stage = Stage::of_elements(128, 7, 16_384, 83_968);

/// Elements beyond which the main stage pays.
const MANY: u64 = 100_000;

/// Parameters of an instance, whose values are words or blocks.
pub struct VoleParams<V> {
    course: SilentParams,
    marker: PhantomData<fn() -> V>,
}

impl<V> Clone for VoleParams<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for VoleParams<V> {}

impl<V> fmt::Debug for VoleParams<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.course.fmt(f)
    }
}

impl<V: Element> VoleParams<V> {
    /// The parameters that suit about `m` elements. Setup takes half a million silent OTs or more, however few
    /// elements there are.
    #[must_use]
    pub const fn for_elements(m: u64) -> Self {
        let stages: [&'static [Stage]; 2] = if V::BITS == 64 {
            [&[FIRST_64], &[FIRST_64, MAIN_64]]
        } else {
            [&[FIRST_128], &[FIRST_128, MAIN_128]]
        };
        Self::new(stages[(m > MANY) as usize])
    }

    pub(super) const fn new(stages: &'static [Stage]) -> Self {
        let mut i = 0;
        while i < stages.len() {
            assert!(stages[i].bits() == V::BITS);
            i += 1;
        }
        VoleParams {
            course: SilentParams::new(stages),
            marker: PhantomData,
        }
    }

    /// The stages in the order in which they run, each but the last once.
    #[must_use]
    pub const fn stages(&self) -> &'static [Stage] {
        self.course.stages()
    }

    pub(super) const fn course(&self) -> SilentParams {
        self.course
    }

    /// Elements that come at a time: calls for a multiple of it need no copy.
    #[must_use]
    pub const fn chunk(&self) -> usize {
        self.course.chunk()
    }

    /// Elements that an instance starts from.
    pub(super) const fn base_elements(&self) -> usize {
        self.course.base_rows()
    }

    /// Silent OTs that setup uses up.
    #[must_use]
    pub const fn setup_ots(&self) -> usize {
        V::BITS * self.base_elements()
    }

    /// Silent OTs that `m` elements use up, `first` having been made before.
    #[must_use]
    pub fn ots(&self, first: u64, m: usize) -> usize {
        self.between(first, m, Stage::group_ots) as usize
    }

    /// Bytes of the trees' messages for `m` elements, `first` having been made before.
    pub(super) fn tree_bytes(&self, first: u64, m: usize) -> usize {
        self.between(first, m, Stage::group_bytes) as usize
    }

    fn between(&self, first: u64, m: usize, of_group: impl Fn(&Stage) -> usize + Copy) -> u64 {
        let end = first.saturating_add(m as u64);
        self.course.up_to(end, of_group) - self.course.up_to(first, of_group)
    }

    /// The parameters of silent OT that suit `m` elements.
    #[must_use]
    pub fn silent(&self, m: u64) -> SilentParams {
        SilentParams::for_ots(self.setup_ots() as u64 + self.course.up_to(m, Stage::group_ots))
    }

    /// Cost of setup from silent OTs with the parameters `silent`, of which none have been made before.
    #[must_use]
    pub fn setup_cost(&self, silent: &SilentParams) -> Cost {
        silent.cost(0, self.setup_ots())
    }

    /// Cost of `m` elements, `first` having been made before, from an instance of silent OTs that has made no others.
    #[must_use]
    pub fn cost(&self, silent: &SilentParams, first: u64, m: usize) -> Cost {
        let before = self.setup_ots() as u64 + self.course.up_to(first, Stage::group_ots);
        let ots = silent.cost(before, self.ots(first, m));
        let own = self.course.cost(first, m);
        let end = first.saturating_add(m as u64);
        let codes = self.course.iterations(end) - self.course.iterations(first);
        Cost {
            sender_bytes: ots.sender_bytes + own.sender_bytes,
            rounds: ots.rounds.max(own.rounds),
            sender_aes: ots.sender_aes + own.sender_aes,
            // The receiver applies the code twice.
            receiver_aes: ots.receiver_aes
                + own.receiver_aes
                + self.between(first, m, Stage::indices_aes)
                + codes,
            ..Cost::default()
        }
    }

    /// Groups of trees of `m` elements, `first` having been made before: AES blocks that either side of a [checked](super::VoleSender::checked) instance
    /// computes for shifts beside [`cost`](Self::cost).
    #[must_use]
    pub fn groups(&self, first: u64, m: usize) -> usize {
        (self.between(first, m, |_| TREES) / TREES as u64) as usize
    }
}
