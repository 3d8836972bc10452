//! Throughput and latency of AES-128 against load, as Figures 4 and 5 of the three-party paper plot
//! them; here load is the number of blocks in a job.

use std::fs;
use std::path::Path;

use plotters::prelude::*;

use super::{TRANSPORTS, circuits};
use crate::args::BenchR3;
use crate::exit::{Failure, Result};
use crate::progress::Steps;
use crate::stats::{print, rate, seconds, table};

const SIZE: (u32, u32) = (800, 500);
/// Blocks of the jobs, from one on; each has four times as many as the one before.
const STEPS: u32 = 11;
const FACTOR: usize = 4;

/// Of one transport: blocks in a job, blocks per second, seconds of the job.
struct Curve {
    name: &'static str,
    points: Vec<(f64, f64, f64)>,
}

pub(super) fn write(args: &BenchR3, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))?;
    let loads: Vec<usize> = (0..STEPS)
        .map(|step| (FACTOR.pow(step) as f64 * args.scale).ceil().max(1.0) as usize)
        .collect();
    let steps = Steps::new((TRANSPORTS.len() * loads.len()) as u64, args.json);
    let mut curves = Vec::new();
    let mut shown = table(&[
        "transport",
        "blocks in a job",
        "blocks per second",
        "latency",
    ]);
    for (name, transport) in TRANSPORTS {
        let mut points = Vec::new();
        for &load in &loads {
            steps.name(&format!("{name}, {load} blocks"));
            steps.advance();
            let measured = (circuits::aes(load)?.measure)(transport, args.repeat)?;
            let (per_second, time) = measured.median();
            points.push((load as f64, per_second, time));
            shown.add_row([
                name.to_owned(),
                load.to_string(),
                rate(per_second, "/s"),
                seconds(time),
            ]);
        }
        curves.push(Curve { name, points });
    }
    steps.clear();
    draw(
        &directory.join("throughput.svg"),
        "AES-128 blocks per second",
        &curves,
        |p| p.1,
    )?;
    draw(
        &directory.join("latency.svg"),
        "seconds of a job",
        &curves,
        |p| p.2,
    )?;
    print(format!("{shown}\n").as_bytes())
}

fn draw(
    path: &Path,
    what: &str,
    curves: &[Curve],
    value: impl Fn(&(f64, f64, f64)) -> f64,
) -> Result<()> {
    let mut text = String::new();
    chart(&mut text, what, curves, value).map_err(Failure::bug)?;
    fs::write(path, text).map_err(Failure::file("write the plot", path))
}

/// Both axes are logarithmic.
fn chart(
    text: &mut String,
    what: &str,
    curves: &[Curve],
    value: impl Fn(&(f64, f64, f64)) -> f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let range = |pick: &dyn Fn(&(f64, f64, f64)) -> f64| {
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
        .build_cartesian_2d(
            range(&|point| point.0).log_scale(),
            range(&value).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("blocks in a job")
        .y_desc(what)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.1e}"))
        .draw()?;
    for (curve, color) in curves.iter().zip([BLUE, RED, GREEN]) {
        let line = curve.points.iter().map(|point| (point.0, value(point)));
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
