//! What came of a run, for people and for scripts.

use std::fmt::Write as _;

use madrigal_app::failure::Result;
use madrigal_app::figures::{PhaseFigures, json_text, peak_rss_bytes};
use madrigal_app::provenance::Provenance;
use madrigal_core::Party;
use madrigal_lists::{Matches, Payload};
use serde::Serialize;

use crate::found::Found;
use crate::noisy::{self, NoiseFigures};
use crate::question::Question;
use crate::security;

/// Report of a run, as JSON has it.
#[derive(Serialize)]
struct Report {
    /// Always `psi`.
    program: &'static str,
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// Question: `rows`, `join`, `size`, `sum`, `size and sum` or `shares`.
    question: &'static str,
    /// Parties against which the lists were protected: `semi-honest` or `malicious`.
    security: &'static str,
    /// Noise of `matched_keys`; null where it has none.
    noise: Option<NoiseFigures>,
    /// Different keys of all lists, by the parties' order, or the bounds that were told.
    keys: Vec<u64>,
    /// Partitions of the lists.
    partitions: usize,
    /// Partitions whose answers an earlier run has left in the directory of --state.
    partitions_before: usize,
    /// Threads of each party.
    threads: usize,
    /// Parties of this process.
    parties: Vec<PartyReport>,
}

/// Report of one party.
#[derive(Serialize)]
struct PartyReport {
    /// Number of the party.
    party: usize,
    /// Rows of its list.
    rows: u32,
    /// Different keys of its list.
    keys: u64,
    /// Rows without a key, which match nothing.
    skipped: u32,
    /// Rows beyond the first of their key.
    repeated: u64,
    /// Different keys that all lists have; null at a party that does not learn it, and where it was not asked for. With noise it may
    /// be below 0, or more than a list has.
    matched_keys: Option<i64>,
    /// Rows of its list with such keys; null likewise.
    matched_rows: Option<u64>,
    /// These rows by the first of their keys that the other list has, in the order of the keys; null likewise.
    matched_rows_by_key: Option<Vec<u64>>,
    /// Sum of party 0's payloads over the keys that both lists have, as a text with the point; null likewise, and where it has none.
    sum_of_party_0: Option<String>,
    /// Sum of party 1's payloads; likewise.
    sum_of_party_1: Option<String>,
    /// Bytes of digests that went to a file.
    spilled_bytes: u64,
    /// Seconds in which its list was read.
    seconds_read: f64,
    /// Seconds from when both lists were read to the end of the job.
    seconds_matching: f64,
    /// Seconds in which its rows were written.
    seconds_written: f64,
    /// Cost of base OTs and VOLE. The seconds of phases are not told apart: 0.
    setup: PhaseFigures,
    /// Cost of everything else.
    online: PhaseFigures,
    /// Most memory that the process took, all its parties together.
    peak_rss_bytes: Option<u64>,
}

/// Makes the JSON of a run.
pub(crate) fn json(
    question: Question,
    places: u32,
    found: &[(Party, Found, f64)],
) -> Result<String> {
    let question = question.name();
    let first = found.first().map(|(_, found, _)| found);
    let parties = found.iter().map(|(party, found, written)| {
        let listed = &found.listed;
        PartyReport {
            party: party.index(),
            rows: listed.rows(),
            keys: listed.keys(),
            skipped: listed.skipped(),
            repeated: listed.repeated(),
            matched_keys: keys(found),
            matched_rows: found.matches.as_ref().map(|(rows, _)| rows.marked()),
            matched_rows_by_key: found.matches.as_ref().map(|(rows, _)| rows.marked_by()),
            sum_of_party_0: sum(found, 0, places),
            sum_of_party_1: sum(found, 1, places),
            spilled_bytes: listed.spilled(),
            seconds_read: found.seconds[0],
            seconds_matching: found.seconds[1],
            seconds_written: *written,
            setup: PhaseFigures::new(0.0, &found.cost.setup),
            online: PhaseFigures::new(0.0, &found.cost.online),
            peak_rss_bytes: peak_rss_bytes(),
        }
    });
    json_text(&Report {
        program: "psi",
        provenance: Provenance::of_process(),
        question,
        security: first.map_or("", |found| security::name(found.security)),
        noise: first.and_then(|found| found.noise).map(NoiseFigures::new),
        keys: first.map_or_else(Vec::new, |found| found.sizes.clone()),
        partitions: first.map_or(0, |found| found.partitions),
        partitions_before: first.map_or(0, |found| found.before),
        threads: first.map_or(0, |found| found.threads),
        parties: parties.collect(),
    })
}

/// Keys that both lists have, where the party knows their number.
fn keys(found: &Found) -> Option<i64> {
    let of_rows = found.matches.as_ref();
    let of_rows = of_rows.and_then(|(_, keys)| i64::try_from(*keys).ok());
    of_rows.or_else(|| found.answer?.keys)
}

/// Rows that match by each of several keys, in words.
fn by_key(found: &Found, matches: &Matches) -> String {
    let source = found.listed.source();
    if source.all_keys().len() == 1 {
        return String::new();
    }
    let by = matches.marked_by().into_iter().enumerate();
    let by: Vec<String> = by
        .map(|(key, rows)| format!("{rows} by {}", source.name_of_key(key)))
        .collect();
    format!(": {}", by.join(", "))
}

/// A sum, with the point.
fn sum(found: &Found, party: usize, places: u32) -> Option<String> {
    let sum = found.answer?.sums[party]?;
    let payload = Payload {
        places,
        ..Payload::integers("")
    };
    Some(payload.text(sum))
}

/// Numbers that a party learns, in words.
fn numbers(places: u32, found: &Found) -> String {
    let mut told = Vec::new();
    if let Some(keys) = keys(found) {
        let all = found.listed.keys();
        let noise = found
            .noise
            .map(|noise| format!(", {}", noisy::words(noise)));
        let some = if noise.is_some() { "some " } else { "" };
        told.push(format!(
            "{some}{keys} of {all} keys are in both lists{}",
            noise.unwrap_or_default()
        ));
    }
    for party in [0, 1] {
        let sum = sum(found, party, places);
        let words = sum.map(|sum| format!("the payloads of party {party} add up to {sum} there"));
        told.extend(words);
    }
    told.join("; ")
}

/// Lines for people.
pub(crate) fn text(places: u32, found: &[(Party, Found, f64)]) -> String {
    let mut text = String::new();
    for (party, found, _) in found {
        let listed = &found.listed;
        let own = format!("{} keys, {} rows", listed.keys(), listed.rows());
        // A string takes whatever is written to it.
        let _ = match (&found.matches, &found.answer, &found.in_bins) {
            (Some((matches, keys)), ..) => writeln!(
                text,
                "{party}: {keys} of {} keys are in {} lists ({} of {} rows{})",
                listed.keys(),
                match found.sizes.len() {
                    2 => "both".to_owned(),
                    parties => format!("all {parties}"),
                },
                matches.marked(),
                listed.rows(),
                by_key(found, matches)
            ),
            (_, Some(_), _) => writeln!(text, "{party}: {}", numbers(places, found)),
            (.., Some(bins)) => writeln!(
                text,
                "{party}: {own}; {} bins, of which a program goes on",
                bins.bins
            ),
            _ => {
                let others = match found.sizes.len() {
                    2 => "the other party",
                    _ => "others",
                };
                writeln!(text, "{party}: {own}; the result is for {others}")
            }
        };
    }
    text
}

/// Says that an answer is an older one.
pub(crate) fn earlier(begun: &str) -> String {
    format!(
        "this is the answer of the run that began at {begun}: the other party was not asked again, and its list not read again"
    )
}

/// What is to be known of the lists and of what it cost, for standard error.
pub(crate) fn notes(found: &[(Party, Found, f64)]) -> String {
    let mut text = String::new();
    for (party, found, written) in found {
        let listed = &found.listed;
        if listed.skipped() > 0 {
            let _ = writeln!(
                text,
                "{party}: {} rows have no key and match nothing (--empty)",
                listed.skipped()
            );
        }
        if listed.repeated() > 0 {
            let _ = writeln!(
                text,
                "{party}: {} {}",
                listed.repeated(),
                match listed.source().all_keys().len() {
                    1 => "rows have the key of an earlier row",
                    _ => "keys of rows are those of earlier rows, too",
                }
            );
        }
        if !listed.left_out().is_empty() && found.matches.is_some() {
            let _ = writeln!(
                text,
                "{party}: columns that are not written, as CSV cannot hold them: {}",
                listed.left_out().join(", ")
            );
        }
        if let Some(begun) = &found.earlier {
            let _ = writeln!(text, "{party}: {}", earlier(begun));
        } else if found.before > 0 {
            let _ = writeln!(
                text,
                "{party}: went on from {} of {} partitions",
                found.before, found.partitions
            );
        }
        let sent = found.cost.setup.bytes_sent + found.cost.online.bytes_sent;
        let [read, matching] = found.seconds;
        let _ = writeln!(
            text,
            "{party}: read in {read:.2} s, matched in {matching:.2} s with {:.1} MB sent, written in {written:.2} s",
            sent as f64 / 1e6
        );
    }
    text
}
