//! Views of a party over many runs: how often each bit is 1, and whether that depends on something.

use madrigal_core::Party;
use madrigal_net::transport::mesh;
use madrigal_net::{Context, Error};

use crate::{Transcript, World};

/// Runs that are counted: those of all samples that are compared.
pub const RUNS: u64 = 100;

/// Counts how often each bit of what `to` receives, of sums of what it receives, and of what `work` says it knows beside,
/// is 1, over all runs. `work` gets the run's number: its randomness is to follow from the seed and that.
///
/// # Panics
/// If a run fails.
pub fn ones_of(
    parties: usize,
    to: Party,
    seed: u64,
    work: impl AsyncFn(Context, u64) -> Result<Vec<u8>, Error> + Sync,
) -> Vec<u32> {
    let work = &work;
    let mut ones: Vec<u32> = Vec::new();
    for run in 0..RUNS {
        let (transcript, transports) = Transcript::of(to, mesh(parties));
        let world = World::light(parties, seed.wrapping_add(run));
        let results = world.run_over(transports, move |context| work(context, run));
        let mut bytes = transcript.bytes();
        bytes.extend(transcript.sums());
        for (party, result) in Party::all(parties).zip(results) {
            match result {
                Ok((known, _)) if party == to => bytes.extend(known),
                Ok(_) => {}
                Err(error) => panic!("{party}: {error}"),
            }
        }
        count(&mut ones, &bytes);
    }
    ones
}

/// Counts the bits of a run that are 1, for whoever has another view than [`ones_of`] makes.
pub fn count(ones: &mut Vec<u32>, bytes: &[u8]) {
    ones.resize(bytes.len() * 8, 0);
    for (place, count) in ones.iter_mut().enumerate() {
        *count += u32::from(bytes[place / 8] >> (place % 8) & 1);
    }
}

/// Compares two samples with the same chances, bit by bit: the difference of the counts has
/// variance 2 RUNS p (1-p), estimated from both without bias: a million bits would add up a bias. Returns the largest deviation in standard
/// deviations, and that of the sum of all squares.
fn compare(a: &[u32], b: &[u32]) -> (f64, f64) {
    assert_eq!(
        a.len(),
        b.len(),
        "the length of a transcript depends on inputs"
    );
    let most = a.iter().chain(b).max().copied().unwrap_or(0);
    assert!(u64::from(most) <= RUNS, "a sample of more than {RUNS} runs");
    let (mut largest, mut sum, mut varying) = (0f64, 0f64, 0f64);
    for (&a, &b) in a.iter().zip(b) {
        let both = f64::from(a + b) / (2 * RUNS) as f64;
        let all = (2 * RUNS) as f64;
        let variance = all * both * (1.0 - both) * all / (all - 1.0);
        if variance == 0.0 {
            continue; // the same bit in all runs, as in the encoding of a group element
        }
        let square = (f64::from(a) - f64::from(b)).powi(2) / variance;
        largest = largest.max(square.sqrt());
        sum += square;
        varying += 1.0;
    }
    (largest, (sum - varying) / (2.0 * varying).sqrt())
}

/// Checks that two such samples differ by no more than chance.
///
/// # Panics
/// If they differ.
pub fn must_agree(a: &[u32], b: &[u32], about: &str) {
    if let Some(difference) = difference(a, b) {
        panic!("{difference}: {about}");
    }
}

/// Tells in what two such samples differ by more than chance, for tests that a leak would be seen.
pub fn difference(a: &[u32], b: &[u32]) -> Option<String> {
    let (largest, spread) = compare(a, b);
    // One of the 300,000 bits of all runs may be 6 off by chance, in 2,000 runs of this test.
    if largest >= 7.0 {
        return Some(format!(
            "one bit differs by {largest:.1} standard deviations"
        ));
    }
    (spread.abs() >= 6.0).then(|| format!("all bits together deviate by {spread:.1}"))
}

/// Checks that the comparison sees a bit that is always 1 in one sample and by chance in the other.
///
/// # Panics
/// If it does not.
pub fn must_see_a_leak() {
    let fair = vec![RUNS as u32 / 2; 1000];
    let mut leaky = fair.clone();
    leaky[17] = RUNS as u32;
    assert!(compare(&fair, &leaky).0 > 7.0);
}
