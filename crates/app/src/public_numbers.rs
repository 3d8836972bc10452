//! Public numbers of programs, which flags of their commands give.

use std::collections::BTreeMap;

use madrigal_net::Fact;

/// The public numbers that a program depends on, by the flags that give them.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    pub(crate) parties: usize,
    pub(crate) by_name: BTreeMap<&'static str, usize>,
}

impl Numbers {
    /// Number of parties.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// A number, by its name.
    ///
    /// # Panics
    /// If the command has no such number.
    pub fn get(&self, name: &str) -> usize {
        let known = self.by_name.get(name);
        *known.unwrap_or_else(|| panic!("the command has a number {name:?}"))
    }

    /// Gives the facts that parties compare of them before anything that follows from them.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let numbers = self.by_name.iter();
        numbers
            .map(|(name, value)| (format!("--{name}"), value.to_string()))
            .collect()
    }
}
