//! The lists of the benchmark.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// A list's file.
pub(super) fn path(folder: &Path, party: usize) -> PathBuf {
    folder.join(format!("{party}.csv"))
}

/// The amount of a key.
pub(super) const fn amount(key: u64) -> u64 {
    key * 31 % 1000
}

/// Keys of a party: of party 0 the first `items` numbers, of party 1 as many from a half on, of others from before that on.
pub(super) const fn keys(party: usize, items: u64) -> std::ops::Range<u64> {
    let first = match party {
        0 => 0,
        party => (items - common(items)) / party as u64,
    };
    first..first + items
}

/// Keys that all have.
pub(super) const fn common(items: u64) -> u64 {
    items / 2
}

/// Writes all lists, with addresses for keys, some 36 bytes a row.
pub(super) fn write(folder: &Path, parties: usize, items: u64) -> io::Result<()> {
    for party in 0..parties {
        let mut to = BufWriter::with_capacity(1 << 20, File::create(path(folder, party))?);
        writeln!(to, "id,email,amount")?;
        for (id, key) in keys(party, items).enumerate() {
            // Neighbours in a list are no neighbours as numbers.
            let name = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            writeln!(to, "{id},{name:011x}@example.org,{}", amount(key))?;
        }
        to.flush()?;
    }
    Ok(())
}
