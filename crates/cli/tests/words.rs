//! Texts of the program: hints that can be followed, numbers that mean something.

use crate::command::{adder, madrigal, party, roster, start, write};

#[test]
fn times_are_told_where_a_network_is_named() {
    let directory = adder();
    let path = directory.path();
    let plain = madrigal(path, "explain --circuit sum.txt").good();
    for times in ["at least", "expected", "takes about"] {
        assert!(!plain.stdout.contains(times), "{plain}");
    }
    assert!(
        plain.stdout.contains(" 1 lane,") && plain.stdout.contains("1 part."),
        "{plain}"
    );
    let wan = madrigal(path, "explain --circuit sum.txt --network wan").good();
    for times in ["network at least", "expected", "`wan` the job takes about"] {
        assert!(wan.stdout.contains(times), "{wan}");
    }
}

#[test]
fn expected_times_grow_with_latency_bytes_and_lanes() {
    let directory = adder();
    let expected = |rest: &str| {
        let line = format!("explain --circuit sum.txt --extension softspoken4 --json {rest}");
        let told = madrigal(directory.path(), &line).good();
        let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
        let seconds = |name: &str| told["expected"][name].as_f64().unwrap();
        let [setup, online] = ["setup_seconds", "online_seconds"].map(seconds);
        let total = seconds("total_seconds");
        assert!(total.is_finite() && total >= setup.max(online) && setup.min(online) > 0.0);
        for phase in ["setup", "online"] {
            let times = &told["parties"][0][phase];
            let [least, expected] =
                ["least_seconds", "expected_seconds"].map(|name| times[name].as_f64().unwrap());
            assert!(expected >= least, "{phase}: {expected} and {least}");
        }
        total
    };
    // So slow that what this machine does beside it does not matter.
    let usual = expected("--lanes 100000 --network 1s,1Mbps");
    assert!(expected("--lanes 100000 --network 2s,1Mbps") > usual + 0.5);
    assert!(expected("--lanes 100000 --network 1s,500kbps") > 1.5 * usual);
    assert!(expected("--lanes 200000 --network 1s,1Mbps") > 1.5 * usual);
}

#[test]
fn a_hundred_million_lanes_are_explained_at_once() {
    let directory = adder();
    let line = "explain --circuit sum.txt --parties 3 --memory 64KiB --lanes 100000000";
    let told = madrigal(directory.path(), line).good();
    assert!(told.stdout.contains("100,000,000 lanes"), "{told}");
    // Lane by lane it would be an hour. A machine that is busy takes its time for few lanes, too.
    let few = madrigal(directory.path(), &line.replace("000000", "")).good();
    let most = 10 * few.time + std::time::Duration::from_secs(120);
    assert!(told.time < most, "{told} {few}");
}

#[test]
fn a_link_of_which_nothing_is_known_may_be_named() {
    let directory = adder();
    let path = directory.path();
    let line = "explain --circuit sum.txt --network wan --link none";
    let told = madrigal(path, line).good();
    assert!(
        told.stdout
            .contains("does not say what the network is like"),
        "{told}"
    );
    madrigal(path, "explain --circuit sum.txt --link nowhere")
        .bad(2, &["three-party-lan", "`none`"]);
}

#[test]
fn no_tip_leads_to_a_flag_for_tests() {
    let directory = adder();
    for line in ["precompute --protocol R", "run --test-protocol 3"] {
        let told = madrigal(directory.path(), line).bad(2, &["unexpected argument"]);
        assert!(!told.stderr.contains("--test-protocol-version"), "{told}");
    }
    let told = madrigal(directory.path(), "run --sircuit x").bad(2, &["'--circuit'"]);
    assert!(told.stderr.contains("tip"), "{told}");
}

#[test]
fn flags_say_what_they_take() {
    let directory = adder();
    let path = directory.path();
    let run = |flags: &str| madrigal(path, &format!("run --circuit sum.txt --local 2 {flags}"));
    run("--owners a,b").bad(2, &["numbers of parties"]);
    run("--owners 1").bad(2, &["names 1 owner,", "has 2 input values"]);
    run("--memory 16EiB").bad(2, &["15EiB"]);
    run("--stall-timeout 10000h").bad(2, &["1ms to 8760h"]);
    madrigal(path, "doctor --peers nowhere.toml").bad(3, &["nowhere.toml", "--peers"]);
    write(path, "wrong.toml", "x");
    madrigal(path, "doctor --peers wrong.toml").bad(3, &["wrong.toml, line 1"]);
}

/// It is no party: it has no number, and no flag for one.
#[test]
fn the_dealer_is_called_so() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    let text = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let (parties, dealer) = text.rsplit_once("[[party]]").unwrap();
    write(path, "lists.toml", &text);
    write(path, "parties.toml", &format!("{parties}[dealer]{dealer}"));
    let deal = |flags: &str| start(path, &format!("dealer --once {flags}")).end();
    let told = [
        deal("--parties lists.toml").bad(2, &["`[dealer]` in place of `[[party]]`"]),
        deal("--parties parties.toml --identity p0").bad(2, &["not of the dealer", "--identity"]),
        deal("--parties parties.toml --transport tcp").bad(2, &["--insecure"]),
        deal("--parties parties.toml --transport memory").bad(2, &["tls"]),
        deal("--parties parties.toml --connect-timeout 300ms").bad(4, &["party 0"]),
    ];
    for told in told {
        for foreign in ["--party", "--input", "--store"] {
            assert!(!told.stderr.contains(foreign), "{told}");
        }
    }
    let with = "--correlations dealer";
    let running = [(0, "a"), (1, "b")].map(|(me, input)| {
        party(
            path,
            me,
            &format!("--input {input} {with} --connect-timeout 3s"),
        )
    });
    for running in running {
        let told = running.end().bad(4, &["the dealer"]);
        assert!(!told.stderr.contains("party 2"), "{told}");
    }
    party(path, 0, &format!("--input a {with} --identity p2"))
        .end()
        .bad(2, &["that of the dealer", "madrigal dealer"]);
}
