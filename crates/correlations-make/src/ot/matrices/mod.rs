//! Triples of products over Z_2^l, made by [oblivious transfer](oblivious) or by [encryption](encrypted).

mod encrypted;
mod factors;
mod layout;
mod oblivious;
mod strings;

pub(crate) use self::encrypted::{Encrypted, EncryptedCosts, serves, transforms};
pub(crate) use self::factors::empty;
pub(crate) use self::layout::MatrixLayout;
pub(crate) use self::oblivious::triples;
