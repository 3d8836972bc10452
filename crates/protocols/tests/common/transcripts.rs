//! Bits that one party receives, over many runs.

use std::collections::BTreeMap;

use madrigal_core::Party;
use madrigal_testkit::Transcript;

/// Counts how often each bit of each message was 1, and in how many runs it was there.
pub type Counts = BTreeMap<(Party, u64, u32), Vec<(u32, u32)>>;

/// The length of each message of the protocol.
pub type Lengths = BTreeMap<(Party, u64, u32), usize>;

/// Counts what was received; with the lengths of the protocol's messages, of these alone.
pub fn add(counts: &mut Counts, transcript: &Transcript, protocol: Option<&Lengths>) {
    let mut before: Option<((Party, u64), Vec<u8>)> = None;
    for ((from, step, place), bytes) in transcript.places() {
        // Frames of a flood are not of the protocol.
        if protocol.is_some_and(|known| known.get(&(from, step, place)) != Some(&bytes.len())) {
            continue;
        }
        let mut seen = bytes.clone();
        seen.extend(bytes.windows(2).map(|pair| pair[0] ^ pair[1]));
        if let Some((channel, before)) = &before
            && *channel == (from, step)
            && before.len() == bytes.len()
        {
            seen.extend(before.iter().zip(&bytes).map(|(a, b)| a ^ b));
        }
        let counts = counts.entry((from, step, place)).or_default();
        let bits = 8 * seen.len();
        counts.resize(bits.max(counts.len()), (0, 0));
        for (bit, (ones, runs)) in counts[..bits].iter_mut().enumerate() {
            *ones += u32::from(seen[bit / 8] >> (bit % 8) & 1);
            *runs += 1;
        }
        before = Some(((from, step), bytes));
    }
}

/// The largest difference of a bit's two frequencies, in standard deviations, and how many bits were
/// there often enough to be compared.
pub fn compare(a: &Counts, b: &Counts) -> (f64, usize) {
    let (mut largest, mut bits) = (0_f64, 0);
    let both = a
        .iter()
        .filter_map(|(place, a)| Some(a.iter().zip(b.get(place)?)));
    for (&(ones_a, runs_a), &(ones_b, runs_b)) in both.flatten() {
        let [ones_a, runs_a, ones_b, runs_b] = [ones_a, runs_a, ones_b, runs_b].map(f64::from);
        if runs_a < 20.0 || runs_b < 20.0 {
            continue;
        }
        bits += 1;
        let both = (ones_a + ones_b) / (runs_a + runs_b);
        let variance = both * (1.0 - both) * (1.0 / runs_a + 1.0 / runs_b);
        if variance > 0.0 {
            largest = largest.max((ones_a / runs_a - ones_b / runs_b).abs() / variance.sqrt());
        }
    }
    (largest, bits)
}
