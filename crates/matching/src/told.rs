//! Results that each party learns, in words.

use madrigal_noise::Noise;

use crate::noisy;
use crate::question::{Question, Told};

/// Says who learns what, before anything is sent.
pub(crate) fn learnt(
    question: Question,
    to: Told,
    bound: Option<u64>,
    noise: Option<Noise>,
) -> String {
    let size = match bound {
        Some(bound) => format!("that our list has at most {bound} different keys"),
        None => "how many different keys our list has".to_owned(),
    };
    let who = match to {
        Told::Both => "Each party learns".to_owned(),
        Told::One(party) => format!("{party} alone learns"),
    };
    let result = match question {
        Question::Rows => "which of its own rows have keys of the other list",
        Question::Join => {
            "which of its own rows have keys of the other list, and the payload of each"
        }
        Question::Numbers {
            keys: true,
            sums: false,
        } => "how many keys are in both lists",
        Question::Numbers { keys: false, .. } => {
            "what the payloads of the keys in both lists add up to, and whose payloads there are"
        }
        Question::Numbers { .. } => {
            "how many keys are in both lists, what their payloads add up to, and whose payloads there are"
        }
        Question::Shares => {
            return format!(
                "The other party learns {size}, and whether it has payloads. Nothing else is told.\n"
            );
        }
    };
    let noise = noise.map_or_else(String::new, |noise| format!(", {}", noisy::words(noise)));
    format!("The other party learns {size}. {who} {result}{noise}.\n")
}

/// Says what more is told where each row has several keys.
pub(crate) fn keys(of_row: usize, question: Question) -> &'static str {
    match (of_row, question) {
        (..=1, _) => "",
        (_, Question::Join) => {
            "Each row has several keys: the number of different keys is that of all of them, and whoever learns rows learns of each key whether the other list has it, and the payload of every key that it has, not only of the one that is written for a row.\n"
        }
        _ => {
            "Each row has several keys: the number of different keys is that of all of them, and whoever learns rows learns of each key whether the other list has it.\n"
        }
    }
}
