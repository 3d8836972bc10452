//! The network: a row for each layer, with what it reads and what it cost.

use super::lanes::lines;
use crate::commands::html::{escaped, name, row, table};
use crate::numbers::{bytes, count, seconds};

/// A layer.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    pub name: String,
    pub operator: String,
    pub shape: Vec<usize>,
    pub sharings: Vec<String>,
    pub setup_bytes: u64,
    pub online_bytes: u64,
    pub rounds: u64,
    pub seconds: f64,
    pub worked: f64,
    /// Layers before it, by their place.
    pub reads: Vec<usize>,
}

/// The most layers that have a row of their own.
const MOST: usize = 1000;

/// A row: a layer, or several that have none of their own.
struct Row {
    layer: Layer,
    /// Layers in it.
    count: usize,
}

impl Row {
    fn take(&mut self, other: &Layer) {
        let own = &mut self.layer;
        self.count += 1;
        own.setup_bytes += other.setup_bytes;
        own.online_bytes += other.online_bytes;
        own.rounds += other.rounds;
        own.seconds += other.seconds;
        own.worked += other.worked;
        own.reads.extend(&other.reads);
        for sharing in &other.sharings {
            if !own.sharings.contains(sharing) {
                own.sharings.push(sharing.clone());
            }
        }
    }
}

/// Rows of layers: of many layers those that cost least share rows with their neighbours.
fn rows(layers: &[Layer]) -> Vec<Row> {
    let mut order: Vec<usize> = (0..layers.len()).collect();
    let cost = |&at: &usize| {
        let layer = &layers[at];
        (layer.seconds, layer.online_bytes + layer.setup_bytes)
    };
    order.sort_by(|a, b| {
        let (a, b) = (cost(a), cost(b));
        b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
    });
    let mut shown = vec![false; layers.len()];
    order.iter().take(MOST - 1).for_each(|&at| shown[at] = true);
    // The first stands for the inputs.
    shown.iter_mut().take(1).for_each(|first| *first = true);
    let mut rows: Vec<Row> = Vec::new();
    let mut places = vec![0; layers.len()];
    for (at, layer) in layers.iter().enumerate() {
        let joins = !shown[at] && at > 0 && !shown[at - 1];
        match rows.last_mut().filter(|_| joins) {
            Some(last) => last.take(layer),
            None => rows.push(Row {
                layer: layer.clone(),
                count: 1,
            }),
        }
        places[at] = rows.len() - 1;
    }
    for (at, row) in rows.iter_mut().enumerate() {
        let reads = row.layer.reads.iter();
        let mut reads: Vec<usize> = reads
            .filter_map(|&read| places.get(read).copied())
            .filter(|&place| place < at)
            .collect();
        reads.sort_unstable();
        reads.dedup();
        row.layer.reads = reads;
    }
    rows
}

/// As in 1 x 28 x 28.
fn sizes(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    sizes.join(" × ")
}

/// A bar as long as its part of the longest one, of which what was computed is filled.
fn bar(layer: &Layer, longest: f64) -> String {
    let percent = |seconds: f64| match longest > 0.0 {
        true => 100.0 * seconds.min(longest) / longest,
        false => 0.0,
    };
    if layer.seconds == 0.0 {
        return String::new();
    }
    format!(
        "<span class=\"bar\"><i style=\"width:{:.1}%\"></i><b style=\"width:{:.1}%\"></b></span>",
        percent(layer.seconds),
        percent(layer.worked.min(layer.seconds)),
    )
}

/// The section's content.
pub fn network(layers: &[Layer]) -> String {
    let rows = rows(layers);
    let reads: Vec<Vec<usize>> = rows.iter().map(|row| row.layer.reads.clone()).collect();
    let drawn = lines(&reads);
    let longest = rows.iter().map(|row| row.layer.seconds).fold(0.0, f64::max);
    let cells = |(at, one): (usize, &Row)| {
        let layer = &one.layer;
        let (title, operator) = match one.count {
            1 => (name(&layer.name), name(&layer.operator)),
            count => (format!("{count} layers that cost less"), String::new()),
        };
        row([
            drawn.svg(at),
            format!("<bdi title=\"{}\">{title}</bdi>", name(&layer.name)),
            operator,
            match one.count {
                1 => sizes(&layer.shape),
                _ => String::new(),
            },
            escaped(&layer.sharings.join(", ")),
            bytes(layer.setup_bytes),
            bytes(layer.online_bytes),
            count(layer.rounds),
            match layer.seconds > 0.0 {
                true => seconds(layer.seconds),
                // Nothing is done but to read elements elsewhere.
                false => "–".to_owned(),
            },
            bar(layer, longest),
        ])
    };
    let body: String = rows.iter().enumerate().map(cells).collect();
    let header = [
        "",
        "layer",
        "operator",
        "result",
        "shared in",
        "sent in setup",
        "sent online",
        "rounds",
        "time online",
        "",
    ];
    let mut text = table("layers", &header, &body);
    if drawn.left_out > 0 {
        text += &format!(
            "<p>Of {} rows the lines to rows further below had no room.</p>\n",
            drawn.left_out
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(count: usize) -> Vec<Layer> {
        let layer = |at: usize| Layer {
            name: format!("layer {at}"),
            seconds: if at % 7 == 3 { 1.0 } else { 0.1 },
            online_bytes: 10,
            reads: if at == 0 { vec![] } else { vec![at - 1] },
            ..Layer::default()
        };
        (0..count).map(layer).collect()
    }

    #[test]
    fn few_layers_have_rows_of_their_own() {
        let made = network(&chain(20));
        assert_eq!(made.matches("<tr>").count(), 21);
        assert_eq!(made.matches("<circle").count(), 20);
        assert!(!made.contains("cost less"));
    }

    #[test]
    fn thousands_of_layers_are_bounded_and_lose_no_cost() {
        let layers = chain(7 * 3000);
        let rows = rows(&layers);
        assert!(rows.len() <= 2 * MOST + 1, "{}", rows.len());
        assert_eq!(
            rows.iter().map(|row| row.count).sum::<usize>(),
            layers.len()
        );
        let sent: u64 = rows.iter().map(|row| row.layer.online_bytes).sum();
        assert_eq!(sent, 10 * layers.len() as u64);
        let made = network(&layers);
        assert!(made.len() < 2_000_000, "{}", made.len());
    }
}
