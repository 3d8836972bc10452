//! Results: which files they go to, and what they look like.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use madrigal_app::failure::Result;
use madrigal_app::files::{self, Output, named};
use madrigal_core::text::plain;
use madrigal_nn::{Tensor, csv, npy};

use crate::args::Infer;
use crate::data::is_csv;

/// Checks the files that are to be written: for outputs of these names, in order, or for one while they are unknown.
pub(crate) fn check_files(args: &Infer, names: &[String]) -> Result<()> {
    let paths = match named(args.output.as_deref()) {
        Some(path) => places(path, names),
        None => Vec::new(),
    };
    let inputs = args.inputs.iter().chain([&args.model]);
    let read = inputs.chain(&args.who.roster).map(PathBuf::as_path);
    let read = read.chain(args.clients.files());
    let written = paths.iter().map(|path| Output {
        flag: "--output",
        action: "write the result",
        path: Some(path),
    });
    let report = Output {
        flag: "--report",
        action: "write the report",
        path: args.report.as_deref(),
    };
    let written: Vec<Output<'_>> = written.chain([args.show.output(), report]).collect();
    files::check(read, &written)
}

/// Where outputs of these names go: one to the file that is named, several to files beside it.
fn places(path: &Path, names: &[String]) -> Vec<PathBuf> {
    if names.len() < 2 {
        return vec![path.to_owned()];
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = match is_csv(path) {
        true => "csv",
        false => "npy",
    };
    let safe = |c: char| match c.is_ascii_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '_',
    };
    let of = |name: &String| {
        let name: String = name.chars().map(safe).collect();
        path.with_file_name(format!("{stem}-{name}.{end}"))
    };
    names.iter().map(of).collect()
}

pub(crate) fn write(results: &[(String, Tensor)], path: &Path) -> Result<()> {
    let names: Vec<String> = results.iter().map(|(name, _)| name.clone()).collect();
    let files = places(path, &names).into_iter().zip(results);
    let files = files.map(|(path, (_, tensor))| {
        let file = match is_csv(&path) {
            true => csv::write(tensor).into_bytes(),
            false => npy::write(tensor),
        };
        (path, file)
    });
    files::write_results(&files.collect::<Vec<_>>())
}

/// A line for each row; of several numbers first the place of the greatest, counted from 0.
pub(crate) fn text(results: &[(String, Tensor)]) -> String {
    let mut text = String::new();
    for (name, tensor) in results {
        let _ = writeln!(text, "{}:", plain(name));
        let columns = tensor
            .shape()
            .get(1..)
            .unwrap_or(&[])
            .iter()
            .product::<usize>();
        let numbers = tensor.to_f64();
        for (at, row) in numbers.chunks(columns.max(1)).enumerate() {
            // The first of equal ones.
            let places = (0..row.len()).rev();
            let greatest = places.max_by(|&a, &b| row[a].total_cmp(&row[b]));
            let _ = write!(text, "  {at}:");
            if let (Some(place), true) = (greatest, row.len() > 1) {
                let _ = write!(text, " {place}, of");
            }
            row.iter().for_each(|number| {
                let _ = write!(text, " {number:.4}");
            });
            text.push('\n');
        }
    }
    text
}
