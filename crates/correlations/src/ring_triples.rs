//! Correlations over Z_2^l: triples and square pairs.

use crate::columns::container;

container! {
    /// One party's shares of multiplication triples over Z_2^l: a and b random, c = a b.
    RingTriples,
    /// Shares of some triples.
    TripleShares {
        /// Shares of a.
        a,
        /// Shares of b.
        b,
        /// Shares of c = a b.
        c
    },
    3
}

container! {
    /// One party's shares of square pairs over Z_2^l: a random, c = a^2.
    SquarePairs,
    /// Shares of some square pairs.
    SquareShares {
        /// Shares of a.
        a,
        /// Shares of c = a^2.
        c
    },
    2
}
