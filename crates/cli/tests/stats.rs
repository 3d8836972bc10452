//! `stats`: questions of flags, tables that are given, real parties, and what is refused.

use std::path::Path;

use crate::command::{Running, madrigal, roster, start, write};
use crate::documented::check;

const NORTH: &str = "ward,pay,age\nA,10.5,30\nA,20,40\nA,30,50\nB,1,NA\n";
const SOUTH: &str = "pay;ward;age\n40;A;60\n50;A;70\n2;B;33\n;B;44\n";

fn tables() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "north.csv", NORTH);
    write(directory.path(), "south.csv", &SOUTH.replace(';', ","));
    write(directory.path(), "semicolons.csv", SOUTH);
    write(directory.path(), "pay.csv", "pay\n1\n2\n3\n4\n5\n6\n");
    write(directory.path(), "age.csv", "age\n2\n4\n6\n8\n10\n12\n");
    directory
}

#[test]
fn answers_are_told_by_group() {
    let directory = tables();
    let told = |line: &str| madrigal(directory.path(), &format!("stats {line}")).good();
    let question =
        "--local 2 north.csv south.csv --mean pay --quantiles pay --at 0.5 --by ward --groups A,B";
    let ended = told(&format!("{question} --least 2"));
    assert_eq!(
        ended.stdout,
        "mean pay       A          30.10000  of 5\n\
         mean pay       B          withheld\n\
         quantiles pay  A  at 0.5  30.0\n\
         quantiles pay  B  at 0.5  withheld\n\
         withheld: of fewer than 2 values, or fewer than 2 besides those of one party\n"
    );
    assert!(
        ended
            .stderr
            .contains("Each of the 2 parties will learn, and nothing else of the tables:\n"),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .contains("where 1 corrupted party of 2 would learn no more"),
        "{}",
        ended.stderr
    );
    // A helper makes three, and others are in a group of their own; nothing is withheld.
    let ended = told(
        "--local 3 north.csv south.csv --rows --sum age --by ward --groups A --other --least 1 -q",
    );
    assert_eq!(
        ended.stdout,
        "count of rows  A        5\n\
         count of rows  (other)  3\n\
         sum age        A        250\n\
         sum age        (other)  77\n"
    );
    assert_eq!(ended.stderr, "");
    // Columns of the same rows.
    let columns = "--local 2 pay.csv age.csv --held columns --corr pay,age --var pay --histogram age --bins 5 -q";
    assert_eq!(
        told(columns).stdout,
        "variance pay                      3.500000 (deviation 1.870829)  of 6\n\
         correlation pay, age              1.000000\n\
         histogram age         below 5     withheld\n\
         histogram age         5 and more  withheld\n\
         withheld: of fewer than 5 values, or to hide such a bin\n"
    );
}

#[test]
fn json_is_as_documented() {
    let directory = tables();
    let question = "stats --local 2 north.csv south.csv --mean age --var pay --histogram pay --bins 20 --quantiles pay --least 1";
    let ended = madrigal(directory.path(), &format!("{question} --json")).good();
    let sections = [
        "`madrigal stats --json`",
        "Provenance",
        "A party",
        "A phase",
    ];
    check(&sections, &ended.stdout);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let answers = report["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 1 + 1 + 2 + 3);
    assert_eq!(answers[0]["value"], 46.714285714285715);
    assert_eq!(answers[2]["to"], "20.0");
    let explained = madrigal(
        directory.path(),
        &format!("{question} --explain --network wan"),
    )
    .good();
    assert!(
        explained.stdout.contains("online: about"),
        "{}",
        explained.stdout
    );
}

#[test]
fn wrong_flags_and_tables_are_refused() {
    let directory = tables();
    write(
        directory.path(),
        "wrong.csv",
        "pay,ward,age\n1,A,2\n\"1,5\",A,3\n",
    );
    let local = "--local 2 north.csv south.csv";
    for (line, status, expected) in [
        (
            local.to_string(),
            2,
            "no statistic is asked for: give --rows, --count, --sum, --mean, --var, --corr, --histogram or --quantiles\n",
        ),
        (
            format!("{local} --histogram pay"),
            2,
            "--histogram pay needs --bins EDGES: public numbers or dates, which do not follow from the data\n",
        ),
        (
            format!("{local} --corr pay"),
            2,
            "--corr takes two columns, and 1 are given; write --corr pay,age, and once more for each further pair\n",
        ),
        (
            format!("{local} --mean pay --decimals age=2"),
            2,
            "--decimals age=...: no statistic is asked of that column; correct the name\n",
        ),
        (
            format!("{local} north.csv --mean pay"),
            2,
            "3 tables for 2 parties: give one for each of the first parties, in order\n",
        ),
        ("north.csv --mean pay".into(), 2, "say who takes part: "),
        (
            format!("{local} --mean pay --pad 10"),
            2,
            "rows are filled up to 4194304 at most, and only where each party has rows of its own and quantiles are asked for: nothing else tells how many rows a party has (--pad)\n",
        ),
        (
            format!("{local} --mean salary"),
            3,
            "north.csv: there is no column salary, but ward, pay, age; correct the name, or the first line (for parties that hold columns: --held columns)\n",
        ),
        (
            format!("{local} --mean pay --by ward --groups A"),
            3,
            "north.csv: line 5, column ward: the cell is none of the groups A; name it, or have others in a group of their own (--groups, --other) (--show-values tells the value)\n",
        ),
        (
            "--local 2 north.csv wrong.csv --mean pay".into(),
            3,
            "wrong.csv: line 3, column pay: the cell has a comma; write numbers with a decimal point and nothing between thousands, as 1234.5 (--show-values tells the value)\n",
        ),
        (
            "--local 2 north.csv wrong.csv --mean pay --show-values".into(),
            3,
            "wrong.csv: line 3, column pay: the cell `1,5` has a comma; write numbers with a decimal point and nothing between thousands, as 1234.5\n",
        ),
        (
            "--local 2 north.csv semicolons.csv --mean pay".into(),
            3,
            "semicolons.csv: there is no column pay, but pay;ward;age; ",
        ),
        (
            format!("{local} --mean pay --range pay=0:45"),
            3,
            "south.csv: line 3, column pay: the value is out of the range of the column, 0 to 45; correct one of them (--range) (--show-values tells the value)\n",
        ),
        (
            "--local 2 pay.csv north.csv --mean pay --held columns".into(),
            3,
            "party 0 has 6 rows and party 1 has 4; all need the same rows in the same order, or say that parties hold rows (--held rows)\n",
        ),
        (
            "--local 2 pay.csv pay.csv --mean pay --held columns".into(),
            3,
            "column pay is held by party 0 and by party 1; take it out of one's table, or say that parties hold rows (--held rows)\n",
        ),
        (
            "--local 2 missing.csv south.csv --mean pay".into(),
            3,
            "cannot read the table missing.csv: ",
        ),
    ] {
        let ended = madrigal(directory.path(), &format!("stats {line}"));
        assert_eq!(ended.status, status, "{line}: {}", ended.stderr);
        let last = ended
            .stderr
            .rfind("madrigal: ")
            .map_or("", |at| &ended.stderr[at + 10..]);
        assert!(last.starts_with(expected), "{line}: {}", ended.stderr);
    }
}

/// A real party with a question.
fn party(directory: &Path, party: usize, rest: &str) -> Running {
    let line = format!(
        "stats --party {party} --parties parties.toml --identity p{party} --connect-timeout 30s {rest}"
    );
    start(directory, &line)
}

#[test]
fn real_parties_answer_together_or_learn_in_what_they_differ() {
    let directory = tables();
    let path = directory.path();
    roster(path, 2);
    let question = "--sum pay --quantiles age --least 1";
    let first = party(path, 0, &format!("north.csv {question} --yes"));
    let second = party(
        path,
        1,
        &format!("semicolons.csv --delimiter ; {question} --yes"),
    );
    let [first, second] = [first, second].map(|one| one.end().good().stdout);
    assert_eq!(first, second);
    let line = first.lines().next().unwrap();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>(),
        ["sum", "pay", "153.5"]
    );
    // Nobody confirms.
    let ended = party(path, 0, "north.csv --sum pay").end();
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.ends_with("nobody is there to ask whether the parties may learn this: give --yes; nothing was sent\n"), "{}", ended.stderr);
    // Another question.
    let first = party(path, 0, "north.csv --sum pay --mean age --yes -q");
    let second = party(path, 1, "south.csv --sum pay --mean pay --yes -q");
    let [first, second] = [first, second].map(Running::end);
    assert_eq!((first.status, second.status), (5, 5), "{}", first.stderr);
    assert!(first.stderr.contains("--mean"), "{}", first.stderr);
    assert!(second.stderr.contains("--mean"), "{}", second.stderr);
    // A value that is out of range in the digits of the other party's.
    write(path, "long.csv", "pay\n0.000000001\n");
    write(path, "large.csv", "pay\n999999999999\n");
    let first = party(path, 0, "long.csv --sum pay --yes -q");
    let second = party(path, 1, "large.csv --sum pay --yes -q");
    let [first, second] = [first, second].map(Running::end);
    assert_eq!(second.status, 3, "{}", second.stderr);
    assert!(
        second
            .stderr
            .contains("large.csv: line 2, column pay: the value is out of the range"),
        "{}",
        second.stderr
    );
    assert_eq!(first.status, 5, "{}", first.stderr);
    let told = "party 1 gave up: the job was ended here: what it brings does not fit what the parties have told each other";
    assert!(first.stderr.contains(told), "{}", first.stderr);
}
