//! README.md and the guide's page on Rust keep their word: their blocks of shell are run as they stand.
//!
//! A block fenced with `sh` is run by bash in the root of the repository and must succeed; what an
//! earlier block wrote is there for the next. Neighbours fenced with `sh party-I` are run at the
//! same time, one process each. Blocks below a line that says why they are not run, and blocks fenced otherwise, are
//! for the eye. The guide's other pages are run by the tests of the Python package.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};

use crate::process::target_folder;
use crate::{Outcome, root};

/// The pages, in this order: the README's first block builds the program.
const PAGES: [&str; 2] = ["README.md", "docs/guide/rust.md"];

/// How a paragraph begins that says why the block below it is not run.
const EXCUSE: &str = "*Not run by the tests: ";

/// This is what runs all tests, so here it would only run them again.
const NOT_AGAIN: &str = "cargo xtask test\n";

/// Settings of the copy where pages are tried and not how fast things are: only what computes is optimised.
const QUICK: &str = "
[profile.release]
codegen-units = 16
opt-level = 0
";
/// Settings of each package of [`COMPUTING`], and of each one of [`COMMANDS`].
const COMPUTES: &str = "opt-level = 1\n";
const COMMANDS_DO_NOT: &str = "opt-level = 0\n";
/// Packages that compute.
const COMPUTING: [&str; 9] = [
    "curve25519-dalek",
    "madrigal-circuit",
    "madrigal-garbling",
    "madrigal-kernels",
    "madrigal-lattice",
    "madrigal-okvs",
    "madrigal-operations",
    "madrigal-ot",
    "sha2",
];
/// Packages that the manifest has optimised a little.
const COMMANDS: [&str; 3] = ["madrigal-app", "madrigal-cli", "madrigal-models"];

/// Runs the pages in a copy of what git tracks, so that nothing is left behind. The first block builds
/// the program; that copy of it is the one that later blocks call. `quick` builds it in less time.
pub(crate) fn readme(quick: bool) -> Outcome {
    let mut all = Vec::new();
    for page in PAGES {
        let text = std::fs::read_to_string(root().join(page))?;
        all.extend(blocks(page, &with_free_ports(&text)?)?);
    }
    let path = path_with_program()?;
    // Always the same place, so that cargo knows it again.
    let clone = target_folder().join("readme");
    if clone.exists() {
        std::fs::remove_dir_all(&clone)?;
    }
    copy_tracked(&clone)?;
    if quick {
        let config = clone.join(".cargo/config.toml");
        let mut text = std::fs::read_to_string(&config)? + QUICK;
        let computing = COMPUTING.map(|name| (name, COMPUTES));
        let commands = COMMANDS.map(|name| (name, COMMANDS_DO_NOT));
        for (package, settings) in computing.into_iter().chain(commands) {
            text += &format!("[profile.release.package.{package}]\n{settings}");
        }
        std::fs::write(config, text)?;
    }
    let _forgetting = Forgetting;

    let mut rest = &all[..];
    while let Some(first) = rest.first() {
        let together = match first.party {
            Some(_) => rest
                .iter()
                .take_while(|block| block.party.is_some())
                .count(),
            None => 1,
        };
        let (now, later) = rest.split_at(together);
        rest = later;
        if first.script == NOT_AGAIN {
            println!("+ {}: left to `cargo xtask test`", first.place());
            continue;
        }
        run_together(now, &clone, &path)?;
    }
    println!(
        "xtask: {} keep their word ({} blocks)",
        PAGES.join(" and "),
        all.len()
    );
    Ok(())
}

/// Has cargo forget, in the end, what it built of ours for the copy: it would take that for fresh here too,
/// whatever changes, because it looks at the copy's files.
struct Forgetting;

impl Drop for Forgetting {
    fn drop(&mut self) {
        let fingerprints = target_folder().join("release/.fingerprint");
        let built = std::fs::read_dir(fingerprints).into_iter().flatten();
        for entry in built.flatten() {
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(b"madrigal")
            {
                // What cannot be forgotten is built again all the same when the copy changes.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// The ports that the README names, 7700 to 7709, may be taken here: others in their place, below
/// those that the system hands out.
fn with_free_ports(text: &str) -> Result<String, String> {
    let free = |port: u32| {
        u16::try_from(port).is_ok_and(|port| TcpListener::bind(("127.0.0.1", port)).is_ok())
    };
    let first = std::process::id() % 500;
    let mut tens = (0..500).map(|i| 1500 + (first + i) % 500);
    let found = tens.find(|&ten| (0..10).all(|last| free(ten * 10 + last)));
    let ten = found.ok_or("no ten free ports in a row from 15000 on")?;
    Ok(text.replace("127.0.0.1:770", &format!("127.0.0.1:{ten}")))
}

struct Block {
    page: &'static str,
    line: usize,
    party: Option<u32>,
    script: String,
}

impl Block {
    fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// The blocks to run, in order.
fn blocks(page: &'static str, text: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut open: Option<Option<Block>> = None;
    let mut excused = false;
    for (line, content) in (1..).zip(text.lines()) {
        match (&mut open, content.strip_prefix("```")) {
            (None, Some(info)) => {
                let mut words = info.split_whitespace();
                let runs = words.next() == Some("sh") && !excused;
                let party = match words.next().map(|word| word.split_once('-')) {
                    None => None,
                    Some(Some(("party", number))) => number.parse().ok(),
                    Some(_) => return Err(format!("{page}:{line}: what is `{info}`?")),
                };
                let script = String::new();
                open = Some(runs.then_some(Block {
                    page,
                    line,
                    party,
                    script,
                }));
            }
            (Some(_), Some(_)) => {
                blocks.extend(open.take().flatten());
                excused = false;
            }
            (Some(Some(block)), None) => {
                block.script.push_str(content);
                block.script.push('\n');
            }
            (None, None) if !content.is_empty() => excused = content.starts_with(EXCUSE),
            _ => {}
        }
    }
    match open {
        None => Ok(blocks),
        Some(_) => Err(format!("{page}: a block is not closed")),
    }
}

fn run_together(blocks: &[Block], folder: &Path, path: &OsString) -> Outcome {
    let mut children: Vec<(&Block, Child)> = Vec::new();
    for block in blocks {
        println!("+ {}\n{}", block.place(), block.script.trim_end());
        let child = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &block.script])
            .current_dir(folder)
            .env("PATH", path)
            // What is built for us serves the copy too.
            .env("CARGO_TARGET_DIR", target_folder())
            .spawn()
            .map_err(|error| format!("cannot start bash: {error}"))?;
        children.push((block, child));
    }
    let mut failed = None;
    for (block, mut child) in children {
        let status = child.wait()?;
        if !status.success() {
            failed = failed.or(Some(format!("{} failed ({status})", block.place())));
        }
    }
    failed.map_or(Ok(()), |failure| Err(failure.into()))
}

/// What git tracks and what is new and not ignored, as it lies here now.
fn copy_tracked(to: &Path) -> Outcome {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root())
        .output()?;
    if !listed.status.success() {
        return Err("`git ls-files` failed: this chore wants a git checkout".into());
    }
    for name in listed.stdout.split(|&byte| byte == 0) {
        let name = Path::new(std::str::from_utf8(name)?);
        let from = root().join(name);
        if name.as_os_str().is_empty() || !from.is_file() {
            continue;
        }
        let to = to.join(name);
        std::fs::create_dir_all(to.parent().ok_or("a file lies in a folder")?)?;
        std::fs::copy(from, to)?;
    }
    Ok(())
}

/// `PATH` with the freshly built `madrigal` in front.
fn path_with_program() -> Result<OsString, Box<dyn std::error::Error>> {
    let mut folders = vec![target_folder().join("release")];
    folders.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    Ok(std::env::join_paths(folders)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_shell_are_found_and_others_are_not() {
        let text = "a\n```sh\none\ntwo\n```\n```rust\nlet x;\n```\n```sh party-1\nthree\n```\n\
                    *Not run by the tests: it is slow.*\n\n```sh\nfour\n```\n```sh\nfive\n```\n";
        let found = blocks("a.md", text).unwrap();
        let seen: Vec<_> = found
            .iter()
            .map(|block| (block.line, block.party, block.script.as_str()))
            .collect();
        assert_eq!(
            seen,
            [
                (2, None, "one\ntwo\n"),
                (9, Some(1), "three\n"),
                (17, None, "five\n")
            ]
        );
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        assert!(blocks("a.md", "```sh\none\n").is_err());
        assert!(blocks("a.md", "```sh quickly\none\n```\n").is_err());
    }

    #[test]
    fn ports_of_the_readme_are_replaced_by_free_ones() {
        let text = with_free_ports("--address 127.0.0.1:7701 > a\n127.0.0.1:7702").unwrap();
        let (one, two) = text.split_once('\n').unwrap();
        assert!(
            one.starts_with("--address 127.0.0.1:1") && one.ends_with("1 > a"),
            "{one}"
        );
        assert!(two.ends_with('2') && !text.contains("7702"), "{two}");
    }

    #[test]
    fn the_two_commands_come_first() {
        let text = std::fs::read_to_string(root().join("README.md")).unwrap();
        let found = blocks("README.md", &text).unwrap();
        assert!(
            found[0]
                .script
                .starts_with("cargo run --release -- demo aes-ctr")
        );
        assert_eq!(found[1].script, NOT_AGAIN);
    }
}
