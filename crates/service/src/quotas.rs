//! Bounds of what a server keeps, and for how long.

use madrigal_vault::{Ages, Limits, Quota, Shares};

use crate::config::Config;

/// Time for which a submission that was begun is kept, in seconds.
const RECEIVING: u64 = 86_400;
/// Time for which what became of a submission is remembered, in seconds.
const REMEMBERED: u64 = 90 * 86_400;
/// Time for which it is remembered where there are many, if no kind's submissions wait for longer: no client goes on trying until then.
const PROMISED: u64 = 30 * 86_400;
/// Bytes of `storage` for each submission that has ended and is remembered.
const REMEMBERED_FOR_EACH: u64 = 1024;

/// Bounds of the vault.
pub(crate) fn limits(config: &Config) -> Limits {
    let storage = config.limits.storage.0;
    let all = Quota {
        submissions: 100_000_000,
        bytes: storage,
    };
    let part = |of: u64| Quota {
        bytes: storage / of,
        ..Quota::ANY
    };
    let each = |each: usize| Shares {
        each: Quota {
            submissions: each as u64,
            ..Quota::ANY
        },
        strangers: Quota::ANY,
    };
    let kinds = config.kinds.values();
    Limits {
        all,
        kind: all,
        shares: Shares {
            each: part(4),
            strangers: part(2),
        },
        shares_of: kinds
            .map(|kind| (kind.name.clone(), each(kind.each)))
            .collect(),
        results: config.limits.results.0,
        remembered: remembered(config),
        ..Limits::default()
    }
}

/// Number of submissions that have ended and are remembered with which no others are taken.
fn remembered(config: &Config) -> u64 {
    config.limits.storage.0 / REMEMBERED_FOR_EACH
}

/// Ages at which what is kept goes away.
pub(crate) fn ages(config: &Config) -> Ages {
    // Results and loads of a kind that was taken out are kept as long as before.
    let kinds = config.gone.values().chain(config.kinds.values());
    // A server that has promised never to accept a submission remembers it for longer than another one keeps it waiting.
    let expires = kinds.clone().map(|kind| kind.expires.as_secs()).max();
    let promised = PROMISED.max(expires.unwrap_or(0).saturating_mul(2));
    Ages {
        receiving: RECEIVING,
        ended: REMEMBERED.max(promised),
        promised,
        // Before others are turned away.
        many: remembered(config) / 8 * 7,
        results: REMEMBERED,
        results_of: kinds
            .clone()
            .map(|kind| (kind.name.clone(), kind.kept.as_secs()))
            .collect(),
        newest_of: kinds
            .filter(|kind| kind.holds.is_some())
            .map(|kind| kind.name.clone())
            .collect(),
    }
}
