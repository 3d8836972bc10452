//! The list of rows that each table or figure prints is that of the paper.

use std::sync::Arc;

use clap::Parser as _;
use madrigal_core::Party;
use madrigal_engine::{Extension, Matrices, Origin, Phases, Plan, PlanSpec, Sharing};
use madrigal_operations::{Backend, Circuit, CircuitJob};

use super::bench::{Bench, Known, Told};
use super::sheets::SHEETS;
use crate::args::{Bench as Which, BenchPaper, Cli};
use crate::known::Known as Netlists;
use crate::reach::Network;

fn args(flags: &str) -> BenchPaper {
    let words = ["madrigal-lab", "paper", "--list"];
    let cli = Cli::parse_from(words.into_iter().chain(flags.split_whitespace()));
    match cli.bench {
        Which::Paper(args) => args,
        other => panic!("{other:?}"),
    }
}

fn flags(known: &Known) -> String {
    let of = clap::ValueEnum::to_possible_value(&known.paper).unwrap();
    let kind = format!("{:?}", known.kind).to_lowercase();
    format!("--{kind} {} --of {}", known.number, of.get_name())
}

/// Every quantity of every row of the paper is printed at its place with the paper's value beside it.
#[test]
fn every_row_of_the_papers_is_printed() {
    for (known, expected) in SHEETS.iter().zip(QUANTITIES) {
        let mut lines = 0;
        let args = args(&flags(known));
        assert!(std::ptr::eq(Known::find(&args).unwrap(), known), "{known}");
        let bench = Bench::new(&args, known).unwrap();
        let places = bench.places();
        for (network, parties) in bench.sheet.places() {
            let there = |place: &super::published::Place| {
                place.network == network && parties.is_none_or(|parties| parties == place.parties)
            };
            assert!(places.iter().any(there), "{known}: {network} {parties:?}");
        }
        for place in &places {
            Network::parse(&place.network).unwrap();
            let jobs = bench.jobs(place).unwrap();
            let printed: Vec<_> = jobs
                .iter()
                .flat_map(|job| {
                    job.quantities
                        .iter()
                        .map(|quantity| (quantity, (job.published)(&bench.sheet, quantity, place)))
                })
                .collect();
            for (row, what, unit) in bench.sheet.quantities(place) {
                let line = printed.iter().find(|(quantity, _)| {
                    (quantity.row.as_str(), quantity.what.as_str()) == (row, what)
                });
                let (quantity, published) = line.unwrap_or_else(|| {
                    panic!("{known}: {row}, {what} at {place:?} is not printed")
                });
                assert_eq!(quantity.unit, unit, "{known}: {row}, {what}");
                assert_eq!(
                    *published,
                    bench.sheet.at(row, what, place),
                    "{known}: {row}, {what}"
                );
                assert!(!published.is_empty(), "{known}: {row}, {what}");
                lines += 1;
            }
            // A quantity that is printed twice is told apart by nobody.
            for (at, (quantity, _)) in printed.iter().enumerate() {
                let same = printed[..at].iter().any(|(other, _)| other == quantity);
                assert!(!same, "{known}: {quantity:?}");
            }
        }
        assert_eq!(lines, expected, "{known}");
    }
}

/// Numbers of quantities that the papers' tables and figures have at all their places, in the order of [`SHEETS`], counted by hand:
/// a file that lacked a row would otherwise lack it in both lists.
const QUANTITIES: [usize; SHEETS.len()] = [
    9 * 2,
    // Two parties: four rows and the same four on arrays; three: four of SIMD beside them.
    8 * 2 + 12 * 2,
    // B and Y of both circuits, total and online; ABY's two rows of Y; the line of 75 ms.
    4 * 2 * 6 + 2 * 2 * 2 + 4,
    4 * 8,
    19 * 6,
    46 * 9,
    48 * 9,
    12 * 2 * 2,
    12 * 2 * 2,
    8 * 2,
    // A time for each way and number of branches, and the saving of 16 branches; then bytes, and the saving of each number.
    (2 * 5 + 1) * 3,
    3 * 5,
    2 * 7,
    // OTs of three ways; savings over one way, and over the other with both ends.
    3 + 4,
    2 * 3 * 5 + 2 + 4,
    3 * 5,
    (3 * 5 + 2) * 3,
    3 * 5,
    5 * 3,
    5,
    5,
];

#[test]
fn values_are_those_of_the_papers() {
    let value = |flags_of: &str, row: &str, what: &str, at: (&str, usize), of: &str| {
        let args = args(flags_of);
        let bench = Bench::new(&args, Known::find(&args).unwrap()).unwrap();
        let place = super::published::Place {
            network: at.0.to_owned(),
            parties: at.1,
        };
        let found = bench.sheet.at(row, what, &place);
        let found = found.iter().find(|published| published.of == of);
        found.and_then(|published| published.value)
    };
    let close = |found: Option<f64>, due: f64| {
        assert!(
            found.is_some_and(|found| (found - due).abs() < 1e-9 * due),
            "{found:?} {due}"
        );
    };
    close(
        value("--table 2", "XC-OT/128", "total", ("wan", 2), "libOTe"),
        874e-9,
    );
    close(
        value("--table 3", "SIMD/A+Y/4096", "total", ("wan", 3), "MOTION"),
        7.5,
    );
    close(
        value("--table 4", "SHA^Y2", "online", ("wan", 2), "ABY"),
        0.6e-3,
    );
    close(
        value(
            "--table 4",
            "AES^Y/1",
            "setup",
            ("75ms,10Gbps", 3),
            "Ben-Efraim et al.",
        ),
        0.698,
    );
    close(
        value("--table 5", "gates/A+Y", "total", ("wan", 4), "MOTION"),
        12.6,
    );
    let y2a = 5.0 * 4.0 * (32.0 * (5.0 * 128.0 + 2.0) + 31.0 * 5.0 * (27.0 * 128.0 + 1.0));
    close(
        value(
            "--table 6",
            "Y2A (without online)",
            "setup bits",
            ("none", 5),
            "MOTION",
        ),
        y2a,
    );
    close(
        value("--table 7", "A2Y/64", "alone", ("motion-aws", 20), "MOTION"),
        89_238_532e-9,
    );
    close(
        value(
            "--table 8",
            "DIV^Y/64",
            "total",
            ("motion-aws", 10),
            "MOTION",
        ),
        100_945e-6,
    );
    close(
        value(
            "--table 1 --of motion2nx",
            "gates/A+B/32",
            "setup",
            ("lan", 2),
            "ABY",
        ),
        396.3e-3,
    );
    close(
        value(
            "--table 3 --of motion2nx",
            "alpha+Y/64",
            "online",
            ("wan", 2),
            "MOTION2NX",
        ),
        10.5918,
    );
    close(
        value("--figure 6", "plain/b16", "bytes", ("none", 2), "MOTIF"),
        16.39e6,
    );
    close(
        value(
            "--figure 10",
            "motif/b32",
            "bytes",
            ("none", 2),
            "Masked Triples",
        ),
        2.14e6,
    );
    close(
        value(
            "--table 2 --of araki",
            "AES/5",
            "blocks",
            ("three-party-lan", 3),
            "Araki et al.",
        ),
        530_408.0,
    );
    assert_eq!(
        value("--table 7", "MUL^A/7", "alone", ("lan", 3), "MOTION"),
        None
    );
    assert_eq!(
        value("--figure 7", "motif/b16", "bytes", ("none", 4), "MOTIF"),
        None
    );
}

/// A row of table 6 with some flags, for a number of parties: bits of setup and online, and messages one after the other.
fn costs(row: &str, flags: &str, parties: usize) -> String {
    let args = args(&format!("--table 6 -N {parties} {flags}"));
    let bench = Bench::new(&args, Known::find(&args).unwrap()).unwrap();
    let place = bench.places().remove(0);
    let jobs = bench.jobs(&place).unwrap();
    let job = jobs.into_iter().find(|job| job.quantities[0].row == row);
    let Told::Values(values) = (job.unwrap().run)(&bench, &place).unwrap() else {
        panic!("{row} is counted");
    };
    let [_, _, setup, online, before, then] = &values[..] else {
        panic!("six quantities of {row}");
    };
    let [setup, online] = [setup, online].map(|bits| bits.mean);
    let [before, then] = [before, then].map(|messages| messages.mean);
    format!("{setup:.0} + {online:.0}, {before:.0} + {then:.0}")
}

/// Bits of setup for each AND of AES-128 in Y, of all parties together, without base OTs.
fn of_aes(flags: &str, parties: usize) -> String {
    let args = args(&format!("--table 4 {flags}"));
    let circuit = Circuit::new(&Netlists::Aes.netlist().unwrap()).with_variants(args.variants());
    let ands = circuit.layered().and_count();
    let job = CircuitJob {
        protocol: Backend::of(Sharing::Y),
        lanes: 64,
        ..CircuitJob::new(Arc::new(circuit), parties)
    };
    let spec = PlanSpec {
        origin: Origin::Ot {
            extension: Extension::IKNP,
            threads: 1,
            matrices: Matrices::Ot,
        },
        phases: Some(Phases::Sequential),
        memory: usize::MAX >> 8,
        ..job.spec().unwrap()
    };
    let plan = Plan::new(spec).unwrap();
    let party = |me| plan.cost(me).setup.bytes_sent;
    let bytes: u64 = Party::all(parties).map(party).sum();
    format!("{:.0}", (8 * bytes) as f64 / (64 * ands) as f64)
}

/// The comparisons of variants in docs/COMPARISONS.md are those of the plans, which tests hold against counters.
#[test]
fn variants_cost_what_is_written() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/COMPARISONS.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut lines = Vec::new();
    for (row, flags) in [
        ("AND^B", ""),
        ("AND^B", "--ands ots"),
        ("AND^Y", ""),
        ("AND^Y", "--gates three-ots"),
        ("B2Y", ""),
        ("B2Y", "--to-garbled naive"),
        ("B2A", ""),
        ("B2A", "--to-numbers naive"),
    ] {
        let cells = [2, 3, 5].map(|parties| costs(row, flags, parties));
        lines.push((format!("`{row}`"), flags, cells));
    }
    for flags in ["", "--gates three-ots"] {
        let cells = [2, 3, 5].map(|parties| of_aes(flags, parties));
        lines.push(("an AND of AES-128 in `Y`, setup".to_owned(), flags, cells));
    }
    let lines = lines.into_iter().map(|(row, flags, cells)| {
        let flags = match flags {
            "" => "chosen".to_owned(),
            flags => format!("`{flags}`"),
        };
        format!("| {row} | {flags} | {} |", cells.join(" | "))
    });
    let missing: Vec<String> = lines.filter(|line| !page.contains(line)).collect();
    assert!(
        missing.is_empty(),
        "not in the page:\n{}",
        missing.join("\n")
    );
}
