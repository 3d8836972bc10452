//! Circuits and networks on clients' values: from `madrigal share` over real parties to `madrigal combine`, at the cost that
//! was explained, and what is refused with which words.

use std::fs;
use std::path::Path;

use madrigal_nn::{Tensor, npy};
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Ended, adder, circuit, madrigal, roster, start, write};
use crate::models::seed;

/// Parties with keys, the adder, and a key of the press.
fn house(parties: usize) -> (TempDir, String) {
    let directory = adder();
    let path = directory.path();
    roster(path, parties);
    let told = madrigal(path, "keygen --out press --sealing").good().stdout;
    let key = told.lines().last().unwrap().split('"').nth(1).unwrap();
    (directory, key.to_owned())
}

/// A client shares a file for the adder.
fn share(path: &Path, rest: &str) {
    madrigal(
        path,
        &format!("share --parties parties.toml --client alice --out shares {rest}"),
    )
    .good();
}

/// All parties run this, with `{i}` for their number, and what each has alone.
fn run(path: &Path, parties: usize, line: &str, own: &[&str]) -> Vec<Ended> {
    let running = (0..parties).map(|party| {
        let own = own.get(party).copied().unwrap_or_default();
        let line = format!("{line} {own} --party {party}").replace("{i}", &party.to_string());
        start(
            path,
            &format!("{line} --parties parties.toml --quiet --connect-timeout 30s"),
        )
    });
    let running: Vec<_> = running.collect();
    running.into_iter().map(|one| one.end()).collect()
}

fn combine(path: &Path, parties: usize, output: &str, rest: &str) -> Ended {
    let files = (0..parties).map(|party| format!("out/{output}.press.p{party}.share"));
    let files: Vec<String> = files.collect();
    madrigal(
        path,
        &format!("combine {} --key press.sealing.key {rest}", files.join(" ")),
    )
}

fn json(path: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path.join(name)).unwrap()).unwrap()
}

/// What `told` of a party's phases has in common with what was explained.
fn same_cost(told: &Value, explained: &Value, about: &str) {
    for phase in ["setup", "online"] {
        for count in [
            "bytes_sent",
            "bytes_received",
            "messages",
            "rounds",
            "aes_blocks",
        ] {
            let (told, explained) = (&told[phase][count], &explained[phase][count]);
            assert!(explained.is_u64(), "{count} of {phase}: {explained}");
            assert_eq!(told, explained, "{count} of {phase}, {about}");
        }
    }
}

#[test]
fn circuits_take_clients_values_in_each_protocol() {
    for (protocol, parties) in [("R", 3), ("B", 3), ("Y", 3), ("Y2", 2), ("beta", 2)] {
        let (directory, key) = house(parties);
        let path = directory.path();
        write(path, "values", "4 2\n");
        share(
            path,
            &format!(
                "--job sum.txt --name 1 --type u8 --input values --protocol {protocol} --bits"
            ),
        );
        let flags =
            format!("--circuit sum.txt --owners 0,alice --to press,1 --protocol {protocol}");
        let line = format!(
            "run {flags} --shared-input 1=shares/1.alice.p{{i}}.share --keep-shares out \
             --client-key press={key} --stats stats{{i}}.json"
        );
        let ended = run(path, parties, &line, &["--input a"]);
        for (party, ended) in ended.into_iter().enumerate() {
            let expected = if party == 1 { "07\n01\n" } else { "" };
            assert_eq!(ended.good().stdout, expected, "{protocol}");
        }
        combine(path, parties, "0", "").good();
        assert_eq!(
            combine(path, parties, "0", "").good().stdout,
            "7\n1\n",
            "{protocol}"
        );
        let told = madrigal(
            path,
            &format!("explain {flags} -N {parties} --lanes 2 --json"),
        );
        let explained: Value = serde_json::from_str(&told.good().stdout).unwrap();
        for party in 0..parties {
            let told = json(path, &format!("stats{party}.json"));
            same_cost(
                &told["parties"][party],
                &explained["parties"][party],
                protocol,
            );
            assert_eq!(told["owners"], serde_json::json!([0, "alice"]));
            assert_eq!(told["to"], serde_json::json!([1, "press"]));
        }
    }
}

/// Rows of several clients, in any order of files; values of bytes and of bits; several threads and runs.
#[test]
fn values_of_any_width_are_rows_of_several_clients() {
    let (directory, _) = house(3);
    let path = directory.path();
    fs::copy(circuit("adder64.txt"), path.join("sum64.txt")).unwrap();
    // 40 bits are five bytes; 88 bits are the rest of the first number and the second one.
    write(path, "low.csv", "1,0,0,0,128\n255,255,255,255,255\n");
    write(path, "carl.csv", "0,0,0,3,0,0,0,0,0,0,0\n");
    write(path, "dora.csv", "0,0,0,1,0,0,0,0,0,0,0\n");
    let bits = "--bits --protocol B --job adding";
    share(path, &format!("--name 0 --type u8 --input low.csv {bits}"));
    let dora = "share --parties parties.toml --out shares --client";
    for client in ["carl", "dora"] {
        let line = format!("{dora} {client} --name 1 --type u8 --input {client}.csv {bits}");
        madrigal(path, &line).good();
    }
    let line = "run --circuit sum64.txt --widths 40,88 --owners alice,people --to press --job adding --threads 2 \
                --repeat 2 --shared-input 0=shares/0.alice.p{i}.share --keep-shares out";
    let carl = "shares/1.carl.p{i}.share";
    let dora = "shares/1.dora.p{i}.share";
    let own = [
        format!("--shared-input 1={carl},{dora}"),
        format!("--shared-input 1={dora},{carl}"),
        format!("--shared-input 1={dora} --shared-input 1={carl}"),
    ];
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    for ended in run(path, 3, line, &own) {
        assert_eq!(ended.good().stdout, "");
    }
    // (2^39 + 1) + 3 and (2^40 - 1) + 1, whatever clients come first.
    let files = "out/0.press.p0.share out/0.press.p2.share out/0.press.p1.share";
    let told = madrigal(path, &format!("combine {files}")).good().stdout;
    let both = [
        "549755813892\n1099511627776\n",
        "549755813890\n1099511627778\n",
    ];
    assert!(both.contains(&told.as_str()), "{told}");
    // Bits of a width that no type has.
    write(path, "bits.csv", "1,0,1\n0,1,1\n");
    share(
        path,
        "--name 0 --type bool --input bits.csv --bits --protocol B --job sum.txt",
    );
    write(path, "rest", "8193\nffff\n");
    write(path, "thirteen", "1 3\n1fff 0\n");
    let line = "run --circuit sum.txt --widths 3,13 --owners alice,0 --to press --shared-input 0=shares/0.alice.p{i}.share \
                --keep-shares out";
    write(path, "own", "3\n1fff\n");
    for ended in run(path, 3, line, &["--input own"]) {
        ended.good();
    }
    // 5 + (3 << 3 & 255) of 8 bits and no more of the second number; 6 + 0xf8 and 0xff.
    let told = madrigal(path, &format!("combine {files}")).good().stdout;
    assert_eq!(told, "29\n253\n");
}

#[test]
fn shares_for_circuits_that_do_not_fit_are_refused_by_name() {
    let (directory, _) = house(3);
    let path = directory.path();
    write(path, "values", "4 2\n");
    write(path, "three", "4 2 1\n");
    let bits = "--type u8 --bits --protocol B";
    share(
        path,
        &format!("--job sum.txt --name 1 --input values {bits}"),
    );
    let with =
        |more: &str| format!("share --parties parties.toml --client alice {more} --input values");
    for (out, more) in [
        ("ring", "--job sum.txt --name 1 --type u8"),
        (
            "words",
            "--job sum.txt --name 1 --type u16 --bits --protocol B",
        ),
        (
            "other",
            "--job other --name 1 --type u8 --bits --protocol B",
        ),
        (
            "first",
            "--job sum.txt --name 0 --type u8 --bits --protocol B",
        ),
        (
            "scalar",
            "--job sum.txt --name 1 --type u8 --bits --protocol B --shape 1,2",
        ),
        (
            "replicated",
            "--job sum.txt --name 1 --type u8 --bits --protocol R",
        ),
    ] {
        madrigal(path, &format!("{} --out {out}", with(more))).good();
    }
    let line = "run --circuit sum.txt --parties parties.toml --party 0 --owners 0,alice --input a --connect-timeout 1s -q";
    let at = |folder: &str| format!("--shared-input 1={folder}/1.alice.p0.share");
    let keep = "--to press --keep-shares out";
    for (rest, status, words) in [
        (
            at("ring"),
            3,
            vec!["sharing is A", "B was expected", "madrigal share --bits"],
        ),
        (at("words"), 3, vec!["element", "madrigal share --bits"]),
        (at("replicated"), 3, vec!["sharing is R", "--protocol"]),
        (at("scalar"), 3, vec!["shape is [1, 2]", "[_]"]),
        (at("other"), 3, vec!["job is `other`", "`sum.txt`"]),
        (
            "--shared-input 1=first/0.alice.p0.share".to_owned(),
            3,
            vec!["name is `0`", "`1`"],
        ),
        (
            "--shared-input 1=shares/1.alice.p1.share".to_owned(),
            3,
            vec!["server is 1, and 0 was expected", "its own name"],
        ),
        (
            String::new(),
            2,
            vec!["--shared-input 1=FILE is missing", "client alice"],
        ),
        (
            format!("{} --shared-input 2=none", at("shares")),
            2,
            vec!["no such input", "0, 1"],
        ),
        (
            format!("{} --shared-input 0=none", at("shares")),
            2,
            vec!["party 0", "--input"],
        ),
        (
            format!("{} --to press", at("shares")),
            2,
            vec!["output 0 is for client press", "--keep-shares"],
        ),
        (
            format!("{} {keep} --client-key bob={}", at("shares"), "x"),
            2,
            vec!["--client-key"],
        ),
        (
            format!("{} --lanes 3", at("shares")),
            2,
            vec!["--lanes", "3"],
        ),
        (
            format!("{} --job else", at("shares")),
            3,
            vec!["`else` was expected"],
        ),
        (
            format!("{} --output shares/1.alice.p0.share", at("shares")),
            2,
            vec!["overwrite"],
        ),
    ] {
        madrigal(path, &format!("{line} {rest}")).bad(status, &words);
    }
    let local = "run --circuit sum.txt --local 3 --input 0=a";
    madrigal(path, &format!("{local} --owners 0,alice")).bad(2, &["--owners", "--party"]);
    madrigal(path, &format!("{local} --input 1=b --to press")).bad(2, &["--to", "--party"]);
    madrigal(path, &format!("{local} --input 1=b --keep-shares out")).bad(2, &["--party"]);
    madrigal(path, &format!("{local} --owners 0,al/ice")).bad(2, &["--owners", "clients' names"]);
}

#[test]
fn parties_that_differ_in_clients_compute_nothing() {
    let (directory, _) = house(3);
    let path = directory.path();
    write(path, "values", "4 2\n");
    let bits = "--job sum.txt --name 1 --type u8 --input values --bits --protocol R";
    share(path, bits);
    madrigal(
        path,
        &format!("share --parties parties.toml --client alice --out again {bits}"),
    )
    .good();
    let line = "run --circuit sum.txt --protocol R --owners 0,alice --keep-shares out";
    let at = ["shares", "shares", "again"].map(|folder| {
        format!("--input a --to press --shared-input 1={folder}/1.alice.p{{i}}.share")
    });
    let mut own = at.clone();
    own[1..]
        .iter_mut()
        .for_each(|own| *own = own.replace("--input a", ""));
    for ended in run(path, 3, line, &own.each_ref().map(String::as_str)) {
        ended.bad(5, &["submission of input 1"]);
    }
    own[2] = own[1].replace("press", "bob");
    // Who hears from another one first that the receivers differ is not told the flag.
    let ended = run(path, 3, line, &own.each_ref().map(String::as_str));
    let names_the_flag = |ended: &Ended| ended.stderr.contains("--to");
    assert!(ended.iter().any(names_the_flag), "{ended:?}");
    for ended in ended {
        ended.bad(5, &["receivers"]);
    }
    assert!(!path.join("out").exists(), "nothing was computed");
}

/// A client brings the data and gets the results: no party sees either.
#[test]
fn networks_take_clients_data() {
    let model = seed("conv.onnx").display().to_string();
    for (protocol, parties) in [("R", 3), ("A+B", 2), ("alpha+Y2", 2)] {
        let (directory, key) = house(parties);
        let path = directory.path();
        let numbers: Vec<f32> = (0..2 * 72).map(|i| (i % 11) as f32 / 8.0 - 0.5).collect();
        let data = Tensor::f32(vec![2, 2, 6, 6], numbers).unwrap();
        fs::write(path.join("x.npy"), npy::write(&data)).unwrap();
        share(
            path,
            &format!(
                "--job conv.onnx --name x --type fixed(64,16) --input x.npy --protocol {protocol}"
            ),
        );
        let flags = format!("--data alice --to press --protocol {protocol}");
        let line = format!(
            "infer --model {model} --batch 2 {flags} --shared-input x=shares/x.alice.p{{i}}.share --keep-shares out \
             --client-key press={key} --stats stats{{i}}.json"
        );
        for ended in run(path, parties, &line, &[]) {
            assert_eq!(ended.good().stdout, "", "{protocol}");
        }
        combine(path, parties, "y", "--out y.npy").good();
        let told = npy::read(&fs::read(path.join("y.npy")).unwrap()).unwrap();
        // With all parties here, values are given and shown in the clear.
        let local =
            format!("infer --model {model} --local {parties} --input x.npy --output z.npy -q");
        madrigal(path, &format!("{local} {flags}")).good();
        let shown = npy::read(&fs::read(path.join("z.npy")).unwrap()).unwrap();
        assert_eq!(told.shape(), [2, 18]);
        for (told, shown) in told.to_f64().into_iter().zip(shown.to_f64()) {
            assert!((told - shown).abs() < 1e-3, "{told}, {shown} in {protocol}");
        }
        let line = format!("model explain {model} --batch 2 -N {parties} {flags} --json");
        let explained: Value = serde_json::from_str(&madrigal(path, &line).good().stdout).unwrap();
        // Counts of the party that has most of each.
        for phase in ["setup", "online"] {
            for count in ["bytes_sent", "rounds"] {
                let told = (0..parties).map(|party| {
                    let told = json(path, &format!("stats{party}.json"));
                    told["parties"][party][phase][count].as_u64()
                });
                let explained = explained["mixes"][0][phase][count].as_u64();
                assert_eq!(
                    told.max().flatten(),
                    explained,
                    "{count} of {phase} in {protocol}"
                );
            }
        }
    }
}

#[test]
fn data_that_does_not_fit_a_network_is_refused_by_name() {
    let model = seed("conv.onnx").display().to_string();
    let (directory, _) = house(3);
    let path = directory.path();
    write(path, "x", &"1 ".repeat(72));
    write(path, "x.csv", &["1"; 72].join(","));
    for (out, more) in [
        ("mix", "--type fixed(64,16) --shape 1,2,6,6 --protocol A+B"),
        ("numbers", "--type fixed(32,8) --shape 1,2,6,6 --protocol R"),
        ("shape", "--type fixed(64,16) --shape 1,72 --protocol R"),
    ] {
        let line = "share --parties parties.toml --job conv.onnx --name x --client alice --input x";
        madrigal(path, &format!("{line} {more} --out {out}")).good();
    }
    let line = format!(
        "infer --model {model} --parties parties.toml --party 1 --connect-timeout 1s -q --protocol R --batch 1"
    );
    for (rest, status, words) in [
        ("mix", 3, vec!["sharing is A", "R was expected"]),
        ("numbers", 3, vec!["Fixed<i32, 8>", "Fixed<i64, 16>"]),
        ("shape", 3, vec!["shape is [1, 72]", "[1, 2, 6, 6]"]),
    ] {
        let rest = format!("{line} --data alice --shared-input x={rest}/x.alice.p1.share");
        madrigal(path, &rest).bad(status, &words);
    }
    for (rest, words) in [
        (
            "--data alice",
            vec!["--shared-input x=FILE is missing", "client alice"],
        ),
        (
            "--data alice --input x.csv",
            vec!["party 1", "client alice"],
        ),
        ("--data 2", vec!["--data", "name of a client"]),
        (
            "--input x.csv --to press",
            vec!["output", "client press", "--keep-shares"],
        ),
    ] {
        madrigal(path, &format!("{line} {rest}")).bad(2, &words);
    }
    let local =
        format!("infer --model {model} --local 3 --keep-shares out --batch 1 --input x.csv");
    madrigal(path, &local).bad(2, &["--party"]);
}
