//! Lists of modules.

use super::error::BundleError;
use crate::text::Lines;
use crate::values::BYTE_ORDER_MARK;

/// The most modules of a bundle.
const MOST: u64 = 1 << 16;

/// Ways to share a module's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BitSharing {
    /// Boolean GMW, protocol B.
    Gmw,
    /// Garbled circuits, protocol Y.
    Yao,
}

impl BitSharing {
    /// Reads the sharing off the name of a module's file: `NAME@bool_depth.circ` is for GMW, all others for garbled
    /// circuits; words are shared arithmetically wherever they are.
    pub fn of_file(path: &str) -> Self {
        match path.strip_suffix(".circ").unwrap_or(path) {
            name if name.ends_with("@bool_depth") => Self::Gmw,
            _ => Self::Yao,
        }
    }

    /// The protocol's letter.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Gmw => "B",
            Self::Yao => "Y",
        }
    }
}

/// A module of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path of its file, from the bundle's folder.
    pub path: String,
    /// Sharing of its bits: as the line says, else as the file's name does.
    pub sharing: BitSharing,
    /// The line, counted from 1.
    pub line: u64,
}

/// A program's modules, as a file `*.cmb` lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// One for each line.
    pub entries: Vec<Entry>,
}

impl Bundle {
    /// Reads a list: on each line a file, and perhaps `: yao` or `: gmw` after it. `file` is for messages.
    ///
    /// # Errors
    /// [`BundleError`] names the file and the line.
    pub fn read(file: &str, text: &[u8]) -> Result<Self, BundleError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let mut lines = Lines::new(text);
        let mut entries = Vec::new();
        while let Some(line) = lines.next() {
            let (name, line_number) = (file.to_owned(), lines.number());
            let line = std::str::from_utf8(line).map_err(|_| BundleError::Text {
                file: name.clone(),
                line: line_number,
            })?;
            if entries.len() as u64 == MOST {
                let limit = MOST;
                return Err(BundleError::Limit { file: name, limit });
            }
            let (path, sharing) = match line.rsplit_once(':') {
                Some((path, word)) if is_word(word.trim()) => {
                    let sharing = match word.trim() {
                        "yao" => BitSharing::Yao,
                        "gmw" => BitSharing::Gmw,
                        other => {
                            return Err(BundleError::Sharing {
                                file: name,
                                line: line_number,
                                found: other.chars().take(24).collect(),
                            });
                        }
                    };
                    (path.trim_end(), sharing)
                }
                _ => (line, BitSharing::of_file(line)),
            };
            entries.push(Entry {
                path: path.to_owned(),
                sharing,
                line: line_number,
            });
        }
        match entries.is_empty() {
            true => Err(BundleError::Empty { file: file.into() }),
            false => Ok(Self { entries }),
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}
