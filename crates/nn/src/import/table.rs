//! The form of the tables of operators.

use super::builder::Builder;
use super::view::View;
use crate::error::Fault;
use crate::graph::ValueId;

/// Imports a node: the values that it makes, as many as it can.
pub(super) type Importer = fn(&mut Builder, &View<'_>) -> Result<Vec<ValueId>, Fault>;

/// Operators by name.
pub(super) type Table = &'static [(&'static str, Importer)];
