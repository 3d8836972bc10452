//! Functions that neural networks are made of.
//!
//! Each is a method of [`Secret`], and beneath that of a [`Tensor`] whatever its type. Functions of one number
//! are one operation, a circuit (`crates/program/src/function`); the rest is put together from these and from
//! what else there is. Bounds are in steps of 2^-F, the last place of `Fixed<W, F>`; for F above 24 they
//! count in steps of 2^-24.
//!
//! | | comparisons | products | functions | rejected |
//! |---|---|---|---|---|
//! | ReLU, leaky ReLU | 1, the highest bit | 1 bit times number | | `max(x, 0)`, which chooses among bits |
//! | clip | 2, side by side | 2, side by side | | a minimum after a maximum: twice the rounds |
//! | GELU, SiLU, softplus | 1, in the circuit of the function | 1 bit times number | 1 | x times sigmoid, whose product is cut off by another circuit |
//! | softmax | the length less 1, in a tree | 1 for each element | 2: e^x for each element, 1/x for each row | quotients: a division for each element; no maximum, where e^x and its sum leave the type |
//! | layer normalisation | | 1 square and 1 product for each element | 1 for each row | a quotient and a root |

mod piecewise;
mod pools;
mod quotients;
mod rows;
mod smooth;
mod tensor;
