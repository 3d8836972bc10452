//! Right results, by every way that parties can be started.

use crate::command::{SUM, adder, madrigal, party, roster, write};

#[test]
fn parties_on_one_machine_over_each_transport() {
    let directory = adder();
    for transport in ["memory", "tcp", "tls"] {
        for parties in [2, 3] {
            let line = format!(
                "run --circuit sum.txt --local {parties} --input 0=a --input 1=b --transport {transport}"
            );
            assert_eq!(
                madrigal(directory.path(), &line).good().stdout,
                SUM,
                "{line}"
            );
        }
    }
}

#[test]
fn owners_receivers_and_the_ways_to_compute() {
    let directory = adder();
    for rest in [
        "--local 3 --owners 2,0 --input 2=a --input 0=b --to 1",
        "--local 3 --owners 1,1 --input 1=both --to 0,2",
        "--local 2 --input 0=a --input 1=b --phases interleaved",
        "--local 3 --input 0=a --input 1=b --phases sequential --broadcast relay",
        "--local 2 --input 0=a --input 1=b --network lan --repeat 2",
        "--local 3 --input 0=a --input 1=b --protocol R",
        "--local 3 --input 0=a --input 1=b --extension iknp",
        "--local 2 --input 0=a --input 1=b --extension silent",
        "--local 2 --input 0=a --input 1=b --link wan",
    ] {
        write(directory.path(), "both", "3 4\nff 2\n");
        let line = format!("run --circuit sum.txt --transport memory --output out {rest}");
        assert_eq!(madrigal(directory.path(), &line).good().stdout, "");
        let output = std::fs::read_to_string(directory.path().join("out")).unwrap();
        assert_eq!(output, SUM, "{rest}");
        std::fs::remove_file(directory.path().join("out")).unwrap();
    }
}

/// Enough lanes for several blocks on each of the threads, and other inputs in each.
#[test]
fn parties_on_several_threads() {
    let directory = adder();
    let path = directory.path();
    let lines = |factor: u32| -> String {
        let line = |i| format!("{:x}\n", factor * i % 251);
        (0..20_000).map(line).collect()
    };
    write(path, "many0", &lines(7));
    write(path, "many1", &lines(13));
    let run = |rest: &str| {
        let line = format!("run --circuit sum.txt --input 0=many0 --input 1=many1 {rest}");
        madrigal(path, &line).good().stdout
    };
    let expected = run("--local 2 --transport memory");
    // Lanes are cut alike whatever carries them: each transport has two of these.
    for rest in [
        "--local 2 --threads 2 --transport tcp",
        "--local 3 --threads 3 --phases interleaved --transport memory",
        "--local 3 --threads 3 --phases interleaved --transport tls",
        "--local 3 --threads 2 --protocol R --transport tcp",
        "--local 3 --threads 2 --protocol R --transport tls",
        "--local 2 --threads 2 --extension silent --repeat 2 --transport memory",
    ] {
        let got = run(rest);
        assert!(got == expected, "{rest}");
    }
    let line = "run --circuit sum.txt --local 2 --threads 0 --input 0=a --input 1=b";
    madrigal(path, line).bad(2, &["--threads", "1 to 64"]);
}

#[test]
fn three_real_parties_over_tls() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    let running = [
        party(path, 0, "--input a --to 0,2"),
        party(path, 1, "--input 1=b --to 0,2 --output unwritten"),
        party(path, 2, "--lanes 2 --to 0,2 --stats stats.json"),
    ];
    let [zero, one, two] = running.map(|running| running.end().good());
    assert_eq!(
        [zero.stdout.as_str(), &one.stdout, &two.stdout],
        [SUM, "", SUM]
    );
    assert!(!path.join("unwritten").exists());
    let statistics = std::fs::read_to_string(path.join("stats.json")).unwrap();
    let statistics: serde_json::Value = serde_json::from_str(&statistics).unwrap();
    assert!(statistics["parties"][0].is_null());
    assert_eq!(statistics["parties"][2]["party"], 2);
    assert_eq!(statistics["transport"], "tls");
}

#[test]
fn real_parties_in_the_clear_must_ask_for_it() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    party(path, 0, "--input a --transport tcp")
        .end()
        .bad(2, &["--insecure"]);
    let running = [("a", 0), ("b", 1)].map(|(input, me)| {
        party(
            path,
            me,
            &format!("--input {input} --transport tcp --insecure"),
        )
    });
    for running in running {
        assert_eq!(running.end().good().stdout, SUM);
    }
}

#[test]
fn doctors_meet() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    let doctor = |me| {
        let line =
            format!("doctor --peers parties.toml --identity p{me} --connect-timeout 4s --json");
        crate::command::start(path, &line)
    };
    for (me, running) in [doctor(0), doctor(1)].into_iter().enumerate() {
        let told = running.end().bad(4, &["1 of 2 other parties"]);
        let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
        let [other, missing] = [&told["peers"][0], &told["peers"][1]];
        assert_eq!(other["party"], 1 - me);
        assert!(other["problem"].is_null(), "{other}");
        assert!(other["round_trip_seconds"].as_f64().unwrap() > 0.0);
        assert!(
            missing["problem"]
                .as_str()
                .unwrap()
                .contains("did not connect"),
            "{missing}"
        );
        assert!(told["machine"]["level"].is_string());
        // The measured link is written as a run takes it.
        let link = told["link"].as_str().unwrap();
        let line = format!("explain --circuit sum.txt --protocol B --parties 2 --link {link}");
        madrigal(path, &line).good();
    }
}

/// Alone, with the port of somebody else, or with an interface that is not there.
#[test]
fn where_a_party_listens() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    party(path, 1, "--input b --listen foo")
        .end()
        .bad(2, &["--listen", "0.0.0.0:7000"]);
    // TEST-NET-1 is nobody's.
    party(path, 1, "--input b --listen 192.0.2.1:7000")
        .end()
        .bad(4, &["192.0.2.1:7000", "one of its own"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    party(path, 1, &format!("--input b --listen {taken}"))
        .end()
        .bad(4, &["uses the port"]);
}

#[test]
fn doctors_know_a_foreign_key() {
    use madrigal_net::identity::{Identity, IdentityFiles};
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    madrigal(path, "keygen --out other").good();
    let text = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let [ours, theirs] = ["p1", "other"].map(|name| {
        let files = IdentityFiles::in_directory(path, name);
        Identity::load(&files).unwrap().fingerprint().to_string()
    });
    write(path, "others.toml", &text.replace(&ours, &theirs));
    let doctor = |list: &str, key: &str| {
        let line = format!("doctor --peers {list} --identity {key} --connect-timeout 4s");
        crate::command::start(path, &line)
    };
    let running = [doctor("parties.toml", "p0"), doctor("others.toml", "other")];
    for running in running {
        let ended = running.end().bad(5, &["1 of 1 other parties"]);
        assert!(ended.stdout.contains(&theirs), "{ended}");
    }
}

#[test]
fn a_dealer_beside_the_parties() {
    let directory = adder();
    let path = directory.path();
    for transport in ["memory", "tcp", "tls"] {
        let line = format!(
            "run --circuit sum.txt --local 2 --input 0=a --input 1=b --transport {transport} --correlations dealer"
        );
        assert_eq!(madrigal(path, &line).good().stdout, SUM, "{line}");
    }
    roster(path, 3);
    let with = "--correlations dealer";
    party(path, 0, &format!("--input a {with}"))
        .end()
        .bad(2, &["names no dealer", "[dealer]"]);
    // The last of the three deals.
    let text = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let (parties, dealer) = text.rsplit_once("[[party]]").unwrap();
    write(path, "parties.toml", &format!("{parties}[dealer]{dealer}"));
    let dealer = crate::command::start(path, "dealer --parties parties.toml --once");
    let running = [(0, "a"), (1, "b")]
        .map(|(me, input)| party(path, me, &format!("--input {input} {with} --repeat 3")));
    for running in running {
        assert_eq!(running.end().good().stdout, SUM);
    }
    let dealer = dealer.end().good();
    assert!(dealer.stderr.contains("jobs served: 3"), "{dealer}");
    // Without, it is not asked.
    let running =
        [(0, "a"), (1, "b")].map(|(me, input)| party(path, me, &format!("--input {input}")));
    for running in running {
        assert_eq!(running.end().good().stdout, SUM);
    }
}

/// A party's fault lasts for a while: a dealer neither spins nor repeats itself.
#[test]
fn a_dealer_that_is_refused_bides_its_time() {
    use std::io::{Read, Write};
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    let text = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let (parties, dealer) = text.rsplit_once("[[party]]").unwrap();
    write(path, "parties.toml", &format!("{parties}[dealer]{dealer}"));
    // Something else listens where party 0 should.
    let (_, address) = parties.split_once("address = \"").unwrap();
    let (address, _) = address.split_once('"').unwrap();
    let other = std::net::TcpListener::bind(address).unwrap();
    let mut dealer = crate::command::start(path, "dealer --parties parties.toml");
    other.set_nonblocking(true).unwrap();
    let (start, mut tries) = (std::time::Instant::now(), 0);
    while start.elapsed() < std::time::Duration::from_secs(3) {
        let Ok((mut stream, _)) = other.accept() else {
            std::thread::sleep(std::time::Duration::from_millis(5));
            continue;
        };
        tries += 1;
        stream.set_nonblocking(false).unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    dealer.kill();
    let ended = dealer.end();
    assert!((2..=8).contains(&tries), "{tries} tries: {ended}");
    assert_eq!(ended.stderr.matches("madrigal:").count(), 1, "{ended}");
}

#[test]
fn a_network_may_change() {
    let directory = adder();
    let path = directory.path();
    let run = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --quiet --network";
    madrigal(path, &format!("{run} 2ms,100Mbps/5ms/1ms,10Mbps")).good();
    madrigal(path, &format!("{run} 1ms/1s/nowhere")).bad(2, &["`nowhere` is no network"]);
    madrigal(path, &format!("{run} 1ms/soon/1ms")).bad(2, &["is no network"]);
}
