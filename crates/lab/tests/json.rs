//! `docs/STATISTICS.md` names the fields of all JSON that benchmarks print: those, and no others.

use crate::command::lab;
use crate::documented::check;

#[test]
fn every_field_is_documented_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let told = |line: &str| lab(directory.path(), line).good().stdout;
    check(
        &[
            "`madrigal-lab aes --json`, `madrigal-lab sha256 --json`",
            "A machine",
            "The statistics of a run",
            "A party",
            "Provenance",
            "A phase",
            "A circuit",
        ],
        &told("aes --lanes 1 --repeat 1 --transport memory --json"),
    );
    check(
        &["The lines of `madrigal-lab ot --json`"],
        &told("ot --count 1k --repeat 1 --only rot/iknp --json"),
    );
    check(
        &["The lines of `madrigal-lab garbling --json`"],
        &told("garbling --count 1k --repeat 1 --only garble/half/wide --json"),
    );
    check(
        &["The lines of `madrigal-lab r3 --json`"],
        &told("r3 --scale 0.001 --repeat 1 --only and/memory --json"),
    );
    check(
        &["The lines of `madrigal-lab programs --json`"],
        &told("programs --repeat 1 --only b2a --json"),
    );
    check(
        &["The lines of `madrigal-lab tensors --json`"],
        &told("tensors --repeat 1 --only relu/u32/100000/R --json"),
    );
    check(
        &["The lines of `madrigal-lab lines --json`"],
        &told("lines --scale 0.0002 --only far/n2/softspoken4/u64 --json"),
    );
    check(
        &["The lines of `madrigal-lab tables --json`"],
        &told("tables --rows 50 --repeat 1 --only groupby/r3 --json"),
    );
    check(
        &["The lines of `madrigal-lab serve --json`"],
        &told("serve --only soak --jobs 100 --json"),
    );
    check(
        &["The lines of `madrigal-lab scaling --json`"],
        &told("scaling --scale 0.0005 --repeat 1 --threads 1 --only mul64/R --json"),
    );
}
