//! Where a party's correlation store and its key are.

use std::path::Path;

use madrigal_app::stores::StoreFiles;

#[test]
fn keys_are_found() {
    let key = |files: StoreFiles| files.key.display().to_string();
    let directory = Path::new("a/b.c/");
    assert_eq!(key(StoreFiles::local(directory, 1)), "a/b.c/party1.key");
    assert_eq!(key(StoreFiles::remote(directory, None, None)), "a/b.c.key");
    let identity = Some(Path::new("keys/alice"));
    let beside = StoreFiles::remote(directory, None, identity);
    assert_eq!(key(beside), "keys/alice.store-key");
    let given = StoreFiles::remote(directory, Some(Path::new("k")), identity);
    assert_eq!(key(given), "k");
}
