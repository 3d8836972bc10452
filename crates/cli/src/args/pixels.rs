//! How pixels of images become numbers.

use clap::Args;

/// The flags. A pixel's value is (byte * scale - mean) / std, of its channel.
#[derive(Args, Debug, Clone, Default)]
pub struct Pixels {
    /// Of .png inputs: what the bytes of pixels, 0 to 255, are multiplied with, as a number or as in 1/255
    /// [default: 1/255]
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub scale: Option<f64>,

    /// Of .png inputs: what is subtracted then, one number or one for each channel [default: 0]
    #[arg(
        long,
        value_name = "M,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = finite
    )]
    pub mean: Vec<f64>,

    /// Of .png inputs: what the difference is divided by, one number or one for each channel [default: 1]
    #[arg(long, value_name = "S,...", value_delimiter = ',', value_parser = factor)]
    pub std: Vec<f64>,
}

impl Pixels {
    /// A flag that is given.
    pub fn given(&self) -> Option<&'static str> {
        match (self.scale, &self.mean[..], &self.std[..]) {
            (Some(_), ..) => Some("--scale"),
            (_, [_, ..], _) => Some("--mean"),
            (.., [_, ..]) => Some("--std"),
            _ => None,
        }
    }

    /// Factor, mean and deviation, each for all channels; an error says which flag does not fit.
    pub fn factors(&self, channels: usize) -> Result<[Vec<f64>; 3], String> {
        let all = |flag: &str, given: &[f64], usual: f64| match given {
            [] => Ok(vec![usual; channels]),
            [one] => Ok(vec![*one; channels]),
            many if many.len() == channels => Ok(many.to_vec()),
            many => Err(format!(
                "{flag} has {} numbers, and the image's channels are {channels}; give one number, or one for each",
                many.len()
            )),
        };
        Ok([
            vec![self.scale.unwrap_or(1.0 / 255.0); channels],
            all("--mean", &self.mean, 0.0)?,
            all("--std", &self.std, 1.0)?,
        ])
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
