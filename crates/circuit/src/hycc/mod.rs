//! Programs as the HyCC compiler writes them (Büscher et al., "HyCC: Compilation of Hybrid Protocols for
//! Practical Secure Computation", CCS 2018): modules of gates that call each other, in files of their own,
//! and bundles that say which modules make a program.
//!
//! [`Module::read`] reads one file (`*.circ`, version 5), [`Bundle::read`] a list of them (`*.cmb`), which
//! also says how each module's bits are to be shared: its partition. [`Linked::new`] puts modules together,
//! and [`Linked::flatten`] makes one list of [`Node`]s of them, each for protocol A, B or Y, with conversions
//! where a word meets bits. [`Flat::evaluate`] is what that means, in the clear.
//!
//! Words have 8, 16, 32 or 64 bits. Memory follows the length of what is read, and [`Limits`](crate::Limits);
//! the same module called many times counts as often.

mod bundle;
mod error;
mod flat;
mod flatten;
mod link;
mod make;
mod module;
mod order;
mod read;
mod types;

pub use bundle::{BitSharing, Bundle, Entry};
pub use error::{BundleError, LinkError, ModuleError, ModuleErrorKind};
pub use flat::{Flat, Node, Op};
pub use link::Linked;
pub use module::{Call, Gate, Input, Module, Variable};
pub use types::{Leaf, Type};
