//! The order of functions in both programs, `madrigal` and `madrigal-lab`: what parties run lies together.
//!
//! A party is the same code in both. Each job runs in `madrigal-lab` under Valgrind's Callgrind, which tells the functions that were called; the linker's map
//! tells which crate each comes from. The script names them without their hashes, so that it mostly fits
//! the next compiler too, and takes other instances of what is generic with them; what was renamed since lies
//! where it would without a script.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::process::{cargo, need_valgrind, run, target_folder};
use crate::{Outcome, root};

const SCRIPT: &str = "crates/cli/layout.ld";
/// What parties usually do; each at the smallest size that takes the same path.
const JOBS: [&str; 6] = [
    "aes --protocol R --parties 3 --lanes 1000",
    "aes --protocol B --parties 2 --lanes 1000",
    "aes --protocol B --parties 3 --lanes 100",
    "aes --protocol beta --parties 2 --lanes 100",
    "aes --protocol Y2 --parties 2 --lanes 10",
    "aes --protocol Y --parties 3 --lanes 10",
];
/// Its kernels run under Valgrind; those of other levels have the same names below other modules.
const LEVEL: &str = "aesni";

/// Which of the [`JOBS`] call a function: bit `i` stands for job `i`.
type Jobs = u32;

/// Runs the jobs and writes the script.
pub(crate) fn layout() -> Outcome {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err("the order is that of x86-64 Linux, and can be found only there".into());
    }
    need_valgrind()?;
    let folder = target_folder().join("layout");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let map = folder.join("map");
    // So that it is linked again, with a map.
    let script = root().join(SCRIPT);
    std::fs::write(&script, std::fs::read(&script)?)?;
    run(cargo()
        .args(["rustc", "--release", "--package", "madrigal-lab"])
        .args(["--bin", "madrigal-lab", "--"])
        .arg(format!("-Clink-arg=-Wl,-Map={}", map.display())))?;
    let sections = sections(&std::fs::read_to_string(&map)?);
    if sections.is_empty() {
        return Err(format!(
            "{} is no map as lld writes them, which Rust's compiler brings, or its paths have spaces",
            map.display()
        )
        .into());
    }
    let program = target_folder().join("release/madrigal-lab");
    let mut called = HashMap::new();
    for (index, job) in JOBS.iter().enumerate() {
        let folder = folder.join(index.to_string());
        std::fs::create_dir(&folder)?;
        run(Command::new("valgrind")
            .args(["--quiet", "--tool=callgrind", "--trace-children=yes"])
            .args(["--demangle=no", "--compress-strings=no"])
            .arg(format!("--callgrind-out-file={}/%p", folder.display()))
            .arg(&program)
            .args(job.split(' '))
            .args(["--repeat", "1", "--json"])
            .env("MADRIGAL_LEVEL", LEVEL)
            .stdout(Stdio::null()))?;
        for entry in std::fs::read_dir(&folder)? {
            for function in of_a_party(&std::fs::read_to_string(entry?.path())?) {
                *called.entry(function).or_insert(0) |= 1 << index;
            }
        }
    }
    if called.is_empty() {
        return Err(
            "no process was a party: `madrigal-lab child` is what they are looked for by".into(),
        );
    }
    let (text, told) = script_of(&sections, &called)?;
    std::fs::write(script, text)?;
    println!("xtask: {told}");
    Ok(())
}

/// The functions that a party called, from its Callgrind profile; none if the process was no party.
fn of_a_party(profile: &str) -> Vec<String> {
    let mut lines = profile.lines();
    if !lines.any(|line| line.starts_with("cmd: ") && line.ends_with(" child")) {
        return Vec::new();
    }
    let names = lines.filter_map(|line| line.strip_prefix("fn="));
    // Calls of itself are told apart by their depth: `name'2`.
    let names = names.map(|name| name.split('\'').next().unwrap_or(name).to_owned());
    names.collect()
}

/// A function in the map of the linker.
#[derive(Debug, PartialEq, Eq)]
struct Section {
    bytes: u64,
    /// As a pattern of files.
    file: String,
    name: String,
}

impl Section {
    /// Without what the compiler puts before a function that it takes to be called seldom.
    fn function(&self) -> &str {
        let name = self.name.strip_prefix(".text.").unwrap_or(&self.name);
        name.strip_prefix("unlikely.").unwrap_or(name)
    }
}

/// All functions in the map that lld writes: address, address, size, alignment, `file:(section)`.
fn sections(map: &str) -> Vec<Section> {
    let sections = map.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(2);
        let bytes = u64::from_str_radix(words.next()?, 16).ok()?;
        let (file, name) = words.nth(1)?.split_once(":(")?;
        let name = name.strip_suffix(')')?.strip_prefix(".text.")?;
        let name = format!(".text.{name}");
        file_pattern(file).map(|file| Section { bytes, file, name })
    });
    sections.collect()
}

/// Matches the files of the same crate in another build. What a program compiles itself matches those of both programs.
fn file_pattern(path: &str) -> Option<String> {
    let file = path.rsplit('/').next()?;
    let (name, _) = file.split_once('-')?;
    Some(match path.contains(".rlib") {
        true => format!("*/{name}-*:*"),
        false => "*/madrigal*-*.rcgu.o".to_owned(),
    })
}

/// Matches a function compiled by another compiler, and a kernel at each level.
fn name_pattern(name: &str) -> String {
    let mut name = name.to_owned();
    // Older names: `17h`, a hash of 16 digits, `E`.
    if let Some(at) = name.rfind("17h").filter(|at| name.len() >= at + 20) {
        name.truncate(at + 3);
        name.push('*');
    }
    // Newer ones: `_R`, and in it `Cs`, a number of the crate, `_`.
    let mut pattern = String::new();
    let mut rest = &*name;
    if name.contains(".text._R") || name.contains(".unlikely._R") {
        while let Some((before, after)) = rest.split_once("Cs") {
            pattern += before;
            pattern += "Cs";
            rest = after;
            if let Some((number, after)) = after.split_once('_')
                && number.bytes().all(|byte| byte.is_ascii_alphanumeric())
            {
                pattern += "*_";
                rest = after;
            }
        }
    }
    pattern += rest;
    pattern.replace(&format!("x86{}{LEVEL}", LEVEL.len()), "x86*")
}

/// The script, and what it does in words.
fn script_of(
    sections: &[Section],
    called: &HashMap<String, Jobs>,
) -> Result<(String, String), std::fmt::Error> {
    let mut patterns: BTreeMap<(&str, String), Jobs> = BTreeMap::new();
    let mut needed = 0;
    for section in sections {
        if let Some(jobs) = called.get(section.function()) {
            needed += section.bytes;
            let pattern = (&*section.file, name_pattern(&section.name));
            *patterns.entry(pattern).or_default() |= jobs;
        }
    }
    let all: u64 = sections.iter().map(|section| section.bytes).sum();
    let laid = sections
        .iter()
        .filter(|section| patterns.contains_key(&(&*section.file, name_pattern(&section.name))));
    let laid: u64 = laid.map(|section| section.bytes).sum();

    // First what all jobs call, at last what one of them calls: each finds its own together.
    let mut groups: BTreeMap<_, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    for ((file, name), jobs) in patterns {
        let rank = (JOBS.len() as u32 - jobs.count_ones(), jobs);
        groups
            .entry(rank)
            .or_default()
            .entry(file)
            .or_default()
            .push(name);
    }
    let mut script = String::from(
        "/* Functions that parties call, those of the same jobs together. Written by `cargo xtask layout`. */\n\
         SECTIONS { .text.party : {\n",
    );
    for ((_, jobs), files) in groups {
        writeln!(script, "/* {jobs:06b} */")?;
        for (file, names) in files {
            writeln!(script, "{file}({})", names.join("\n"))?;
        }
    }
    script += "} } INSERT BEFORE .text;\n";
    let told = format!(
        "parties call {} of {} KB; {} KB now lie together",
        needed / 1000,
        all / 1000,
        laid / 1000
    );
    Ok((script, told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_party_alone_count() {
        let calls = "fn=_ZN1a17h0E\n1 2\ncfn=other\nfn=b'2\n";
        let profile = |command: &str| format!("version: 1\ncmd: {command}\n\n{calls}");
        assert_eq!(
            of_a_party(&profile("madrigal-lab child")),
            ["_ZN1a17h0E", "b"]
        );
        assert!(of_a_party(&profile("madrigal-lab aes")).is_empty());
    }

    #[test]
    fn a_map_tells_functions_and_their_crates() {
        let map = "             VMA              LMA     Size Align Out     In      Symbol\n\
             \x20  901bc0   901bc0   569a0e    16 .text\n\
             \x20  9022e0   9022e0       10    16         /t/deps/madrigal_lab-1b.madrigal_lab.c9-cgu.0.rcgu.o:(.text.f)\n\
             \x20  9022f0   9022f0       ff    16         /t/deps/libmadrigal_net-7d.rlib(n-7d.cgu.0.rcgu.o):(.text.unlikely.g)\n\
             \x20  9022f0   9022f0       15     1                 f\n\
             \x20  9033f0   9033f0       15    16         <internal>:(.rodata)\n";
        let section = |bytes, file: &str, name: &str| Section {
            bytes,
            file: file.to_owned(),
            name: name.to_owned(),
        };
        let found = sections(map);
        assert_eq!(
            found,
            [
                section(0x10, "*/madrigal*-*.rcgu.o", ".text.f"),
                section(0xff, "*/libmadrigal_net-*:*", ".text.unlikely.g"),
            ]
        );
        assert_eq!(found[1].function(), "g");
    }

    #[test]
    fn patterns_outlive_a_compiler() {
        for (name, pattern) in [
            (".text._ZN1a1b17h0123456789abcdefE", ".text._ZN1a1b17h*"),
            (
                ".text._ZN1a1b17h0123456789abcdefE.llvm.123",
                ".text._ZN1a1b17h*",
            ),
            (".text._ZN2Cs1b_17h0123456789abcdefE", ".text._ZN2Cs1b_17h*"),
            (".text._RNvCs9a_4core1f", ".text._RNvCs*_4core1f"),
            (
                ".text._ZN16madrigal_kernels3x865aesni1f17h0123456789abcdefE",
                ".text._ZN16madrigal_kernels3x86*1f17h*",
            ),
            (".text.plain", ".text.plain"),
        ] {
            assert_eq!(name_pattern(name), pattern);
        }
    }

    #[test]
    fn what_more_jobs_call_comes_first() {
        let sections = |names: &[&str]| {
            let section = |name: &&str| Section {
                bytes: 4000,
                file: "*/liba-*:*".to_owned(),
                name: format!(".text.{name}"),
            };
            names.iter().map(section).collect::<Vec<_>>()
        };
        let called = [("x", 0b1), ("y", 0b11), ("z", 0b10)];
        let called = called.map(|(name, jobs)| (name.to_owned(), jobs));
        let (script, told) = script_of(&sections(&["x", "n", "z", "y"]), &called.into()).unwrap();
        let at = |name: &str| script.find(name).unwrap();
        assert!(at(".text.y") < at(".text.x") && at(".text.x") < at(".text.z"));
        assert!(!script.contains(".text.n"));
        assert_eq!(told, "parties call 12 of 16 KB; 12 KB now lie together");
    }
}
