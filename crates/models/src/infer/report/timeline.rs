//! Drawing of what ran when.

use madrigal_app::numbers::seconds;

use crate::html::{escaped, name};
use crate::infer::OUTSIDE;

/// One party's time, in seconds since it opened the job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeline {
    pub(crate) party: usize,
    /// Parties that this one waits for, in words.
    pub(crate) others: String,
    /// When all parties had agreed on the job.
    pub(crate) agreed: f64,
    /// How long setup took from then on.
    pub(crate) setup: f64,
    /// From when until when tasks were at work online.
    pub(crate) online: [f64; 2],
    /// How long it computed in these, on all threads together.
    pub(crate) worked: f64,
    pub(crate) threads: usize,
    /// When the job was finished at all parties.
    pub(crate) total: f64,
    pub(crate) bars: Vec<Bar>,
}

/// A layer at work.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) operator: String,
    /// Names of what it reads, and so waits for.
    pub(crate) reads: String,
    pub(crate) from: f64,
    pub(crate) to: f64,
}

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 70.0;
const ROW: f64 = 20.0;
/// The most bars of a party: the longest ones.
const MOST: usize = 2000;
/// The most rows that bars side by side are put in.
const ROWS: usize = 12;
/// Colours, by operator.
const COLORS: usize = 8;

/// Places on an axis from one time to another.
struct Axis {
    from: f64,
    to: f64,
}

impl Axis {
    fn x(&self, time: f64) -> f64 {
        let length = (self.to - self.from).max(f64::MIN_POSITIVE);
        LEFT + (WIDTH - LEFT) * ((time - self.from) / length).clamp(0.0, 1.0)
    }

    /// Lines and times below.
    fn marks(&self, height: f64) -> String {
        let mark = |step: u32| {
            let time = self.from + (self.to - self.from) * f64::from(step) / 5.0;
            let x = self.x(time);
            let anchor = match step {
                5 => "end",
                _ => "middle",
            };
            format!(
                "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"{height:.0}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"{anchor}\">{}</text>",
                height + 14.0,
                seconds(time),
            )
        };
        (0..=5).map(mark).collect()
    }
}

fn rect(axis: &Axis, row: f64, [from, to]: [f64; 2], class: &str, title: &str) -> String {
    let (x, end) = (axis.x(from), axis.x(to));
    format!(
        "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{:.0}\" width=\"{:.2}\" height=\"{:.0}\"><title>{title}</title></rect>",
        row * ROW + 2.0,
        (end - x).max(0.5),
        ROW - 4.0,
    )
}

fn drawing(label: &str, height: f64, content: &str) -> String {
    format!(
        "<svg class=\"time\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{label}\">{content}</svg>\n",
        height + 20.0,
    )
}

/// All parties here: phases from the beginning to the end.
fn phases(parties: &[Timeline]) -> String {
    let total = parties.iter().map(|party| party.total).fold(0.0, f64::max);
    let axis = Axis {
        from: 0.0,
        to: total,
    };
    let height = 2.0 * ROW * parties.len() as f64;
    let mut content = axis.marks(height);
    for (at, party) in parties.iter().enumerate() {
        let row = 2.0 * at as f64;
        let label = format!(
            "<text x=\"0\" y=\"{:.0}\">party {}</text>",
            row * ROW + 24.0,
            party.party
        );
        let setup = [party.agreed, party.agreed + party.setup];
        content += &label;
        content += &rect(
            &axis,
            row,
            setup,
            "setup",
            &format!("setup: {}", seconds(party.setup)),
        );
        let long = party.online[1] - party.online[0];
        content += &rect(
            &axis,
            row + 1.0,
            party.online,
            "online",
            &format!("online: {}", seconds(long)),
        );
    }
    drawing("setup and online phase of each party", height, &content)
}

/// Gives the row of each bar: the first that is free, or the last one.
fn packed(bars: &[&Bar]) -> Vec<usize> {
    let mut ends: Vec<f64> = Vec::new();
    let place = |bar: &&Bar| {
        let free = ends.iter().position(|&end| end <= bar.from);
        let row = match free {
            Some(row) => row,
            None if ends.len() < ROWS => {
                ends.push(0.0);
                ends.len() - 1
            }
            None => ROWS - 1,
        };
        ends[row] = ends[row].max(bar.to);
        row
    };
    bars.iter().map(place).collect()
}

/// The operators in the order in which they come, for their colours.
fn operators(parties: &[Timeline]) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for bar in parties.iter().flat_map(|party| &party.bars) {
        if !all.contains(&bar.operator.as_str()) {
            all.push(&bar.operator);
        }
    }
    all
}

fn layers(party: &Timeline, operators: &[&str]) -> String {
    let mut bars: Vec<&Bar> = party.bars.iter().collect();
    bars.sort_by(|a, b| (b.to - b.from).total_cmp(&(a.to - a.from)));
    let left_out = bars.len().saturating_sub(MOST);
    bars.truncate(MOST);
    bars.sort_by(|a, b| a.from.total_cmp(&b.from));
    let [from, to] = party.online;
    let axis = Axis { from, to };
    let rows = packed(&bars);
    let height = ROW * (1 + rows.iter().copied().max().unwrap_or(0)) as f64;
    let mut content = axis.marks(height);
    for (bar, row) in bars.iter().zip(rows) {
        let color = operators.iter().position(|one| *one == bar.operator);
        let class = format!("c{}", color.unwrap_or(0) % COLORS);
        let after = match bar.reads.is_empty() {
            true => String::new(),
            false => format!("; it waits for {}", name(&bar.reads)),
        };
        let title = format!(
            "{} ({}): {}, from {} to {}{after}",
            name(&bar.name),
            name(&bar.operator),
            seconds(bar.to - bar.from),
            seconds(bar.from),
            seconds(bar.to),
        );
        content += &rect(&axis, row as f64, [bar.from, bar.to], &class, &title);
        let (x, width) = (axis.x(bar.from), axis.x(bar.to) - axis.x(bar.from));
        let letters = (width / 7.0) as usize;
        if letters >= 4 {
            let short: String = bar.name.chars().take(letters).collect();
            content += &format!(
                "<text class=\"in\" x=\"{:.1}\" y=\"{:.0}\">{}</text>",
                x + 3.0,
                row as f64 * ROW + 14.0,
                escaped(&short)
            );
        }
    }
    let label = format!("layers of party {} at work", party.party);
    let mut text = drawing(&label, height, &content);
    if left_out > 0 {
        text += &format!("<p>{left_out} shorter bars are left out.</p>\n");
    }
    text
}

/// The section's content.
pub(crate) fn timeline(parties: &[Timeline]) -> String {
    let operators = operators(parties);
    let mut text = phases(parties);
    let legend = operators.iter().take(4 * COLORS).enumerate();
    let legend: Vec<String> = legend
        .map(|(at, operator)| {
            let operator = match operator.is_empty() {
                true => OUTSIDE,
                false => operator,
            };
            format!(
                "<span class=\"key\"><i class=\"c{}\"></i>{}</span>",
                at % COLORS,
                name(operator)
            )
        })
        .collect();
    text += "<p class=\"keys\"><span class=\"key\"><i class=\"setup\"></i>setup</span>\
             <span class=\"key\"><i class=\"online\"></i>online</span></p>\n";
    for party in parties {
        let long = party.online[1] - party.online[0];
        let worked = match party.threads {
            1 => format!(
                "computed for {} of them, and waited for {}: for messages of {}, or for the processor",
                seconds(party.worked.min(long)),
                seconds((long - party.worked).max(0.0)),
                escaped(&party.others),
            ),
            threads => format!(
                "computed for {} on {threads} threads together",
                seconds(party.worked)
            ),
        };
        text += &format!(
            "<h3>Online at party {}</h3>\n<p>{} from the first layer to the last; the party {worked}.</p>\n{}",
            party.party,
            seconds(long),
            layers(party, &operators),
        );
    }
    text + &format!("<p class=\"keys\">{}</p>\n", legend.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(bars: usize) -> Timeline {
        let bar = |at: usize| Bar {
            name: "</title><script>x</script>".into(),
            operator: format!("Op{}", at % 3),
            reads: "<i>".into(),
            from: 1.0 + at as f64,
            to: 2.5 + at as f64,
        };
        Timeline {
            online: [1.0, 2.5 + bars as f64],
            total: 3.0 + bars as f64,
            setup: 1.0,
            threads: 1,
            bars: (0..bars).map(bar).collect(),
            ..Timeline::default()
        }
    }

    #[test]
    fn bars_that_overlap_are_in_rows_of_their_own() {
        let party = party(4);
        let bars: Vec<&Bar> = party.bars.iter().collect();
        assert_eq!(packed(&bars), [0, 1, 0, 1]);
        let made = timeline(&[party.clone(), party]);
        assert_eq!(made.matches("<rect").count(), 2 * (2 + 4));
        assert!(!made.contains("<script"), "{made}");
        assert!(made.contains("&lt;script"));
    }

    #[test]
    fn thousands_of_bars_are_bounded() {
        let made = timeline(&[party(50_000)]);
        assert!(made.contains("48000 shorter bars"), "{}", made.len());
        assert!(made.len() < 1_500_000, "{}", made.len());
        // Nothing ran.
        assert!(timeline(&[Timeline::default()]).contains("<svg"));
    }
}
