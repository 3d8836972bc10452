//! What everybody learns, in words.

use crate::find::{Question, Task, Told};

/// Says who learns what, before anything is sent.
pub(crate) fn learnt(task: &Task) -> String {
    let size = match task.bound {
        Some(bound) => format!("that our list has at most {bound} different keys"),
        None => "how many different keys our list has".to_owned(),
    };
    let result = match task.to {
        Told::Both => {
            "Both parties learn which of their rows have keys of the other list".to_owned()
        }
        Told::One(party) => {
            format!("{party} alone learns which of its rows have keys of the other list")
        }
    };
    let payloads = match task.question {
        Question::Rows => "",
        Question::Join => ", and the payload that the other list has for each of these",
    };
    format!("The other party learns {size}. {result}{payloads}.\n")
}
