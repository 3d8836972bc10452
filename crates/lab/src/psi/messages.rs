//! Questions that are measured, and messages between the starter and its processes.

use std::path::PathBuf;

use madrigal_engine::Sharing;
use madrigal_matching::{Question, Security};
use serde::{Deserialize, Serialize};

use crate::args::TransportArg;

/// A question that is measured.
#[derive(Clone, Copy)]
pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) question: Question,
    pub(super) security: Security,
}

/// Names of what three parties and more are measured in, each with the protocol that encrypts keys.
pub(super) const MANY: [(&str, Sharing); 2] =
    [("psi/prf-r", Sharing::R), ("psi/prf-b", Sharing::B)];

/// Workloads of this many parties.
pub(super) fn of_parties(parties: usize) -> Vec<Workload> {
    let rows = |&(name, _): &(&'static str, Sharing)| Workload {
        name,
        question: Question::Rows,
        security: Security::SemiHonest,
    };
    match parties {
        2 => ALL.to_vec(),
        3 => MANY.iter().map(rows).collect(),
        _ => MANY[1..].iter().map(rows).collect(),
    }
}

/// All of two parties. The variant with the fewest bytes is the one that takes the least time, too: it has two names, by which scripts find it.
const ALL: [Workload; 7] = [
    Workload {
        name: "psi/rr",
        question: Question::Rows,
        security: Security::SemiHonest,
    },
    Workload {
        name: "psi/rr-low",
        question: Question::Rows,
        security: Security::SemiHonest,
    },
    Workload {
        name: "psi/rr-malicious",
        question: Question::Rows,
        security: Security::Malicious,
    },
    Workload {
        name: "psi/join",
        question: Question::Join,
        security: Security::SemiHonest,
    },
    Workload {
        name: "psi/size",
        question: Question::Numbers {
            keys: true,
            sums: false,
        },
        security: Security::SemiHonest,
    },
    Workload {
        name: "psi/sum",
        question: Question::Numbers {
            keys: false,
            sums: true,
        },
        security: Security::SemiHonest,
    },
    // Membership and payloads as shares.
    Workload {
        name: "psi/shares",
        question: Question::Shares,
        security: Security::SemiHonest,
    },
];

/// The task of a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) me: usize,
    pub(super) parties: usize,
    pub(super) items: u64,
    pub(super) threads: usize,
    pub(super) memory: u64,
    pub(super) transport: TransportArg,
    pub(super) network: String,
    pub(super) folder: PathBuf,
}

/// Figures that a process tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) seconds: f64,
    pub(super) seconds_read: f64,
    pub(super) seconds_protocol: f64,
    pub(super) bytes_sent: u64,
    pub(super) spilled: u64,
    pub(super) peak_rss_bytes: Option<u64>,
    pub(super) connections: Option<usize>,
}
