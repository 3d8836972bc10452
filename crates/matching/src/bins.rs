//! Files from which a program on secrets goes on: a party's inputs, as texts that `madrigal program run --input` takes.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::files;
use madrigal_core::{Party, Zeroizing};
use madrigal_lists::Listed;

use crate::cells::CELLS;
use crate::failure::Unmatched;
use crate::numbers::InBins;

/// Writes a party's inputs: numbers with line ends between them, one for each bin. At the receiver `rows.csv` says which row's key is in which bin.
pub(crate) fn write(folder: &Path, party: Party, listed: &Listed, in_bins: &InBins) -> Result<()> {
    fs::create_dir_all(folder)
        .and_then(|()| private(folder))
        .map_err(Failure::file("make the directory for shares", folder))?;
    let receives = party == in_bins.receiver;
    let names = match receives {
        true => ["tags-found.txt", "masked-payloads.txt"],
        false => ["tags-drawn.txt", "masks.txt"],
    };
    words(&folder.join(names[0]), &in_bins.tags)?;
    words(&folder.join(names[1]), &in_bins.masked)?;
    words(&folder.join("own-payloads.txt"), &in_bins.own)?;
    if !receives {
        return Ok(());
    }
    let path = folder.join("rows.csv");
    let rows = first_rows(listed)?;
    let content = |to: &mut dyn Write| {
        writeln!(to, "bin,row")?;
        let all = in_bins.places.iter().zip(&rows);
        all.into_iter()
            .try_for_each(|(bin, row)| writeln!(to, "{bin},{row}"))
    };
    files::write(&path, &content).map_err(Failure::file("write shares", &path))
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

fn words(path: &Path, words: &[u64]) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let content = |to: &mut dyn Write| words.iter().try_for_each(|word| writeln!(to, "{word}"));
    files::write(path, &content).map_err(Failure::file("write shares", path))
}

/// Lets the owner alone read a directory.
fn private(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
