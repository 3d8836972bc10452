//! The version of what parties send each other within jobs.

use madrigal_net::{Speaks, Versions};

/// Versions that this program speaks of the protocols of jobs: of all that parties send within a job once they have agreed on its plan, and of what
/// makes the plan. Whatever changes a byte, a step or the order of what is sent for a program raises the newest one; where the program still knows
/// the form before it and plans for the [common](madrigal_net::Session::spoken) version, the oldest one stays. Parties that tell their versions
/// ([`SessionConfig::speaks`](madrigal_net::SessionConfig::speaks)) and have none in common end their session as they greet each other.
pub const PROTOCOLS: Speaks = Speaks {
    name: "the protocols of jobs",
    versions: Versions::only(1),
    untold: 1,
};
