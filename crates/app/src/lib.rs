//! Programs on typed secrets as commands, and what all commands with parties are made of.
//!
//! [`App`] makes of one function that builds a program a command that is all parties on this machine, one
//! real party, an estimate, or a test; [`Staged`] does so of one that runs programs one after another, as values that
//! were opened decide. Their parts serve other commands too: flags of parties ([`flags`],
//! [`over`]), one real party ([`remote`]) or all as threads ([`everyone`](mod@everyone)), parties that do job
//! after job in one session ([`held`]), failures with exit statuses and remedies ([`failure`]), costs for people and scripts ([`figures`], [`numbers`]),
//! circuits as jobs ([`jobs`]), files that are written whole or not at all ([`files`]).

pub mod agreed;
pub mod ahead;
mod arguments;
mod check;
mod client_faults;
pub mod clients;
mod command;
pub mod costs;
pub mod everyone;
pub mod explain;
pub mod failure;
pub mod figures;
pub mod files;
mod flagged;
pub mod flags;
pub mod from_file;
pub mod groups;
pub mod held;
pub mod holders;
mod inputs;
pub mod jobs;
pub mod machine;
pub mod memory;
mod must;
pub mod numbers;
pub mod over;
pub mod paths;
pub mod present;
pub mod processes;
pub mod progress;
pub mod provenance;
mod public_numbers;
pub mod rates;
pub mod reach;
pub mod read;
pub mod receivers;
pub mod remedies;
pub mod remote;
mod run;
pub mod runs;
mod seat;
pub mod seen;
pub mod share_files;
pub mod show;
pub mod spread;
mod staged;
pub mod start;
mod status;
pub mod steps;
pub mod stop;
pub mod stores;
pub mod terminal;
pub mod threads;
pub mod wanted;
pub mod watch;
pub mod ways;

pub use command::App;
pub use must::Must;
pub use public_numbers::Numbers;
pub use staged::Staged;
