//! All that an operator sees of a running server: meters, health, the log.

mod ask;
mod health;
mod log;
mod meters;
mod port;
mod process;

pub use ask::{Answer, AskError, Question, ask};
pub use health::{Health, Trouble};
pub use log::start_log;
pub use meters::{
    End, EndLabel, FillingEnd, FillingLabel, KindLabel, Meters, PartyLabel, RefusalLabel,
};
pub use port::serve_operation;
