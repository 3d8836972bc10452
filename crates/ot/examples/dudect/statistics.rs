//! Welch's t-test, with dudect's crops.

/// Times in nanoseconds, each with its class.
#[derive(Default)]
pub(crate) struct Times(Vec<(bool, u64)>);

impl Times {
    pub(crate) fn push(&mut self, fixed: bool, nanoseconds: u64) {
        self.0.push((fixed, nanoseconds));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn median(&self) -> u64 {
        let sorted = self.sorted();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0)
    }

    fn sorted(&self) -> Vec<u64> {
        let mut sorted: Vec<u64> = self.0.iter().map(|(_, time)| *time).collect();
        sorted.sort_unstable();
        sorted
    }
}

/// The t-value of largest size, over all times and over those below each of dudect's percentiles: a
/// leak of a few cycles drowns in the long tail that interrupts make, and shows when that is cut off.
pub(crate) fn largest_t(times: &Times) -> f64 {
    const CROPS: u32 = 100;
    /// Fewer say nothing.
    const LEAST: f64 = 100.0;
    let sorted = times.sorted();
    let Some(&longest) = sorted.last() else {
        return 0.0;
    };
    let crops = (1..=CROPS).map(|i| {
        let part = 1.0 - 0.5_f64.powf(10.0 * f64::from(i) / f64::from(CROPS));
        sorted[(sorted.len() as f64 * part) as usize]
    });
    let mut largest = 0.0_f64;
    for crop in crops.chain([longest]) {
        let mut classes = [Moments::default(); 2];
        for &(fixed, time) in times.0.iter().filter(|(_, time)| *time <= crop) {
            classes[usize::from(fixed)].push(time as f64);
        }
        if classes.iter().all(|class| class.count >= LEAST) {
            let t = welch(classes);
            if t.abs() > largest.abs() {
                largest = t;
            }
        }
    }
    largest
}

/// Count, mean and sum of squared differences from it, by Welford's recurrence.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn push(&mut self, x: f64) {
        self.count += 1.0;
        let before = x - self.mean;
        self.mean += before / self.count;
        self.squares += before * (x - self.mean);
    }

    /// Variance of the mean.
    fn of_mean(&self) -> f64 {
        self.squares / (self.count - 1.0) / self.count
    }
}

fn welch([a, b]: [Moments; 2]) -> f64 {
    let deviation = (a.of_mean() + b.of_mean()).sqrt();
    if deviation == 0.0 {
        // Clocks are coarse: all times may be one number, or two.
        return if a.mean == b.mean { 0.0 } else { f64::INFINITY };
    }
    (a.mean - b.mean) / deviation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(all: &[f64]) -> Moments {
        let mut moments = Moments::default();
        all.iter().for_each(|&x| moments.push(x));
        moments
    }

    /// Numbers computed by hand: means 2 and 5, variances 1 and 4, three each.
    #[test]
    fn t_of_known_numbers() {
        let t = welch([moments(&[1.0, 2.0, 3.0]), moments(&[3.0, 5.0, 7.0])]);
        assert!((t + 3.0 / (5.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{t}");
        assert_eq!(welch([moments(&[2.0, 2.0]), moments(&[2.0, 2.0])]), 0.0);
    }

    #[test]
    fn a_tail_hides_no_difference() {
        let mut times = Times::default();
        let mut x = 1u64;
        for i in 0..20_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let noise = x >> 60;
            let tail = if x >> 40 & 31 == 0 {
                x >> 44 & 0xffff
            } else {
                0
            };
            let fixed = i % 2 == 0;
            times.push(fixed, 1000 + 2 * u64::from(fixed) + noise + tail);
        }
        assert!(largest_t(&times).abs() > 10.0);
        let same = Times(
            times
                .0
                .iter()
                .map(|&(fixed, t)| (fixed, t - 2 * u64::from(fixed)))
                .collect(),
        );
        assert!(largest_t(&same).abs() < 10.0);
    }
}
