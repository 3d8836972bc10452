//! The tests of faults and of killed processes, of programs and of all operators, over and over.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::process::{cargo, number_option, run};

/// Faults for each number of parties in one go.
const FAULTS: &str = "500";
/// Killed processes in one go.
const KILLS: &str = "200";

/// Random programs in one go.
const PROGRAMS: &str = "300";

/// Runs the tests of the crates' modules `faults`, `store_kill`, `sweep` and `running` with fresh seeds until the time is
/// over or one fails; a failed run has printed its seed.
pub(crate) fn soak(words: &[&str]) -> Outcome {
    let (minutes, others) = number_option(words, "--minutes", 10)?;
    if let Some(word) = others.first() {
        return Err(format!("soak takes --minutes N alone, not {word}").into());
    }
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let mut times = 0;
    while times == 0 || Instant::now() < end {
        run(cargo()
            .args(["test", "--workspace", "--test", "main", "--"])
            .args([
                "faults::",
                "store_kill::",
                "sweep::",
                "running::",
                "--nocapture",
            ])
            .env("MADRIGAL_FAULTS", FAULTS)
            .env("MADRIGAL_KILLS", KILLS)
            .env("MADRIGAL_PROGRAMS", PROGRAMS)
            .env("MADRIGAL_SWEEP", "all"))?;
        times += 1;
    }
    println!("xtask: {times} times through the tests of faults without a finding");
    Ok(())
}
