//! Sizes of the LPN problem, and the stages that lead up to the one that makes the OTs.
//!
//! # The assumption
//! Learning parity with noise over the field of two elements: for a public code A of n rows and k
//! columns with [`LOCALITY`](madrigal_kernels::lpn::LOCALITY) ones in each row, a uniform secret u
//! and noise e that is *regular* (one error at a uniform place in each of t bins of n / t), A u + e
//! looks random.
//!
//! # The attacks that decide
//! Ferret's own table and its revision after Liu, Wang, Yang and Yu ("The Hardness of LPN over Any
//! Integer Ring and Field for PCG Applications", Eurocrypt 2024, ePrint 2022/712) look at Pooled
//! Gauss, information-set decoding and statistical decoding. They are not the last word for regular
//! noise, so no row of those tables is used here:
//!
//! - In each bin the errors' product two by two is zero: t C(n/t, 2) quadratic equations in k - t
//!   unknowns (each bin's sum gives a linear one). Where they are more than the k^2 / 2 monomials,
//!   that is where n^2 / t exceeds k^2, linear algebra solves them; otherwise the attacker guesses
//!   some error-free places first (Briaud and Oygarden, Eurocrypt 2023, ePrint 2023/176; improved
//!   by the hybrid attack of ePrint 2025/1284 and by "AGB 2.0", ePrint 2025/1476). The parameters
//!   (10 180 608, 124 000, 4 971) in wide use fall to it at about 2^92.
//! - Hence n is kept small beside k^2 t / n: an iteration makes 4 million rows, not 10 million, of
//!   which 7% feed the next one.
//! - A list-based decoder whose entries cost a few dozen bit operations, not n of them as
//!   estimators have it, gains another 20 bits over Gauss. It is what decides the values of k
//!   below; the row of Ferret as revised (10 485 760, 452 000, 1 280) would be at 2^115 by this
//!   count.
//!
//! | stage | n | bin | t | k | Pooled Gauss | lists | algebraic | base rows |
//! |---|---|---|---|---|---|---|---|---|
//! | first | 43 520 | 2^7 | 340 | 9 728 | 2^156 | 2^132 | 2^145 | 12 108 |
//! | middle | 294 912 | 2^9 | 576 | 37 888 | 2^154 | 2^131 | 2^145 | 43 072 |
//! | main | 4 194 304 | 2^12 | 1 024 | 278 528 | 2^151 | 2^130 | 2^142 | 290 816 |
//!
//! Costs are in bit operations, with linear algebra at an exponent of 2.8; module `security` of the
//! tests has the formulas and asks for 2^128 at every stage. The public estimator of the authors of
//! ePrint 2025/1284 and 2025/1476 (their hybrid attack, and Esser and Santini's three regular
//! decoders) finds nothing below 2^141 for the three stages.
//!
//! What is assumed beyond that: that ten ones per row do not help an attacker (the code's smallest
//! vanishing sets of rows are far too large; tested). Each iteration has a code of its own, with a
//! fresh secret and fresh errors: work spent on one code is of no use against another iteration.

use core::ops::Range;

use madrigal_kernels::ggm::TREES;

use crate::cost::Cost;

/// One LPN problem: t = `trees` bins of 2^`depth` rows, k = `dimension`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    pub(super) depth: usize,
    pub(super) trees: usize,
    pub(super) dimension: usize,
}

impl Stage {
    pub(super) const fn new(depth: usize, trees: usize, dimension: usize) -> Self {
        assert!(depth >= 5 && depth < 32 && trees.is_multiple_of(TREES) && dimension > 0);
        Stage {
            depth,
            trees,
            dimension,
        }
    }

    /// Levels of a tree: the base-two logarithm of the size of a bin.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Number t of trees, of bins and of errors.
    pub const fn trees(&self) -> usize {
        self.trees
    }

    /// Dimension k of the code.
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// Rows n that the stage makes.
    pub const fn rows(&self) -> usize {
        self.trees << self.depth
    }

    /// Rows that the stage uses up: k for the code, one per level of each tree.
    pub const fn base_rows(&self) -> usize {
        self.dimension + self.trees * self.depth
    }

    /// Rows that the trees of one group use up.
    pub(super) const fn base_rows_of_group(&self) -> usize {
        TREES * self.depth
    }

    /// Rows that one group of [`TREES`] trees makes.
    pub(super) const fn group_rows(&self) -> usize {
        TREES << self.depth
    }

    const fn groups(&self) -> usize {
        self.trees / TREES
    }

    /// Bytes that the sender sends for a group: a block per level of each tree.
    pub(super) const fn group_bytes(&self) -> usize {
        16 * TREES * self.depth
    }

    /// Groups that it takes to make the base of stage `next`.
    const fn groups_for(&self, next: &Stage) -> usize {
        next.base_rows().div_ceil(self.group_rows())
    }

    /// AES blocks of one group at either party: the key of its trees, a block for each inner node
    /// but the roots, 2.5 for each row's indices.
    const fn group_aes(&self) -> usize {
        1 + TREES * ((1 << self.depth) - 2) + self.group_rows() / 2 * 5
    }
}

const FIRST: Stage = Stage::new(7, 340, 9_728);
const MIDDLE: Stage = Stage::new(9, 576, 37_888);
const MAIN: Stage = Stage::new(12, 1024, 278_528);

/// The stages of an instance: each but the last runs once and makes the base of its successor, the
/// last one runs over and over and makes the OTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SilentParams {
    stages: &'static [Stage],
}

impl SilentParams {
    /// For 10^5 to 10^6 OTs: 2.7 bits of communication per OT in the long run, and 40 KB at the
    /// start.
    pub const SMALL: Self = Self::new(&[FIRST, MIDDLE]);
    /// For 10^6 OTs and more: 0.4 bits of communication per OT in the long run, and 0.12 MB at the
    /// start.
    pub const LARGE: Self = Self::new(&[FIRST, MIDDLE, MAIN]);

    pub(super) const fn new(stages: &'static [Stage]) -> Self {
        let mut i = 1;
        while i < stages.len() {
            assert!(stages[i - 1].rows() >= stages[i].base_rows());
            i += 1;
        }
        let params = SilentParams { stages };
        assert!(params.user_groups() > 0);
        params
    }

    /// The parameters that suit about `m` OTs. Below some 50 000 every silent extension loses
    /// against the one that would have to make its base.
    pub const fn for_ots(m: u64) -> Self {
        if m <= 1_000_000 {
            Self::SMALL
        } else {
            Self::LARGE
        }
    }

    /// The stages in the order in which they run.
    pub const fn stages(&self) -> &'static [Stage] {
        self.stages
    }

    /// Rows of another extension, with random choices, that an instance starts from.
    pub const fn base_rows(&self) -> usize {
        self.stages[0].base_rows()
    }

    /// Rows that come at a time: calls for a multiple of it need no copy.
    pub const fn chunk(&self) -> usize {
        self.last().group_rows()
    }

    pub(super) const fn last(&self) -> &'static Stage {
        &self.stages[self.stages.len() - 1]
    }

    /// Groups of an iteration of the last stage that go out; the others are the next one's base.
    pub(super) const fn user_groups(&self) -> usize {
        let last = self.last();
        last.groups() - last.groups_for(last)
    }

    /// Groups of stage `i` that stay inside: all that its successor needs.
    pub(super) const fn inner_groups(&self, i: usize) -> Range<usize> {
        if i + 1 < self.stages.len() {
            0..self.stages[i].groups_for(&self.stages[i + 1])
        } else {
            self.user_groups()..self.last().groups()
        }
    }

    /// Whole work of all rows up to `rows`, in the unit that `of_group` measures a group in.
    fn up_to(&self, rows: u64, of_group: impl Fn(&Stage) -> usize) -> u64 {
        let (last, before) = (self.last(), self.stages.len() - 1);
        let groups = rows.div_ceil(last.group_rows() as u64);
        if groups == 0 {
            return 0;
        }
        let setup: usize = (0..before)
            .map(|i| self.inner_groups(i).len() * of_group(&self.stages[i]))
            .sum();
        let all = groups + self.renewals(groups) * self.inner_groups(before).len() as u64;
        setup as u64 + all.saturating_mul(of_group(last) as u64)
    }

    /// Iterations of the last stage that end before the last of its first `groups` groups is made:
    /// an iteration's inner groups are made when the first row of the next one is wanted.
    const fn renewals(&self, groups: u64) -> u64 {
        groups.saturating_sub(1) / self.user_groups() as u64
    }

    /// Iterations of all stages, each with a code of its own, that it takes to make `rows` rows.
    fn iterations(&self, rows: u64) -> u64 {
        let groups = rows.div_ceil(self.last().group_rows() as u64);
        if groups == 0 {
            return 0;
        }
        self.stages.len() as u64 + self.renewals(groups)
    }

    /// Length in bytes of the sender's message for `m` OTs, `first` having been made before. It is
    /// the same however the `first` were divided into calls.
    pub fn message_len(&self, first: u64, m: usize) -> usize {
        let end = first.saturating_add(m as u64);
        let bytes = self.up_to(end, Stage::group_bytes) - self.up_to(first, Stage::group_bytes);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Cost of `m` OTs, rows only, `first` having been made before. The sender's AES blocks include
    /// the roots of the trees.
    pub fn cost(&self, first: u64, m: usize) -> Cost {
        let end = first.saturating_add(m as u64);
        let made =
            |of_group: fn(&Stage) -> usize| self.up_to(end, of_group) - self.up_to(first, of_group);
        let codes = self.iterations(end) - self.iterations(first);
        let sender_bytes = self.message_len(first, m) as u64;
        Cost {
            sender_bytes,
            rounds: u64::from(sender_bytes > 0),
            sender_aes: made(Stage::group_aes) + made(|_| TREES) + codes,
            receiver_aes: made(Stage::group_aes) + codes,
            ..Cost::default()
        }
    }
}
