//! Seeds of random tests.

/// The seed for a random test: `MADRIGAL_SEED` if it is set, else a fresh one; printed, so that a
/// failed run can be had again (but for programs on several threads, which draw in any order).
pub fn seed() -> u64 {
    let given = std::env::var("MADRIGAL_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let fresh = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |time| time.as_nanos() as u64)
    };
    let seed = given.unwrap_or_else(fresh);
    println!("seed: MADRIGAL_SEED={seed}");
    seed
}
