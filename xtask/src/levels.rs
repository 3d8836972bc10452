//! What OTs, correlations and garbling reach of each level's own AES, level beside level.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::process::{cargo, number_option, run, shown, target_folder};

/// The variable that lowers the level of the kernels.
pub(crate) const LEVEL_VARIABLE: &str = "MADRIGAL_LEVEL";
/// The level that every machine has.
const PORTABLE: &str = "portable";
/// The benchmarks, a run of each name.
const BENCHES: [&[&str]; 2] = [
    &[
        "ot",
        "--count",
        "4M",
        "--only",
        "rot/iknp,rot/softspoken2,rot/softspoken4,rot/softspoken8,\
         triple/bit/n2,triple/bit/n3,triple/u64/n2,triple/u64/n3",
    ],
    &["garbling", "--count", "200k"],
];
/// Runs of a name in a turn: with one, each turn tells of one moment.
const REPEAT: &str = "1";
/// Where less of the cores was left, a rate says more of who else runs there.
const FREE: f64 = 0.9;

/// A name at a level, in one turn.
#[derive(Clone, Copy)]
struct Sample {
    per_second: f64,
    ceiling: f64,
    cores_free: f64,
}

/// All samples of a name at a level.
#[derive(Default)]
struct Samples(Vec<Sample>);

impl Samples {
    /// Those that had the cores to themselves.
    fn kept(&self) -> Vec<Sample> {
        let all = self.0.iter().copied();
        all.filter(|sample| sample.cores_free >= FREE).collect()
    }

    /// The median rate of those, of the best ceiling of all.
    fn share(&self) -> Option<f64> {
        let mut rates: Vec<f64> = self.kept().iter().map(|sample| sample.per_second).collect();
        rates.sort_by(f64::total_cmp);
        let ceiling = self
            .0
            .iter()
            .map(|sample| sample.ceiling)
            .fold(0.0, f64::max);
        Some(rates.get(rates.len() / 2)? / ceiling)
    }
}

/// Runs the benchmarks at each level above the portable one in turns, and prints a table: at the highest level
/// the share of AES, at the others that share as a multiple of the highest level's.
pub(crate) fn levels(words: &[&str]) -> Outcome {
    let (turns, others) = number_option(words, "--turns", 30)?;
    if let Some(word) = others.first() {
        return Err(format!("levels takes --turns N alone, not {word}").into());
    }
    run(cargo().args(["build", "--release", "--quiet", "-p", "madrigal-lab"]))?;
    let levels = available(&["--release", "--package=madrigal-kernels"])?;
    let above = levels.iter().map(String::as_str).rev();
    let levels: Vec<&str> = above.filter(|level| *level != PORTABLE).collect();
    // By name, then in the order of `levels`.
    let mut all: BTreeMap<String, Vec<Samples>> = BTreeMap::new();
    for turn in 1..=turns.max(1) {
        for bench in BENCHES {
            for (place, level) in levels.iter().enumerate() {
                for (name, sample) in measure(bench, level)? {
                    let of_name = all.entry(name).or_default();
                    of_name.resize_with(levels.len(), Samples::default);
                    of_name[place].0.push(sample);
                }
            }
        }
        eprintln!("turn {turn} of {turns}");
    }
    print!("{}", table(&levels, &all));
    Ok(())
}

/// Names this machine's levels, from the slowest to the fastest. An example of the kernels does it, built with these words: if this
/// program had them in it, they would be built once more before anything else, with the features that it alone asks for.
pub(crate) fn available(how: &[&str]) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    run(cargo()
        .args(["build", "--quiet", "--example=levels"])
        .args(how))?;
    let profile = if how.contains(&"--release") {
        "release"
    } else {
        "debug"
    };
    let mut command = Command::new(target_folder().join(profile).join("examples/levels"));
    let output = command.env_remove(LEVEL_VARIABLE).output()?;
    let levels: Vec<String> = String::from_utf8(output.stdout)?
        .lines()
        .map(str::to_owned)
        .collect();
    if !output.status.success() || !levels.iter().any(|level| level == PORTABLE) {
        return Err(format!("`{}` names no levels", shown(&command)).into());
    }
    Ok(levels)
}

fn measure(
    bench: &[&str],
    level: &str,
) -> Result<Vec<(String, Sample)>, Box<dyn std::error::Error>> {
    let mut command = Command::new(target_folder().join("release/madrigal-lab"));
    command
        .args(bench)
        .args(["--repeat", REPEAT, "--json"])
        .env(LEVEL_VARIABLE, level);
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("`{}` failed: {said}", shown(&command)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    text.lines().map(sample).collect()
}

fn sample(line: &str) -> Result<(String, Sample), Box<dyn std::error::Error>> {
    let line: Value = serde_json::from_str(line)?;
    let number = |field: &str| {
        let number = line[field].as_f64();
        number.ok_or_else(|| format!("no {field} in {line}"))
    };
    let sample = Sample {
        per_second: number("per_second")?,
        ceiling: number("ceiling_per_second")?,
        cores_free: number("cores_free")?,
    };
    let name = line["name"].as_str().ok_or("a line has no name")?;
    Ok((name.to_owned(), sample))
}

fn table(levels: &[&str], all: &BTreeMap<String, Vec<Samples>>) -> String {
    let mut text = format!("| share of AES | {} | turns kept |\n", levels.join(" | "));
    text += &format!("|---|{}---|\n", "---|".repeat(levels.len()));
    for (name, at) in all {
        let top = at.first().and_then(Samples::share);
        let cells =
            at.iter()
                .enumerate()
                .map(|(place, samples)| match (place, samples.share(), top) {
                    (0, Some(share), _) => format!("{:.0} %", 100.0 * share),
                    (_, Some(share), Some(top)) => format!("{:.2}", share / top),
                    _ => "?".to_owned(),
                });
        let cells: Vec<String> = cells.collect();
        let kept = at.iter().map(|samples| samples.kept().len());
        let kept: Vec<String> = kept.map(|count| count.to_string()).collect();
        text += &format!("| {name} | {} | {} |\n", cells.join(" | "), kept.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: &[(f64, f64, f64)]) -> Samples {
        let samples = of.iter().map(|&(per_second, ceiling, cores_free)| Sample {
            per_second,
            ceiling,
            cores_free,
        });
        Samples(samples.collect())
    }

    #[test]
    fn crowded_turns_do_not_count() {
        let top = samples(&[
            (80.0, 100.0, 1.0),
            (50.0, 90.0, 0.5),
            (82.0, 98.0, 0.95),
            (78.0, 100.0, 1.0),
        ]);
        let low = samples(&[(36.0, 50.0, 0.9), (1.0, 50.0, 0.89)]);
        let never = samples(&[(36.0, 50.0, 0.2)]);
        assert_eq!(top.share(), Some(0.8));
        assert_eq!(never.share(), None);
        let all = BTreeMap::from([("rot/iknp".to_owned(), vec![top, low, never])]);
        let text = table(&["vaes512", "avx2", "aesni"], &all);
        let row = "| rot/iknp | 80 % | 0.90 | ? | 3, 1, 0 |";
        assert_eq!(text.lines().last(), Some(row), "{text}");
    }
}
