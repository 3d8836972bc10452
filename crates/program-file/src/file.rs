//! Program files: what stands around the message of a program, and what is known of one before it is bound.

use std::fs;
use std::path::Path;

use madrigal_core::Budget;
use madrigal_core::budget::read_regular;
use madrigal_core::domains::PROGRAM_FILE;
use madrigal_program::Computation;
use prost::Message as _;

use crate::error::{BindError, ReadError, SaveError};
use crate::lengths::Lengths;
use crate::{bind, proto, save, scan};

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// Lengths within each other that are told.
const DEEPEST: u32 = 5;

/// Bounds on files that others wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a file.
    pub bytes: u64,
    /// Most nodes, ports and names.
    pub parts: usize,
    /// Most elements of all values, those of loops' bodies as often as the body runs.
    pub elements: u64,
}

impl Default for Limits {
    /// 1 GiB, a million parts, 2^36 elements.
    fn default() -> Self {
        Self {
            bytes: 1 << 30,
            parts: 1 << 20,
            elements: 1 << 36,
        }
    }
}

/// Programs that can be files.
pub trait SaveProgram: Sized {
    /// The bytes of a file. Equal programs of equal source lines have equal bytes.
    ///
    /// # Errors
    /// [`SaveError`]: an operation of the author's own, and values of other stages.
    fn to_bytes(&self) -> Result<Vec<u8>, SaveError>;

    /// Writes a file.
    ///
    /// # Errors
    /// [`SaveError`] in the same cases as [`to_bytes`](Self::to_bytes), and if the file cannot be written.
    fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError>;

    /// The program of a file without dimensions: [`ProgramFile`] is for others.
    ///
    /// # Errors
    /// [`BindError`]: no program file, or one of another version; a program that cannot be.
    fn from_bytes(bytes: &[u8]) -> Result<Self, BindError>;

    /// Reads a file without dimensions.
    ///
    /// # Errors
    /// [`BindError`] in the same cases as [`from_bytes`](Self::from_bytes), and if the file cannot be read.
    fn load(path: impl AsRef<Path>) -> Result<Self, BindError>;
}

impl SaveProgram for Computation {
    fn to_bytes(&self) -> Result<Vec<u8>, SaveError> {
        Ok(ProgramFile::of(self)?.to_bytes())
    }

    fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        ProgramFile::of(self)?.save(path)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, BindError> {
        ProgramFile::read(bytes, &Limits::default())?.bind(&[])
    }

    fn load(path: impl AsRef<Path>) -> Result<Self, BindError> {
        ProgramFile::open(path, &Limits::default())?.bind(&[])
    }
}

/// A program as a file has it.
#[derive(Debug, Clone)]
pub struct ProgramFile {
    message: proto::Program,
    /// Most elements of all values.
    elements: u64,
    /// Memory that may still be taken.
    budget: Budget,
}

impl ProgramFile {
    /// A program as a file.
    ///
    /// # Errors
    /// [`SaveError`]: an operation of the author's own, and values of other stages.
    pub fn of(program: &Computation) -> Result<Self, SaveError> {
        Ok(Self {
            message: save::message(program)?,
            elements: u64::MAX,
            budget: Budget::new(u64::MAX),
        })
    }

    /// The message of a program that was made elsewhere. Nothing of it is looked at before it is bound.
    pub fn of_message(message: proto::Program) -> Self {
        Self {
            message,
            elements: Limits::default().elements,
            budget: Budget::new(u64::MAX),
        }
    }

    /// Reads the bytes of a file.
    ///
    /// Memory follows the file's length and `limits`, not what it announces.
    ///
    /// # Errors
    /// [`ReadError`]: something else than a program file, another version, and more parts than `limits` allow.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, ReadError> {
        let rest = bytes.strip_prefix(PROGRAM_FILE).ok_or(ReadError::Other)?;
        let cut = || ReadError::Malformed("it ends before its message".into());
        let (version, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let found = u32::from_le_bytes(*version);
        if found != VERSION {
            let known = VERSION;
            return Err(ReadError::Version { found, known });
        }
        let (length, message) = rest.split_first_chunk().ok_or_else(cut)?;
        let (wanted, found) = (u64::from_le_bytes(*length), message.len());
        if wanted != found as u64 {
            let what = format!("{found} bytes of a message, which has {wanted}");
            return Err(ReadError::Malformed(what));
        }
        let budget = Budget::of_file(bytes.len());
        scan::count(message, limits.parts, &budget)?;
        let message = proto::Program::decode(message);
        let message = message.map_err(|error| ReadError::Malformed(error.to_string()))?;
        Ok(Self {
            message,
            elements: limits.elements,
            budget,
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ReadError`] in the same cases as [`read`](Self::read), and if the file cannot be read or is longer than `limits` allow.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let bytes = read_regular(path, limits.bytes).map_err(|problem| ReadError::File {
            path: path.to_owned(),
            problem,
        })?;
        Self::read(&bytes, limits)
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = PROGRAM_FILE.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        let message = self.message.encode_to_vec();
        bytes.extend((message.len() as u64).to_le_bytes());
        bytes.extend(message);
        bytes
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`SaveError::File`] if it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        fs::write(path, self.to_bytes()).map_err(|problem| SaveError::File {
            path: path.to_owned(),
            problem,
        })
    }

    /// The message, for those who look into it.
    pub fn message(&self) -> &proto::Program {
        &self.message
    }

    /// Names of the lengths that are given when the program is bound.
    pub fn dimensions(&self) -> &[String] {
        &self.message.dimensions
    }

    /// A number of the file in words: with names of dimensions.
    pub fn length(&self, number: i64) -> String {
        self.length_within(number, DEEPEST)
    }

    /// A number in words, of which lengths are followed into each other `depth` times: each may be in two others.
    fn length_within(&self, number: i64, depth: u32) -> String {
        use proto::length::Sort;
        if number & 1 == 0 {
            return (number >> 1).to_string();
        }
        let place = usize::try_from(number >> 1).unwrap_or(usize::MAX);
        let Some(length) = self.message.lengths.get(place).filter(|_| depth > 0) else {
            return "...".into();
        };
        let [a, b] = [length.left, length.right].map(|part| match length.sort() {
            Sort::Dimension => String::new(),
            _ => self.length_within(part, depth - 1),
        });
        match length.sort() {
            Sort::Unknown => "?".into(),
            Sort::Dimension => {
                let name = usize::try_from(length.left).ok();
                let name = name.and_then(|name| self.message.dimensions.get(name));
                name.cloned().unwrap_or_else(|| "?".into())
            }
            Sort::Sum => format!("({a} + {b})"),
            Sort::Difference => format!("({a} - {b})"),
            Sort::Product => format!("{a} * {b}"),
            Sort::Quotient => format!("({a} / {b})"),
            Sort::QuotientUp => format!("({a} / {b} rounded up)"),
            Sort::Least => format!("min({a}, {b})"),
            Sort::Greatest => format!("max({a}, {b})"),
        }
    }

    /// The program with these lengths for its dimensions.
    ///
    /// # Errors
    /// [`BindError`]: a dimension without a length, or a length that is none; an operation that is not known, or is not
    /// well-formed; a program that cannot be.
    pub fn bind(&self, lengths: &[(&str, usize)]) -> Result<Computation, BindError> {
        let names = &self.message.dimensions;
        let all = || match names.is_empty() {
            true => "no dimensions".into(),
            false => format!("the dimensions {}", names.join(", ")),
        };
        let known = |name: &str| names.iter().any(|known| known == name);
        if let Some((name, _)) = lengths.iter().find(|(name, _)| !known(name)) {
            let (name, all) = ((*name).to_owned(), all());
            return Err(BindError::Unknown { name, all });
        }
        let mut dimensions = Vec::new();
        for name in names {
            let given = lengths.iter().rev().find(|(given, _)| given == name);
            let (_, length) = given.ok_or_else(|| BindError::Unbound {
                name: name.clone(),
                all: all(),
            })?;
            dimensions.push(i64::try_from(*length).unwrap_or(i64::MAX));
        }
        let told = names.iter().zip(&dimensions);
        let told: Vec<String> = told
            .map(|(name, length)| format!("{name}={length}"))
            .collect();
        let lengths = Lengths::new(&self.message.lengths, &dimensions, told.join(", "))?;
        bind::bind(&self.message, &lengths, self.elements, &self.budget)
    }
}

/// Takes any bytes: what is read and bound is the same program once it was written and read again. For fuzzing.
///
/// # Panics
/// If it is not.
#[doc(hidden)]
pub fn fuzz_read(bytes: &[u8]) {
    let limits = Limits {
        elements: 1 << 20,
        ..Limits::default()
    };
    let Ok(file) = ProgramFile::read(bytes, &limits) else {
        return;
    };
    let lengths: Vec<_> = file.dimensions().iter().map(|name| (&**name, 3)).collect();
    let Ok(program) = file.bind(&lengths) else {
        return;
    };
    let written = program.to_bytes().expect("it came from a file");
    let again = Computation::from_bytes(&written).expect("it was written here");
    assert_eq!(again.digest(), program.digest(), "another program");
}
