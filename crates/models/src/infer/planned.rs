//! A run as it was planned.

use madrigal_app::flags::TransportArg;
use madrigal_program::Planned;

use super::model_program::ModelProgram;

/// A network, and how it is computed.
pub(crate) struct PlannedRun {
    pub(crate) made: ModelProgram,
    pub(crate) planned: Planned,
    pub(crate) transport: TransportArg,
    /// Whether all parties are here.
    pub(crate) local: bool,
}
