//! Files from which a program on secrets goes on: a party's inputs, as texts that `madrigal program run --input` takes.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::files;
use madrigal_core::{Party, Zeroizing};
use madrigal_lists::Listed;

use crate::cells::CELLS;
use crate::failure::Unmatched;
use crate::numbers::InBins;

/// A party's directory for them: new, or empty.
///
/// # Errors
/// [`Failure`]: a directory that holds something, or cannot be written to.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    let failed = |source| Failure::file("make the directory for shares", folder)(source);
    let is_full = fs::read_dir(folder).map(|mut entries| entries.next().is_some());
    match is_full {
        Ok(true) => Err(Unmatched::Flags(format!(
            "--shares {}: the directory is not empty; give a new one, as files of several runs do not go together",
            folder.display()
        ))
        .into()),
        Ok(false) => tempfile::tempfile_in(folder).map(drop).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Writes a party's inputs, all or none: numbers with line ends between them, one for each bin. At the receiver `rows.csv` says which row's key is in which bin.
/// `run.txt` has the same line at both parties, and no other run has it.
pub(crate) fn write(folder: &Path, party: Party, listed: &Listed, in_bins: &InBins) -> Result<()> {
    let receives = party == in_bins.receiver;
    let names = match receives {
        true => ["tags-found.txt", "masked-payloads.txt"],
        false => ["tags-drawn.txt", "masks.txt"],
    };
    let run: String = in_bins
        .run
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut files = vec![(folder.join("run.txt"), format!("{run}\n").into_bytes())];
    let own = [
        (names[0], &in_bins.tags),
        (names[1], &in_bins.masked),
        ("own-payloads.txt", &in_bins.own),
    ];
    for (name, words) in own.into_iter().filter(|(_, words)| !words.is_empty()) {
        files.push((folder.join(name), lines(words)));
    }
    if receives {
        let rows = first_rows(listed)?;
        let mut text = "bin,row\n".to_owned();
        for (bin, row) in in_bins.places.iter().zip(&rows) {
            // A string takes whatever is written to it.
            let _ = writeln!(text, "{bin},{row}");
        }
        files.push((folder.join("rows.csv"), text.into_bytes()));
    }
    files::write_results(&files)
}

/// First row of each key, in the order of the keys' digests.
fn first_rows(listed: &Listed) -> Result<Vec<u32>> {
    let mut rows = Vec::with_capacity(listed.keys() as usize);
    for cell in 0..CELLS {
        let part = listed.partition(cell).map_err(Unmatched::from)?;
        rows.extend((0..part.len()).map(|key| part.rows(key)[0]));
    }
    Ok(rows)
}

/// Row of the key in each bin, counted from 0, the first one where it has several, at the party whose keys are in the bins: -1 for bins without
/// a key. Nothing at the other party.
///
/// # Errors
/// [`Failure`] if the disk fails.
pub fn rows_of_bins(
    party: Party,
    listed: &Listed,
    in_bins: &InBins,
) -> Result<Zeroizing<Vec<i64>>> {
    let mut all = Zeroizing::default();
    if party != in_bins.receiver {
        return Ok(all);
    }
    all.resize(in_bins.bins, -1);
    for (&bin, row) in in_bins.places.iter().zip(first_rows(listed)?) {
        let bin = all.get_mut(bin as usize);
        *bin.ok_or_else(|| Failure::bug("a key beyond the last bin"))? = row.into();
    }
    Ok(all)
}

fn lines(words: &[u64]) -> Vec<u8> {
    let mut text = String::with_capacity(21 * words.len());
    for word in words {
        let _ = writeln!(text, "{word}");
    }
    text.into_bytes()
}
