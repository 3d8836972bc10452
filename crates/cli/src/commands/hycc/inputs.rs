//! Inputs by flag or file, by the names of a program's variables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use madrigal_app::read::read_file;
use madrigal_circuit::hycc::Input;
use madrigal_core::{Party, Zeroizing};
use madrigal_hycc::{Flat, Values, ValuesError};

use super::failure::Inputs as Problem;
use crate::args::InputFile;
use crate::exit::{Result, Usage};
use crate::jobs::check_room;

/// The values that the flags give: of `me` alone, or of all parties; with `lanes`, for as many runs.
pub fn read(
    flat: &Flat,
    given: &[InputFile],
    parties: usize,
    me: Option<Party>,
    lanes: Option<u64>,
) -> Result<Values> {
    let mut files: Vec<(usize, PathBuf)> = Vec::new();
    let mut named: Vec<(&Input, String)> = Vec::new();
    for flag in given {
        if let Some(party) = flag.party {
            if let Some(me) = me.filter(|me| me.index() != party) {
                let me = me.index();
                return Err(Usage::ForeignInput { party, me }.into());
            }
            madrigal_app::failure::Usage::checked("--input", &[party], parties)?;
            if files.iter().any(|(other, _)| *other == party) {
                return Err(Usage::TwoInputs { party }.into());
            }
            files.push((party, flag.path.clone()));
            continue;
        }
        let text = flag.path.to_string_lossy();
        let split = text.split_once('=');
        let input = split.and_then(|(name, value)| {
            let input = flat.inputs.iter().find(|input| input.name == name)?;
            Some((input, value.to_owned()))
        });
        match (input, me) {
            (Some((input, value)), _) => {
                let (name, owner) = (input.name.clone(), Party::new(input.owner.into()));
                if let Some(me) = me.filter(|&me| me != owner) {
                    return Err(Problem::Foreign { name, owner, me }.into());
                }
                if named.iter().any(|(other, _)| other.name == name) {
                    return Err(Problem::Twice { name }.into());
                }
                named.push((input, value));
            }
            (None, _) if split.is_some() && !flag.path.exists() => {
                let names = flat.inputs.iter().map(|input| &input.name[..]);
                // Text behind the sign may be secret.
                let (given, _) = split.unwrap_or_default();
                return Err(Problem::Unknown {
                    given: format!("{given}=..."),
                    known: names.collect::<Vec<_>>().join(", "),
                }
                .into());
            }
            (None, Some(me)) => {
                let party = me.index();
                if files.iter().any(|(other, _)| *other == party) {
                    return Err(Usage::TwoInputs { party }.into());
                }
                files.push((party, flag.path.clone()));
            }
            (None, None) => {
                let path = flag.path.clone();
                return Err(Usage::NamelessInput { path }.into());
            }
        }
    }
    together(flat, &files, &named, lanes)
}

fn together(
    flat: &Flat,
    files: &[(usize, PathBuf)],
    named: &[(&Input, String)],
    lanes: Option<u64>,
) -> Result<Values> {
    let lanes = lanes.and_then(|lanes| usize::try_from(lanes).ok());
    let mut runs = lanes.map(|lanes| ("--lanes".to_owned(), lanes));
    let mut all = Vec::new();
    for (party, path) in files {
        let values = of_file(flat, *party, path)?;
        let name = path.display().to_string();
        match &runs {
            Some((first, known)) if *known != values.runs() => {
                return Err(Usage::LanesDiffer {
                    first: first.clone(),
                    first_lanes: *known as u64,
                    second: name,
                    second_lanes: values.runs() as u64,
                }
                .into());
            }
            _ => runs = Some((name, values.runs())),
        }
        all.push(values);
    }
    let runs = runs.map_or(1, |(_, runs)| runs);
    // A byte for each bit, and as much again on the way; of each run a table of names.
    let bits = flat.inputs.iter().map(|input| 128 + 2 * input.ty.bits());
    let bytes = bits.fold(64, u64::saturating_add);
    check_room(runs as u64, bytes.saturating_mul(8))?;
    let mut values = Values::new(runs);
    for own in &all {
        for run in 0..runs {
            for name in own.names(run) {
                let bits = own.bits(run, name).unwrap_or_default();
                values.put(run, name, Zeroizing::new(bits.to_vec()));
            }
        }
    }
    for (input, text) in named {
        let name = &input.name;
        if all
            .iter()
            .any(|own| own.names(0).any(|other| other == name))
        {
            return Err(Problem::Twice { name: name.clone() }.into());
        }
        let (text, path) = text_of(text)?;
        for run in 0..runs {
            // Each run has this value.
            let set = values.set(run, name, &input.ty, &text);
            set.map_err(|error| match &path {
                Some(path) => Problem::File {
                    path: path.clone(),
                    error,
                },
                None => Problem::Text {
                    name: name.clone(),
                    error,
                },
            })?;
        }
    }
    Ok(values)
}

fn of_file(flat: &Flat, party: usize, path: &Path) -> Result<Values> {
    let own = || {
        flat.inputs
            .iter()
            .filter(move |input| usize::from(input.owner) == party)
    };
    if own().next().is_none() {
        return Err(Problem::Needless { party }.into());
    }
    let text = read_text(path)?;
    let type_of = |name: &str| {
        own()
            .find(|input| input.name == name)
            .map(|input| &input.ty)
    };
    let values = Values::read(&text, &type_of).map_err(|error| Problem::File {
        path: path.to_owned(),
        error,
    })?;
    // An input that some runs have, all must have.
    let names: BTreeSet<&str> = (0..values.runs())
        .flat_map(|run| values.names(run))
        .collect();
    for input in own().filter(|input| names.contains(&input.name[..])) {
        let lacks = |run: &usize| values.bits(*run, &input.name).is_none();
        if let Some(run) = (0..values.runs()).find(lacks) {
            let error = ValuesError::Missing {
                name: input.name.clone(),
                ty: input.ty.to_string(),
                run: run + 1,
                runs: values.runs(),
            };
            let path = path.to_owned();
            return Err(Problem::Content { path, error }.into());
        }
    }
    Ok(values)
}

/// A value's text, and the file that it is from.
fn text_of(value: &str) -> Result<(Zeroizing<String>, Option<PathBuf>)> {
    match value.strip_prefix('@') {
        None => Ok((Zeroizing::new(value.to_owned()), None)),
        Some(path) => Ok((read_text(Path::new(path))?, Some(path.into()))),
    }
}

fn read_text(path: &Path) -> Result<Zeroizing<String>> {
    let bytes = read_file("read the input", path)?;
    let bytes = Zeroizing::new(bytes);
    Ok(Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned()))
}
