//! Clients apart from servers: values cut into sealed files, output shares put together, and what is refused with which
//! words and status.

use std::fs;
use std::path::Path;

use madrigal_clients::{Named, ShareFile, combine, read_file};
use madrigal_core::Party;
use madrigal_engine::Sharing;
use madrigal_kernels::{Block, Prg};
use madrigal_net::identity::KeyMode;
use madrigal_net::sealing::{PublicSealingKey, SealingKey};
use madrigal_nn::{Tensor, npy};
use madrigal_operations::Backend;
use madrigal_program::lower::Mix;
use madrigal_program::{Array, Shape, Type};

use crate::command::{madrigal, write};

/// Three servers with keys, and their list.
fn servers() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mut list = String::new();
    for server in 0..3 {
        let line = format!(
            "keygen --out s{server} --address 127.0.0.1:{}",
            7700 + server
        );
        list += &madrigal(path, &line).good().stdout;
    }
    write(path, "parties.toml", &list);
    directory
}

fn share(path: &Path, rest: &str) -> madrigal_testkit::command::Ended {
    let line =
        "share --parties parties.toml --job survey --name income --client alice --out shares";
    madrigal(path, &format!("{line} {rest}"))
}

fn key(path: &Path, server: usize) -> SealingKey {
    let file = path.join(format!("s{server}.sealing.key"));
    SealingKey::load(&file, KeyMode::Private).unwrap()
}

fn share_file(path: &Path, server: usize) -> std::path::PathBuf {
    path.join(format!("shares/income.alice.s{server}.share"))
}

/// The value that the servers' files give.
fn combined(path: &Path) -> (Named, Array) {
    let files = (0..3).map(|server| {
        let file = share_file(path, server);
        let share = read_file(&file, Some(&key(path, server))).unwrap();
        madrigal_clients::Received { file, share }
    });
    let (header, value) = combine(files.collect()).unwrap();
    let names = header.named().clone();
    let shape = Shape::checked(&names.shape).unwrap();
    let array = Array::from_shares(names.element_type.parse().unwrap(), &shape, &value);
    (names, array.unwrap())
}

#[test]
fn values_of_all_files_types_and_mixes_are_shared() {
    let directory = servers();
    let path = directory.path();
    let tensor = Tensor::f32(vec![2, 3], vec![0.5, -1.25, 3.0, 100.0, -0.0625, 7.0]).unwrap();
    fs::write(path.join("x.npy"), npy::write(&tensor)).unwrap();
    write(path, "x.csv", "0.5,-1.25,3\n100,-0.0625,7\n");
    write(path, "x.txt", "0.5 -1.25\n3,100;-0.0625 7\n");
    for (file, shape) in [
        ("x.npy", vec![2, 3]),
        ("x.csv", vec![2, 3]),
        ("x.txt", vec![6]),
    ] {
        for mix in ["A+B", "B", "R", "A+Y", "Y"] {
            let line = format!("--type fixed(64,16) --input {file} --protocol {mix}");
            let told = share(path, &line).good().stdout;
            assert!(told.contains("income.alice.s2.share"), "{told}");
            let (names, array) = combined(path);
            assert_eq!((names.job.as_str(), names.shape), ("survey", shape.clone()));
            assert_eq!(names.element_type, "Fixed<i64, 16>");
            assert_eq!(array.to_f64(), [0.5, -1.25, 3.0, 100.0, -0.0625, 7.0]);
        }
    }
    write(path, "one", "340282366920938463463374607431768211455\n");
    share(path, "--type u128 --shape scalar --input one").good();
    assert_eq!(combined(path).1.codes().next(), Some(u128::MAX));
    write(path, "bits.csv", "1,0\n0,1\n");
    share(path, "--type bool --input bits.csv --protocol R").good();
    assert!(combined(path).1.codes().eq([1, 0, 0, 1]));
    share(path, "--type i8 --shape 2,2 --input bits.csv --protocol R").good();
}

#[test]
fn values_that_cannot_be_shared_are_told() {
    let directory = servers();
    let path = directory.path();
    write(path, "x", "1 2 300\n");
    share(path, "--type u8 --input x").bad(3, &["x: line 1: element 3", "u8"]);
    share(path, "--type u16 --shape 2 --input x").bad(3, &["3 elements", "2 are expected"]);
    share(path, "--type u9 --input x").bad(2, &["u9", "fixed(64, 16)"]);
    share(path, "--type u16 --shape 2x --input x").bad(2, &["2x", "no length"]);
    share(path, "--type u16 --input x --protocol B+A").bad(2, &["no mix"]);
    share(path, "--type u16 --input none").bad(3, &["none"]);
    fs::write(path.join("y"), [0xff, 0xfe]).unwrap();
    share(path, "--type u16 --input y").bad(3, &["no text"]);
    fs::write(path.join("y.npy"), [0xff, 0xfe]).unwrap();
    share(path, "--type u16 --input y.npy").bad(3, &["no .npy file"]);
    let line = "share --parties parties.toml --job survey --name income --client al/ice --out shares --type u16 --input x";
    madrigal(path, line).bad(2, &["client's name", "--client"]);
    assert!(!path.join("shares").exists(), "nothing was written");
    // Two servers cannot hold R.
    let list = fs::read_to_string(path.join("parties.toml")).unwrap();
    let two = list.rfind("[[party]]").unwrap();
    write(path, "parties.toml", &list[..two]);
    share(path, "--type u16 --input x --protocol R").bad(2, &["2 servers", "R"]);
    // A server without a key.
    let without: Vec<_> = list
        .lines()
        .filter(|line| !line.starts_with("sealing"))
        .collect();
    write(path, "parties.toml", &without.join("\n"));
    let told = ["parties.toml", "party 0 `s0`", "keygen --sealing"];
    share(path, "--type u16 --input x").bad(3, &told);
}

#[test]
fn a_sealing_key_is_made_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let told = madrigal(path, "keygen --out clients/alice --sealing")
        .good()
        .stdout;
    let line = told.lines().last().unwrap();
    let public: PublicSealingKey = line.split('"').nth(1).unwrap().parse().unwrap();
    let file = path.join("clients/alice.sealing.key");
    assert_eq!(
        SealingKey::load(&file, KeyMode::Private).unwrap().public(),
        public
    );
    assert!(!path.join("clients/alice.key").exists());
    madrigal(path, "keygen --out clients/alice --sealing").bad(3, &["alice.sealing.key", "exists"]);
    // All three files of a party are made, or none.
    madrigal(path, "keygen --out clients/alice").bad(3, &["alice.sealing.key", "exists"]);
    assert!(!path.join("clients/alice.key").exists());
    assert!(!path.join("clients/alice.crt").exists());
}

/// Servers' shares of an output of six numbers, as files.
fn outputs(path: &Path, element: Type, mix: Mix, recipient: Option<&SealingKey>, run: u8) -> Array {
    let shape = Shape::checked(&[2, 3]).unwrap();
    let array = Array::read(element, Some(&shape), "1 0 1 1 0 0").unwrap();
    let (sharing, kind) = mix.kept_form(element);
    let mut rng = Prg::numbered(Block::new(1, 2), 3);
    let shares = Backend::of(sharing)
        .kept
        .deal(&array.to_shares(kind), 3, &mut rng);
    for (place, share) in Party::all(3).zip(shares) {
        let names = Named {
            job: "survey".into(),
            name: "total".into(),
            client: "alice".into(),
            element_type: element.to_string(),
            shape: vec![2, 3],
        };
        let file = ShareFile::of_output(names, share, place, 3, [run; 32]).unwrap();
        let mut bytes = Vec::new();
        let key = recipient.map(SealingKey::public);
        file.write(&mut bytes, key.as_ref()).unwrap();
        fs::write(path.join(format!("o{}", place.index())), bytes).unwrap();
    }
    array
}

#[test]
fn outputs_are_put_together() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    madrigal(path, "keygen --out alice --sealing").good();
    let key = SealingKey::load(&path.join("alice.sealing.key"), KeyMode::Private).unwrap();
    for mix in [Mix::AB, Mix::B, Mix::R] {
        for element in ["bool", "u8", "i16", "i64", "u128", "fixed(32,8)"] {
            let element: Type = element.parse().unwrap();
            outputs(path, element, mix, Some(&key), 1);
            let told = madrigal(path, "combine o2 o0 o1 --key alice.sealing.key")
                .good()
                .stdout;
            let expected = match element.is_bool() {
                true => "true,false,true\ntrue,false,false\n",
                false => "1,0,1\n1,0,0\n",
            };
            assert_eq!(told, expected, "{element} in {mix}");
            let array = madrigal(path, "combine o2 o0 o1 --key alice.sealing.key --out x.npy");
            if element.bits() == 128 {
                array.bad(2, &["x.npy", "u128", ".csv"]);
                continue;
            }
            array.good();
            let tensor = npy::read(&fs::read(path.join("x.npy")).unwrap()).unwrap();
            assert_eq!(
                (tensor.shape(), tensor.to_f64()),
                (&[2, 3][..], vec![1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
            );
        }
    }
}

#[test]
fn outputs_that_do_not_go_together_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    madrigal(path, "keygen --out alice --sealing").good();
    madrigal(path, "keygen --out bob --sealing").good();
    let key = SealingKey::load(&path.join("alice.sealing.key"), KeyMode::Private).unwrap();
    outputs(path, Type::BOOL, Mix::R, Some(&key), 1);
    madrigal(path, "combine o0 o1 o2")
        .bad(3, &["o0", "output `total` for client `alice`", "sealed"]);
    madrigal(path, "combine o0 o1 o2 --key bob.sealing.key").bad(3, &["sealed for the key"]);
    let line = "combine --key alice.sealing.key --out o1";
    madrigal(path, &format!("{line} o0 o1 o2")).bad(2, &["o1", "overwrite"]);
    madrigal(path, "combine o0 o2 --key alice.sealing.key").bad(3, &["server 1 is missing"]);
    madrigal(path, "combine o0 o2 o2 --key alice.sealing.key")
        .bad(3, &["server 2", "each server once"]);
    fs::rename(path.join("o2"), path.join("of1")).unwrap();
    outputs(path, Type::BOOL, Mix::R, None, 2);
    madrigal(path, "combine o0 o1 of1 --key alice.sealing.key")
        .bad(3, &["run", "do not go together"]);
    // In the clear they need no key.
    madrigal(path, "combine o0 o1 o2").good();
    let mut bytes = fs::read(path.join("o1")).unwrap();
    let last = bytes.len() - 33;
    bytes[last] ^= 1;
    fs::write(path.join("o1"), bytes).unwrap();
    madrigal(path, "combine o0 o1 o2").bad(3, &["o1", "damaged"]);
    write(path, "text", "1 2 3\n");
    madrigal(path, "combine text").bad(3, &["text: it is no share file"]);
    madrigal(path, "combine none").bad(3, &["none"]);
    assert_eq!(Mix::R.kept_form(Type::BOOL).0, Sharing::R);
}
