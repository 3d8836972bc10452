//! Bits that one party receives, over many runs: whether they have the same distribution in two kinds of runs.

use std::collections::BTreeMap;

use crate::recording::Transcript;
use madrigal_core::Party;

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

/// The largest statistic of a message: the squares of the differences of its bits' frequencies, in standard deviations, less
/// their number, over the deviation of that sum where bits are independent. A message that is not masked shows in this
/// in far fewer runs than in any one of its bits. Bits that were there fewer than `least` times count for nothing.
pub fn compare_messages(a: &Counts, b: &Counts, least: u32) -> (f64, usize) {
    let (mut largest, mut messages) = (0_f64, 0);
    for (place, a) in a {
        let Some(b) = b.get(place) else { continue };
        let often = |count: &&(u32, u32)| count.1 >= least;
        let both = a.iter().filter(often).zip(b.iter().filter(often));
        let squares: Vec<f64> = both.filter_map(|(a, b)| square(*a, *b)).collect();
        if squares.is_empty() {
            continue;
        }
        let bits = squares.len() as f64;
        let statistic = (squares.iter().sum::<f64>() - bits) / (2.0 * bits).sqrt();
        largest = largest.max(statistic);
        messages += 1;
    }
    (largest, messages)
}

/// The square of the difference of two frequencies, in standard deviations; nothing where a bit is the same in all runs.
fn square((ones_a, runs_a): (u32, u32), (ones_b, runs_b): (u32, u32)) -> Option<f64> {
    let [ones_a, runs_a, ones_b, runs_b] = [ones_a, runs_a, ones_b, runs_b].map(f64::from);
    let both = (ones_a + ones_b) / (runs_a + runs_b);
    let variance = both * (1.0 - both) * (1.0 / runs_a + 1.0 / runs_b);
    (variance > 0.0).then(|| (ones_a / runs_a - ones_b / runs_b).powi(2) / variance)
}

/// The largest difference of a bit's two frequencies, in standard deviations, and how many bits were
/// there often enough to be compared.
pub fn compare(a: &Counts, b: &Counts) -> (f64, usize) {
    let (mut largest, mut bits) = (0_f64, 0);
    let both = a
        .iter()
        .filter_map(|(place, a)| Some(a.iter().zip(b.get(place)?)));
    for (&a, &b) in both.flatten() {
        if a.1 < 20 || b.1 < 20 {
            continue;
        }
        bits += 1;
        largest = largest.max(square(a, b).map_or(0.0, f64::sqrt));
    }
    (largest, bits)
}
