//! Statistics of a table that several parties hold, without any of them showing it: what `madrigal stats` is made of.
//!
//! A [`Question`] says what is asked, and is public. Each party reads its [`Holding`] from CSV, tells the others its [`Card`],
//! and all make the same [`Answering`] of what they [agree](Agreed) on: a program, whose outputs are [`Answers`].

mod answers;
mod card;
mod cell;
mod holding;
mod inputs;
mod learned;
mod program;
mod quantile;
mod question;
mod shown;
pub mod table;
mod terms;

pub use answers::{Answers, NumberOrText, OneAnswer};
pub use card::{AgreeError, Agreed, AgreedColumn, Card, MOST_BYTES};
pub use cell::{Day, Decimal, Kind, LIMIT, MOST_PLACES, Value, ValueError, decimal};
pub use holding::{Holding, HoldingError};
pub use inputs::inputs;
pub use learned::learned;
pub use program::Answering;
pub use question::{Ask, Asked, Fraction, Groups, Held, MOST, MOST_ROWS, Question, QuestionError};
