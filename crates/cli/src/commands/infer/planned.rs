//! A run as it was planned.

use madrigal_program::Planned;
use madrigal_program::lower::Mix;

use super::made::Made;
use crate::args::TransportArg;

/// A network, and how it is computed.
pub struct PlannedRun {
    pub made: Made,
    pub mix: Mix,
    pub planned: Planned,
    pub transport: TransportArg,
    /// Whether all parties are here.
    pub local: bool,
}

impl PlannedRun {
    /// Tells where correlations come from.
    pub fn correlations(&self) -> String {
        match self.planned.plan.needs().is_empty() {
            true => "none".to_owned(),
            false => self.planned.plan.spec().origin.to_string(),
        }
    }
}
