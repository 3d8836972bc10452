//! How pixels of images become numbers.

use clap::Args;
use madrigal_nn::image::Scaling;

/// The flags. A pixel's value is (byte * scale - mean) / std, of its channel.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Pixels {
    /// Of .png inputs: what the bytes of pixels, 0 to 255, are multiplied with, as a number or as in 1/255
    /// [default: 1/255]
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) scale: Option<f64>,

    /// Of .png inputs: what is subtracted then, one number or one for each channel [default: 0]
    #[arg(
        long,
        value_name = "M,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = finite
    )]
    pub(crate) mean: Vec<f64>,

    /// Of .png inputs: what the difference is divided by, one number or one for each channel [default: 1]
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = factor)]
    pub(crate) std: Vec<f64>,
}

impl Pixels {
    /// A flag that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match (self.scale, &self.mean[..], &self.std[..]) {
            (Some(_), ..) => Some("--scale"),
            (_, [_, ..], _) => Some("--mean"),
            (.., [_, ..]) => Some("--std"),
            _ => None,
        }
    }

    /// Gives the scaling of each of an image's `channels` channels; an error says which flag does not fit.
    pub(crate) fn scalings(&self, channels: usize) -> Result<Vec<Scaling>, String> {
        let usual = Scaling::default();
        let all = |flag: &str, given: &[f64], usual: f64| match given {
            [] => Ok(vec![usual; channels]),
            [one] => Ok(vec![*one; channels]),
            many if many.len() == channels => Ok(many.to_vec()),
            many => Err(format!(
                "{flag} has {} numbers, and the image's channels are {channels}; give one number, or one for each",
                many.len()
            )),
        };
        let means = all("--mean", &self.mean, usual.mean)?;
        let deviations = all("--std", &self.std, usual.deviation)?;
        let scaling = |(mean, deviation)| Scaling {
            factor: self.scale.unwrap_or(usual.factor),
            mean,
            deviation,
        };
        Ok(means.into_iter().zip(deviations).map(scaling).collect())
    }
}

fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number".to_owned())
}

fn factor(text: &str) -> Result<f64, String> {
    let number = match text.split_once('/') {
        Some((above, below)) => finite(above)? / finite(below)?,
        None => finite(text)?,
    };
    match number.is_finite() && number != 0.0 {
        true => Ok(number),
        false => Err("expected a number that is not 0, or a fraction as 1/255".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_for_all_channels() {
        let pixels = Pixels {
            scale: None,
            mean: vec![0.5],
            std: vec![0.5, 1.0, 2.0],
        };
        let found = pixels.scalings(3).unwrap();
        let numbers: Vec<[f64; 3]> = found
            .iter()
            .map(|one| [one.factor, one.mean, one.deviation])
            .collect();
        let factor = 1.0 / 255.0;
        assert_eq!(
            numbers,
            [[factor, 0.5, 0.5], [factor, 0.5, 1.0], [factor, 0.5, 2.0]]
        );
        assert_eq!(Pixels::default().scalings(1).unwrap(), [Scaling::default()]);
        let error = pixels.scalings(1).unwrap_err();
        assert!(
            error.contains("--std has 3 numbers") && error.contains("channels are 1"),
            "{error}"
        );
    }
}
