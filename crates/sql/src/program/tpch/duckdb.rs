//! The results of DuckDB on the same tables, which its module for Python computes.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use madrigal_app::failure::{Failure, Result};

use super::super::failure::Unfit;

/// Rows of a result as texts.
pub type Rows = Vec<Vec<Option<String>>>;

/// Reads the tables in a folder with the specification's types, and prints the results of the queries that standard input has.
const SCRIPT: &str = include_str!("duckdb.py");

/// A folder that is removed with what is in it.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Result<Self> {
        let name = format!("madrigal-tpch-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).map_err(Failure::file("make the folder", &path))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Says why there is no DuckDB, if so.
pub fn missing(python: &Path) -> Option<String> {
    let mut command = Command::new(python);
    let command = command.args(["-c", "import duckdb"]).stdin(Stdio::null());
    match command.output() {
        Err(error) => Some(format!("cannot start {}: {error}", python.display())),
        Ok(ended) if !ended.status.success() => {
            Some(format!("{} has no module duckdb", python.display()))
        }
        Ok(_) => None,
    }
}

/// The results of queries on the tables in a folder.
pub fn results(python: &Path, folder: &Path, queries: &[String]) -> Result<Vec<Rows>> {
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(Failure::file("start", python))?;
    let asked = serde_json::to_vec(queries).map_err(Failure::bug)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A script that has failed says so itself.
        let _ = stdin.write_all(&asked);
    }
    let ended = child.wait_with_output();
    let ended = ended.map_err(Failure::system("cannot wait for DuckDB"))?;
    if !ended.status.success() {
        return Err(Unfit::Duckdb(ended.status.to_string()).into());
    }
    let results = serde_json::from_slice(&ended.stdout);
    Ok(results.map_err(|error| Unfit::Duckdb(error.to_string()))?)
}
