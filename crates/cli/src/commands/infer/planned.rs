//! A run as it was planned.

use madrigal_program::Planned;
use madrigal_program::lower::Mix;

use super::model_program::ModelProgram;
use crate::args::TransportArg;

/// A network, and how it is computed.
pub struct PlannedRun {
    pub made: ModelProgram,
    pub mix: Mix,
    pub planned: Planned,
    pub transport: TransportArg,
    /// Whether all parties are here.
    pub local: bool,
}
