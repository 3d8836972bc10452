//! All that an operator sees of a running server: meters, health, the log.

mod health;
mod log;
mod meters;
mod port;
mod process;

pub use health::{Health, Trouble};
pub use log::start_log;
pub use meters::{End, EndLabel, FillingEnd, FillingLabel, KindLabel, Meters, RefusalLabel};
pub use port::serve_operation;
