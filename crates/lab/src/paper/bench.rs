//! Everything that tables and figures share: which rows there are at which places, what the flags want of them, running them, and
//! printing each quantity beside what the papers report.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;

use madrigal_core::time::Rates;
use serde::Serialize;

use super::estimate::{Estimate, Typical};
use super::published::{Place, Published, Sheet};
use super::unit::Unit;
use crate::args::{BenchPaper, PaperArg};
use crate::exit::{Result, Usage};
use crate::figures::{print, print_json_line};
use crate::machine::Machine;
use crate::measured::{is_wanted, nothing};
use crate::numbers::{rate, wide_table};
use crate::progress::Steps;
use crate::reach::Network;

impl PaperArg {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Motion => "MOTION",
            Self::Motion2nx => "MOTION2NX",
            Self::Motif => "MOTIF",
            Self::MaskedTriples => "Masked Triples",
            Self::Araki => "Araki et al.",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Table,
    Figure,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Figure => "figure",
        }
    }
}

/// A flag that not all obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    Parties,
    Network,
    Repeat,
    Limit,
    Scale,
    Circuits,
    Merging,
    Ands,
    Gates,
    ToGarbled,
    ToNumbers,
    Model,
    Plots,
}

impl Flag {
    /// All flags that are given, by name.
    pub fn given(args: &BenchPaper) -> impl Iterator<Item = (Self, &'static str)> {
        let all = [
            (Self::Parties, "--parties", !args.parties.is_empty()),
            (Self::Network, "--network", !args.network.is_empty()),
            (Self::Repeat, "--repeat", args.repeat.is_some()),
            (Self::Limit, "--limit", args.limit.is_some()),
            (Self::Scale, "--scale", args.scale.is_some()),
            (Self::Circuits, "--circuits", args.circuits.is_some()),
            (Self::Merging, "--merging", args.merging.is_some()),
            (Self::Ands, "--ands", args.ands.is_some()),
            (Self::Gates, "--gates", args.gates.is_some()),
            (Self::ToGarbled, "--to-garbled", args.to_garbled.is_some()),
            (Self::ToNumbers, "--to-numbers", args.to_numbers.is_some()),
            (Self::Model, "--model", args.model.is_some()),
            (Self::Plots, "--plots", args.plots.is_some()),
        ];
        all.into_iter()
            .filter_map(|(flag, name, given)| given.then_some((flag, name)))
    }
}

/// A table or figure.
pub struct Known {
    pub paper: PaperArg,
    pub kind: Kind,
    pub number: u8,
    /// The paper's own system, which ours is held against.
    pub own: &'static str,
    pub typical: Typical,
    /// A remark on our rows.
    pub note: &'static str,
    pub text: &'static str,
    pub obeys: &'static [Flag],
    pub jobs: fn(&Bench<'_>, &Place) -> Result<Vec<Job<'static>>>,
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} of {}",
            self.kind.name(),
            self.number,
            self.paper.name()
        )
    }
}

/// Something that a row tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    pub row: String,
    pub what: String,
    pub unit: Unit,
}

impl Quantity {
    pub fn new(row: impl Into<String>, what: impl Into<String>, unit: Unit) -> Self {
        Self {
            row: row.into(),
            what: what.into(),
            unit,
        }
    }

    pub fn seconds(row: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(row, what, Unit::Seconds)
    }
}

/// Measures what a job tells.
pub type Run<'a> = dyn FnOnce(&Bench<'_>, &Place) -> Result<Told> + 'a;

/// A measurement, and what it tells.
pub struct Job<'a> {
    pub quantities: Vec<Quantity>,
    /// A value for each quantity.
    pub run: Box<Run<'a>>,
    /// Finds what the papers have of a quantity: a line of theirs, or what is made of several.
    pub published: fn(&Sheet, &Quantity, &Place) -> Vec<Published>,
}

impl<'a> Job<'a> {
    pub fn new(
        quantities: Vec<Quantity>,
        run: impl FnOnce(&Bench<'_>, &Place) -> Result<Told> + 'a,
    ) -> Self {
        Self {
            quantities,
            run: Box::new(run),
            published: |sheet, quantity, place| sheet.at(&quantity.row, &quantity.what, place),
        }
    }
}

/// Outcome of a job.
pub enum Told {
    Values(Vec<Estimate>),
    /// The reason why it was not run.
    NotRun(String),
}

/// A table or figure and what the flags want of it.
pub struct Bench<'a> {
    pub args: &'a BenchPaper,
    pub known: &'static Known,
    pub sheet: Sheet,
    pub steps: Steps,
    rates: OnceCell<Rates>,
}

/// One line of JSON, one row of the table.
#[derive(Serialize)]
struct Line {
    paper: &'static str,
    kind: Kind,
    number: u8,
    row: String,
    what: String,
    parties: usize,
    network: String,
    unit: &'static str,
    ours: Option<Estimate>,
    /// Why there is no value.
    not_run: Option<String>,
    /// The papers' values by whose they are; `null` where the paper has one that its text does not say.
    published: BTreeMap<&'static str, Option<f64>>,
    /// Factor by which ours is better than the paper's own.
    times_as_good: Option<f64>,
    #[serde(skip)]
    cells: Vec<String>,
}

impl<'a> Bench<'a> {
    pub fn new(args: &'a BenchPaper, known: &'static Known) -> Result<Self> {
        known.check(args)?;
        Ok(Self {
            args,
            known,
            sheet: known.sheet()?,
            steps: Steps::new(0, args.json),
            rates: OnceCell::new(),
        })
    }

    pub fn repeat(&self) -> u32 {
        self.args.repeat.unwrap_or(BenchPaper::REPEAT)
    }

    /// Scales a number of things side by side.
    pub fn scaled(&self, count: usize) -> usize {
        let scale = self.args.scale.unwrap_or(1.0);
        (count as f64 * scale).ceil().max(1.0) as usize
    }

    /// Rates of this machine, measured once.
    pub fn rates(&self) -> Result<&Rates> {
        match self.rates.get() {
            Some(rates) => Ok(rates),
            None => {
                let rates = crate::rates::measure(None)?;
                Ok(self.rates.get_or_init(|| rates))
            }
        }
    }

    /// The places that are wanted: all of the paper's, or those that the flags name.
    pub fn places(&self) -> Vec<Place> {
        let args = self.args;
        let columns: Vec<_> = self.sheet.places().collect();
        let mut networks: Vec<&str> = args.network.iter().map(String::as_str).collect();
        if networks.is_empty() {
            for (network, _) in &columns {
                if !networks.contains(network) {
                    networks.push(network);
                }
            }
        }
        let mut places = Vec::new();
        for network in networks {
            let here = |(name, parties): &(&str, Option<usize>)| {
                (*name == network).then_some(parties.unwrap_or(BenchPaper::PARTIES))
            };
            let mut parties: Vec<usize> = columns.iter().filter_map(here).collect();
            let known = !parties.is_empty();
            if !args.parties.is_empty() {
                // A network of the paper is measured with the given parties where it has them, unless it is named too.
                let strange = |given: &usize| {
                    let of = |(_, parties): &(&str, Option<usize>)| {
                        parties.is_none_or(|parties| parties == *given)
                    };
                    !columns.iter().any(of)
                };
                let any = columns
                    .iter()
                    .any(|column| here(column).is_some() && column.1.is_none());
                let named = !args.network.is_empty();
                let wanted =
                    |given: &&usize| named || any || parties.contains(given) || strange(given);
                let given = args.parties.iter().filter(wanted).copied().collect();
                parties = given;
            } else if !known {
                let all = columns
                    .iter()
                    .map(|(_, parties)| parties.unwrap_or(BenchPaper::PARTIES));
                parties = all.collect();
                parties.sort_unstable();
                parties.dedup();
            }
            places.extend(parties.into_iter().map(|parties| Place {
                network: network.to_owned(),
                parties,
            }));
        }
        places
    }

    /// Whether the flags name places, so that rows are measured there that the paper has elsewhere.
    fn is_asked(&self) -> bool {
        !self.args.parties.is_empty() || !self.args.network.is_empty()
    }

    /// The jobs at a place, without those of which the paper has nothing there unless they were asked for.
    pub fn jobs(&self, place: &Place) -> Result<Vec<Job<'static>>> {
        let mut jobs = (self.known.jobs)(self, place)?;
        if !self.is_asked() {
            jobs.retain(|job| {
                let mut rows = job.quantities.iter();
                rows.any(|quantity| self.sheet.has(&quantity.row, place))
            });
        }
        Ok(jobs)
    }

    /// Lists or measures what is wanted, and prints it.
    pub fn run(&self) -> Result<()> {
        let places = self.places();
        for place in &places {
            Network::parse(&place.network)?;
        }
        let mut names = Vec::new();
        let mut lines = Vec::new();
        let machine = match self.args.list || self.known.is_counted() {
            true => None,
            false => Some(Machine::measure()?),
        };
        for place in places {
            for mut job in self.jobs(&place)? {
                let quantities = std::mem::take(&mut job.quantities);
                let wanted = |quantity: &Quantity| is_wanted(&self.args.only, &quantity.row);
                if !quantities.iter().any(wanted) {
                    names.extend(quantities.into_iter().map(|quantity| quantity.row));
                    continue;
                }
                let told = match self.args.list {
                    true => Told::NotRun("listed".to_owned()),
                    false => {
                        let row = &quantities[0].row;
                        let Place { network, parties } = &place;
                        self.steps.name(&format!("{row} of {parties}, {network}"));
                        (job.run)(self, &place)?
                    }
                };
                let (mut values, not_run) = match told {
                    Told::Values(values) => (values.into_iter().map(Some).collect(), None),
                    Told::NotRun(reason) => (Vec::new(), Some(reason)),
                };
                values.resize(quantities.len(), None);
                for (quantity, ours) in quantities.into_iter().zip(values) {
                    if wanted(&quantity) {
                        let published = (job.published)(&self.sheet, &quantity, &place);
                        let line = self.line(quantity, &place, ours, not_run.clone(), published);
                        if self.args.json {
                            print_json_line(&line)?;
                        }
                        lines.push(line);
                    }
                }
            }
        }
        self.steps.clear();
        if lines.is_empty() {
            names.sort();
            names.dedup();
            return Err(match names.is_empty() {
                true => Usage::NoRowThere.into(),
                false => nothing(names.iter().map(String::as_str)),
            });
        }
        self.known.plot(
            self.args,
            &lines.iter().filter_map(Line::point).collect::<Vec<_>>(),
        )?;
        match self.args.json {
            true => Ok(()),
            false => print(self.text(&lines, machine.as_ref()).as_bytes()),
        }
    }

    fn line(
        &self,
        quantity: Quantity,
        place: &Place,
        ours: Option<Estimate>,
        not_run: Option<String>,
        published: Vec<Published>,
    ) -> Line {
        let unit = quantity.unit;
        let typical = ours.as_ref().map(|ours| ours.typical(self.known.typical));
        let own = published
            .iter()
            .find(|published| published.of == self.known.own);
        let own = own.and_then(|published| published.value);
        let times_as_good = typical
            .zip(own)
            .and_then(|(ours, own)| unit.better(ours, own));
        let mut cells = vec![
            quantity.row.clone(),
            quantity.what.clone(),
            place.parties.to_string(),
            place.network.clone(),
            match (typical, &not_run) {
                (Some(value), _) => unit.text(value),
                (None, Some(_)) if self.args.list => String::new(),
                (None, Some(reason)) => format!("not run: {reason}"),
                (None, None) => String::new(),
            },
            within(ours.as_ref(), unit),
        ];
        for system in self.sheet.systems() {
            let published = published.iter().find(|published| published.of == system);
            let text = published.map(|one| match one.value {
                Some(value) => {
                    let bound = one.bound.map_or(String::new(), String::from);
                    format!("{bound}{}", one.unit.text(value))
                }
                None => "?".to_owned(),
            });
            cells.push(text.unwrap_or_default());
        }
        cells.push(
            times_as_good
                .map(|by| format!("{by:.1}"))
                .unwrap_or_default(),
        );
        Line {
            paper: self.known.paper.name(),
            kind: self.known.kind,
            number: self.known.number,
            row: quantity.row,
            what: quantity.what,
            parties: place.parties,
            network: place.network.clone(),
            unit: unit.name(),
            ours,
            not_run: not_run.filter(|_| !self.args.list),
            published: published.iter().map(|one| (one.of, one.value)).collect(),
            times_as_good,
            cells,
        }
    }

    /// The table, without the columns in which nothing stands.
    fn text(&self, lines: &[Line], machine: Option<&Machine>) -> String {
        let typical = format!("ours, {}", self.known.typical.name());
        let mut header = vec![
            "row",
            "what",
            "parties",
            "network",
            typical.as_str(),
            "± 95 %",
        ];
        header.extend(self.sheet.systems());
        header.push("times as good");
        let is_used = |at: usize| at < 4 || lines.iter().any(|line| !line.cells[at].is_empty());
        let used: Vec<usize> = (0..header.len()).filter(|&at| is_used(at)).collect();
        let mut table = wide_table(&used.iter().map(|&at| header[at]).collect::<Vec<_>>());
        for line in lines {
            table.add_row(
                used.iter()
                    .map(|&at| line.cells[at].clone())
                    .collect::<Vec<_>>(),
            );
        }
        let machine = machine.map(|machine| {
            format!(
                "\nOurs: all parties on {} cores, {} by each; loopback TCP carries {}.",
                machine.cores,
                rate(machine.aes_blocks, " AES blocks/s"),
                rate(machine.loopback_bytes_per_second, "B/s"),
            )
        });
        let source = self.sheet.source.join("\n");
        let note = self.known.note;
        let note = if note.is_empty() {
            String::new()
        } else {
            format!("\nOurs: {note}")
        };
        format!("{source}{note}{}\n\n{table}\n", machine.unwrap_or_default())
    }
}

/// Writes half the width of the interval, where there are several runs.
fn within(ours: Option<&Estimate>, unit: Unit) -> String {
    let within = ours
        .and_then(|ours| ours.within)
        .filter(|within| *within > 0.0);
    within.map(|within| unit.text(within)).unwrap_or_default()
}

/// A point of a plot.
pub struct Point {
    pub what: String,
    pub network: String,
    pub parties: usize,
    pub row: String,
    pub value: f64,
    /// The value of the paper's own system.
    pub paper: Option<f64>,
}

impl Line {
    fn point(&self) -> Option<Point> {
        let ours = self.ours.as_ref()?;
        Some(Point {
            what: self.what.clone(),
            network: self.network.clone(),
            parties: self.parties,
            row: self.row.clone(),
            value: ours.mean,
            paper: self.published.values().copied().flatten().next(),
        })
    }
}
