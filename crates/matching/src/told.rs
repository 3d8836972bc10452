//! What everybody learns, in words.

use crate::find::{Task, Told};

/// Says who learns what, before anything is sent.
pub(crate) fn learnt(task: &Task) -> String {
    let size = match task.bound {
        Some(bound) => format!("that our list has at most {bound} different keys"),
        None => "how many different keys our list has".to_owned(),
    };
    let result = match task.to {
        Told::Both => "Both parties learn which of their rows have keys of the other list".to_owned(),
        Told::One(party) => format!("{party} alone learns which of its rows have keys of the other list"),
    };
    format!("The other party learns {size}. {result}.\n")
}
