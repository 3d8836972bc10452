//! Inputs by flag or file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use madrigal_core::{Party, Zeroizing};
use madrigal_program::{Computation, Holder, InputPort, Inputs, TextError};

use crate::failure::{Failure, Fault, Result, Status};
use crate::must::{Breach, Required};
use crate::read::read_standard_input;

/// `--input NAME=VALUES`
#[derive(Clone)]
pub(crate) struct InputFlag {
    name: String,
    values: Zeroizing<String>,
    /// File that the values were read from, where that has been done, and the shape that it has.
    read: Option<(PathBuf, Vec<usize>)>,
}

impl std::fmt::Debug for InputFlag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}=...", self.name)
    }
}

impl FromStr for InputFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, values) = text.split_once('=').ok_or(
            "expected NAME=VALUES, for example bid=120 or table=@table.csv; --help lists the names",
        )?;
        Ok(Self {
            name: name.to_owned(),
            values: values.to_owned().into(),
            read: None,
        })
    }
}

/// Values of an input as a file of some kind has them.
pub struct FileValues {
    /// The elements, as text.
    pub text: Zeroizing<String>,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
}

/// Endings of files that are known as such without an `@` before their names.
const ENDINGS: [&str; 3] = [".npy", ".csv", ".txt"];

impl InputFlag {
    /// Reads the file that is named, if `read` knows its kind; other files are named as usual from then on.
    pub(crate) fn read_file(
        &mut self,
        read: impl Fn(&Path) -> Result<Option<FileValues>>,
    ) -> Result<()> {
        let path = match self.values.strip_prefix('@') {
            Some(path) => path,
            None if ENDINGS.iter().any(|ending| self.values.ends_with(ending)) => &self.values,
            None => return Ok(()),
        };
        let path = PathBuf::from(path);
        match read(&path)? {
            Some(found) => {
                (self.values, self.read) = (found.text, Some((path, found.shape)));
            }
            None => self.values = Zeroizing::new(format!("@{}", path.display())),
        }
        Ok(())
    }
}

/// Inputs that are not those of the program.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("--input {name}=...: the program has no such input, but {known}")]
    Unknown { name: String, known: String },
    #[error("--input {name}=... is given twice; give each input once")]
    Twice { name: String },
    #[error("--input {name}=... is for {owner}; this is {me}, which reads only its own inputs")]
    Foreign {
        name: String,
        owner: Holder,
        me: Party,
    },
    #[error(
        "--input {name}=... is for {owner}, whose value no party sees; give this party's share of it with --shared-input {name}=FILE"
    )]
    OfClient { name: String, owner: Holder },
    #[error("--input {name}=VALUES is missing: {sort} of {owner}")]
    Missing {
        name: String,
        sort: String,
        owner: Holder,
    },
    #[error("--input {name}=...: {error}; the input is {sort}")]
    Text {
        name: String,
        sort: String,
        error: TextError,
    },
    #[error("{}: an array of shape {found:?}; the input {name} is {sort}", path.display())]
    Shape {
        name: String,
        sort: String,
        path: PathBuf,
        found: Vec<usize>,
    },
    #[error("{}: {error}; the input {name} is {sort}", path.display())]
    File {
        name: String,
        sort: String,
        path: PathBuf,
        error: TextError,
    },
    #[error("{}: {breach}; {why}", given(.name, .path.as_deref()))]
    Breach {
        name: String,
        path: Option<PathBuf>,
        breach: Breach,
        why: &'static str,
    },
}

/// Tells how an input was given.
fn given(name: &str, path: Option<&Path>) -> String {
    match path {
        Some(path) => format!("{}, the input {name}", path.display()),
        None => format!("--input {name}=..."),
    }
}

impl Fault for Problem {
    fn status(&self) -> Status {
        match self {
            Self::File { .. } | Self::Shape { .. } | Self::Breach { path: Some(_), .. } => {
                Status::File
            }
            _ => Status::Usage,
        }
    }
}

/// Gives the name that a flag calls an input by.
pub(crate) fn name(place: usize, port: &InputPort) -> String {
    port.name.clone().unwrap_or_else(|| place.to_string())
}

/// Values that a flag gives, read once.
pub(crate) struct Given {
    name: String,
    text: Zeroizing<String>,
    path: Option<PathBuf>,
    /// Lengths of the axes, if the file says them.
    shape: Option<Vec<usize>>,
}

/// Reads all files.
pub(crate) fn load(flags: &[InputFlag]) -> Result<Vec<Given>> {
    let one = |flag: &InputFlag| {
        let (text, path, shape) = match flag.read.clone() {
            Some((path, shape)) => (flag.values.clone(), Some(path), Some(shape)),
            None => {
                let (text, path) = text(&flag.values)?;
                (text, path, None)
            }
        };
        let name = flag.name.clone();
        Ok(Given {
            name,
            text,
            path,
            shape,
        })
    };
    flags.iter().map(one).collect()
}

/// The names of those that no input of a stage had.
pub(crate) fn unused(given: &[Given], used: &BTreeSet<String>) -> Vec<String> {
    let names = given.iter().map(|one| one.name.clone());
    names.filter(|name| !used.contains(name)).collect()
}

/// Reads as [`read`] does for one of several programs, which others of the flags are for.
pub(crate) fn read_stage(
    program: &Computation,
    given: &[Given],
    me: Option<Party>,
    complete: bool,
) -> Result<(Inputs, Vec<usize>)> {
    let mut ports = program.inputs().iter().enumerate();
    let own: BTreeSet<String> = ports
        .by_ref()
        .map(|(place, port)| name(place, port))
        .collect();
    let here: Vec<&Given> = given.iter().filter(|one| own.contains(&one.name)).collect();
    read_texts(program, &[], &here, me, complete)
}

/// Reads what the flags give: of `me` alone, or of all parties where that is `None`; it must be as `required`. Gives the
/// places of inputs that have no value, where these are allowed.
pub(crate) fn read(
    program: &Computation,
    required: &[Required],
    flags: &[InputFlag],
    me: Option<Party>,
    complete: bool,
) -> Result<(Inputs, Vec<usize>)> {
    let given = load(flags)?;
    read_texts(
        program,
        required,
        &given.iter().collect::<Vec<_>>(),
        me,
        complete,
    )
}

fn read_texts(
    program: &Computation,
    required: &[Required],
    flags: &[&Given],
    me: Option<Party>,
    complete: bool,
) -> Result<(Inputs, Vec<usize>)> {
    let ports = program.inputs();
    let mut given = vec![false; ports.len()];
    let mut inputs = Inputs::new();
    for flag in flags {
        let (name, sort);
        let mut found = ports.iter().enumerate();
        let Some((place, port)) = found.find(|(place, port)| self::name(*place, port) == flag.name)
        else {
            let names = ports
                .iter()
                .enumerate()
                .map(|(place, port)| self::name(place, port));
            return Err(Failure::from(Problem::Unknown {
                name: flag.name.clone(),
                known: names.collect::<Vec<_>>().join(", "),
            }));
        };
        (name, sort) = (flag.name.clone(), port.tensor_type.to_string());
        if let Some(me) = me.filter(|&me| Some(me) != port.owner.party()) {
            let owner = port.owner.clone();
            return Err(Failure::from(match owner.client() {
                Some(_) => Problem::OfClient { name, owner },
                None => Problem::Foreign { name, owner, me },
            }));
        }
        if std::mem::replace(&mut given[place], true) {
            return Err(Failure::from(Problem::Twice { name }));
        }
        let (text, path) = (&flag.text, flag.path.clone());
        if let (Some(shape), Some(path)) = (&flag.shape, &path)
            && shape != port.tensor_type.shape.axes()
        {
            return Err(Failure::from(Problem::Shape {
                name,
                sort,
                path: path.clone(),
                found: shape.clone(),
            }));
        }
        inputs.read(ports, place, text).map_err(|error| {
            let name = name.clone();
            Failure::from(match path.clone() {
                Some(path) => Problem::File {
                    name,
                    sort,
                    path,
                    error,
                },
                None => Problem::Text { name, sort, error },
            })
        })?;
        for Required { must, why, .. } in required.iter().filter(|one| one.input == name) {
            let value = inputs.value(ports, place);
            let value = value.ok_or_else(|| Failure::bug("an input was read and is not there"))?;
            must.check(&value).map_err(|breach| {
                let (name, path) = (name.clone(), path.clone());
                Failure::from(Problem::Breach {
                    name,
                    path,
                    breach,
                    why,
                })
            })?;
        }
    }
    let wanted = |(place, port): &(usize, &InputPort)| {
        !given[*place] && me.is_none_or(|me| port.owner.party() == Some(me))
    };
    let missing: Vec<_> = ports.iter().enumerate().filter(wanted).collect();
    if let (true, Some((place, port))) = (complete, missing.first()) {
        return Err(Failure::from(Problem::Missing {
            name: name(*place, port),
            sort: port.tensor_type.to_string(),
            owner: port.owner.clone(),
        }));
    }
    Ok((
        inputs,
        missing.into_iter().map(|(place, _)| place).collect(),
    ))
}

/// The values' text, and the file that it is from.
fn text(values: &str) -> Result<(Zeroizing<String>, Option<PathBuf>)> {
    let Some(path) = values.strip_prefix('@') else {
        return Ok((Zeroizing::new(values.to_owned()), None));
    };
    let path = Path::new(path);
    const READ: &str = "read the input";
    let bytes = Zeroizing::new(match path == Path::new("-") {
        true => read_standard_input(READ)?,
        false => crate::read::read_file(READ, path)?,
    });
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok((Zeroizing::new(text), Some(path.to_owned())))
}
