//! Costs of parties over one run or several, for people and for scripts.

use madrigal_core::{Party, PhaseCost};
use madrigal_engine::{Made, Outcome, StoreReport};
use serde::{Deserialize, Serialize};

use crate::failure::Result;
use crate::figures::{PhaseFigures, peak_rss_bytes};
use crate::numbers::{Table, bytes, count, seconds, table};
use crate::spread::Spread;

/// Report of one party on one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunFigures {
    /// Cost before any input was needed.
    pub setup: PhaseFigures,
    /// Cost with inputs.
    pub online: PhaseFigures,
    /// Time from the opening of the job to its finish at all parties.
    pub total_seconds: f64,
    /// Bytes sent with headers and control messages.
    pub wire_bytes_sent: u64,
    /// Costs of each primitive that correlations were made of, as far as it is part of setup: base OTs, and each kind of
    /// correlations.
    pub primitives: Vec<PrimitiveFigures>,
}

/// Costs of a primitive in one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PrimitiveFigures {
    /// Name of the primitive; behind it, as `madrigal precompute --triples` has it, the kind.
    pub name: String,
    /// Items that were made; of base OTs and of correlated OTs those that the party sent or received.
    pub items: u64,
    /// Cost of making them; rounds are those by which the longest chain of messages grew.
    #[serde(flatten)]
    pub figures: PhaseFigures,
}

/// Report of one party on all runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartyRuns {
    /// Number of the party.
    pub party: usize,
    /// Costs of each run.
    pub runs: Vec<RunFigures>,
    /// Memory that the party's process took at most, where the system tells it.
    pub peak_rss_bytes: Option<u64>,
}

/// Costs of one party. Seconds are the median of all runs.
#[derive(Debug, Clone, Serialize)]
pub struct PartyStatistics {
    /// Number of the party.
    pub party: usize,
    /// Cost before any input was needed; base OTs are part of every run's setup.
    pub setup: PhaseStatistics,
    /// Cost with inputs.
    pub online: PhaseStatistics,
    /// Time from the opening of the job to its finish at all parties, without connecting and greeting; the median of
    /// all runs.
    pub total_seconds: f64,
    /// Spread of this time.
    pub total_spread: Spread,
    /// Bytes sent with headers and control messages, without TLS, TCP and IP.
    pub wire_bytes_sent: u64,
    /// Peak memory of the process; `null` where the system does not tell it. Parties of one process share it.
    pub peak_rss_bytes: Option<u64>,
    /// Primitives that correlations were made of in setup, in the order in which they were made.
    pub primitives: Vec<PrimitiveStatistics>,
    /// Each run.
    pub runs: Vec<RunFigures>,
}

/// Costs of a phase. Seconds are the median of all runs; the counts are the same in each run.
#[derive(Debug, Clone, Serialize)]
pub struct PhaseStatistics {
    /// Costs of the phase.
    #[serde(flatten)]
    pub figures: PhaseFigures,
    /// Spread of the seconds, which are the median of all runs; counts are the same in each run.
    pub seconds_spread: Spread,
}

/// Costs of a primitive: base OTs, or a kind of correlations.
#[derive(Debug, Clone, Serialize)]
pub struct PrimitiveStatistics {
    /// Name of the primitive; behind it, as `madrigal precompute --triples` has it, the kind.
    pub name: String,
    /// Items that each run made; of base OTs and of correlated OTs those that the party sent or received.
    pub items: u64,
    /// Cost of making them, a part of setup; rounds are those by which the longest chain of messages grew.
    #[serde(flatten)]
    pub cost: PhaseStatistics,
}

impl<Outputs> From<&Outcome<Outputs>> for RunFigures {
    fn from(report: &Outcome<Outputs>) -> Self {
        Self {
            setup: (&report.setup).into(),
            online: (&report.online).into(),
            total_seconds: report.total.as_secs_f64(),
            wire_bytes_sent: report.wire_bytes_sent,
            primitives: report.made.iter().map(PrimitiveFigures::from).collect(),
        }
    }
}

/// A store takes setup alone.
impl From<&StoreReport> for RunFigures {
    fn from(report: &StoreReport) -> Self {
        Self {
            setup: (&report.setup).into(),
            online: PhaseFigures::new(0.0, &PhaseCost::default()),
            total_seconds: report.setup.time.as_secs_f64(),
            wire_bytes_sent: report.wire_bytes_sent,
            primitives: report.made.iter().map(PrimitiveFigures::from).collect(),
        }
    }
}

impl From<&Made> for PrimitiveFigures {
    fn from(made: &Made) -> Self {
        Self {
            name: made.primitive.to_string(),
            items: made.items,
            figures: PhaseFigures::new(made.time.as_secs_f64(), &made.spent),
        }
    }
}

impl RunFigures {
    /// Puts together what a party does first and what it does after that.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        for primitive in next.primitives {
            let mut own = self.primitives.iter_mut();
            match own.find(|own| own.name == primitive.name) {
                Some(own) => {
                    own.items += primitive.items;
                    own.figures = own.figures.then(primitive.figures);
                }
                None => self.primitives.push(primitive),
            }
        }
        Self {
            setup: self.setup.then(next.setup),
            online: self.online.then(next.online),
            total_seconds: self.total_seconds + next.total_seconds,
            wire_bytes_sent: self.wire_bytes_sent + next.wire_bytes_sent,
            primitives: self.primitives,
        }
    }
}

/// Does something `times` times, at least once; it is told how many times it was done before. Gives what came of the last time,
/// and what each time cost.
///
/// # Errors
/// Error of the first run that fails.
pub async fn repeated<T>(
    times: u32,
    mut run: impl AsyncFnMut(u32) -> Result<(T, RunFigures)>,
) -> Result<(T, Vec<RunFigures>)> {
    let mut runs = Vec::new();
    let mut repetition = 0;
    loop {
        let (done, figures) = run(repetition).await?;
        runs.push(figures);
        repetition += 1;
        if repetition >= times {
            return Ok((done, runs));
        }
    }
}

/// Takes what came of the parties' runs and what they cost apart.
pub fn apart<T>(
    done: Vec<(Party, (T, Vec<RunFigures>))>,
) -> (Vec<(Party, T)>, Vec<PartyStatistics>) {
    let one = |(party, (ended, runs))| ((party, ended), PartyStatistics::here(party, runs));
    done.into_iter().map(one).unzip()
}

impl PartyStatistics {
    /// Puts together what a party reports of all runs.
    pub fn new(party: &PartyRuns) -> Self {
        let runs = &party.runs;
        let spread = |pick: fn(&RunFigures) -> f64| Spread::of(runs.iter().map(pick).collect());
        let total = spread(|run| run.total_seconds);
        let first = runs.first();
        // Each run makes the same, in the same order.
        let primitives = first.map_or(0, |run| run.primitives.len());
        let primitive = |at: usize| {
            let all = runs.iter().filter_map(|run| run.primitives.get(at));
            let first = &runs[0].primitives[at];
            PrimitiveStatistics {
                name: first.name.clone(),
                items: first.items,
                cost: PhaseStatistics::new(all.map(|one| one.figures)),
            }
        };
        Self {
            party: party.party,
            setup: PhaseStatistics::new(runs.iter().map(|run| run.setup)),
            online: PhaseStatistics::new(runs.iter().map(|run| run.online)),
            total_seconds: total.median,
            total_spread: total,
            wire_bytes_sent: first.map_or(0, |run| run.wire_bytes_sent),
            peak_rss_bytes: party.peak_rss_bytes,
            primitives: (0..primitives).map(primitive).collect(),
            runs: runs.clone(),
        }
    }

    /// Puts together the runs of a party of this process.
    pub fn here(party: Party, runs: Vec<RunFigures>) -> Self {
        Self::new(&PartyRuns {
            party: party.index(),
            runs,
            peak_rss_bytes: peak_rss_bytes(),
        })
    }
}

impl PhaseStatistics {
    fn new(runs: impl Iterator<Item = PhaseFigures>) -> Self {
        let runs: Vec<PhaseFigures> = runs.collect();
        let spread = Spread::of(runs.iter().map(|run| run.seconds).collect());
        let figures = runs.first().copied();
        Self {
            figures: PhaseFigures {
                seconds: spread.median,
                ..figures.unwrap_or_else(|| PhaseFigures::new(0.0, &PhaseCost::default()))
            },
            seconds_spread: spread,
        }
    }
}

/// Columns of a table of costs that tell what was computed and what the process took.
const MORE: [&str; 2] = ["AES blocks", "peak memory"];

/// Lists costs in a table, a row for each party and phase.
pub fn costs<'a>(parties: impl IntoIterator<Item = &'a PartyStatistics>) -> Table {
    listed(parties, &[])
}

/// Lists costs as [`costs`] does, with AES blocks and memory.
pub fn all_costs<'a>(parties: impl IntoIterator<Item = &'a PartyStatistics>) -> Table {
    listed(parties, &MORE)
}

fn listed<'a>(parties: impl IntoIterator<Item = &'a PartyStatistics>, more: &[&str]) -> Table {
    let usual = [
        "party", "phase", "time", "sent", "received", "messages", "rounds",
    ];
    let header: Vec<&str> = usual.iter().chain(more).copied().collect();
    let mut table = table(&header);
    for party in parties {
        for (name, phase) in [("setup", &party.setup), ("online", &party.online)] {
            let figures = &phase.figures;
            let memory = party.peak_rss_bytes.filter(|_| name == "online");
            let mut row = vec![
                if name == "setup" {
                    party.party.to_string()
                } else {
                    String::new()
                },
                name.to_owned(),
                time_with(figures.seconds, &phase.seconds_spread, party.runs.len()),
                bytes(figures.bytes_sent),
                bytes(figures.bytes_received),
                count(figures.messages),
                count(figures.rounds),
                count(figures.aes_blocks),
                memory.map(bytes).unwrap_or_default(),
            ];
            row.truncate(header.len());
            table.add_row(row);
        }
    }
    table
}

fn time_with(median: f64, spread: &Spread, runs: usize) -> String {
    let text = seconds(median);
    if runs < 2 {
        return text;
    }
    format!("{text} ± {}", seconds(spread.standard_deviation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(seconds: f64, names: &[&str]) -> RunFigures {
        let cost = PhaseCost {
            bytes_sent: 7,
            ..PhaseCost::default()
        };
        let figures = PhaseFigures::new(seconds, &cost);
        RunFigures {
            setup: figures,
            online: figures,
            total_seconds: 2.0 * seconds,
            wire_bytes_sent: 20,
            primitives: (names.iter())
                .map(|name| PrimitiveFigures {
                    name: (*name).to_owned(),
                    items: 3,
                    figures,
                })
                .collect(),
        }
    }

    #[test]
    fn runs_have_their_spread() {
        let runs = [1.0, 2.0, 6.0].map(|seconds| run(seconds, &["base OTs", "bit triples (bits)"]));
        let told = PartyStatistics::here(Party::new(1), runs.into());
        let spread = &told.primitives[1].cost.seconds_spread;
        assert_eq!((spread.mean, spread.median), (3.0, 2.0));
        assert_eq!((spread.min, spread.max), (1.0, 6.0));
        assert_eq!(
            (told.total_seconds, told.setup.figures.bytes_sent),
            (4.0, 7)
        );
        assert_eq!(
            (told.party, told.runs.len(), told.wire_bytes_sent),
            (1, 3, 20)
        );
    }

    #[test]
    fn stages_of_a_run_add_up() {
        let both = run(1.0, &["base OTs", "a"]).then(run(2.0, &["b", "a"]));
        let names: Vec<_> = both
            .primitives
            .iter()
            .map(|one| (&*one.name, one.items))
            .collect();
        assert_eq!(names, [("base OTs", 3), ("a", 6), ("b", 3)]);
        assert_eq!((both.setup.seconds, both.setup.bytes_sent), (3.0, 14));
    }
}
