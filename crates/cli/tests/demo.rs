//! The first thing the README shows: the ciphertext must be that of AES-128 in counter mode.

use std::path::Path;
use std::process::Command;

use aes::Aes128;
use ctr::cipher::{KeyIvInit as _, StreamCipher as _};

use crate::command::{adder, madrigal, roster, start, write};

const KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";

fn plaintext(path: &Path, bytes: usize) -> Vec<u8> {
    let plaintext: Vec<u8> = (0..bytes).map(|i| (i * i / 7) as u8).collect();
    std::fs::write(path.join("file"), &plaintext).unwrap();
    plaintext
}

fn encrypted(mut bytes: Vec<u8>, iv: &str) -> Vec<u8> {
    let block = |text: &str| u128::from_str_radix(text, 16).unwrap().to_be_bytes();
    ctr::Ctr128BE::<Aes128>::new(&block(KEY).into(), &block(iv).into()).apply_keystream(&mut bytes);
    bytes
}

fn read(path: &Path, name: &str) -> Vec<u8> {
    std::fs::read(path.join(name)).unwrap()
}

#[test]
fn the_ciphertext_is_that_of_other_programs() {
    let directory = adder();
    let path = directory.path();
    write(path, "key", &format!("{KEY}\n"));
    // The counter goes past its end, and the file ends within a block.
    let iv = "fffffffffffffffffffffffffffffffe";
    for (bytes, parties) in [(1, 2), (100, 3)] {
        let plaintext = plaintext(path, bytes);
        let line = format!("demo aes-ctr --file file --key key --iv {iv} --local {parties}");
        let told = madrigal(path, &line).good();
        assert!(told.stdout.contains("openssl enc -aes-128-ctr"), "{told}");
        assert!(
            !told.stdout.contains(KEY),
            "a key that was given is not shown"
        );
        assert_eq!(read(path, "file.enc"), encrypted(plaintext, iv));
    }
    let told = madrigal(
        path,
        "demo aes-ctr --file file --transport memory --out other",
    )
    .good();
    check_with_openssl(path, &told.stdout);
}

/// Runs the command that the program has printed.
fn check_with_openssl(path: &Path, told: &str) {
    if Command::new("openssl").arg("version").output().is_err() {
        println!("skipped: openssl is not installed");
        return;
    }
    let check = told
        .lines()
        .find_map(|line| line.strip_prefix("Check: "))
        .expect("a check");
    let status = Command::new("sh")
        .args(["-c", check])
        .current_dir(path)
        .status()
        .unwrap();
    assert!(status.success(), "{check}");
}

#[test]
fn real_parties_encrypt_too() {
    let directory = adder();
    let path = directory.path();
    roster(path, 3);
    write(path, "key", KEY);
    let plaintext = plaintext(path, 33);
    let iv = "000102030405060708090a0b0c0d0e0f";
    let running = [
        "--party 0 --key key".to_owned(),
        format!("--party 1 --file file --iv {iv}"),
        "--party 2".to_owned(),
    ]
    .map(|rest| start(path, &format!("demo aes-ctr --parties parties.toml {rest}")));
    for running in running {
        running.end().good();
    }
    assert_eq!(read(path, "file.enc"), encrypted(plaintext, iv));
    for (rest, part) in [
        ("--party 0", "--key"),
        ("--party 1", "--file"),
        ("--party 2 --file file", "--file is for party 1"),
        ("--party 1 --file file --key key", "--key is for party 0"),
    ] {
        madrigal(path, &format!("demo aes-ctr --parties parties.toml {rest}")).bad(2, &[part]);
    }
    write(path, "empty", "");
    madrigal(path, "demo aes-ctr --file empty").bad(3, &["empty"]);
    write(path, "short", "2b7e");
    madrigal(path, "demo aes-ctr --file file --key short").bad(3, &["32 hexadecimal digits"]);
}
