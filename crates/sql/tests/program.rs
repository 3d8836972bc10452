//! The program `madrigal-sql`, as a user meets it.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use madrigal_net::identity::{Identity, IdentityFiles, Validity};
use madrigal_net::sealing::SealingKey;
use madrigal_testkit::command::{Ended, Running};
use tempfile::TempDir;

const CLAIMS: &str = "patient,amount\n3,10.50\n7,2.50\n7,1.00\n9,-0.75\n55,9.00\n3,0.01\n";
const PATIENTS: &str = "id,ward\n7,surgery\n3,\"a, b\"\n9,surgery\n11,ear\n";
const QUERY: &str = "select ward, count(*) as n, sum(amount) as total\n\
    from claims join patients on patient = id\n\
    group by ward order by total desc";
const RESULT: &str = "ward,n,total\n\"a, b\",2,10.51\nsurgery,3,2.75\n";

fn start(folder: &Path, line: &str) -> Running {
    Running::start(env!("CARGO_BIN_EXE_madrigal-sql"), folder, line)
}

fn run(folder: &Path, line: &str) -> Ended {
    start(folder, line).end()
}

/// A folder with two tables, their schemas, and a query.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("claims.csv", CLAIMS);
    write("patients.csv", PATIENTS);
    write("q.sql", QUERY);
    for name in ["claims", "patients"] {
        let proposed = run(folder.path(), &format!("schema {name}.csv")).good();
        write(&format!("{name}.toml"), &proposed.stdout);
    }
    let patients = fs::read_to_string(folder.path().join("patients.toml")).unwrap();
    let unique = patients.replacen("rows = 4", "rows = 4\nunique = [[\"id\"]]", 1);
    write("patients.toml", &unique);
    folder
}

const TABLES: &str = "run @q.sql -t claims=claims.csv:1 -t patients=patients.csv:0";

#[test]
fn all_parties_here_answer_a_query() {
    let folder = folder();
    let path = folder.path();
    let told = run(path, &format!("{TABLES} --local 3")).good();
    for part in ["| a, b", "10.51 |", "2 rows"] {
        assert!(told.stdout.contains(part), "{told}");
    }
    for part in [
        "claims of party 1: it has 6 rows",
        "result, 4 rows at most",
        "ward, n, total",
    ] {
        assert!(told.stderr.contains(part), "{told}");
    }
    let told = run(path, &format!("{TABLES} --local 3 --csv -q")).good();
    assert_eq!((&*told.stdout, &*told.stderr), (RESULT, ""));
    let told = run(
        path,
        &format!("{TABLES} --local 3 --json -q --transport memory"),
    )
    .good();
    let json: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(
        json["rows"],
        serde_json::json!([["a, b", 2, "10.51"], ["surgery", 3, "2.75"]])
    );
    assert_eq!(json["columns"][1]["name"], "n");
    assert_eq!(json["mix"], "R");
    // A result is a table again.
    let told = run(path, &format!("{TABLES} --local 3 -q --out result.parquet")).good();
    assert_eq!(told.stdout, "");
    let proposed = run(path, "schema result.parquet --choice ward").good();
    assert!(
        proposed.stdout.contains("ward = [\"a, b\", \"surgery\"]"),
        "{proposed}"
    );
    fs::write(path.join("result.toml"), proposed.stdout).unwrap();
    fs::write(path.join("n.sql"), "select sum(n) as n from r").unwrap();
    let told = run(path, "run @n.sql -t r=result.parquet:1 --local 2 -q --csv").good();
    assert_eq!(told.stdout, "n\n5\n");
}

#[test]
fn explaining_a_query_reads_schemas_alone() {
    let folder = folder();
    let path = folder.path();
    fs::remove_file(path.join("claims.csv")).unwrap();
    fs::remove_file(path.join("patients.csv")).unwrap();
    let told = run(path, &format!("{TABLES} --explain")).good();
    for part in [
        "claims of party 1: it has 6 rows",
        "inner join",
        "group by",
        "result opened",
        "| together",
        "mix R",
        "online: about",
    ] {
        assert!(told.stdout.contains(part), "{told}");
    }
    // The list of parties says how many there are.
    parties(path);
    let list = fs::read_to_string(path.join("parties.toml")).unwrap();
    let two = list.rfind("[[party]]").unwrap();
    fs::write(path.join("two.toml"), &list[..two]).unwrap();
    let told = run(path, &format!("{TABLES} --explain --parties two.toml")).good();
    assert!(told.stdout.contains("query: 2 parties"), "{told}");
    for (parties, mix) in [(3, "R"), (2, "A+B")] {
        let line = format!("{TABLES} --explain --json --local {parties} --mix {mix}");
        let told = run(path, &line).good();
        let json: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
        let steps = json["steps"].as_array().unwrap();
        assert!(steps.len() > 5, "{told}");
        let sent = |party: usize| {
            let sent = steps
                .iter()
                .map(|step| step["online_bytes_sent"][party].as_u64());
            sent.sum::<Option<u64>>()
        };
        let most = (0..parties).map(sent).max().unwrap();
        assert_eq!(most, json["online"]["bytes_sent"].as_u64(), "{told}");
        let rounds = steps.iter().map(|step| step["online"]["rounds"].as_u64());
        assert!(
            rounds.max().unwrap() <= json["online"]["rounds"].as_u64(),
            "{told}"
        );
    }
}

#[test]
fn a_hidden_number_of_rows_is_told_as_a_bound() {
    let folder = folder();
    let path = folder.path();
    let hidden = "schema claims.csv --hide-rows epsilon=0.5,delta=1e-3,each=2";
    let proposed = run(path, hidden).good().stdout;
    assert!(
        proposed.contains("\nnoise = { epsilon = 0.5, delta = 1e-3, each = 2 }\n"),
        "{proposed}"
    );
    assert!(!proposed.contains("rows = "), "{proposed}");
    let bound = proposed
        .lines()
        .find_map(|line| line.strip_prefix("at_most = "));
    let bound: usize = bound.unwrap().parse().unwrap();
    assert!((6..200).contains(&bound), "{bound}");
    // Kinds that were proposed by the values say so, and those alone.
    let follows = "# This kind follows from the values: what it counts, its range and digits.\n";
    for column in ["patient", "amount"] {
        assert!(
            proposed.contains(&format!("{follows}{column} = ")),
            "{proposed}"
        );
    }
    assert!(
        proposed.contains("The bound alone is private"),
        "{proposed}"
    );
    let open = run(path, "schema claims.csv").good().stdout;
    assert!(!open.contains("follows"), "{open}");
    let odd = "rows,noise,other\n1,,é\n2,x,b\n";
    fs::write(path.join("odd.csv"), odd).unwrap();
    let told = run(path, "schema odd.csv --hide-rows epsilon=1,delta=1e-3")
        .good()
        .stdout;
    assert!(
        told.contains("is ASCII, that some are missing.\nnoise = "),
        "{told}"
    );
    for comment in [
        "# unique = ",
        "# The bound is the number of rows and noise.",
    ] {
        assert_eq!(told.matches(comment).count(), 1, "{told}");
    }
    assert!(!told.contains("In place of rows"), "{told}");
    fs::write(path.join("claims.toml"), &proposed).unwrap();
    let told = run(path, &format!("{TABLES} --local 3 --csv")).good();
    assert_eq!(told.stdout, RESULT);
    let learnt = format!(
        "it has {bound} rows at most, by a bound that is, as its owner says, (0.5, 1e-3)-differentially private for 2 rows"
    );
    assert!(told.stderr.contains(&learnt), "{told}");
    run(path, "schema claims.csv --hide-rows epsilon=1").bad(2, &["--hide-rows", "delta=1e-6"]);
    let many = "schema claims.csv --hide-rows epsilon=1e-6,delta=1e-15,each=1000000";
    run(path, many).bad(2, &["rows of noise"]);
}

/// A join of many rows with many needs the number of its rows, and ends without a result where there are more.
#[test]
fn joins_of_many_with_many_declare_their_rows() {
    let folder = folder();
    let path = folder.path();
    let pairs = "select a.amount as x, b.amount as y from claims as a join claims as b \
        on a.patient = b.patient";
    fs::write(path.join("pairs.sql"), pairs).unwrap();
    let line = "run @pairs.sql -t claims=claims.csv:1 --local 3 -q --csv";
    run(path, line).bad(2, &["\"a.patient\"", "--pairs ROWS"]);
    let told = run(path, &format!("{line} --pairs 10")).good();
    assert_eq!(told.stdout.lines().count(), 1 + 10, "{told}");
    run(path, &format!("{line} --pairs 9")).bad(6, &["at most 9 joined rows"]);
    for wrong in ["0", "-1", "134217729", "99999999999999999999"] {
        run(path, &format!("{line} --pairs={wrong}")).bad(2, &["--pairs"]);
    }
}

#[test]
fn what_is_wrong_is_told_with_its_status() {
    let folder = folder();
    let path = folder.path();
    let write = |name: &str, text: &str| fs::write(path.join(name), text).unwrap();
    let local = format!("{TABLES} --local 3 -q");
    write("claims.csv", &CLAIMS.replace("9.00", "x"));
    run(path, &local).bad(3, &["claims.csv, line 6", "\"amount\""]);
    write("claims.csv", CLAIMS);
    run(path, "run @q.sql -t claims=claims.csv --local 3").bad(2, &["patients"]);
    run(path, &format!("{TABLES} --local 3 --out result.txt")).bad(2, &[".parquet"]);
    run(path, &format!("{TABLES} --local 1 -q")).bad(2, &[]);
    run(
        path,
        "run @q.sql -t claims=claims.csv:3 -t patients=patients.csv --local 3 -q",
    )
    .bad(2, &["--table claims", "3 parties"]);
    run(path, &format!("{local} --schema others=claims.toml")).bad(2, &["--schema others"]);
    run(path, &format!("{local} --input a=1")).bad(2, &["--input"]);
    run(path, "run @none.sql -t claims=claims.csv --local 3").bad(3, &["none.sql"]);
    run(path, "schema none.csv").bad(3, &["none.csv"]);
    let claims = fs::read_to_string(path.join("claims.toml")).unwrap();
    write(
        "claims.toml",
        &claims.replace(
            "patient = \"i8\"",
            "patient = { kind = \"i8\", right = \"never\" }",
        ),
    );
    run(path, &local).bad(2, &["claims.patient", "may not be used"]);
    write("claims.toml", &claims.replace("\"i8\"", "\"i9\""));
    run(path, &local).bad(3, &["claims.toml", "i9"]);
}

/// A port that is free now, below those that a system hands out, and another one for each call.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 16 + NEXT.fetch_add(1, Relaxed);
        let port = 11_000 + (number % 9000) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A list of three parties, with their keys.
fn parties(folder: &Path) {
    let mut text = String::new();
    for party in 0..3 {
        let identity = Identity::generate(Validity::days(1).unwrap()).unwrap();
        let name = format!("p{party}");
        identity
            .save(&IdentityFiles::in_directory(folder, &name))
            .unwrap();
        let sealing = SealingKey::generate().unwrap();
        let file = folder.join(format!("{name}.sealing.key"));
        sealing.save(&file).unwrap();
        let (port, key, sealing) = (free_port(), identity.fingerprint(), sealing.public());
        let _ = writeln!(
            text,
            "[[party]]\nname = \"{name}\"\naddress = \"127.0.0.1:{port}\"\nkey = \"{key}\"\nsealing = \"{sealing}\"\n"
        );
    }
    fs::write(folder.join("parties.toml"), text).unwrap();
}

/// Folders of three parties, each with the schemas and with its own table alone.
fn machines() -> Vec<TempDir> {
    let all = folder();
    parties(all.path());
    let machine = |party: usize| {
        let own = TempDir::new().unwrap();
        let mut names: Vec<String> = ["claims.toml", "patients.toml", "q.sql", "parties.toml"]
            .map(String::from)
            .into();
        names.extend(["key", "crt", "sealing.key"].map(|end| format!("p{party}.{end}")));
        names.extend(
            ["patients.csv", "claims.csv"]
                .get(party)
                .map(ToString::to_string),
        );
        for name in names {
            fs::copy(all.path().join(&name), own.path().join(&name)).unwrap();
        }
        own
    };
    (0..3).map(machine).collect()
}

#[test]
fn three_machines_have_one_table_each_and_the_third_gets_the_result() {
    let machines = machines();
    let run = |party: usize| {
        let line = format!("{TABLES} --party {party} --parties parties.toml --to 2 -q --csv");
        start(machines[party].path(), &line)
    };
    let running: Vec<Running> = (0..3).map(run).collect();
    let ended: Vec<Ended> = running.into_iter().map(|one| one.end().good()).collect();
    let told: Vec<&str> = ended.iter().map(|one| &*one.stdout).collect();
    assert_eq!(told, ["", "", RESULT]);
}

#[test]
fn clients_who_compute_nothing_bring_tables() {
    let query = "run @q.sql -t claims=claims.csv:alice -t patients=patients.csv:clinic";
    let tables = query.strip_prefix("run ").unwrap();
    // All parties here are told clients' tables in the clear.
    let all = folder();
    let told = run(all.path(), &format!("{query} --local 3 -q --csv")).good();
    assert_eq!(told.stdout, RESULT);
    let explained = run(all.path(), &format!("{query} --explain")).good();
    assert!(
        explained.stdout.contains("claims of client alice"),
        "{explained}"
    );
    let machines = machines();
    let roster = fs::read_to_string(machines[0].path().join("parties.toml")).unwrap();
    fs::write(all.path().join("parties.toml"), roster).unwrap();
    let share = format!("share {tables} --parties parties.toml --out shares --client");
    for client in ["alice", "clinic"] {
        let told = run(all.path(), &format!("{share} {client}")).good();
        for part in ["Shared in R", ".p0.share", ".p2.share"] {
            assert!(told.stdout.contains(part), "{told}");
        }
        for part in ["All parties learn", "client clinic: it has 4 rows"] {
            assert!(told.stderr.contains(part), "{told}");
        }
    }
    run(all.path(), &format!("{share} bob")).bad(2, &["--client bob", "--table"]);
    run(all.path(), &format!("{share} 1")).bad(2, &["name of a client"]);
    // Each machine has its own files alone, and no table.
    for (party, machine) in machines.iter().enumerate() {
        let own = machine.path().join("shares");
        fs::create_dir(&own).unwrap();
        for file in fs::read_dir(all.path().join("shares")).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            if name.ends_with(&format!(".p{party}.share")) {
                fs::copy(file.path(), own.join(&name)).unwrap();
            }
        }
        for table in ["claims.csv", "patients.csv"] {
            let _ = fs::remove_file(machine.path().join(table));
        }
    }
    let all_run = |line: &str| -> Vec<Ended> {
        let run = |party: usize| {
            let line = format!("{line} --party {party} --parties parties.toml -q --csv");
            start(machines[party].path(), &line)
        };
        let running: Vec<Running> = (0..3).map(run).collect();
        running.into_iter().map(Running::end).collect()
    };
    for ended in all_run(&format!("{query} --shares shares")) {
        assert_eq!(ended.good().stdout, RESULT);
    }
    // Shares are for one query, of tables as they were, for all who were to learn the result.
    for line in [
        format!("{query} --shares shares --to 0"),
        format!("{query} --shares shares").replace("@q.sql", "@other.sql"),
    ] {
        for machine in &machines {
            let other = QUERY.replace("total desc", "total");
            fs::write(machine.path().join("other.sql"), other).unwrap();
        }
        for ended in all_run(&line) {
            ended.bad(3, &["no such file", "`query-", "another query", "--pairs"]);
        }
    }
    // The name of a file does not make it one of another query, and no flag does.
    let alone = machines[0].path();
    let line = format!("{query} --party 0 --parties parties.toml -q");
    let names = |folder: &Path| {
        let names = fs::read_dir(folder).unwrap();
        let names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".p0.share")).collect();
        names.sort();
        names
    };
    let own = names(&alone.join("shares"));
    assert_eq!(own.len(), 4, "{own:?}");
    let share = share.replace("--out shares", "--out others");
    run(all.path(), &format!("{share} alice --to 0")).good();
    let others = names(&all.path().join("others"));
    assert_eq!(others.len(), 2, "{others:?}");
    let others_are = |of: &str| {
        for other in &others {
            let end = other.split_once('.').unwrap().1;
            let name = own.iter().find(|name| name.ends_with(end)).unwrap();
            assert_eq!(name == other, of == "the same query", "{name}, {other}");
            fs::create_dir_all(alone.join("mixed")).unwrap();
            fs::copy(
                all.path().join("others").join(other),
                alone.join("mixed").join(name),
            )
            .unwrap();
        }
    };
    others_are("another query");
    for clinic in own.iter().filter(|name| name.contains(".clinic.")) {
        fs::copy(
            alone.join("shares").join(clinic),
            alone.join("mixed").join(clinic),
        )
        .unwrap();
    }
    let told = run(alone, &format!("{line} --shares mixed"));
    let told = told.bad(3, &["its job is", "`query-", "ask for shares for this one"]);
    assert!(!told.stderr.contains("name the job"), "{told}");
    let job = "--shares mixed --job query";
    run(alone, &format!("{line} {job}")).bad(2, &["--job is not for queries", "--shares DIR"]);
    let shared = "--shared-input claims.amount=a.share";
    run(alone, &format!("{line} {shared}")).bad(2, &["--shared-input is not for queries"]);
    // Columns of two calls are not one table.
    for other in &others {
        fs::remove_file(all.path().join("others").join(other)).unwrap();
    }
    run(all.path(), &format!("{share} alice")).good();
    let others = names(&all.path().join("others"));
    let alice: Vec<_> = others.iter().filter(|name| own.contains(name)).collect();
    assert_eq!(alice.len(), 2, "{others:?}");
    for name in &own {
        fs::copy(
            alone.join("shares").join(name),
            alone.join("mixed").join(name),
        )
        .unwrap();
    }
    fs::copy(
        all.path().join("others").join(alice[1]),
        alone.join("mixed").join(alice[1]),
    )
    .unwrap();
    let parts = [
        "did not make it together",
        alice[0].as_str(),
        alice[1].as_str(),
    ];
    run(alone, &format!("{line} --shares mixed")).bad(3, &parts);
    // Without shares, or without those of a column.
    run(alone, &line).bad(2, &["client alice", "--shares"]);
    fs::remove_file(alone.join("shares").join(alice[1])).unwrap();
    let parts = [
        "no such file",
        alice[1].as_str(),
        "claims.amount of client alice",
    ];
    run(alone, &format!("{line} --shares shares")).bad(3, &parts);
    run(all.path(), &format!("{query} --local 3 --shares shares")).bad(2, &["--shares"]);
}

/// Columns' names may be as long as files' names are, and alike but for what files' names lack.
#[test]
fn names_of_columns_are_not_those_of_files() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    parties(path);
    let long = "x".repeat(250);
    fs::write(path.join("t.csv"), format!("{long},a b,a_b\n1,2,3\n")).unwrap();
    let proposed = run(path, "schema t.csv").good().stdout;
    fs::write(path.join("t.toml"), proposed).unwrap();
    fs::write(
        path.join("q.sql"),
        format!("select {long}, \"a b\", a_b from t"),
    )
    .unwrap();
    let line = "share @q.sql -t t=t.csv:a --client a --parties parties.toml --out s";
    run(path, line).good();
    let files = fs::read_dir(path.join("s")).unwrap();
    assert_eq!(files.count(), 9);
    // Files of another query are beside them.
    run(path, &format!("{line} --to 1")).good();
    assert_eq!(fs::read_dir(path.join("s")).unwrap().count(), 18);
}

#[test]
fn parties_with_other_schemas_compute_nothing() {
    let machines = machines();
    // As many bits, and another meaning: the programs are the same.
    let path = machines[2].path().join("patients.toml");
    let schema = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        schema.replace("ward = \"text(8, ascii)\"", "ward = \"text(8)\""),
    )
    .unwrap();
    let run = |party: usize| {
        let line = format!("{TABLES} --party {party} --parties parties.toml -q --csv");
        start(machines[party].path(), &line)
    };
    let running: Vec<Running> = (0..3).map(run).collect();
    for ended in running.into_iter().map(Running::end) {
        assert_ne!(ended.status, 0, "{ended}");
        assert_eq!(ended.stdout, "", "{ended}");
        assert!(ended.stderr.contains("the schema of patients"), "{ended}");
    }
}

#[test]
fn queries_of_tpch_are_computed_in_processes_of_their_own() {
    let folder = TempDir::new().unwrap();
    for (transport, only) in [("tls", "q6"), ("memory", "q1,q6")] {
        let line =
            format!("tpch --scale 0.001 --only {only} --transport {transport} --json --skip-check");
        let told = run(folder.path(), &line).good();
        let rows = told.stdout.lines().map(serde_json::from_str);
        let rows: Vec<serde_json::Value> = rows.collect::<Result<_, _>>().unwrap();
        let names: Vec<_> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
        assert_eq!(names.join(","), only);
        for row in rows {
            assert!(row["seconds"].as_f64() > Some(0.0), "{row}");
            assert!(row["bytes"].as_u64() > Some(100_000), "{row}");
            assert!(row["right"].is_null(), "{row}");
        }
    }
    run(folder.path(), "tpch --only q23").bad(2, &["q1 to q22"]);
    // Without the other system all but the comparison is there.
    let alone = "tpch --scale 0.001 --only q6 --python nothing --transport memory";
    let told = run(folder.path(), alone).good();
    assert!(told.stderr.contains("pip install duckdb"), "{told}");
}
