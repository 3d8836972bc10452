//! The source of correlations against what its kind says, its bill, and faults, by Madrigal's own check.

use std::path::Path;

use madrigal::Origin;
use madrigal_opcheck::SourceCheck;
use own_operation::trusted_files::{TrustedFiles, write};

/// For the tests: anybody can guess these.
fn counted() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    }
}

fn among(directory: &Path, parties: usize) -> std::path::PathBuf {
    directory.join(parties.to_string())
}

#[test]
fn triples_come_from_files() -> std::io::Result<()> {
    let directory = tempfile::tempdir()?;
    for parties in [2, 3] {
        let own = among(directory.path(), parties);
        std::fs::create_dir(&own)?;
        write(&own, parties, 100_000, counted())?;
    }
    let path = directory.path().to_owned();
    let origin = move |parties| Origin::own(TrustedFiles::new(&among(&path, parties)));
    SourceCheck::new(origin).run();
    Ok(())
}
