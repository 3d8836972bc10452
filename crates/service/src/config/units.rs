//! Sizes and times as files have them.

use std::time::Duration;

use parse_size::Config;
use serde::de::{Deserialize, Deserializer, Error, Unexpected};

/// Bytes, as in `"512 MiB"` or `1000000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// A time, as in `"10 s"` or `"7 days"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(u64),
    Text(String),
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = match NumberOrText::deserialize(from)? {
            NumberOrText::Number(bytes) => return Ok(Self(bytes)),
            NumberOrText::Text(text) => text,
        };
        let expected = &"a size, as in \"512 MiB\" or \"4 GiB\"";
        let bytes = Config::new().parse_size(&text);
        bytes
            .map(Self)
            .map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), expected))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let expected = &"a time, as in \"10 s\" or \"7 days\"";
        let time = humantime::parse_duration(&text);
        time.map(Self)
            .map_err(|_| D::Error::invalid_value(Unexpected::Str(&text), expected))
    }
}
