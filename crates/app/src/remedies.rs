//! The flags and commands that mend what a library's error is about: libraries know none of them.

use std::fmt::Display;

use madrigal_correlations_store::StoreError;
use madrigal_engine::PlanError;
use madrigal_net::Error;
use madrigal_net::identity::IdentityError;
use madrigal_net::roster::{RosterError, RosterProblem};
use madrigal_net::tls::TlsError;
use madrigal_net::transport::ConnectError;
use madrigal_operations::JobError;

const RENEW: &str = "`madrigal keygen --renew`";
/// Way to make stores.
const STORES: &str = "`madrigal precompute --triples ... --store DIR` makes stores at all parties; so does --prepare where a command has it";

/// The error, and in brackets what is to be changed.
pub fn with(error: &impl Display, remedy: impl Into<Option<&'static str>>) -> String {
    match remedy.into() {
        Some(remedy) => format!("{error} ({remedy})"),
        None => error.to_string(),
    }
}

/// Remedy for an error of a session.
pub fn of_session(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Silent { .. } => "--silence-timeout",
        Error::Stalled { .. } | Error::Backlog { .. } => "--stall-timeout",
        Error::Deadline { .. } => "--deadline",
        Error::Store { .. } => STORES,
        Error::Run { .. } | Error::Mixed { .. } => "--session, or the addresses in --parties",
        Error::Session { what, .. } if *what == "the session's name" => "--session",
        Error::Program { what, .. } => return of_fact(what),
        _ => return None,
    })
}

/// Remedy for an error of a store.
pub fn of_store(error: &StoreError) -> Option<&'static str> {
    Some(match error {
        StoreError::KeyMissing { .. } | StoreError::KeyDamaged { .. } => "--store-key",
        StoreError::Header => "--store-key, or make a new store",
        StoreError::Damaged { .. } | StoreError::Copied | StoreError::Few { .. } => STORES,
        _ => return None,
    })
}

/// Flags in which the parties may differ.
fn of_fact(what: &str) -> Option<&'static str> {
    Some(match what {
        "protocol" => "protocol: see --protocol",
        "mix" => "mix of protocols: see --protocol, or --mix of a program's own command",
        "line" => "the line between the parties: see --link and --network",
        "variables" => "the program's inputs: see --hycc, --bundle and --lanes",
        "circuit" | "compiled circuit" => "circuit: see the file of --circuit",
        "lanes" => "lanes: see the number of lines in the input files, or --lanes",
        "owners" => "owners: see --owners",
        "receivers" => "receivers: see --to",
        "broadcast" => "broadcast: see --broadcast",
        "threads" => "threads: see --threads",
        "repetitions" => "repetitions: see --repeat",
        "extension" => {
            "extension: see --extension and, for `--extension auto`, --link or --network"
        }
        "matrices" => "matrices: see --matrices",
        "correlations" => {
            "correlations: see --correlations, --store, --extension, --threads and, for `--extension auto`, --link or --network"
        }
        "phases" | "garbled tables" | "lanes in a part" | "lanes in a block" => {
            "see --phases and --memory"
        }
        "memory for correlations" => "memory for correlations: see --memory",
        "triples" => "triples: see --triples, or --prepare",
        _ => return None,
    })
}

/// Remedy for parties that do not meet.
pub fn of_connect(error: &ConnectError) -> Option<&'static str> {
    Some(match error {
        ConnectError::Unreachable { .. } | ConnectError::Missing { .. } => "--connect-timeout",
        ConnectError::Card { .. } | ConnectError::Number { .. } => {
            "--party, --parties, --correlations"
        }
        ConnectError::Foreign { .. } => "--transport",
        ConnectError::Tls(error) => return of_tls(error),
        _ => return None,
    })
}

/// Remedy for an error of a certificate.
pub fn of_tls(error: &TlsError) -> Option<&'static str> {
    match error {
        TlsError::OwnDates { .. }
        | TlsError::RefusedDates { .. }
        | TlsError::Expired { .. }
        | TlsError::BadCertificate { .. } => Some(RENEW),
        _ => None,
    }
}

/// Remedy for an error of a key.
pub fn of_identity(error: &IdentityError) -> Option<&'static str> {
    Some(match error {
        IdentityError::Missing { .. } => "`madrigal keygen`, and --renew for the certificate alone",
        IdentityError::DamagedKey { .. } => "`madrigal keygen`",
        IdentityError::DamagedSealingKey { .. } => "`madrigal keygen --sealing`",
        IdentityError::KeyReadable { .. } => {
            "or allow it with --key-mode readable, as for secrets of Kubernetes and Docker"
        }
        IdentityError::KeyExists { .. }
        | IdentityError::DamagedCertificate { .. }
        | IdentityError::Mismatch { .. } => RENEW,
        _ => return None,
    })
}

/// Remedy for an error in the list of parties.
pub fn of_roster(error: &RosterError) -> Option<&'static str> {
    Some(match error.problem {
        RosterProblem::File { .. } => "--parties",
        RosterProblem::NoSealing { .. } => "`madrigal keygen --sealing`",
        _ => return None,
    })
}

/// Remedy for an error in the job of a circuit.
pub fn of_job(error: &JobError) -> Option<&'static str> {
    Some(match error {
        JobError::Owners { .. } => "--owners",
        JobError::NoReceiver => "--to",
        _ => return None,
    })
}

/// Remedy for what makes no plan.
pub fn of_plan(error: &PlanError) -> Option<&'static str> {
    Some(match error {
        PlanError::Parties { .. } => "--local or --parties, or other --correlations",
        PlanError::Threads { .. } => "--threads",
        PlanError::TooManyBlocks { .. } => "--memory, or --lanes",
        PlanError::Correlations { .. } => "--correlations",
        PlanError::Memory { .. } => "--memory, or --phases interleaved",
    })
}
