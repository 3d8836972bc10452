//! A party that is told to stop ends in good order, with the status that shells expect, and the others hear why.

#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Running, SUM, adder, circuit, madrigal, party, roster, start, write};

fn send(signal: &str, running: &Running) {
    let status = Command::new("kill")
        .args([signal, &running.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// Before, a signal ended a party without a word: the others saw a lost connection.
#[test]
fn a_party_that_is_stopped_tells_the_others() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    // Not SIGINT: what runs tests in the background has it ignored, and so it stays.
    // Slow enough to be stopped in the middle.
    let running = [
        party(path, 0, "--input a --network 2s"),
        party(path, 1, "--input b --network 2s"),
    ];
    std::thread::sleep(Duration::from_millis(1500));
    send("-TERM", &running[1]);
    let [zero, one] = running.map(Running::end);
    one.bad(143, &["stopped by", "SIGTERM"]);
    zero.bad(4, &["party 1 gave up", "stopped by", "SIGTERM"]);
}

/// Whether it waits for others, for its turn, or for children, which end too.
#[test]
fn whoever_waits_is_stopped_too() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    let text = std::fs::read_to_string(path.join("parties.toml")).unwrap();
    let (parties, dealer) = text.rsplit_once("[[party]]").unwrap();
    write(path, "dealt.toml", &format!("{parties}[dealer]{dealer}"));
    let local = "run --circuit sum.txt --local 2 --input 0=a --input 1=b --network 3s";
    let running = [
        party(path, 0, "--input a"),
        start(path, "dealer --parties dealt.toml --identity p2"),
        start(path, local),
        start(path, &format!("{local} --transport memory")),
    ];
    std::thread::sleep(Duration::from_millis(1500));
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running[2].id()));
    let children = children.unwrap_or_default();
    running.iter().for_each(|one| send("-TERM", one));
    for one in running {
        let ended = one.end().bad(143, &["SIGTERM"]);
        assert!(ended.time < Duration::from_secs(8), "{ended}");
    }
    let alive = |id: &str| {
        let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z")
    };
    let start = Instant::now();
    while children.split_whitespace().any(alive) {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{children} still run"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// While it waits a party says for whom, once, on a pipe too.
#[test]
fn a_party_says_for_whom_it_waits() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    // It says so after two seconds.
    let line = "run --circuit sum.txt --parties parties.toml --party 0 --input a --connect-timeout";
    let ended = start(path, &format!("{line} 4s"))
        .end()
        .bad(4, &["party 1, party 2 did not connect"]);
    let told = "waiting for party 1 `p1`, party 2 `p2`";
    assert_eq!(ended.stderr.matches(told).count(), 1, "{ended}");
    let ended = start(path, &format!("{line} 3s --quiet"))
        .end()
        .bad(4, &["did not connect"]);
    assert_eq!(ended.stderr.matches("waiting for").count(), 0, "{ended}");
}

/// Before, the processes of a local run waited for ever: what was to be told them was not written, and nobody
/// looked.
#[test]
#[cfg(target_os = "linux")]
fn paths_that_are_no_text_are_paths() {
    let directory = adder();
    let odd = directory.path().join(OsStr::from_bytes(b"odd\xff\xfe"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::copy(circuit("int_add8_size.bristol"), odd.join("sum.txt")).unwrap();
    let run = |arguments: &[&OsStr]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_madrigal"));
        let child = child.args(arguments).current_dir(directory.path());
        let child = child.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&child.stderr).into_owned();
        assert!(child.status.success(), "{told}");
        String::from_utf8(child.stdout).unwrap()
    };
    let (sum, store) = (odd.join("sum.txt"), odd.join("store"));
    let mut made = words("precompute --local 2 --triples bits=1000 --store");
    made.push(store.as_os_str());
    run(&made);
    for transport in ["tcp", "memory"] {
        let mut line = words("run --local 2 --input 0=a --input 1=b --protocol B --transport");
        line.extend([
            OsStr::new(transport),
            OsStr::new("--circuit"),
            sum.as_os_str(),
        ]);
        line.extend([OsStr::new("--store"), store.as_os_str()]);
        assert_eq!(run(&line), SUM);
    }
}

fn words(line: &str) -> Vec<&OsStr> {
    line.split_whitespace().map(OsStr::new).collect()
}

/// Before, an empty key stayed behind, which no later `keygen` overwrites.
#[test]
fn a_full_disk_leaves_no_key_behind() {
    let directory = tempfile::tempdir().unwrap();
    // No file may have a byte; the signal that this would send is ignored.
    let script = format!(
        "trap '' XFSZ; ulimit -f 0; exec {} keygen --out full",
        env!("CARGO_BIN_EXE_madrigal")
    );
    let child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(directory.path())
        .output();
    let child = child.unwrap();
    let told = String::from_utf8_lossy(&child.stderr);
    assert_eq!(child.status.code(), Some(3), "{told}");
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        0,
        "{told}"
    );
    madrigal(directory.path(), "keygen --out full").good();
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Keys as containers and secret managers hand them over.
#[test]
fn keys_that_others_may_read_and_keys_from_descriptors() {
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    chmod(&path.join("p0.key"), 0o444);
    let zero = |rest: &str| party(path, 0, &format!("--input a {rest}"));
    zero("").end().bad(3, &["mode 0444", "--key-mode readable"]);
    chmod(&path.join("p0.key"), 0o464);
    zero("--key-mode readable")
        .end()
        .bad(3, &["mode 0464", "chmod go-w"]);
    chmod(&path.join("p0.key"), 0o440);
    std::fs::remove_file(path.join("p1.crt")).unwrap();
    let line =
        "run --circuit sum.txt --parties parties.toml --quiet --party 1 --input b --key-file";
    let script = |from: &str| {
        let program = env!("CARGO_BIN_EXE_madrigal");
        let mut child = Command::new("sh");
        let script = format!("cat p1.key | {program} {line} {from}");
        let child = child
            .args(["-c", &script])
            .current_dir(path)
            .stdout(Stdio::piped());
        child.stderr(Stdio::piped()).spawn().unwrap()
    };
    for from in ["fd:0", "/dev/stdin", "p1.key"] {
        let one = script(from);
        let zero = zero("--key-mode readable").end();
        let one = one.wait_with_output().unwrap();
        assert_eq!(zero.good().stdout, SUM);
        assert_eq!(String::from_utf8(one.stdout).unwrap(), SUM, "{from}");
    }
}

/// A certificate that ends within 30 days is told of; a new one that was made for less, when two thirds are over.
#[test]
fn a_certificate_that_ends_soon_is_told() {
    use madrigal_net::identity::{Identity, IdentityFiles, Validity};
    use std::time::SystemTime;
    let directory = adder();
    let path = directory.path();
    roster(path, 2);
    let files = IdentityFiles::in_directory(path, "p0");
    let day = Duration::from_secs(86_400);
    let now = SystemTime::now();
    let run = || {
        let line = "run --circuit sum.txt --parties parties.toml --party 0 --input a";
        let running = [start(path, line), party(path, 1, "--input b")];
        let [zero, one] = running.map(|party| party.end().good());
        assert!(one.stderr.is_empty(), "{one}");
        zero.stderr
    };
    for (before, after, told) in [
        (340, 25, true),
        (300, 40, false),
        (1, 7, false),
        (6, 1, true),
    ] {
        let validity = Validity::new(now - before * day, now + after * day).unwrap();
        let renewed = Identity::renew_from_key(&files.key, validity).unwrap();
        renewed.save_certificate(&files.certificate).unwrap();
        let stderr = run();
        assert_eq!(
            stderr.contains("keygen --renew"),
            told,
            "{before} {after}: {stderr}"
        );
    }
}
