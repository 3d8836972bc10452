//! Answers of commands on networks.

use madrigal_app::failure::Result;
use madrigal_app::figures::json_text;
use serde::Serialize;

/// The answer of a command.
#[derive(Debug)]
pub struct Told {
    /// For people.
    pub text: String,
    /// For scripts; none where the command has no JSON.
    pub json: Option<String>,
}

impl Told {
    pub(crate) fn new(text: String, value: &impl Serialize) -> Result<Self> {
        let json = Some(json_text(value)?);
        Ok(Self { text, json })
    }
}
