//! What came of a run, for people and for scripts.

use std::fmt::Write as _;

use madrigal_app::failure::Result;
use madrigal_app::figures::{PhaseFigures, json_text, peak_rss_bytes};
use madrigal_app::provenance::Provenance;
use madrigal_core::Party;
use madrigal_lists::Payload;
use serde::Serialize;

use crate::find::Found;
use crate::task::Question;

/// Report of a run, as JSON has it.
#[derive(Serialize)]
struct Report {
    /// Always `psi`.
    program: &'static str,
    /// Who ran it, when, where and how.
    provenance: Provenance,
    /// Question: `rows`, `join`, `size`, `sum`, `size and sum` or `shares`.
    question: &'static str,
    /// Different keys of all lists, by the parties' order, or the bounds that were told.
    keys: Vec<u64>,
    /// Partitions of the lists.
    partitions: usize,
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
    /// Different keys that all lists have; null at a party that does not learn it, and where it was not asked for.
    matched_keys: Option<u64>,
    /// Rows of its list with such keys; null likewise.
    matched_rows: Option<u64>,
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
        keys: first.map_or_else(Vec::new, |found| found.sizes.clone()),
        partitions: first.map_or(0, |found| found.partitions),
        threads: first.map_or(0, |found| found.threads),
        parties: parties.collect(),
    })
}

/// Keys that both lists have, where the party knows their number.
fn keys(found: &Found) -> Option<u64> {
    let of_rows = found.matches.as_ref().map(|(_, keys)| *keys);
    of_rows.or_else(|| found.answer?.keys)
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
                "{party}: {keys} of {} keys are in {} lists ({} of {} rows)",
                listed.keys(),
                match found.sizes.len() {
                    2 => "both".to_owned(),
                    parties => format!("all {parties}"),
                },
                matches.marked(),
                listed.rows()
            ),
            (_, Some(_), _) => {
                let mut told = Vec::new();
                told.extend(
                    keys(found)
                        .map(|keys| format!("{keys} of {} keys are in both lists", listed.keys())),
                );
                for party in [0, 1] {
                    told.extend(
                        sum(found, party, places).map(|sum| {
                            format!("the payloads of party {party} add up to {sum} there")
                        }),
                    );
                }
                writeln!(text, "{party}: {}", told.join("; "))
            }
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
                "{party}: {} rows have the key of an earlier row",
                listed.repeated()
            );
        }
        if !listed.left_out().is_empty() && found.matches.is_some() {
            let _ = writeln!(
                text,
                "{party}: columns that are not written, as CSV cannot hold them: {}",
                listed.left_out().join(", ")
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
