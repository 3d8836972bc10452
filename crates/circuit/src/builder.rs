//! Netlists made by programs.

/// Makes netlists gate by gate.
#[derive(Debug, Default)]
pub struct Builder;
