//! The form of the tables of operators.

use super::builder::Builder;
use super::view::View;
use crate::error::Fault;
use crate::graph::ValueId;

/// Values that a node makes, as many as are known.
pub(super) type Imported = Result<Vec<ValueId>, Fault>;

/// Imports a node.
pub(super) type Importer = fn(&mut Builder, &View<'_>) -> Imported;

/// Operators by name.
pub(super) type Table = &'static [(&'static str, Importer)];
