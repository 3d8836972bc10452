//! Values of a program's variables.

use std::collections::BTreeMap;
use std::fmt;

use madrigal_circuit::hycc::Type;
use madrigal_core::Zeroizing;

use crate::text::{self, TextError};

/// Values by the names of variables, for one run or several. Wiped when dropped, and not shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values {
    /// A byte for each bit.
    runs: Vec<BTreeMap<String, Zeroizing<Vec<u8>>>>,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values")
            .field("runs", &self.runs.len())
            .finish_non_exhaustive()
    }
}

/// Values that are not those wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// A variable without a value.
    #[error("{name} ({ty}) has no value{}; give it one", in_run(*.run, *.runs))]
    Missing {
        /// The variable.
        name: String,
        /// Type of the variable.
        ty: String,
        /// Number of the run, counted from 1.
        run: usize,
        /// Number of runs.
        runs: usize,
    },
    /// A value of another size.
    #[error("{name} is {ty} of {expected} bits, the value has {found}")]
    Bits {
        /// The variable.
        name: String,
        /// Type of the variable.
        ty: String,
        /// Bits of its type.
        expected: u64,
        /// Bits of the value.
        found: u64,
    },
    /// Another number of runs.
    #[error("{found} runs, where {expected} are expected; all inputs are for as many")]
    Runs {
        /// Number of runs that are to be.
        expected: usize,
        /// Number of runs that there are.
        found: usize,
    },
}

fn in_run(run: usize, runs: usize) -> String {
    match runs {
        1 => String::new(),
        _ => format!(" in run {run}"),
    }
}

impl Values {
    /// Makes `runs` runs without values yet.
    pub fn new(runs: usize) -> Self {
        Self {
            runs: vec![BTreeMap::new(); runs],
        }
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Reads values as HyCC writes them: `NAME := VALUE;` for each variable, runs separated by lines `---`.
    /// A value is a number (decimal, or after `0x` its bits), `[...]` for an array, `{member: ...;}` for a
    /// struct; one hexadecimal number for an array or struct is all of its bits, those of its first element
    /// or member the lowest. `type_of` gives a variable's type. Other statements, such as `print`, are
    /// skipped.
    ///
    /// # Errors
    /// [`TextError`] names the line. It shows nothing of a value.
    pub fn read<'t>(
        text: &str,
        type_of: &dyn Fn(&str) -> Option<&'t Type>,
    ) -> Result<Self, TextError> {
        let mut runs = Vec::new();
        text::runs(text, type_of, &mut runs)?;
        Ok(Self { runs })
    }

    /// The value of a variable in a run, from a text of the same form.
    ///
    /// # Errors
    /// [`TextError`], which shows nothing of the value.
    pub fn set(&mut self, run: usize, name: &str, ty: &Type, text: &str) -> Result<(), TextError> {
        let bits = text::value(text, name, ty)?;
        self.put(run, name, bits);
        Ok(())
    }

    /// The value of a variable in a run, as its bits, a byte for each: 0 or 1.
    pub fn put(&mut self, run: usize, name: &str, bits: Zeroizing<Vec<u8>>) {
        if self.runs.len() <= run {
            self.runs.resize(run + 1, BTreeMap::new());
        }
        self.runs[run].insert(name.to_owned(), bits);
    }

    /// The bits of a variable in a run, a byte for each.
    pub fn bits(&self, run: usize, name: &str) -> Option<&[u8]> {
        self.runs.get(run)?.get(name).map(|bits| &bits[..])
    }

    /// The names of a run's variables.
    pub fn names(&self, run: usize) -> impl Iterator<Item = &str> {
        let run = self.runs.get(run).into_iter();
        run.flat_map(|run| run.keys().map(|name| &name[..]))
    }

    /// A value as HyCC writes it, from its bits, a byte for each.
    pub fn written(bits: &[u8], ty: &Type) -> String {
        text::written(bits, ty)
    }

    /// A variable in a run as HyCC writes it, without its name.
    pub fn text(&self, run: usize, name: &str, ty: &Type) -> Option<String> {
        self.bits(run, name).map(|bits| text::written(bits, ty))
    }
}
