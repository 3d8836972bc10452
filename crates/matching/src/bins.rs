//! Files from which a program on secrets goes on: a party's inputs, as texts that `madrigal program run --input` takes.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::files;
use madrigal_core::Party;
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
    let mut rows = Vec::new();
    for cell in 0..CELLS {
        let part = listed.partition(cell).map_err(Unmatched::from)?;
        rows.extend((0..part.len()).map(|key| part.rows(key)[0]));
    }
    let content = |to: &mut dyn Write| {
        writeln!(to, "bin,row")?;
        let all = in_bins.places.iter().zip(&rows);
        all.into_iter()
            .try_for_each(|(bin, row)| writeln!(to, "{bin},{row}"))
    };
    files::write(&path, &content).map_err(Failure::file("write shares", &path))
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
