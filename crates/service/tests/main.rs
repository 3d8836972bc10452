//! The tests of this crate, in one executable: linking many takes longer than running them.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test that cannot go on fails; seeds are told

mod ahead;
mod batch_views;
mod bringers;
mod common;
mod fair;
mod held;
mod jobs;
mod kills;
mod policy;
#[path = "../../vault/tests/power.rs"]
#[allow(
    dead_code,
    clippy::unwrap_used,
    reason = "a disk of tests, of which these use a part"
)]
mod power;
mod protocols;
#[path = "../../vault/tests/random.rs"]
mod random;
mod reloads;
mod request_views;
mod requests;
mod tap;
mod tunnels;
mod upgrades;
mod uses;
mod work_views;
