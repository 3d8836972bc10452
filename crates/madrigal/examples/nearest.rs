//! Biometric matching: which entry of a server's table is nearest to each of a client's samples. Distances
//! are arithmetic, the search for the least is on bits; the client alone learns the result.
//!
//! ```sh
//! cargo run --release --example nearest -- --local 2 --entries 12 --samples 2 \
//!     -i table=@crates/madrigal/examples/tables/faces.csv -i sample=@crates/madrigal/examples/tables/samples.csv
//! ```

use std::process::ExitCode;

use madrigal::Party;
use madrigal::app::{App, Must};
use madrigal::program::Opened;

const SERVER: Party = Party::new(0);
const CLIENT: Party = Party::new(1);

const WHY: &str = "a squared distance might not fit 32 bits: give numbers in a larger unit";

/// The squares of the distances of all these numbers are below 2^32 together.
fn short(dimensions: usize) -> Must {
    Must::AtMost((u128::from(u32::MAX) / dimensions as u128).isqrt())
}

pub(crate) fn command() -> App<(Opened<u32>, Opened<u32>)> {
    App::new(
        "nearest",
        "Which entry of a server's table is nearest to each of a client's samples",
        |p, numbers| {
            let [entries, axes, samples] =
                ["entries", "dimensions", "samples"].map(|n| numbers.get(n));
            let table = p.input_named::<u32>("table", SERVER, [entries, axes]);
            let sample = p.input_named::<u32>("sample", CLIENT, [samples, 1, axes]);
            let distances = (table - sample).square().sum(2);
            let (least, place) = distances.min_with_place();
            (
                p.open_named("distance", least, CLIENT),
                p.open_named("entry", place, CLIENT),
            )
        },
    )
    .number("entries", 1024, 1 << 20, "Lines of the table")
    .number("dimensions", 4, 1 << 12, "Numbers on each line")
    .number("samples", 1, 1 << 12, "Samples that are looked for")
    .requiring("table", |numbers| short(numbers.get("dimensions")), WHY)
    .requiring("sample", |numbers| short(numbers.get("dimensions")), WHY)
    .telling(|&(distance, entry), outputs, _| {
        let found = outputs.get(distance).into_iter().zip(outputs.get(entry));
        found
            .map(|(distance, entry)| {
                format!("entry {entry}, at a squared distance of {distance}\n")
            })
            .collect()
    })
}

fn main() -> ExitCode {
    command().main()
}
