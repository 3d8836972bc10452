//! `madrigal-lab paper --figure`: what MOTIF's Figures 5 to 7 and Masked Triples' Figures 8 to 12 show, ours beside the
//! papers' figures where their text has them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use madrigal_circuit::Builder;
use madrigal_circuit::branches::{Branching, Random};
use madrigal_correlations_make::Extension;
use madrigal_operations::Scheme;
use plotters::prelude::*;
use serde::Serialize;

use crate::args::{BenchPaper, TransportArg};
use crate::branches::{Setting, Way, measure, network};
use crate::exit::{Failure, Result};
use crate::files;
use crate::graphs;
use crate::measured::{Row, Rows};
use crate::progress::Steps;
use crate::reach::Network;

const SIZE: (u32, u32) = (800, 500);
/// Bits of the strings that MOTIF's branches compare.
const STRING: u32 = 65_000;

/// One point of a figure.
#[derive(Serialize)]
struct Point {
    figure: u8,
    /// Quantity that is plotted: for example bytes.
    what: &'static str,
    series: String,
    /// Branches, parties, or the number of a circuit.
    x: f64,
    value: f64,
    /// The paper's value.
    paper: Option<f64>,
}

/// Megabytes sent by a party, by branches: ours' name, branches, paper's value.
const MOTIF_FIGURE_6: [(&str, usize, f64); 10] = [
    ("motif", 1, 1.04),
    ("motif", 2, 1.09),
    ("motif", 4, 1.18),
    ("motif", 8, 1.37),
    ("motif", 16, 1.74),
    ("plain", 1, 1.04),
    ("plain", 2, 2.07),
    ("plain", 4, 4.11),
    ("plain", 8, 8.21),
    ("plain", 16, 16.39),
];
const MASKED_FIGURE_10: [(&str, usize, f64); 15] = [
    ("masked", 2, 0.57),
    ("masked", 4, 0.58),
    ("masked", 8, 0.61),
    ("masked", 16, 0.67),
    ("masked", 32, 0.80),
    ("motif", 2, 0.86),
    ("motif", 4, 1.16),
    ("motif", 8, 1.46),
    ("motif", 16, 1.79),
    ("motif", 32, 2.14),
    ("plain", 2, 1.11),
    ("plain", 4, 2.19),
    ("plain", 8, 4.10),
    ("plain", 16, 8.19),
    ("plain", 32, 16.09),
];

pub(super) fn run(args: &BenchPaper, number: u8) -> Result<()> {
    let figure = Figure { args, number };
    let points = match number {
        5 => figure.clocks(&[1, 2, 4, 8, 16], strings)?,
        6 => figure.bytes(&[1, 2, 4, 8, 16], &[2], strings, &MOTIF_FIGURE_6)?,
        7 => figure.bytes(&[16], &[2, 3, 4, 5, 6, 7, 8], strings, &[])?,
        8 => figure.ots()?,
        9 | 10 => figure.bytes(&[2, 4, 8, 16, 32], &[2], random, &MASKED_FIGURE_10)?,
        11 => figure.clocks(&[2, 4, 8, 16, 32], random)?,
        _ => figure.bytes(&[16], &[4, 5, 6, 7, 8], random, &[])?,
    };
    if let Some(directory) = &args.plots {
        plot(number, &points, directory)?;
    }
    let mut rows = Rows::new(args.json);
    points.iter().try_for_each(|point| rows.add(point))?;
    let of = match number {
        ..8 => "MOTIF",
        _ => "Masked Triples",
    };
    rows.print(|rows| format!("Figure {number} of {of}.\n\n{rows}\n"))
}

impl Row for Point {
    const HEADER: &'static [&'static str] = &["what", "way", "at", "ours", "the paper's"];

    fn cells(&self) -> Vec<String> {
        let paper = self.paper.map(|paper| paper.to_string());
        vec![
            self.what.to_owned(),
            self.series.clone(),
            self.x.to_string(),
            format!("{:.4}", self.value),
            paper.unwrap_or_default(),
        ]
    }
}

/// Makes the papers' random circuit with this number of branches.
fn random(branches: usize, seed: u64) -> Result<Branching> {
    let made = Random::PAPER.conditional(branches, seed);
    Ok(made.map_err(madrigal_app::failure::Usage::Branches)?)
}

/// MOTIF's: each branch says whether two strings are equal.
fn strings(branches: usize, _: u64) -> Result<Branching> {
    let mut builder = Builder::new("equal strings");
    let (a, b) = (builder.input(STRING), builder.input(STRING));
    let equal = builder.equal(&a, &b);
    builder.output(&[equal]);
    let branch = Arc::new(Branching::netlist(Arc::new(builder.finish())));
    let branches = vec![branch; branches];
    Branching::conditional("strings", branches).map_err(Failure::bug)
}

type Make = fn(usize, u64) -> Result<Branching>;

struct Figure<'a> {
    args: &'a BenchPaper,
    number: u8,
}

fn setting(parties: usize, network: Network, repeat: u32) -> Setting {
    Setting {
        parties,
        extension: Extension::IKNP,
        lanes: 1,
        runs: graphs::Setting {
            transport: TransportArg::Tcp,
            network,
            threads: 1,
            repeat,
        },
    }
}

impl Figure<'_> {
    fn point(&self, what: &'static str, series: &str, x: usize, value: f64) -> Point {
        Point {
            figure: self.number,
            what,
            series: series.to_owned(),
            x: x as f64,
            value,
            paper: None,
        }
    }

    /// Counts the bytes that are sent, by branches or by parties.
    fn bytes(
        &self,
        branches: &[usize],
        parties: &[usize],
        make: Make,
        paper: &[(&str, usize, f64)],
    ) -> Result<Vec<Point>> {
        let steps = Steps::new((branches.len() * parties.len()) as u64, self.args.json);
        let mut points = Vec::new();
        for &b in branches {
            let circuit = Arc::new(make(b, 1)?);
            for &n in parties {
                steps.advance();
                let x = if parties.len() > 1 { n } else { b };
                for way in Way::ALL {
                    let plan = way.plan(&circuit, &setting(n, Network::new(None), 1))?;
                    let counted = plan.counted();
                    let megabytes = |bytes: u64| bytes as f64 / 1e6;
                    let (setup, online) = (counted.setup_bytes, counted.online_bytes);
                    points.push(self.point(
                        "setup, MB sent by one",
                        way.name(),
                        x,
                        megabytes(setup),
                    ));
                    let mut total = self.point(
                        "total, MB sent by one",
                        way.name(),
                        x,
                        megabytes(setup + online),
                    );
                    let theirs = paper.iter().find(|row| (row.0, row.1) == (way.name(), b));
                    total.paper = theirs.map(|row| row.2);
                    points.push(total);
                }
            }
        }
        steps.clear();
        Ok(points)
    }

    /// Wall clock in the papers' networks, base OTs included.
    fn clocks(&self, branches: &[usize], make: Make) -> Result<Vec<Point>> {
        let networks = [
            ("lan", "seconds, LAN"),
            ("shared-lan", "seconds, shared LAN"),
            ("wan", "seconds, WAN"),
        ];
        let jobs = branches.len() * networks.len() * Way::ALL.len();
        let steps = Steps::new(jobs as u64, self.args.json);
        let mut points = Vec::new();
        for &b in branches {
            let circuit = Arc::new(make(b, 1)?);
            for (name, what) in networks {
                let setting = setting(2, network(name)?, self.args.repeat);
                for way in Way::ALL {
                    steps.name(&format!("{} with {b} branches, {name}", way.name()));
                    steps.advance();
                    let plan = way.plan(&circuit, &setting)?;
                    let measured = measure(&circuit, &plan, &setting)?;
                    let median = measured.median(|times| times.total);
                    points.push(self.point(what, way.name(), b, median));
                }
            }
        }
        steps.clear();
        Ok(points)
    }

    /// OTs for two branches, for many random circuits: how branches happen to be aligned.
    fn ots(&self) -> Result<Vec<Point>> {
        let count = self.args.circuits as usize;
        let steps = Steps::new(count as u64, self.args.json);
        let mut points = Vec::new();
        for seed in 0..count {
            steps.advance();
            let circuit = Arc::new(random(2, seed as u64)?);
            let ways = [
                Way::Plain,
                Way::Shared(Scheme::Vectors),
                Way::Shared(Scheme::Masked),
            ];
            for way in ways {
                let plan = way.plan(&circuit, &setting(2, Network::new(None), 1))?;
                let ots = plan.counted().ots as f64;
                points.push(self.point("OTs of both", way.name(), seed, ots));
            }
        }
        steps.clear();
        Ok(points)
    }
}

/// One chart for each thing that is plotted, below each other.
fn plot(figure: u8, points: &[Point], directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))?;
    let path = directory.join(format!("figure{figure}.svg"));
    let mut text = String::new();
    draw(&mut text, figure, points).map_err(Failure::bug)?;
    files::write_bytes("write the plot", &path, text)
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

fn draw(text: &mut String, figure: u8, points: &[Point]) -> Result<(), Box<dyn std::error::Error>> {
    let whats = unique(points.iter().map(|point| point.what));
    let height = SIZE.1 * whats.len() as u32;
    let area = SVGBackend::with_string(text, (SIZE.0, height)).into_drawing_area();
    area.fill(&WHITE)?;
    for (area, what) in area.split_evenly((whats.len(), 1)).iter().zip(whats) {
        let here = || points.iter().filter(move |point| point.what == what);
        let range = |pick: fn(&Point) -> f64| {
            let least = here().map(pick).fold(f64::INFINITY, f64::min);
            let most = here().map(pick).fold(0.0, f64::max);
            least * 0.9..most * 1.1 + 1e-9
        };
        let y = 0.0..range(|point| point.value).end;
        let mut chart = ChartBuilder::on(area)
            .caption(format!("Figure {figure}: {what}"), ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(80)
            .build_cartesian_2d(range(|point| point.x), y)?;
        chart.configure_mesh().y_desc(what).draw()?;
        let colors = [BLUE, RED, GREEN, MAGENTA];
        let names = unique(here().map(|point| point.series.as_str()));
        for (name, color) in names.into_iter().zip(colors) {
            let line = || here().filter(move |point| point.series == name);
            chart
                .draw_series(
                    LineSeries::new(line().map(|p| (p.x, p.value)), color.stroke_width(2))
                        .point_size(3),
                )?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
            let theirs = line().filter_map(|p| Some((p.x, p.paper?)));
            chart.draw_series(theirs.map(|at| Cross::new(at, 5, color.stroke_width(2))))?;
        }
        chart
            .configure_series_labels()
            .background_style(WHITE)
            .border_style(BLACK)
            .draw()?;
    }
    area.present()?;
    drop(area);
    Ok(())
}
