//! How often rows are dependent.
//!
//! # The argument
//! Take the rows in the order of their starts, and let each have as its *pivot* the first column, free so far, where it
//! is one after the rows before it have been subtracted. When a row that starts at s comes, all pivots at s or later
//! lie in its window of w = 256 columns, because no row before it starts later. Say they are X. The row's bits on the w - X free
//! columns of the window are uniform, whatever has been subtracted, because they are fresh coins that nothing else
//! depends on. So the row is lost with probability 2^-(w - X) exactly, and the expected number of lost
//! rows, which is at least the probability that any is lost, is the sum of these.
//!
//! X is a queue: a row that comes adds one, and each column that the starts leave behind takes one off unless it
//! was no pivot. Rows come as Poisson variables, 8 columns at a time: starts are uniform and independent, and for a
//! given number of rows the sums over windows are more even than Poisson ones of the same mean. A
//! column that is left behind is free only if each of the X rows with later pivots had it in its window and
//! was zero there, which has probability 2^-X. (This last step is the one place where the count is a model: rows
//! that were settled long ago say a little about the columns in between. It matters where X is small alone, and losses
//! come from X near w.)
//!
//! For large X this is the tail of a queue with Poisson arrivals and constant service: X > x has probability
//! about e^(-theta x) with load (e^theta - 1) = theta, 0.27 bits for each column of the band at a tenth more columns than
//! rows. Bienstock, Patel, Seo and Yeo ("Near-Optimal Oblivious Key-Value Stores for Efficient PSI, PSU and
//! Volume-Hiding Multi-Maps", USENIX Security 2023, ePrint 2023/903) measured such slopes, and the tests of this crate hold
//! the count here against what happens.

use madrigal_kernels::band::{BAND, STEP};

/// Sum of the probabilities of the first terms of a Poisson variable with mean `mean`, which is all but 2^-60.
fn poisson(mean: f64) -> Vec<f64> {
    let most = (mean + 14.0 * mean.sqrt() + 30.0) as usize;
    let mut terms = vec![(-mean).exp()];
    for i in 1..most {
        terms.push(terms[i - 1] * mean / i as f64);
    }
    terms
}

/// The number of rows that are lost, on average, of `keys` rows with bands of `width` columns, which start at `starts` places,
/// [`STEP`] columns apart. Stores have bands of [`BAND`] columns; tests watch narrower ones, which fail more often.
#[must_use]
pub fn expected_losses(keys: u64, starts: u64, width: usize) -> f64 {
    let arrivals = poisson(keys as f64 / starts as f64);
    // Probability that more than a rows come.
    let mut more = vec![0.0; arrivals.len()];
    for a in (1..arrivals.len()).rev() {
        more[a - 1] = more[a] + arrivals[a];
    }
    // Distribution of X.
    let mut x = vec![0.0; width + 1];
    x[0] = 1.0;
    let (mut losses, mut before) = (0.0, 0.0);
    for step in 1..=starts {
        let mut settled = vec![0.0; width + 1];
        let mut lost_here = 0.0;
        for (a, (&now, &more)) in arrivals.iter().zip(&more).enumerate() {
            for (settled, &x) in settled.iter_mut().zip(&x) {
                *settled += now * x;
            }
            if a + 1 == arrivals.len() {
                break;
            }
            // One row more.
            let mut carried = 0.0;
            for (free, x) in (0..=width).rev().zip(x.iter_mut()) {
                let lost = *x * (-(free as f64)).exp2();
                lost_here += lost * more;
                (carried, *x) = (*x - lost, carried + lost);
            }
        }
        for _ in 0..STEP {
            let mut coming = 0.0;
            for (x, settled) in settled.iter_mut().enumerate().rev() {
                let stays = *settled * (-(x as f64)).exp2();
                (coming, *settled) = (*settled - stays, coming + stays);
            }
        }
        x = settled;
        losses += lost_here;
        // From here on nothing changes.
        if step % 64 == 0 {
            if before > 0.0 && (lost_here - before) <= 1e-6 * lost_here {
                return losses + lost_here * (starts - step) as f64;
            }
            before = lost_here;
        }
    }
    losses
}

/// The probability, as a negative power of two, that the rows of `keys` keys are dependent in a store of `columns` columns, by
/// the count above: 40 or more with every [`Shape`](crate::Shape) that this crate chooses. It takes milliseconds.
///
/// `columns` are taken to be at least [`BAND`].
#[must_use]
pub fn failure_bits(keys: u64, columns: u64) -> f64 {
    let starts = columns.saturating_sub(BAND as u64) / STEP as u64 + 1;
    -expected_losses(keys, starts, BAND).log2()
}
