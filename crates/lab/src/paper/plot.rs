//! Plots of figures: one chart for each quantity and network, below each other; the papers' values are crosses.

use std::fs;
use std::path::Path;

use plotters::prelude::*;

use super::bench::{Known, Point};
use crate::exit::{Failure, Result};
use crate::files;

const SIZE: (u32, u32) = (800, 500);

/// Points of one line: where on the axis, ours and the paper's.
type Series<'a> = (&'a str, Vec<(f64, f64, Option<f64>)>);

/// Writes `figureNUMBER.svg`.
pub fn write(known: &Known, points: &[Point], directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))?;
    let path = directory.join(format!("figure{}.svg", known.number));
    let mut text = String::new();
    draw(&mut text, &known.to_string(), points).map_err(Failure::bug)?;
    files::write_bytes("write the plot", &path, text)
}

fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for one in all {
        if !unique.contains(&one) {
            unique.push(one);
        }
    }
    unique
}

/// A row's line, and the number at its end: `motif` and 16 of `motif/b16`.
fn split(row: &str) -> (&str, f64) {
    let at = |(line, end): (&'_ str, &str)| {
        let number = end.trim_start_matches('b').parse().ok()?;
        Some((line.len(), number))
    };
    match row.rsplit_once('/').and_then(at) {
        Some((length, number)) => (&row[..length], number),
        None => (row, 0.0),
    }
}

/// The lines of a chart: by the numbers in the rows, or where these are the same by the parties.
fn series<'a>(points: &[&'a Point]) -> Vec<Series<'a>> {
    let numbers = unique(points.iter().map(|point| split(&point.row).1));
    let names = unique(points.iter().map(|point| split(&point.row).0));
    let of = |name: &'a str| {
        let here = points.iter().filter(|point| split(&point.row).0 == name);
        let at = |point: &&&Point| match numbers.len() {
            1 => point.parties as f64,
            _ => split(&point.row).1,
        };
        let points = here.map(|point| (at(&point), point.value, point.paper));
        (name, points.collect())
    };
    names.into_iter().map(of).collect()
}

fn draw(
    text: &mut String,
    title: &str,
    points: &[Point],
) -> Result<(), Box<dyn std::error::Error>> {
    let charts = unique(
        points
            .iter()
            .map(|point| (point.what.as_str(), point.network.as_str())),
    );
    let height = SIZE.1 * charts.len().max(1) as u32;
    let area = SVGBackend::with_string(text, (SIZE.0, height)).into_drawing_area();
    area.fill(&WHITE)?;
    for (area, (what, network)) in area
        .split_evenly((charts.len().max(1), 1))
        .iter()
        .zip(charts)
    {
        let here = points
            .iter()
            .filter(|point| (point.what.as_str(), point.network.as_str()) == (what, network));
        let lines = series(&here.collect::<Vec<_>>());
        let all = || lines.iter().flat_map(|(_, points)| points);
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let least = all().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let right = most(&mut all().map(|point| point.0)) * 1.1 + 1e-9;
        let top =
            most(&mut all().flat_map(|point| [Some(point.1), point.2]).flatten()) * 1.1 + 1e-9;
        let mut chart = ChartBuilder::on(area)
            .caption(format!("{title}: {what}, {network}"), ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(80)
            .build_cartesian_2d(least * 0.9..right, 0.0..top)?;
        chart.configure_mesh().y_desc(what).draw()?;
        for ((name, points), color) in lines
            .iter()
            .zip([BLUE, RED, GREEN, MAGENTA].into_iter().cycle())
        {
            let ours = points.iter().map(|point| (point.0, point.1));
            chart
                .draw_series(LineSeries::new(ours, color.stroke_width(2)).point_size(3))?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
            let theirs = points.iter().filter_map(|point| Some((point.0, point.2?)));
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
