//! The log: a line for each event on standard error, as text or JSON. No line has a value, a share or a key.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::LogConfig;

/// Levels where neither the file nor `RUST_LOG` says any.
const USUAL: &str = "info";

/// Starts the log of this process. `RUST_LOG` goes before the file's levels.
///
/// # Errors
/// Levels that are none, in words; a log that was started before.
pub fn start_log(config: &LogConfig) -> Result<(), String> {
    let told = std::env::var("RUST_LOG")
        .ok()
        .filter(|text| !text.is_empty());
    let levels = told.or_else(|| config.level.clone());
    let levels = levels.unwrap_or_else(|| USUAL.to_owned());
    let filter = EnvFilter::try_new(&levels);
    let filter = filter.map_err(|error| format!("log levels `{levels}`: {error}"))?;
    let lines = fmt().with_env_filter(filter).with_writer(io::stderr);
    let started = match config.json {
        true => lines.json().flatten_event(true).finish().try_init(),
        false => {
            let lines = lines.with_ansi(io::stderr().is_terminal());
            lines.with_target(false).finish().try_init()
        }
    };
    started.map_err(|error| error.to_string())
}
