//! How workloads are measured.

use crate::args::TransportArg;

/// How a workload is measured.
pub(super) struct Setting {
    pub transport: TransportArg,
    /// Threads of each party.
    pub threads: usize,
    /// Runs.
    pub repeat: u32,
}

/// Transports by name.
pub(super) const TRANSPORTS: [(&str, TransportArg); 3] = [
    ("memory", TransportArg::Memory),
    ("tcp", TransportArg::Tcp),
    ("tls", TransportArg::Tls),
];
