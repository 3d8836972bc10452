//! Numbers with noise: flags, each party's draw, and what reports say of it.

use std::convert::Infallible;

use clap::Args;
use madrigal_core::Zeroizing;
use madrigal_kernels::{Prg, meter};
use madrigal_net::Context;
use madrigal_noise::{Delta, Epsilon, Noise, NoiseError};
use serde::Serialize;

use crate::failure::Unmatched;
use crate::ledger::Budget;
use crate::question::Question;

/// Delta where none is given.
const DELTA: f64 = 1e-9;
/// Words of a generator that are made at a time.
const WORDS: usize = 64;

/// Flags of noise.
#[derive(Args, Debug, Clone, Default)]
pub struct Noisy {
    /// Tell the number of --size with noise of both parties, which is smaller the larger epsilon is, from 1e-9 to 5: what a party learns of
    /// the other list is (epsilon, delta)-differentially private for one key, but for the list's size (--bound); the same at both parties
    #[arg(long, value_name = "EPSILON", help_heading = "Result")]
    pub noise: Option<f64>,

    /// Chance with which noise may tell of a key, from 1e-15 to 0.001; the same at both parties [default: 1e-9]
    #[arg(
        long,
        value_name = "DELTA",
        requires = "noise",
        help_heading = "Result"
    )]
    pub delta: Option<f64>,

    /// Keys that noise hides at a time, as those of one person, up to a million: it is as many times larger; the same at both parties [default: 1]
    #[arg(long, value_name = "KEYS", requires = "noise", help_heading = "Result")]
    pub each: Option<u64>,

    /// Sums of the epsilons and of the deltas (1e-6 unless said otherwise) that the list may spend on answers in all, for a ledger that does not
    /// exist yet: beside --limit, or in its place. Such a ledger refuses what is asked without --noise or --bound
    #[arg(long, value_name = "EPSILON[,DELTA]", requires = "ledger", help_heading = "Lists", value_parser = budget)]
    pub budget: Option<Budget>,
}

/// A budget as a flag has it.
fn budget(text: &str) -> Result<Budget, String> {
    let number = |text: &str| {
        let number: Result<f64, _> = text.trim().parse();
        number.map_err(|_| "expected numbers, as 3 or 3,1e-6".to_owned())
    };
    let (epsilon, delta) = match text.split_once(',') {
        Some((epsilon, delta)) => (epsilon, Some(Delta::new(number(delta)?))),
        None => (text, None),
    };
    let epsilon = Epsilon::new(number(epsilon)?).map_err(|error| error.to_string())?;
    let delta = delta.transpose().map_err(|error| error.to_string())?;
    Ok(Budget { epsilon, delta })
}

impl Noisy {
    /// The noise that flags ask for.
    ///
    /// # Errors
    /// [`Unmatched::Flags`]: numbers that make none.
    pub(crate) fn noise(&self) -> Result<Option<Noise>, Unmatched> {
        let Some(epsilon) = self.noise else {
            return Ok(None);
        };
        let noise = Noise::new(epsilon, self.delta.unwrap_or(DELTA), self.each.unwrap_or(1));
        noise.map(Some).map_err(|error| {
            let problem = match error {
                NoiseError::Number {
                    name: "delta",
                    value,
                    least,
                    most,
                } => format!("--delta {value}: give a number from {least:e} to {most}"),
                NoiseError::Number {
                    value, least, most, ..
                } => format!("--noise {value}: give a number from {least:e} to {most}"),
                NoiseError::Each { each, most } => {
                    format!("--each {each}: give a number from 1 to {most}")
                }
                NoiseError::TooMuch { noise, most } => format!(
                    "--noise: {noise} take noise of more than {most}: give a larger epsilon (--noise) or --delta, or a smaller --each"
                ),
                other => format!("--noise: {other}"),
            };
            Unmatched::Flags(problem)
        })
    }
}

/// Checks that noise hides all that a question tells.
pub(crate) fn check(noise: Option<Noise>, question: Question) -> Result<(), Unmatched> {
    let problem = match question {
        _ if noise.is_none() => return Ok(()),
        Question::Numbers { sums: false, .. } => return Ok(()),
        Question::Numbers { .. } => {
            "--noise: sums are told exactly, as nobody knows a bound of what one key adds, and would tell what noise hides: leave out --sum"
        }
        Question::Rows | Question::Join => {
            "--noise: rows are told as they are, and no number hides which they are: ask for --size, or leave it out"
        }
        Question::Shares => {
            "--noise: nothing is told of --shares: leave it out, and have the program that goes on from them hide what it tells"
        }
    };
    Err(Unmatched::Flags(problem.to_owned()))
}

/// Noise as both parties compare it: also where it is cut, which follows from the rest by floats.
pub(crate) fn fact(noise: Option<Noise>) -> String {
    noise.map_or_else(
        || "none".to_owned(),
        |noise| format!("{noise}, from -{half} to {half}", half = noise.half()),
    )
}

/// This party's number, of a generator that serves for nothing else.
pub(crate) fn draw(context: &Context, noise: Noise) -> Zeroizing<u64> {
    let step = context.step("noise");
    let number = step.own_key_numbers().of(0);
    let seed = step.private_prg().next_block();
    // Counted blocks would tell in the report how many words were drawn.
    meter::unmetered(|| {
        let mut words = Words {
            prg: Prg::numbered(seed, number),
            made: Zeroizing::new(vec![0; WORDS]),
            taken: WORDS,
        };
        let Ok(drawn) = noise.draw_steadily(|| Ok::<_, Infallible>(words.next()));
        Zeroizing::new(drawn)
    })
}

/// Words of a generator, one by one.
struct Words {
    prg: Prg,
    made: Zeroizing<Vec<u64>>,
    taken: usize,
}

impl Words {
    fn next(&mut self) -> u64 {
        if self.taken == self.made.len() {
            self.prg.fill_words(&mut self.made);
            self.taken = 0;
        }
        let word = self.made[self.taken];
        self.taken += 1;
        word
    }
}

/// Noise of a number, as JSON has it.
#[derive(Serialize)]
pub(crate) struct NoiseFigures {
    /// Epsilon: what a party learns is up to `exp(epsilon)` times as likely with another key in the place of one of the other list.
    epsilon: f64,
    /// Delta: chance with which that does not hold.
    delta: f64,
    /// Keys that are hidden at a time.
    each: u64,
    /// The furthest that the number is from the true one: twice what each party draws at most.
    most: u64,
    /// Standard deviation of the number at most.
    deviation: f64,
}

impl NoiseFigures {
    /// Figures of a number to which both parties have added noise.
    pub(crate) fn new(noise: Noise) -> Self {
        Self {
            epsilon: noise.epsilon().get(),
            delta: noise.delta(),
            each: noise.each(),
            most: noise.most(),
            deviation: deviation(noise),
        }
    }
}

/// Standard deviation of the sum of both parties' noise, at most.
fn deviation(noise: Noise) -> f64 {
    noise.deviation() * std::f64::consts::SQRT_2
}

/// Words for a number with noise.
pub(crate) fn words(noise: Noise) -> String {
    let keys = match noise.each() {
        1 => String::new(),
        each => format!(" for {each} keys"),
    };
    format!(
        "with noise of both parties (epsilon {}, delta {}{keys}, standard deviation {:.1})",
        noise.epsilon(),
        noise.exact_delta(),
        deviation(noise)
    )
}
