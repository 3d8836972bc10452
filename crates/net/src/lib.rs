//! Sessions, jobs, contexts and frames over interchangeable transports.

pub mod fingerprint;
pub mod identity;
pub mod roster;
pub mod tls;
