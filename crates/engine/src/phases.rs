//! The order of setup and online.

/// The order of the two phases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phases {
    /// All of setup before any of online: nothing depends on inputs until every triple is there.
    Sequential,
    /// Correlations are used while more are made. If OTs make the correlations, Boolean triples are most of them, and
    /// all fit the memory with a copy, triples come last and in the order of layers, so that most of a circuit's
    /// layers are behind when the last triple comes: that saves time where the round trip is long. Else all is done in
    /// parts: the triples of the next part are made while the current one computes, and memory follows the part, not
    /// the job.
    Interleaved,
}

impl std::fmt::Display for Phases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sequential => "sequential",
            Self::Interleaved => "interleaved",
        })
    }
}
