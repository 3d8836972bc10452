//! Data that some tests use where it is at hand: more than belongs into the repository.

use std::path::{Path, PathBuf};

/// The folder of the shared data: `MADRIGAL_SHARED`, or `shared` beside the repository. `None`, with
/// a printed note, where there is none: the test has nothing to do.
///
/// # Panics
/// If there is none and `MADRIGAL_REQUIRE_SHARED` is set: where the data should be, a test that
/// skips itself has failed.
pub fn shared_data() -> Option<PathBuf> {
    let named = std::env::var_os("MADRIGAL_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = named.unwrap_or(beside);
    if found.is_dir() {
        return Some(found);
    }
    assert!(
        std::env::var_os("MADRIGAL_REQUIRE_SHARED").is_none(),
        "MADRIGAL_REQUIRE_SHARED is set and there is no folder {}: set MADRIGAL_SHARED to that of the shared data",
        found.display()
    );
    println!("skipped: set MADRIGAL_SHARED to the folder of the shared data");
    None
}
