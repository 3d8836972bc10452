//! Rates of lists on this machine: makes a CSV file of N rows, reads it, and writes half of its rows.
//! `cargo run --release -p madrigal-lists --example rates [ROWS [PARTITIONS [MEMORY-IN-MB [quoted]]]]`.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::ControlFlow;
use std::time::Instant;

use madrigal_lists::{Keep, Matches, Room, Source, digest, read};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |default| words.next().map_or(Ok(default), |word| word.parse());
    let (rows, partitions, memory): (u32, u32, u32) =
        (number(10_000_000)?, number(16)?, number(4096)?);
    let quote = if words.next().is_some() { "\"" } else { "" };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("list.csv");
    let mut to = BufWriter::new(File::create(&path)?);
    writeln!(
        to,
        "{quote}mail{quote},{quote}city{quote},{quote}amount{quote}"
    )?;
    for row in 0..rows {
        let who = (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 28;
        writeln!(
            to,
            "{quote}{who}@x.org{quote},{quote}Ulm{quote},{}",
            row % 1000
        )?;
    }
    to.into_inner()?.sync_all()?;
    println!("{rows} rows, {:.0} MB", path.metadata()?.len() as f64 / 1e6);

    let mut watch = |_| ControlFlow::Continue(());
    let tell = |what: &str, begun: Instant| {
        let seconds = begun.elapsed().as_secs_f64();
        let each = 1e9 * seconds / f64::from(rows);
        println!("  {what:<40} {seconds:>7.3} s, {each:>6.1} ns a row");
    };
    let begun = Instant::now();
    for row in 0..rows {
        std::hint::black_box(digest(&[7; 32], &[&row.to_le_bytes()]));
    }
    tell("digests alone, salt and all", begun);
    let room = Room {
        memory: u64::from(memory) << 20,
        folder: folder.path().into(),
    };
    let source = Source::new(&path, ["mail"])?;
    let begun = Instant::now();
    let listed = read(&source, &[7; 32], partitions, &room, &mut watch)?;
    tell("read, digest, partition, sort", begun);
    println!(
        "  {} keys, {} MB on the disk",
        listed.keys(),
        listed.spilled() / 1_000_000
    );
    let mut matches = Matches::new(&listed);
    let begun = Instant::now();
    for partition in 0..listed.partitions() {
        let part = listed.partition(partition)?;
        for place in 0..part.len() {
            if part.digests()[place].lo() & 1 == 1 {
                part.rows(place)
                    .iter()
                    .try_for_each(|&row| matches.mark(row))?;
            }
        }
    }
    tell("partitions again, mark half of the rows", begun);
    let begun = Instant::now();
    let mut out = File::create(folder.path().join("out.csv"))?;
    let written = listed.write_rows(&matches, Keep::Matched, None, &mut out, &mut watch)?;
    tell("write the marked rows", begun);
    println!("  {written} rows written");
    Ok(())
}
