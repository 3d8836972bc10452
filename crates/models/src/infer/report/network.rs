//! The network: a row for each layer, with what it reads and what it cost.

use madrigal_app::numbers::{bytes, count, seconds};

use super::lanes::lines;
use crate::html::{escaped, name, row, table};
use crate::infer::layers::LayerFigures;

/// A layer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    pub(crate) figures: LayerFigures,
    pub(crate) shape: Vec<usize>,
    /// Layers before it, by their place.
    pub(crate) reads: Vec<usize>,
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
        self.count += 1;
        self.layer.reads.extend(&other.reads);
        let (own, other) = (&mut self.layer.figures, &other.figures);
        own.setup_bytes_sent += other.setup_bytes_sent;
        own.online_bytes_sent += other.online_bytes_sent;
        own.rounds += other.rounds;
        own.online_seconds += other.online_seconds;
        own.worked_seconds += other.worked_seconds;
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
        let layer = &layers[at].figures;
        let bytes = layer.online_bytes_sent + layer.setup_bytes_sent;
        (layer.online_seconds, bytes)
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
fn bar(layer: &LayerFigures, longest: f64) -> String {
    let percent = |seconds: f64| match longest > 0.0 {
        true => 100.0 * seconds.min(longest) / longest,
        false => 0.0,
    };
    if layer.online_seconds == 0.0 {
        return String::new();
    }
    format!(
        "<span class=\"bar\"><i style=\"width:{:.1}%\"></i><b style=\"width:{:.1}%\"></b></span>",
        percent(layer.online_seconds),
        percent(layer.worked_seconds.min(layer.online_seconds)),
    )
}

/// The section's content.
pub(crate) fn network(layers: &[Layer]) -> String {
    let rows = rows(layers);
    let reads: Vec<Vec<usize>> = rows.iter().map(|row| row.layer.reads.clone()).collect();
    let drawn = lines(&reads);
    let longest = rows.iter().map(|row| row.layer.figures.online_seconds);
    let longest = longest.fold(0.0, f64::max);
    let cells = |(at, one): (usize, &Row)| {
        let layer = &one.layer.figures;
        let (title, operator) = match one.count {
            1 => (name(&layer.name), name(&layer.operator)),
            count => (format!("{count} layers that cost less"), String::new()),
        };
        row([
            drawn.svg(at),
            format!("<bdi title=\"{}\">{title}</bdi>", name(&layer.name)),
            operator,
            match one.count {
                1 => sizes(&one.layer.shape),
                _ => String::new(),
            },
            escaped(&layer.sharings.join(", ")),
            bytes(layer.setup_bytes_sent),
            bytes(layer.online_bytes_sent),
            count(layer.rounds),
            match layer.online_seconds > 0.0 {
                true => seconds(layer.online_seconds),
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
            figures: LayerFigures {
                name: format!("layer {at}"),
                online_seconds: if at % 7 == 3 { 1.0 } else { 0.1 },
                online_bytes_sent: 10,
                ..LayerFigures::default()
            },
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
        let sent = rows.iter().map(|row| row.layer.figures.online_bytes_sent);
        let sent: u64 = sent.sum();
        assert_eq!(sent, 10 * layers.len() as u64);
        let made = network(&layers);
        assert!(made.len() < 2_000_000, "{}", made.len());
    }
}
