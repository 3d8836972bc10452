//! Work in the clear, on all cores that this process may use.

use std::thread::available_parallelism;

use madrigal_kernels::crew::Crew;

/// Does work in the clear that a [crew](madrigal_kernels::crew) shares; alone where no threads can be started.
pub(crate) fn on_all_cores<R>(work: impl FnOnce() -> R) -> R {
    let cores = available_parallelism().map_or(1, usize::from);
    Crew::new(cores).unwrap_or_default().at_work(work)
}
