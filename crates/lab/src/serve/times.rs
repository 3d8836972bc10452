//! Times from questions to answers.

/// Times in seconds.
#[derive(Debug, Default, Clone)]
pub struct Times(Vec<f32>);

impl Times {
    pub fn add(&mut self, seconds: f64) {
        self.0.push(seconds as f32);
    }

    pub fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Gives the time that this share of all answers needed at most; not a number if there are none.
    pub fn quantile(&mut self, share: f64) -> f64 {
        if self.0.is_empty() {
            return f64::NAN;
        }
        let rank = (share * self.0.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.0.len()) - 1;
        let (_, time, _) = self.0.select_nth_unstable_by(at, f32::total_cmp);
        f64::from(*time)
    }
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn quantiles_are_of_whole_answers() {
        let mut times = Times::default();
        assert!(times.quantile(0.5).is_nan());
        (1..=100)
            .rev()
            .for_each(|second| times.add(f64::from(second)));
        for (share, expected) in [
            (0.0, 1.0),
            (0.5, 50.0),
            (0.99, 99.0),
            (0.995, 100.0),
            (1.0, 100.0),
        ] {
            assert_eq!(times.quantile(share), expected, "{share}");
        }
    }
}
