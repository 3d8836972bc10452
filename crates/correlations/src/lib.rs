//! Correlated randomness for N parties: multiplication triples.
