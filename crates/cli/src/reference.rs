//! References that are made from the program itself: `docs/CLI.md` from the definition of the flags, the tables of
//! fields in `docs/STATISTICS.md` from the types that are printed, the exit statuses from what `--help` shows. The tests
//! here fail where a file is not current; `cargo xtask reference` writes them again.

mod fields;
mod flags;
mod regions;

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::args::Cli;
use madrigal_app::failure::{EXIT_STATUS, Status};

/// With `write` here the files are written.
const SWITCH: &str = "MADRIGAL_REFERENCE";
/// The lines from `begin` to `end` that the statuses lie between.
const STATUSES: &str = "exit statuses";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what it should hold, or writes it.
fn keep(path: &str, made: &str) {
    let file = root().join(path);
    if std::env::var(SWITCH).is_ok_and(|switch| switch == "write") {
        fs::write(file, made).expect("the file can be written");
        return;
    }
    let found = fs::read_to_string(file).unwrap_or_default();
    let line = found.lines().zip(made.lines()).position(|(a, b)| a != b);
    assert!(
        found == made,
        "{path} is not what the program says, from line {} on: `cargo xtask reference` writes it again",
        line.unwrap_or(found.lines().count().min(made.lines().count())) + 1
    );
}

/// The exit statuses as the rows of a table.
fn statuses() -> String {
    let rows = EXIT_STATUS.lines().skip(1).map(|line| {
        let (status, meaning) = line.trim().split_once("  ").expect("two columns");
        format!("| {status} | {meaning} |\n")
    });
    format!(
        "| status | meaning |\n|---|---|\n{}",
        rows.collect::<String>()
    )
}

#[test]
fn the_reference_of_the_flags_is_current() {
    keep("docs/CLI.md", &flags::page(&Cli::command(), &statuses()));
}

#[test]
fn the_reference_of_the_fields_is_current() {
    let path = "docs/STATISTICS.md";
    let page = fs::read_to_string(root().join(path)).expect("the page");
    let types = fields::Types::read(&root(), &page);
    let made = regions::fill(&page, |region| match region {
        STATUSES => statuses(),
        region => types.table(region),
    });
    keep(path, &made);
}

#[test]
fn the_readme_tells_the_exit_statuses() {
    let path = "README.md";
    let page = fs::read_to_string(root().join(path)).expect("the page");
    let made = regions::fill(&page, |region| match region {
        STATUSES => statuses(),
        other => panic!("{path} has no region {other:?}"),
    });
    keep(path, &made);
}

#[test]
fn the_help_tells_every_exit_status() {
    use Status::*;
    let told = statuses();
    let ended = [
        Internal,
        Usage,
        File,
        Network,
        Peer,
        Hangup,
        Interrupted,
        Terminated,
    ];
    for status in ended.map(|status| status as u8) {
        let starts = |cell: &str| cell.split(", ").any(|one| one == status.to_string());
        let mut cells = told.lines().filter_map(|row| row.split(" | ").next());
        assert!(
            cells.any(|cell| starts(cell.trim_start_matches("| "))),
            "{status}"
        );
    }
}

/// Each command with its snapshot in `tests/snapshots`, and no snapshot of what is no command.
#[test]
fn every_command_has_a_snapshot_of_its_help() {
    fn walk(command: &clap::Command, name: &str, into: &mut Vec<String>) {
        into.push(format!("{name}.trycmd"));
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            walk(one, &format!("{name}-{}", one.get_name()), into);
        }
    }
    let mut commands = Vec::new();
    walk(&Cli::command(), "help", &mut commands);
    let folder = root().join("crates/cli/tests/snapshots");
    let files = fs::read_dir(folder).expect("snapshots");
    let name = |file: std::io::Result<fs::DirEntry>| {
        let name = file.expect("a file").file_name();
        name.into_string().expect("a name in UTF-8")
    };
    let mut files: Vec<String> = files.map(name).collect();
    files.retain(|file| file.starts_with("help"));
    commands.sort();
    files.sort();
    assert_eq!(files, commands);
}
