//! Programs of the HyCC compiler: `run --hycc` and `explain --hycc`.

mod explain;
mod failure;
mod inputs;
mod run;

use std::path::Path;

use madrigal_circuit::Limits;
use madrigal_engine::{Matrices, Opening, Origin, Phases, Plan, PlanSpec};
use madrigal_hycc::{Hybrid, Loaded, Options, load};
use madrigal_net::Fact;

use crate::args::{BroadcastArg, ComputationFlags, PhasesArg, ProtocolArg, Receivers};
use crate::exit::Result;

pub use explain::explain;
pub use run::run;

/// Reads the program that the flags name.
fn read(work: &ComputationFlags) -> Result<Loaded> {
    let path = work.hycc.hycc.as_deref().unwrap_or(Path::new(""));
    let limits = Limits {
        bytes: work.hycc.file_memory.0,
        ..Limits::default()
    };
    let loaded = load(path, work.hycc.bundle.as_deref(), &limits);
    Ok(loaded.map_err(failure::Program)?)
}

fn options(work: &ComputationFlags) -> Options {
    Options {
        words: work.hycc.words.sharing(),
        layered: work.hycc.layered.sharing(),
        garbled: work.hycc.garbled.map(ProtocolArg::sharing),
        bits: work.hycc.bits.map(ProtocolArg::sharing),
    }
}

/// Makes the program for `parties` parties and `runs` runs.
fn hybrid(work: &ComputationFlags, loaded: &Loaded, parties: usize, runs: usize) -> Result<Hybrid> {
    let to = work.to.parties(parties)?;
    let made = Hybrid::new(&loaded.flat, &options(work), parties, runs, &to);
    Ok(made.map_err(failure::Parties)?)
}

/// Plans the program for parties of this many threads each. The extension is chosen once it is known how many correlations
/// are needed.
fn plan(
    work: &ComputationFlags,
    hybrid: &Hybrid,
    also: Option<Fact>,
    threads: usize,
) -> Result<Plan> {
    let how = &work.how;
    let with = |origin: Option<Origin>| {
        let mut usual = hybrid.spec();
        let to: Vec<String> = match &work.to {
            Receivers::All => (0..usual.graph.parties()).map(|i| i.to_string()).collect(),
            Receivers::These(to) => to.iter().map(ToString::to_string).collect(),
        };
        // Flags come before what follows from them.
        let told = ("--to".to_owned(), to.join(","));
        usual
            .also
            .splice(..0, [told].into_iter().chain(also.clone()));
        let spec = PlanSpec {
            origin: origin.unwrap_or(usual.origin),
            opening: match how.broadcast {
                BroadcastArg::Direct | BroadcastArg::Auto => Opening::Direct,
                BroadcastArg::Relay => Opening::Relay,
            },
            phases: match how.phases {
                PhasesArg::Auto => None,
                PhasesArg::Sequential => Some(Phases::Sequential),
                PhasesArg::Interleaved => Some(Phases::Interleaved),
            },
            memory: usize::try_from(how.memory.0).unwrap_or(usize::MAX),
            threads,
            line: how.over.line(),
            ..usual
        };
        Plan::fastest(spec).map_err(failure::Plan)
    };
    let first = with(None)?;
    let needs = first.needs();
    let choice = how.over.choose(threads, needs.steps());
    let parties = first.spec().graph.parties();
    Ok(with(Some(Origin::Ot {
        extension: choice.extension,
        threads,
        matrices: Matrices::choose(choice.extension, parties, &needs),
    }))?)
}
