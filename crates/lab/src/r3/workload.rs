//! Names that each file of protocol R adds to the benchmark.

use super::ceilings::Measured;
use super::setting::Setting;
use crate::exit::Result;

/// Something to measure, over any transport.
pub(super) struct Workload {
    pub name: &'static str,
    /// Measures all runs of the name.
    pub measure: Box<Measure>,
}

pub(super) type Measure = dyn Fn(&Setting) -> Result<Measured>;
