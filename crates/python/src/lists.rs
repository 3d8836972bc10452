//! Lists of two parties, matched: outcomes as bytes, and the report as JSON.

use madrigal_app::failure::Failure;
use madrigal_core::Zeroizing;
use madrigal_matching::args::Psi;
use madrigal_matching::psi::{Done, compute, json};
use madrigal_matching::{InBins, KeptRun, rows_of_bins};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::models::flags;
use crate::watched::Watch;

/// Outcome of one party.
pub struct Told {
    party: usize,
    rows: Option<Zeroizing<Vec<i64>>>,
    /// Places of the keys by which rows matched, where each has several.
    by: Option<Zeroizing<Vec<i64>>>,
    payloads: Option<Zeroizing<Vec<i64>>>,
    /// Inputs of a program that goes on, and the row of each bin.
    in_bins: Option<(InBins, Zeroizing<Vec<i64>>)>,
    /// What the run has kept on the disk.
    kept: KeptRun,
}

/// Outcomes of the parties here, and the report.
pub type Matched = (Vec<Told>, String);

/// A name of the run, bins, their receiver, who has payloads; tags, masked payloads and own payloads as words of eight bytes, rows of bins as such integers, the lowest
/// byte first.
type Bins = (
    String,
    usize,
    usize,
    [bool; 2],
    Py<PyByteArray>,
    Py<PyByteArray>,
    Py<PyByteArray>,
    Py<PyByteArray>,
);

/// A party's number, its rows that match, by which of their keys, their payloads, and what a program goes on from.
pub type OfParty = (
    usize,
    Option<Py<PyByteArray>>,
    Option<Py<PyByteArray>>,
    Option<Py<PyByteArray>>,
    Option<Bins>,
);

/// Reads the flags; `shares` asks for what a program goes on from.
pub fn asked(words: &[String], shares: bool) -> PyResult<Psi> {
    let mut args: Psi = flags(words)?;
    args.keep_shares = shares;
    Ok(args)
}

/// Does what `madrigal psi` does with these words; gives the outcome of each party here, and the report as JSON.
#[pyfunction]
#[pyo3(signature = (words, shares, hear=None, terminal=false))]
pub fn psi(
    py: Python<'_>,
    words: Vec<String>,
    shares: bool,
    hear: Option<Py<PyAny>>,
    terminal: bool,
) -> PyResult<(Vec<OfParty>, String)> {
    let args = asked(&words, shares)?;
    let watch = Watch { hear, terminal };
    let matched = watch.work(py, move || told(&args, compute(&args)?))?;
    for_python(py, matched)
}

/// Takes from each party's outcome the parts that Python gets.
pub fn told(args: &Psi, done: Vec<Done>) -> Result<Matched, Failure> {
    let report = json(args, &done)?;
    let all = done.into_iter().map(|(party, mut found, _)| {
        let (mut rows, mut by, mut payloads) = (None, None, None);
        let several = found.listed.source().all_keys().len() > 1;
        if let Some((matches, _)) = &found.matches {
            let marked = matches.marked() as usize;
            let mut all = Zeroizing::new(Vec::with_capacity(marked));
            let mut values = Zeroizing::new(Vec::with_capacity(marked));
            let mut keys = Zeroizing::new(Vec::new());
            let told = matches.each(|row, value| {
                all.push(i64::from(row));
                values.extend(value);
                if several {
                    keys.extend(matches.key_of(row).map(|key| key as i64));
                }
            });
            told.map_err(madrigal_matching::Unmatched::from)?;
            rows = Some(all);
            by = several.then_some(keys);
            payloads = args.join.then_some(values);
        }
        let in_bins = found.in_bins.take();
        let in_bins = in_bins.map(|in_bins| {
            let rows = rows_of_bins(party, &found.listed, &in_bins)?;
            Ok::<_, Failure>((in_bins, rows))
        });
        Ok(Told {
            kept: found.kept(),
            party: party.index(),
            rows,
            by,
            payloads,
            in_bins: in_bins.transpose()?,
        })
    });
    Ok((all.collect::<Result<_, Failure>>()?, report))
}

/// Hands it to Python; what runs have kept is forgotten once Python has all.
pub fn for_python(py: Python<'_>, (told, report): Matched) -> PyResult<(Vec<OfParty>, String)> {
    let numbers = |numbers: &[i64]| bytes(py, numbers, i64::to_le_bytes);
    let words = |words: &[u64]| bytes(py, words, u64::to_le_bytes);
    let of_party = |told: &Told| {
        let some = |all: &Option<Zeroizing<Vec<i64>>>| all.as_deref().map(|all| numbers(all));
        let bins = told.in_bins.as_ref().map(|(bins, rows)| {
            let run = bins.run.iter().map(|byte| format!("{byte:02x}"));
            Ok::<_, PyErr>((
                run.collect(),
                bins.bins,
                bins.receiver.index(),
                bins.payloads,
                words(&bins.tags)?,
                words(&bins.masked)?,
                words(&bins.own)?,
                numbers(rows)?,
            ))
        });
        Ok((
            told.party,
            some(&told.rows).transpose()?,
            some(&told.by).transpose()?,
            some(&told.payloads).transpose()?,
            bins.transpose()?,
        ))
    };
    let made = told.iter().map(of_party).collect::<PyResult<_>>()?;
    let forgotten = py.detach(|| told.into_iter().try_for_each(|told| told.kept.forget()));
    forgotten.map_err(|failure| crate::failed(&failure))?;
    Ok((made, report))
}

fn bytes<T: Copy>(
    py: Python<'_>,
    words: &[T],
    encode: impl Fn(T) -> [u8; 8],
) -> PyResult<Py<PyByteArray>> {
    let made = PyByteArray::new_with(py, 8 * words.len(), |to| {
        for (to, word) in to.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&encode(*word));
        }
        Ok(())
    })?;
    Ok(made.unbind())
}
