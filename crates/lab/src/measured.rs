//! Measurements of one name, as a line of JSON and as a row of a table. What all benchmarks tell
//! is here; what is one benchmark's own stands beside it, see [`Own`].

use std::cell::Cell;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use madrigal_kernels::ceilings::Cores;
use madrigal_kernels::{Block, Kernels};
use serde::Serialize;

use crate::exit::{Failure, Result, Usage};
use crate::figures::{print, print_json_line};
use crate::numbers::{Table, rate, wide_table};
use crate::spread::Spread;

/// Measures whether the threads of a benchmark have the cores to themselves, and the rate of a core's AES at that time: the
/// processor may have had another clock rate when a ceiling was measured earlier.
pub struct Watch {
    cores: Cores,
    kernels: Kernels,
    /// The least part of a core that was seen while the current name was measured.
    least: Cell<f64>,
    /// The most AES blocks in a second of that name.
    aes: Cell<f64>,
}

impl Watch {
    /// Watches this many threads at work at once, or as many as there are cores.
    pub fn new(threads: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            cores: Cores::new(threads.min(cores)),
            kernels: Kernels::detect(),
            least: Cell::new(f64::INFINITY),
            aes: Cell::new(0.0),
        }
    }

    /// Measures both, before or after what is timed; takes a few milliseconds.
    pub fn look(&self) {
        self.least.set(self.least.get().min(self.cores.free()));
        let aes = aes_now(self.kernels);
        self.aes.set(self.aes.get().max(aes));
    }

    /// Gives the most AES blocks that a core computed in a second since this was asked last; measures once if nobody has.
    pub fn aes(&self) -> f64 {
        if self.aes.get() == 0.0 {
            self.look();
        }
        self.aes.replace(0.0)
    }

    /// Gives the least part of a core since this was asked last, no more than 1; measures once if nobody has.
    pub fn least(&self) -> f64 {
        if self.least.get().is_infinite() {
            self.look();
        }
        self.least.replace(f64::INFINITY).min(1.0)
    }
}

/// AES blocks per second under one key at this moment: the best of a few slices of a millisecond, as
/// `madrigal_kernels::ceilings` has them.
fn aes_now(kernels: Kernels) -> f64 {
    const BLOCKS: usize = 1024;
    const SLICES: usize = 5;
    const SLICE: Duration = Duration::from_millis(1);
    // Any key takes as long, and nothing is kept secret with this one.
    let aes = kernels.aes128(Block::ONES);
    let mut blocks = vec![Block::ONES; BLOCKS];
    let slice = |_| {
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < SLICE {
            for _ in 0..8 {
                aes.encrypt_blocks(black_box(&mut blocks));
            }
            done += 8 * BLOCKS;
        }
        done as f64 / start.elapsed().as_secs_f64()
    };
    (0..SLICES).map(slice).fold(0.0, f64::max)
}

/// All runs of one name. Each does the same.
pub struct Runs {
    /// Operations of one run.
    pub ops: usize,
    /// Seconds of each run.
    pub seconds: Vec<f64>,
    /// Bytes that are sent in one run; the benchmark says by whom.
    pub bytes: f64,
    /// AES blocks that all parties compute in one run.
    pub aes: f64,
}

impl Runs {
    pub fn spread(&self) -> Spread {
        Spread::of(self.seconds.clone())
    }

    /// Operations of the median run.
    pub fn per_second(&self) -> f64 {
        self.ops as f64 / self.spread().median
    }
}

/// One line of JSON, one row of the table.
pub trait Row: Serialize {
    /// Columns of the table.
    const HEADER: &'static [&'static str];

    /// The cells of the row.
    fn cells(&self) -> Vec<String>;
}

/// The rows of a benchmark: printed as they come, as JSON, or kept for the table.
pub struct Rows<R> {
    json: bool,
    table: Table,
    of: std::marker::PhantomData<R>,
}

impl<R: Row> Rows<R> {
    pub fn new(json: bool) -> Self {
        Self {
            json,
            table: wide_table(R::HEADER),
            of: std::marker::PhantomData,
        }
    }

    pub fn add(&mut self, row: &R) -> Result<()> {
        if self.json {
            return print_json_line(row);
        }
        self.table.add_row(row.cells());
        Ok(())
    }

    /// Prints the table in the text that `tell` makes of it, unless the rows were printed.
    pub fn print(self, tell: impl FnOnce(Table) -> String) -> Result<()> {
        match self.json {
            true => Ok(()),
            false => print(tell(self.table).as_bytes()),
        }
    }
}

/// Columns of one benchmark beside those that all have.
pub trait Own: Serialize + Sized {
    /// Columns of the table.
    const HEADER: &'static [&'static str];

    /// The cells of a line.
    fn row(line: &RateRow<Self>) -> Vec<String>;
}

impl<T: Own> Row for RateRow<T> {
    const HEADER: &'static [&'static str] = T::HEADER;

    fn cells(&self) -> Vec<String> {
        T::row(self)
    }
}

/// One line of JSON, one row of the table. Rates are in operations per second.
#[derive(Serialize)]
pub struct RateRow<T> {
    pub name: String,
    /// Rate of the median run, from the start of all parties to the end of all.
    pub per_second: f64,
    pub minimum_per_second: f64,
    pub maximum_per_second: f64,
    pub bytes_per_op: f64,
    pub aes_blocks_per_op: f64,
    /// Highest rate that this machine allows, measured beside the runs; `null` where no known limit applies.
    pub ceiling_per_second: Option<f64>,
    /// How much of the ceiling is reached, 0 to 1.
    pub reached: Option<f64>,
    /// Work of the slowest thread, as a part of what one thread does alone, at the worst of the moments looked
    /// at, 0 to 1.
    pub cores_free: f64,
    pub repeats: usize,
    /// Seconds of the median run.
    pub seconds: f64,
    #[serde(flatten)]
    pub own: T,
}

impl<T: Own> RateRow<T> {
    pub fn new(name: String, runs: &Runs, ceiling: Option<f64>, cores_free: f64, own: T) -> Self {
        let ops = runs.ops as f64;
        let time = runs.spread();
        let per_second = runs.per_second();
        Self {
            name,
            per_second,
            minimum_per_second: ops / time.max,
            maximum_per_second: ops / time.min,
            bytes_per_op: runs.bytes / ops,
            aes_blocks_per_op: runs.aes / ops,
            ceiling_per_second: ceiling,
            reached: ceiling.map(|ceiling| per_second / ceiling),
            cores_free,
            repeats: runs.seconds.len(),
            seconds: time.median,
            own,
        }
    }

    /// `87 %`, or nothing.
    pub fn reached(&self) -> String {
        let percent = |reached: f64| format!("{:.0} %", 100.0 * reached);
        self.reached.map(percent).unwrap_or_default()
    }
}

/// The lines of a benchmark, and which of them had too little of the cores.
pub struct RateRows<T> {
    rows: Rows<RateRow<T>>,
    /// Names whose cores were not free, and the least that was left of them.
    crowded: Vec<(String, f64)>,
}

impl<T: Own> RateRows<T> {
    pub fn new(json: bool) -> Self {
        Self {
            rows: Rows::new(json),
            crowded: Vec::new(),
        }
    }

    pub fn add(&mut self, line: &RateRow<T>) -> Result<()> {
        if line.cores_free < FREE {
            self.crowded.push((line.name.clone(), line.cores_free));
        }
        self.rows.add(line)
    }

    /// Prints the table behind what `above` tells, and what may be wrong with it, unless the lines were printed.
    pub fn print(self, above: impl FnOnce() -> String) -> Result<()> {
        let note = note(&self.crowded);
        self.rows
            .print(|table| format!("{}\n\n{table}\n{note}", above()))
    }
}

/// Says of which names rates are too low.
fn note(crowded: &[(String, f64)]) -> String {
    let least = crowded.iter().map(|(_, free)| *free);
    let Some(least) = least.min_by(f64::total_cmp) else {
        return String::new();
    };
    let names: Vec<_> = crowded.iter().map(|(name, _)| name.as_str()).collect();
    format!(
        "\nWhile these were measured, a thread had as little as {:.0} % of a core: {}. Something else \
         ran there, or two of what this machine calls processors share a core. The rates are lower \
         for it.\n",
        100.0 * least,
        names.join(", "),
    )
}

/// Where less is left of a core, rates are lower than the machine's.
const FREE: f64 = 0.9;

/// Whether `--only` wants a name.
pub fn is_wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|part| name.contains(part.as_str()))
}

/// Picks what is wanted of a benchmark, by names.
pub fn select<T>(
    all: Vec<T>,
    wanted: impl Fn(&str) -> bool,
    name: impl Fn(&T) -> &str,
) -> Result<Vec<T>> {
    let (wanted, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| wanted(name(one)));
    match wanted.is_empty() {
        true => Err(nothing(others.iter().map(name))),
        false => Ok(wanted),
    }
}

/// Makes the failure of an `--only` that none of these names has.
pub fn nothing<'a>(names: impl Iterator<Item = &'a str>) -> Failure {
    let names = names.collect::<Vec<_>>().join(", ");
    Usage::NothingToMeasure { names }.into()
}

/// `1.20 M/s`.
pub fn per_second(per_second: f64) -> String {
    rate(per_second, "/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Nothing {}

    impl Own for Nothing {
        const HEADER: &'static [&'static str] = &["name"];

        fn row(line: &RateRow<Self>) -> Vec<String> {
            vec![line.name.clone()]
        }
    }

    #[test]
    fn a_table_says_when_the_cores_were_not_free() {
        let quiet = note(&[]);
        assert!(quiet.is_empty(), "{quiet}");
        let crowded = [("rot/iknp", 0.5), ("got/128", 0.494)];
        let crowded = note(&crowded.map(|(name, free)| (name.to_owned(), free)));
        let said = "as little as 49 % of a core: rot/iknp, got/128.";
        assert!(crowded.contains(said), "{crowded}");
        let runs = Runs {
            ops: 10,
            seconds: vec![1.0],
            bytes: 0.0,
            aes: 0.0,
        };
        let mut lines = RateRows::new(false);
        for (name, free) in [("rot/iknp", 0.5), ("cot/iknp", 0.95), ("got/128", FREE)] {
            let line = RateRow::new(name.to_owned(), &runs, None, free, Nothing {});
            lines.add(&line).unwrap();
        }
        assert_eq!(lines.crowded, [("rot/iknp".to_owned(), 0.5)]);
        let text = lines.rows.table.to_string();
        assert!(text.contains("got/128"), "{text}");
    }

    /// A machine that is slow at first and then itself again no longer reaches many times its ceiling.
    #[test]
    fn ceilings_are_of_the_time_of_their_row() {
        let watch = Watch::new(1);
        watch.aes.set(1.0);
        watch.look();
        let beside = watch.aes();
        assert!(beside > 1e5, "{beside}");
        let next = watch.aes();
        assert!(next > 1e5, "{next}");
        let fast = 2.0 * next;
        watch.aes.set(fast * 1e6);
        assert_eq!(watch.aes(), fast * 1e6);
        assert!(watch.aes() < fast * 1e5);
    }

    #[test]
    fn the_least_is_told_once() {
        let watch = Watch::new(1);
        watch.least.set(0.25);
        watch.look();
        assert!(watch.least() <= 0.25);
        let next = watch.least();
        assert!(next > 0.0 && next <= 1.0, "{next}");
    }
}
