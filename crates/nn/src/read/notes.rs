//! Notes of a model's file beside its graph: values under names.

use prost::Message as _;

use super::Model;
use crate::proto;

/// Names that begin so are Madrigal's; they stay where weights are taken out.
const OWN: &str = "madrigal.";

impl Model {
    /// Gives the note of the file under `key`; the last of them, where there are several. A note that is no UTF-8 is as if it
    /// were not there.
    pub fn note(&self, key: &str) -> Option<&str> {
        let mut notes = self.notes.iter().rev();
        let note = notes.find(|note| note.key == key.as_bytes())?;
        str::from_utf8(&note.value).ok()
    }

    /// The notes that a file without weights has.
    pub(super) fn own_notes(&self) -> Vec<proto::Property> {
        let notes = self.notes.iter();
        notes
            .filter(|note| note.key.starts_with(OWN.as_bytes()))
            .cloned()
            .collect()
    }
}

/// A model's file with one note more; the rest of it stays as it is.
#[must_use]
pub fn with_note(mut file: Vec<u8>, key: &str, value: &str) -> Vec<u8> {
    let note = proto::Property {
        key: key.to_owned().into(),
        value: value.to_owned().into(),
    };
    let more = proto::Model {
        metadata_props: vec![note],
        ..Default::default()
    };
    // A message that follows another one adds to it.
    file.extend(more.encode_to_vec());
    file
}
