//! Sizes of the LPN problem, and the stages that lead up to the one that makes the OTs.
//!
//! # The assumption
//! Learning parity with noise over the field of two elements: for a public code A of n rows and k
//! columns with [`LOCALITY`](madrigal_kernels::lpn::LOCALITY) ones in each row, a uniform secret u
//! and noise e that is *regular* (one error at a uniform place in each of t bins of n / t), A u + e
//! looks random.
//!
//! # The attacks that decide
//! `cargo xtask lpn` computes what each attack costs, for these stages or for any others; its tests
//! hold every attack on every stage to 2^132, four bits over the 2^128 that we want, and carry the
//! main ones out at toy sizes. Costs are in bit operations and meant to favour the attacker: memory
//! is free, a sparse system of s unknowns costs 20 s^2, an entry of a list the bits that are compared.
//!
//! Ferret's own table and its revision after Liu, Wang, Yang and Yu ("The Hardness of LPN over Any
//! Integer Ring and Field for PCG Applications", Eurocrypt 2024, ePrint 2022/712) look at Pooled
//! Gauss, information-set decoding and statistical decoding of a code without structure. They are not
//! the last word for regular noise and a sparse code, so no row of those tables is used here:
//!
//! - *Dense minors* decide. Take a set S of b k columns and the rows whose ten ones lie in it. Once
//!   these are as many as the columns they determine the secret there, no error falls among b k rows
//!   with probability (1 - b k / n)^t, and the system is still sparse. For random columns b is
//!   (k / n)^(1/9); who drops the column with the fewest rows over and over comes to 0.63 in the
//!   main stage; and by counting there is no S at all below 0.59. The parameters are chosen
//!   against *any* S, found for free, with lists and representations (Esser and Santini, Crypto
//!   2024, ePrint 2023/1568) in what it leaves. This counts 2^85 for bins of 2^12 with t = 1024 and
//!   k = 278 528, and less for the sets in wide use: twice as many errors in as many rows are what
//!   it takes.
//! - In each bin the errors' product two by two is zero: t C(n/t, 2) quadratic equations in k - t
//!   unknowns (each bin's sum gives a linear one), which linear algebra solves once the attacker has
//!   guessed enough error-free places (Briaud and Oygarden, Eurocrypt 2023, ePrint 2023/176;
//!   improved by the hybrid attack of ePrint 2025/1284 and by "AGB 2.0", ePrint 2025/1476). In the
//!   bits of the secret the equations are sparse, too, so that Wiedemann's algorithm solves them at
//!   degrees where elimination could not: the parameters (10 180 608, 124 000, 4 971) in wide use
//!   fall to that at about 2^74. Hence n is kept small beside k^2 t / n: an iteration makes 4
//!   million rows, not 10 million, of which 7% feed the next one.
//!
//! | stage | n | bin | t | k | lists | algebraic | random minor | greedy minor | any minor | base rows |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | first | 69 632 | 2^7 | 544 | 14 592 | 2^185 | 2^191 | 2^161 | 2^141 | 2^134 | 18 400 |
//! | middle | 442 368 | 2^9 | 864 | 61 440 | 2^196 | 2^186 | 2^160 | 2^140 | 2^133 | 69 216 |
//! | main | 4 194 304 | 2^11 | 2 048 | 270 336 | 2^212 | 2^180 | 2^161 | 2^140 | 2^133 | 292 864 |
//!
//! *Lists* are information-set decoding on all columns; *minors* are with lists. Statistical decoding
//! stays above 2^205 in all of them.
//!
//! Each iteration has a code of its own, with a fresh secret and fresh errors. So an attacker who
//! would be content with any one of the 2^18 iterations of 2^40 OTs gains nothing by their number:
//! what is spent on one code is of no use against another, and a try costs as much and succeeds as
//! often wherever it is made.
//!
//! The assumption beyond that: there is no way to find much lighter sums of rows that cancel
//! than lists and dense minors give. Few rows never cancel (tested). Sums of 0.6% of all rows of the main
//! stage exist in every code of its size, and 2^73 of them would break it
//! if they cost nothing; finding them is a decoding problem in the dual code, for which
//! ten ones per row are not known to help. `docs/LPN.md` has the figures of all stages.

use core::ops::Range;

use madrigal_kernels::ggm::TREES;

use crate::cost::Cost;

/// One LPN problem: t = `trees` bins of 2^`depth` rows, k = `dimension`. Secrets and errors are bits, or elements of more
/// bits ([`crate::vole`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// 1, and errors are ones; or 64 or 128, and each tree uses up an element, its error.
    pub(super) bits: usize,
    pub(super) depth: usize,
    pub(super) trees: usize,
    pub(super) dimension: usize,
}

impl Stage {
    pub(super) const fn new(depth: usize, trees: usize, dimension: usize) -> Self {
        assert!(depth >= 5);
        Self::of_elements(1, depth, trees, dimension)
    }

    /// A stage of elements of `bits` bits.
    pub(crate) const fn of_elements(
        bits: usize,
        depth: usize,
        trees: usize,
        dimension: usize,
    ) -> Self {
        assert!(depth >= 3 && depth < 32 && trees.is_multiple_of(TREES) && dimension > 0);
        Stage {
            bits,
            depth,
            trees,
            dimension,
        }
    }

    /// Bits of a secret and of an error: 1 for OTs, 64 or 128 for VOLE.
    pub const fn bits(&self) -> usize {
        self.bits
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

    /// Rows or elements that the stage uses up: k for the code, and one per level of each tree for OTs, one per tree for
    /// VOLE.
    pub const fn base_rows(&self) -> usize {
        self.dimension + self.trees / TREES * self.base_rows_of_group()
    }

    /// Rows or elements that the trees of one group use up.
    pub(super) const fn base_rows_of_group(&self) -> usize {
        TREES * if self.bits == 1 { self.depth } else { 1 }
    }

    /// OTs beside the stage's own kind that the trees of one group use up.
    pub(crate) const fn group_ots(&self) -> usize {
        if self.bits == 1 {
            0
        } else {
            TREES * self.depth
        }
    }

    /// Rows that one group of [`TREES`] trees makes.
    pub(crate) const fn group_rows(&self) -> usize {
        TREES << self.depth
    }

    const fn groups(&self) -> usize {
        self.trees / TREES
    }

    /// Bytes that the sender sends for a group: a block per level of each tree, and for VOLE one for its error.
    pub(crate) const fn group_bytes(&self) -> usize {
        16 * TREES * (self.depth + if self.bits == 1 { 0 } else { 1 })
    }

    /// Groups that it takes to make the base of stage `next`.
    const fn groups_for(&self, next: &Stage) -> usize {
        next.base_rows().div_ceil(self.group_rows())
    }

    /// AES blocks of one group at either party: the key of its trees, a block for each inner node
    /// but the roots, 2.5 for each row's indices; for VOLE the key of its leaves, and a block for each.
    const fn group_aes(&self) -> usize {
        let leaves = if self.bits == 1 {
            0
        } else {
            1 + self.group_rows()
        };
        1 + TREES * ((1 << self.depth) - 2) + leaves + self.indices_aes()
    }

    /// AES blocks of the code's indices for one group.
    pub(crate) const fn indices_aes(&self) -> usize {
        self.group_rows() / 2 * 5
    }
}

const FIRST: Stage = Stage::new(7, 544, 14_592);
const MIDDLE: Stage = Stage::new(9, 864, 61_440);
const MAIN: Stage = Stage::new(11, 2048, 270_336);

/// The stages of an instance: each but the last runs once and makes the base of its successor, the
/// last one runs over and over and makes the OTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SilentParams {
    stages: &'static [Stage],
}

impl SilentParams {
    /// Parameters for 10^5 to 10^6 OTs: 2.7 bits of communication per OT in the long run, and 60 KB at the
    /// start.
    pub const SMALL: Self = Self::new(&[FIRST, MIDDLE]);
    /// Parameters for 10^6 OTs and more: 0.74 bits of communication per OT in the long run, and 0.14 MB at the
    /// start.
    pub const LARGE: Self = Self::new(&[FIRST, MIDDLE, MAIN]);

    pub(crate) const fn new(stages: &'static [Stage]) -> Self {
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
    pub(crate) const fn user_groups(&self) -> usize {
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
    pub(crate) fn up_to(&self, rows: u64, of_group: impl Fn(&Stage) -> usize) -> u64 {
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
    pub(crate) fn iterations(&self, rows: u64) -> u64 {
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
