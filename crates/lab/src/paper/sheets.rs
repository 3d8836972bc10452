//! The tables and figures that there are: whose, which flags they obey, and how their rows are made.

use super::bench::{Flag, Kind, Known};
use super::estimate::Typical;
use super::published::Sheet;
use super::{branches, plot, tables, three_parties};
use crate::args::{BenchPaper, PaperArg};
use crate::exit::{Failure, Result, Usage};

use Flag::{
    Ands, Circuits, Gates, Limit, Merging, Model, Network, Parties, Plots, Repeat, Scale,
    ToGarbled, ToNumbers,
};
use Kind::{Figure, Table};
use PaperArg::{Araki, MaskedTriples, Motif, Motion, Motion2nx};

const WHOLE: &str = "whole jobs, base OTs included.";
const NETWORKS: &str = "seconds of setup are without base OTs, which the same run measures.";
const COUNTED: &str = "bytes and OTs are those of the plan, which tests hold against counters.";

/// All of them; where papers share a number, the first is meant unless another is named.
pub static SHEETS: [Known; 21] = [
    Known {
        paper: Motion,
        kind: Table,
        number: 2,
        own: "MOTION",
        typical: Typical::Median,
        note: "one sender and one receiver on a thread each; of more parties the time is of one OT of those of all pairs, which work at \
               the same time. Base OTs are made before.",
        text: include_str!("../../papers/motion2.tsv"),
        obeys: &[Parties, Network, Repeat, Scale],
        jobs: tables::ots::jobs,
    },
    Known {
        paper: Motion,
        kind: Table,
        number: 3,
        own: "MOTION",
        typical: Typical::Median,
        note: WHOLE,
        text: include_str!("../../papers/motion3.tsv"),
        obeys: &[Parties, Network, Repeat, Limit],
        jobs: tables::matching::jobs,
    },
    Known {
        paper: Motion,
        kind: Table,
        number: 4,
        own: "MOTION",
        typical: Typical::Median,
        note: WHOLE,
        text: include_str!("../../papers/motion4.tsv"),
        obeys: &[Parties, Network, Repeat, Limit, Scale, Ands, Gates],
        jobs: tables::circuits::jobs,
    },
    Known {
        paper: Motion,
        kind: Table,
        number: 5,
        own: "MOTION",
        typical: Typical::Median,
        note: WHOLE,
        text: include_str!("../../papers/motion5.tsv"),
        obeys: &[Parties, Network, Repeat, Limit, Model],
        jobs: tables::networks::of_motion,
    },
    Known {
        paper: Motion,
        kind: Table,
        number: 6,
        own: "MOTION",
        typical: Typical::Median,
        note: "numbers of 32 bits, extension IKNP, all parties together without base OTs; operations are AES blocks.",
        text: include_str!("../../papers/motion6.tsv"),
        obeys: &[Parties, Ands, Gates, ToGarbled, ToNumbers],
        jobs: tables::costs::jobs,
    },
    Known {
        paper: Motion,
        kind: Table,
        number: 7,
        own: "MOTION",
        typical: Typical::Median,
        note: "without base OTs, which the same run measures. An operation alone is its setup and the part of the online time \
               between the sharing of the last operand and the opening of the result; the whole job is told too, beside the \
               sum of the paper's rows.",
        text: include_str!("../../papers/motion7.tsv"),
        obeys: &[
            Parties, Network, Repeat, Limit, Scale, Ands, Gates, ToGarbled, ToNumbers,
        ],
        jobs: tables::primitives::jobs,
    },
    Known {
        paper: Motion,
        kind: Table,
        number: 8,
        own: "MOTION",
        typical: Typical::Median,
        note: "sharing and opening included, without base OTs, which the same run measures.",
        text: include_str!("../../papers/motion8.tsv"),
        obeys: &[Parties, Network, Repeat, Limit, Scale, Ands, Gates],
        jobs: tables::integers::jobs,
    },
    Known {
        paper: Motion2nx,
        kind: Table,
        number: 1,
        own: "MOTION2NX",
        typical: Typical::Median,
        note: NETWORKS,
        text: include_str!("../../papers/motion2nx1.tsv"),
        obeys: &[Network, Repeat, Limit, Model],
        jobs: tables::networks::cryptonets,
    },
    Known {
        paper: Motion2nx,
        kind: Table,
        number: 2,
        own: "MOTION2NX",
        typical: Typical::Median,
        note: NETWORKS,
        text: include_str!("../../papers/motion2nx2.tsv"),
        obeys: &[Network, Repeat, Limit, Model],
        jobs: tables::networks::minionn_mnist,
    },
    Known {
        paper: Motion2nx,
        kind: Table,
        number: 3,
        own: "MOTION2NX",
        typical: Typical::Median,
        note: "",
        text: include_str!("../../papers/motion2nx3.tsv"),
        obeys: &[Network, Repeat, Limit, Model],
        jobs: tables::networks::minionn_cifar10,
    },
    Known {
        paper: Motif,
        kind: Figure,
        number: 5,
        own: "MOTIF",
        typical: Typical::Middle,
        note: WHOLE,
        text: include_str!("../../papers/motif5.tsv"),
        obeys: &[Parties, Network, Repeat, Merging, Plots],
        jobs: branches::strings_timed,
    },
    Known {
        paper: Motif,
        kind: Figure,
        number: 6,
        own: "MOTIF",
        typical: Typical::Mean,
        note: COUNTED,
        text: include_str!("../../papers/motif6.tsv"),
        obeys: &[Parties, Merging, Plots],
        jobs: branches::strings_by_branches,
    },
    Known {
        paper: Motif,
        kind: Figure,
        number: 7,
        own: "MOTIF",
        typical: Typical::Mean,
        note: COUNTED,
        text: include_str!("../../papers/motif7.tsv"),
        obeys: &[Parties, Merging, Plots],
        jobs: branches::strings_by_parties,
    },
    Known {
        paper: MaskedTriples,
        kind: Figure,
        number: 8,
        own: "Masked Triples",
        typical: Typical::Mean,
        note: COUNTED,
        text: include_str!("../../papers/masked8.tsv"),
        obeys: &[Parties, Circuits, Merging, Plots],
        jobs: branches::alignment,
    },
    Known {
        paper: MaskedTriples,
        kind: Figure,
        number: 9,
        own: "Masked Triples",
        typical: Typical::Mean,
        note: COUNTED,
        text: include_str!("../../papers/masked9.tsv"),
        obeys: &[Parties, Circuits, Merging, Plots],
        jobs: branches::random_by_branches,
    },
    Known {
        paper: MaskedTriples,
        kind: Figure,
        number: 10,
        own: "Masked Triples",
        typical: Typical::Mean,
        note: COUNTED,
        text: include_str!("../../papers/masked10.tsv"),
        obeys: &[Parties, Circuits, Merging, Plots],
        jobs: branches::random_totals,
    },
    Known {
        paper: MaskedTriples,
        kind: Figure,
        number: 11,
        own: "Masked Triples",
        typical: Typical::Mean,
        note: "whole jobs, base OTs included; each run is of a circuit of its own.",
        text: include_str!("../../papers/masked11.tsv"),
        obeys: &[Parties, Network, Circuits, Merging, Plots],
        jobs: branches::random_timed,
    },
    Known {
        paper: MaskedTriples,
        kind: Figure,
        number: 12,
        own: "Masked Triples",
        typical: Typical::Mean,
        note: COUNTED,
        text: include_str!("../../papers/masked12.tsv"),
        obeys: &[Parties, Circuits, Merging, Plots],
        jobs: branches::random_by_parties,
    },
    Known {
        paper: Araki,
        kind: Table,
        number: 2,
        own: "Araki et al.",
        typical: Typical::Mean,
        note: three_parties::NOTE,
        text: include_str!("../../papers/araki2.tsv"),
        obeys: &[Network, Repeat, Scale],
        jobs: three_parties::table,
    },
    Known {
        paper: Araki,
        kind: Figure,
        number: 4,
        own: "Araki et al.",
        typical: Typical::Mean,
        note: three_parties::NOTE,
        text: include_str!("../../papers/araki4.tsv"),
        obeys: &[Network, Repeat, Scale, Plots],
        jobs: three_parties::throughput,
    },
    Known {
        paper: Araki,
        kind: Figure,
        number: 5,
        own: "Araki et al.",
        typical: Typical::Mean,
        note: three_parties::NOTE,
        text: include_str!("../../papers/araki5.tsv"),
        obeys: &[Network, Repeat, Scale, Plots],
        jobs: three_parties::latency,
    },
];

impl Known {
    /// Finds what the flags name.
    pub fn find(args: &BenchPaper) -> Result<&'static Self> {
        let (kind, number) = match (args.figure, args.table) {
            (Some(figure), _) => (Figure, figure),
            (None, Some(table)) => (Table, table),
            (None, None) => return Err(Failure::bug("neither a figure nor a table")),
        };
        let fits = |known: &&Self| known.kind == kind && args.of.is_none_or(|of| of == known.paper);
        let found = SHEETS
            .iter()
            .filter(fits)
            .find(|known| known.number == number);
        found.ok_or_else(|| {
            let there: Vec<_> = SHEETS.iter().filter(fits).map(Self::to_string).collect();
            Usage::NoSuchSheet {
                kind: kind.name(),
                number,
                of: args
                    .of
                    .map_or_else(String::new, |of| format!("of {}", of.name())),
                there: match there.is_empty() {
                    true => format!("no {}s of that paper", kind.name()),
                    false => there.join(", "),
                },
            }
            .into()
        })
    }

    /// Refuses a flag that changes nothing.
    pub fn check(&self, args: &BenchPaper) -> Result<()> {
        match Flag::given(args).find(|(flag, _)| !self.obeys.contains(flag)) {
            None => Ok(()),
            Some((_, flag)) => Err(Usage::NotObeyed {
                flag,
                what: self.to_string(),
            }
            .into()),
        }
    }

    /// Reads what the paper reports.
    pub fn sheet(&self) -> Result<Sheet> {
        Sheet::read(self.text).map_err(|problem| Failure::bug(format!("{self}: {problem}")))
    }

    /// Whether nothing is timed.
    pub fn is_counted(&self) -> bool {
        !self.obeys.contains(&Repeat) && !self.obeys.contains(&Network)
    }

    /// Draws the points of a figure where `--plots` wants it.
    pub fn plot(&self, args: &BenchPaper, points: &[super::bench::Point]) -> Result<()> {
        match &args.plots {
            Some(directory) => plot::write(self, points, directory),
            None => Ok(()),
        }
    }
}
