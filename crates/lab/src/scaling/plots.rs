//! Plots: speed-up, speed-up of the busiest thread's work, and memory against threads, a line for each name.

use std::fs;
use std::path::Path;

use plotters::prelude::*;

use super::row::ScalingRow;
use crate::exit::{Failure, Result};
use crate::files;

const SIZE: (u32, u32) = (1000, 560);
/// Width of the list of names, in pixels, and of a line in it.
const LIST: u32 = 170;
const STEP: i32 = 22;

/// Colours that can be told apart on white; where there are more lines they come again.
const COLORS: [RGBColor; 11] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 160, 44),
    RGBColor(255, 127, 14),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
    RGBColor(227, 119, 194),
    RGBColor(0, 0, 0),
    RGBColor(23, 190, 207),
    RGBColor(160, 160, 0),
    RGBColor(127, 127, 127),
];

/// A chart: its file, its quantity, and the quantity of a row.
struct Chart {
    file: &'static str,
    what: &'static str,
    value: fn(&ScalingRow) -> Option<f64>,
    /// Whether as many times as there are threads is the goal, which is drawn.
    has_goal: bool,
}

const CHARTS: [Chart; 3] = [
    Chart {
        file: "speed-up.svg",
        what: "speed-up over one thread",
        value: |row| row.speed_up,
        has_goal: true,
    },
    Chart {
        file: "work.svg",
        what: "speed-up of the busiest thread's processor time",
        value: |row| row.work_speed_up,
        has_goal: true,
    },
    Chart {
        file: "memory.svg",
        what: "peak memory in MiB",
        value: |row| {
            row.peak_rss_bytes
                .map(|bytes| bytes as f64 / f64::from(1 << 20))
        },
        has_goal: false,
    },
];

/// Writes the charts to a directory, which is made if it does not exist.
pub(super) fn write(rows: &[ScalingRow], directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(Failure::file("make the directory", directory))?;
    for chart in &CHARTS {
        let mut text = String::new();
        draw(&mut text, chart, rows).map_err(Failure::bug)?;
        files::write_bytes("write the plot", &directory.join(chart.file), text)?;
    }
    Ok(())
}

/// Both axes are logarithmic.
fn draw(
    text: &mut String,
    chart: &Chart,
    rows: &[ScalingRow],
) -> Result<(), Box<dyn std::error::Error>> {
    let mut lines: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for row in rows {
        if lines.last().is_none_or(|(name, _)| *name != row.name) {
            lines.push((row.name, Vec::new()));
        }
        let value = (chart.value)(row).filter(|value| *value > 0.0);
        if let (Some(value), Some((_, points))) = (value, lines.last_mut()) {
            points.push((row.threads as f64, value));
        }
    }
    lines.retain(|(_, points)| !points.is_empty());
    let most = rows.iter().map(|row| row.threads).max().unwrap_or(1) as f64;
    let all = || {
        lines
            .iter()
            .flat_map(|(_, points)| points)
            .map(|point| point.1)
    };
    let goal = chart.has_goal.then_some([1.0, most]);
    let goals = || goal.into_iter().flatten();
    let (least, top) = match lines.is_empty() {
        true => (1.0, most),
        false => (
            all().chain(goals()).fold(f64::INFINITY, f64::min),
            all().chain(goals()).fold(0.0, f64::max),
        ),
    };
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let title = format!("Parties on one machine: {}", chart.what);
    let (area, list) = area.split_horizontally(SIZE.0 - LIST);
    let mut drawn = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d(
            (0.9..most * 1.1).log_scale(),
            (least / 1.2..top * 1.2).log_scale(),
        )?;
    drawn
        .configure_mesh()
        .x_desc("threads of each party")
        .y_desc(chart.what)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.1}"))
        .draw()?;
    if chart.has_goal {
        let goal = [(1.0, 1.0), (most, most)];
        drawn.draw_series(DashedLineSeries::new(goal, 6, 4, BLACK.stroke_width(1)))?;
    }
    let colors = COLORS.into_iter().cycle();
    for ((at, (name, points)), color) in (2..).zip(lines).zip(colors) {
        let style = color.stroke_width(2);
        drawn.draw_series(LineSeries::new(points, style).point_size(3))?;
        let y = STEP * at;
        list.draw(&PathElement::new([(4, y), (26, y)], style))?;
        list.draw(&Text::new(name, (34, y - 6), ("sans-serif", 14)))?;
    }
    area.present()?;
    drop((drawn, area, list));
    Ok(())
}
