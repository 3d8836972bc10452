//! Throughput and latency of AES-128 against load, as Figures 4 and 5 of the three-party paper plot
//! them; here load is the number of blocks in a job. For several numbers of threads, also its throughput
//! against these.

use std::fs;
use std::path::Path;

use plotters::prelude::*;

use super::circuits;
use super::setting::{Setting, TRANSPORTS};
use crate::args::BenchR3;
use crate::exit::{Failure, Result};
use crate::figures::print;
use crate::files;
use crate::numbers::{rate, seconds, wide_table};
use crate::progress::Steps;

const SIZE: (u32, u32) = (800, 500);
/// Blocks of the jobs, from one on; each has four times as many as the one before.
const STEPS: u32 = 11;
const FACTOR: usize = 4;

/// Blocks of the jobs that are measured on more and more threads.
const SCALING_LOAD: usize = 1 << 19;

/// One point of a curve.
struct Point {
    /// Blocks in a job, or threads.
    x: f64,
    per_second: f64,
    seconds: f64,
}

/// Points of one transport.
struct Curve {
    name: &'static str,
    points: Vec<Point>,
}

pub(super) fn write(args: &BenchR3, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))?;
    let scaled = |load: usize| (load as f64 * args.scale).ceil().max(1.0) as usize;
    let loads: Vec<usize> = (0..STEPS).map(|step| scaled(FACTOR.pow(step))).collect();
    let scaling = if args.threads.len() > 1 {
        &args.threads[..]
    } else {
        &[]
    };
    let jobs = TRANSPORTS.len() * (loads.len() + scaling.len());
    let steps = Steps::new(jobs as u64, args.json);
    let mut shown = wide_table(&[
        "transport",
        "threads",
        "blocks in a job",
        "blocks per second",
        "latency",
    ]);
    let mut measure = |name: &str, setting: &Setting, load: usize| -> Result<(f64, f64)> {
        let threads = setting.threads;
        steps.name(&format!("{name}, {load} blocks, {threads} threads"));
        steps.advance();
        let runs = (circuits::aes(load)?.measure)(setting)?.runs;
        let (per_second, time) = (runs.per_second(), runs.spread().median);
        shown.add_row([
            name.to_owned(),
            threads.to_string(),
            load.to_string(),
            rate(per_second, "/s"),
            seconds(time),
        ]);
        Ok((per_second, time))
    };
    let (mut by_load, mut by_threads) = (Vec::new(), Vec::new());
    for (name, transport) in TRANSPORTS {
        let setting = |threads| Setting {
            transport,
            threads,
            repeat: args.repeat,
        };
        let mut points = Vec::new();
        for &load in &loads {
            let (per_second, seconds) = measure(name, &setting(args.threads[0]), load)?;
            let x = load as f64;
            points.push(Point {
                x,
                per_second,
                seconds,
            });
        }
        by_load.push(Curve { name, points });
        let mut points = Vec::new();
        for &threads in scaling {
            let (per_second, seconds) = measure(name, &setting(threads), scaled(SCALING_LOAD))?;
            let x = threads as f64;
            points.push(Point {
                x,
                per_second,
                seconds,
            });
        }
        by_threads.push(Curve { name, points });
    }
    steps.clear();
    let draw = |file: &str, axes: [&str; 2], curves: &[Curve], value: fn(&Point) -> f64| {
        let path = directory.join(file);
        let mut text = String::new();
        chart(&mut text, axes, curves, value).map_err(Failure::bug)?;
        files::write_bytes("write the plot", &path, text)
    };
    let (load, rates) = ("blocks in a job", "AES-128 blocks per second");
    draw("throughput.svg", [load, rates], &by_load, |p| p.per_second)?;
    draw("latency.svg", [load, "seconds of a job"], &by_load, |p| {
        p.seconds
    })?;
    if !scaling.is_empty() {
        let axes = ["threads of each party", rates];
        draw("scaling.svg", axes, &by_threads, |p| p.per_second)?;
    }
    print(format!("{shown}\n").as_bytes())
}

/// Both axes are logarithmic.
fn chart(
    text: &mut String,
    [against, what]: [&str; 2],
    curves: &[Curve],
    value: fn(&Point) -> f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let range = |pick: fn(&Point) -> f64| {
        let least = points().map(pick).fold(f64::INFINITY, f64::min);
        let most = points().map(pick).fold(0.0, f64::max);
        (least / 1.5)..(most * 1.5)
    };
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(
            format!("Three parties on one machine: {what}"),
            ("sans-serif", 18),
        )
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d(range(|point| point.x).log_scale(), range(value).log_scale())?;
    chart
        .configure_mesh()
        .x_desc(against)
        .y_desc(what)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.1e}"))
        .draw()?;
    for (curve, color) in curves.iter().zip([BLUE, RED, GREEN]) {
        let line = curve.points.iter().map(|point| (point.x, value(point)));
        chart
            .draw_series(LineSeries::new(line, color.stroke_width(2)).point_size(3))?
            .label(curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    drop(chart);
    Ok(())
}
