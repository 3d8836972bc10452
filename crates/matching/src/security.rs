//! Parties against which lists are protected.

use clap::{Args, ValueEnum};
use madrigal_psi::Security;

use crate::failure::Unmatched;
use crate::question::Question;

/// The flag.
#[derive(Args, Debug, Clone, Copy)]
pub struct Against {
    /// Parties against which the lists are protected; malicious ones for rows and --join alone. The same at both parties
    #[arg(
        long,
        value_name = "AGAINST",
        default_value = "semi-honest",
        help_heading = "Result"
    )]
    pub security: SecurityArg,
}

/// Parties against which lists are protected.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityArg {
    /// Those that follow the protocol
    SemiHonest,
    /// Those that send whatever helps them, at almost twice the bytes
    Malicious,
}

impl From<SecurityArg> for Security {
    fn from(arg: SecurityArg) -> Self {
        match arg {
            SecurityArg::SemiHonest => Self::SemiHonest,
            SecurityArg::Malicious => Self::Malicious,
        }
    }
}

/// The flag's value.
pub(crate) const fn name(security: Security) -> &'static str {
    match security {
        Security::SemiHonest => "semi-honest",
        Security::Malicious => "malicious",
    }
}

/// Says in what parties are trusted, after who learns what.
pub(crate) const fn told(security: Security) -> &'static str {
    match security {
        Security::SemiHonest => "",
        Security::Malicious => {
            "A party that cheats learns that alone, of keys that it chooses: a receiver of up to three times as many as it says and a thousand for each partition, as --explain tells. \
             It can choose keys when it has answers of earlier partitions. If both learn the answer, party 0 has it first: it can stop then, and keep keys from party 1.\n"
        }
    }
}

/// Checks that a question can be answered to such parties.
pub(crate) fn check(question: Question, security: Security) -> Result<(), Unmatched> {
    let problem = match (question, security) {
        (_, Security::SemiHonest) | (Question::Rows | Question::Join, _) => return Ok(()),
        (Question::Numbers { .. } | Question::Shares, Security::Malicious) => {
            "--security malicious: --size, --sum and --shares go on in a program on secrets, which trusts both parties to follow it; ask for rows, or --join, or leave it out"
        }
    };
    Err(Unmatched::Flags(problem.to_owned()))
}
