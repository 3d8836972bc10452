//! Programs on typed secrets as commands, and what all commands with parties are made of.

pub mod everyone;
pub mod failure;
pub mod figures;
pub mod flags;
pub mod machine;
pub mod numbers;
pub mod over;
pub mod progress;
pub mod rates;
pub mod reach;
pub mod remedies;
pub mod remote;
