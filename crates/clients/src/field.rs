//! Names of the fields of share files, and what to do where one differs.

use std::fmt;

/// Fields of a share file, as messages name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// Input or output.
    Purpose,
    /// Name of the job.
    Job,
    /// Name of the value.
    Name,
    /// Name of the client.
    Client,
    /// Type of the elements.
    Type,
    /// Lengths of the axes.
    Shape,
    /// Sharing of the value.
    Sharing,
    /// Kind of the shared elements.
    Element,
    /// Number of servers.
    Servers,
    /// Server whose share it is.
    Place,
    /// Nonce of an input's submission, or run of an output.
    Nonce,
    /// Commitments to parts.
    Commitments,
}

impl Field {
    /// Whether the field says how the value is shared, and not which value it is.
    pub const fn is_of_form(self) -> bool {
        matches!(self, Self::Sharing | Self::Element | Self::Shape)
    }

    /// Remedy where the field differs.
    pub(crate) const fn remedy(self) -> &'static str {
        match self {
            Self::Purpose => "give files of inputs to jobs, and put files of outputs together",
            Self::Job => {
                "give the file that was made for this job, or name the job as the client did"
            }
            Self::Name => "give each input the file that was made for it",
            Self::Client => "give this client's file",
            Self::Type => "have the client share its value with the type that the job asks for",
            Self::Shape => "have the client share a value of the shape that the job asks for",
            Self::Sharing | Self::Element => {
                "have the client share its value for the protocol that the job runs in"
            }
            Self::Servers => "have the client share its value with the parties.toml of this job",
            Self::Place => "give each server the file with its own name",
            Self::Nonce => "take all files from one run of the program",
            Self::Commitments => "ask the client, who gave the servers different files",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Purpose => "purpose",
            Self::Job => "job",
            Self::Name => "name",
            Self::Client => "client",
            Self::Type => "type",
            Self::Shape => "shape",
            Self::Sharing => "sharing",
            Self::Element => "element",
            Self::Servers => "number of servers",
            Self::Place => "server",
            Self::Nonce => "run or nonce",
            Self::Commitments => "list of commitments",
        })
    }
}
