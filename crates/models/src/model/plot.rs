//! How far a fixed point is from the clear, layer by layer, as a drawing.

use std::fmt::Write as _;

use madrigal_core::text::plain;

use crate::html::escaped;

/// A layer.
pub(crate) struct Point<'a> {
    pub(crate) name: &'a str,
    /// The largest difference.
    pub(crate) error: f64,
    /// Whether its numbers leave the range.
    pub(crate) lost: bool,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
/// The edges of the area that the points are in.
const LEFT: f64 = 92.0;
const RIGHT: f64 = 948.0;
const TOP: f64 = 44.0;
const FOOT: f64 = 398.0;
/// The most names below the axis; of more layers, each second, third, ... is named.
const NAMES: usize = 40;
/// The most characters of a name.
const LETTERS: usize = 18;
/// The most lines across the area, each with its error.
const LINES: i32 = 10;

/// Draws an SVG image. Errors are on a logarithmic axis, on which those that are 0 stand at its foot.
pub(crate) fn draw(caption: &str, points: &[Point<'_>]) -> String {
    let errors = points.iter().map(|point| point.error);
    let errors = errors.filter(|error| error.is_finite() && *error > 0.0);
    let least = errors.clone().fold(f64::INFINITY, f64::min);
    let most = errors.fold(0.0, f64::max);
    let (foot, top) = match most > 0.0 {
        true => (least / 3.0, most * 3.0),
        false => (1e-9, 1.0),
    };
    // Differences of logarithms: a quotient of two numbers may be beyond all that are finite.
    let above_foot = |error: f64| error.log10() - foot.log10();
    let height = |error: f64| FOOT - (FOOT - TOP) * above_foot(error) / above_foot(top);
    let place = |(at, point): (usize, &Point<'_>)| {
        let error = match point.error {
            error if error.is_finite() => error.clamp(foot, top),
            _ => top,
        };
        let x = LEFT + (RIGHT - LEFT) * (at as f64 + 0.5) / points.len() as f64;
        (x, height(error))
    };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{}\" y=\"28\" text-anchor=\"middle\" font-size=\"18\">{}</text>\n\
         <text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">largest error</text>\n",
        WIDTH / 2.0,
        escaped(caption),
        (TOP + FOOT) / 2.0,
    );
    for power in powers(foot, top) {
        let y = height(10_f64.powi(power));
        let _ = write!(
            text,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ccc\"/>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">1e{power}</text>\n",
            LEFT - 8.0,
            y + 4.0,
        );
    }
    let _ = writeln!(
        text,
        "<path d=\"M{LEFT} {TOP}V{FOOT}H{RIGHT}\" fill=\"none\" stroke=\"black\"/>"
    );
    let places: Vec<(f64, f64)> = points.iter().enumerate().map(place).collect();
    let line: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"blue\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for (point, (x, y)) in points.iter().zip(&places) {
        let color = if point.lost { "red" } else { "blue" };
        let _ = writeln!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{color}\"/>"
        );
    }
    // Names stand upright below the axis, with their ends at their points.
    let each = points.len().div_ceil(NAMES).max(1);
    for (point, (x, _)) in points.iter().zip(&places).step_by(each) {
        let _ = writeln!(
            text,
            "<text transform=\"translate({:.1} {}) rotate(-90)\" text-anchor=\"end\" font-size=\"11\">{}</text>",
            x + 4.0,
            FOOT + 8.0,
            escaped(&short(point.name)),
        );
    }
    text + "</svg>\n"
}

/// Powers of ten between two errors, at most [`LINES`] of them.
fn powers(foot: f64, top: f64) -> impl Iterator<Item = i32> {
    let (from, to) = (foot.log10().ceil() as i32, top.log10().floor() as i32);
    let step = (to - from) / LINES + 1;
    (from..=to).step_by(step.max(1) as usize)
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
        let drawn = draw("a & b", &points);
        assert_eq!(drawn.matches("<circle").count(), 5);
        assert!(
            !drawn.contains("<script") && drawn.contains("a &amp; b"),
            "{drawn}"
        );
        let seen = |c: char| c == '\n' || madrigal_core::text::is_plain(c);
        assert!(drawn.chars().all(seen), "{drawn}");
        assert!(draw("none", &[]).contains("</svg>"));
        let many: Vec<Point<'_>> = (0..5000)
            .map(|at| Point {
                name: "layer",
                error: 1e-6 * f64::from(at),
                lost: false,
            })
            .collect();
        let drawn = draw("many", &many);
        assert_eq!(drawn.matches("<circle").count(), 5000);
        assert!(drawn.len() < 2_000_000, "{}", drawn.len());
    }
}
