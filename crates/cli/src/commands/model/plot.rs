//! How far a fixed point is from the clear, layer by layer, as a drawing.

use madrigal_core::text::plain;
use plotters::prelude::*;
use plotters::style::FontTransform;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A layer.
pub struct Point<'a> {
    pub name: &'a str,
    /// The largest difference.
    pub error: f64,
    /// Whether its numbers leave the range.
    pub lost: bool,
}

const SIZE: (u32, u32) = (960, 540);
/// The most names below the axis; of more layers, each second, third, ... is named.
const NAMES: usize = 40;
/// The most characters of a name.
const LETTERS: usize = 18;

/// An SVG image. Errors are on a logarithmic axis, on which those that are 0 stand at its foot.
pub fn draw(caption: &str, points: &[Point<'_>]) -> Result<String, Box<dyn std::error::Error>> {
    let errors = points.iter().map(|point| point.error);
    let errors = errors.filter(|error| error.is_finite() && *error > 0.0);
    let least = errors.clone().fold(f64::INFINITY, f64::min);
    let most = errors.fold(0.0, f64::max);
    let (foot, top) = match most > 0.0 {
        true => (least / 3.0, most * 3.0),
        false => (1e-9, 1.0),
    };
    let height = |point: &Point<'_>| match point.error {
        error if error.is_finite() => error.clamp(foot, top),
        _ => top,
    };
    let width = points.len().max(1) as f64;
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(caption, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(130)
        .y_label_area_size(80)
        .build_cartesian_2d(-0.5..width - 0.5, (foot..top).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_desc("largest error")
        .y_label_formatter(&|y| format!("{y:.0e}"))
        .draw()?;
    let all = || (0..).zip(points).map(|(at, point)| (f64::from(at), point));
    let line = all().map(|(x, point)| (x, height(point)));
    chart.draw_series(LineSeries::new(line, BLUE.stroke_width(2)))?;
    chart.draw_series(all().map(|(x, point)| {
        let color = if point.lost { RED } else { BLUE };
        Circle::new((x, height(point)), 4, color.filled())
    }))?;
    // Upwards, below the axis: their ends stand at their points.
    let upright = ("sans-serif", 11)
        .into_font()
        .transform(FontTransform::Rotate270)
        .into_text_style(&area)
        .pos(Pos::new(HPos::Right, VPos::Center));
    let each = points.len().div_ceil(NAMES).max(1);
    for (x, point) in all().step_by(each) {
        let (left, foot) = chart.backend_coord(&(x, foot));
        let name = Text::new(short(point.name), (left, foot + 8), upright.clone());
        area.draw(&name)?;
    }
    area.present()?;
    drop(chart);
    drop(area);
    Ok(text)
}

/// The end of a long name, which tells more than its beginning.
fn short(name: &str) -> String {
    // A control makes an image that no viewer reads.
    let name = plain(name);
    match name.chars().count() {
        count if count > LETTERS => {
            let end = name.chars().skip(count - LETTERS + 1);
            "…".to_owned() + &end.collect::<String>()
        }
        _ => name.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_and_each_layer_is_a_point() {
        let hostile = "</text><script>\u{1b}\u{202e}</script>";
        let errors = [0.0, 1e-5, f64::NAN, f64::INFINITY, 1e-3];
        let points = errors.map(|error| Point {
            name: hostile,
            error,
            lost: error > 1.0,
        });
        let drawn = draw("a & b", &points).unwrap();
        assert_eq!(drawn.matches("<circle").count(), 5);
        assert!(
            !drawn.contains("<script") && drawn.contains("a &amp; b"),
            "{drawn}"
        );
        let seen = |c: char| c == '\n' || madrigal_core::text::is_plain(c);
        assert!(drawn.chars().all(seen), "{drawn}");
        // Not of how many layers there are.
        assert!(draw("none", &[]).unwrap().contains("</svg>"));
        let many: Vec<Point<'_>> = (0..5000)
            .map(|at| Point {
                name: "layer",
                error: 1e-6 * f64::from(at),
                lost: false,
            })
            .collect();
        let drawn = draw("many", &many).unwrap();
        assert!(drawn.len() < 2_000_000, "{}", drawn.len());
    }
}
