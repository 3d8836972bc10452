//! Programs in folders: which one is taken, and what is none.

use std::fs;
use std::path::Path;

use madrigal_circuit::Limits;
use madrigal_core::Party;
use madrigal_hycc::{Hybrid, Loaded, Options, Values, load};
use madrigal_testkit::hycc::{HyccModule, HyccType, op};

/// `a <op> b` on bytes, as this module.
fn of(name: &str, gate: u8) -> Vec<u8> {
    let ty = HyccType::int(8);
    let mut module = HyccModule::new(name);
    let pin = if gate > 0x80 { 8 } else { 1 };
    let a = module.input("INPUT_A", 0, &ty, pin);
    let b = module.input("INPUT_B", 1, &ty, pin);
    let r: Vec<u32> = a
        .iter()
        .zip(&b)
        .map(|(&a, &b)| module.gate(gate, &[a, b]))
        .collect();
    module.output("r", &ty, &r);
    module.bytes()
}

fn read(path: &Path, bundle: Option<&str>) -> Result<Loaded, String> {
    load(path, bundle, &Limits::default()).map_err(|error| error.to_string())
}

#[test]
fn the_usual_bundle_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(read(path, None).unwrap_err().contains("neither a bundle"));
    fs::write(path.join("main@arith.circ"), of("mpc_main", op::ADD)).unwrap();
    assert_eq!(read(path, None).unwrap().files.len(), 1);
    fs::write(path.join("main@bool_size.circ"), of("mpc_main", op::AND)).unwrap();
    let two = read(path, None).unwrap_err();
    assert!(two.contains("are both the module \"mpc_main\""), "{two}");
    fs::write(
        path.join("all.cmb"),
        "main@arith.circ\nmain@bool_size.circ\n",
    )
    .unwrap();
    let bundle = |name: &str, text: &str| fs::write(path.join(name), text).unwrap();
    bundle("mine.cmb", "main@arith.circ\n");
    assert!(read(path, None).unwrap().path.ends_with("mine.cmb"));
    bundle("other.cmb", "main@bool_size.circ : gmw\n");
    let several = read(path, None).unwrap_err();
    assert!(
        several.contains("which of mine.cmb, other.cmb"),
        "{several}"
    );
    bundle("gmwhybrid.cmb", "main@bool_size.circ\n");
    assert!(read(path, None).unwrap().path.ends_with("gmwhybrid.cmb"));
    bundle("yaohybrid.cmb", "main@bool_size.circ\n");
    assert!(read(path, None).unwrap().path.ends_with("yaohybrid.cmb"));
    assert!(
        read(path, Some("other"))
            .unwrap()
            .path
            .ends_with("other.cmb")
    );
    assert!(
        read(path, Some("other.cmb"))
            .unwrap()
            .path
            .ends_with("other.cmb")
    );
    assert!(read(&path.join("other.cmb"), None).is_ok());
    assert!(read(&path.join("main@arith.circ"), None).is_ok());
}

#[test]
fn mistakes_name_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let bundle = path.join("p.cmb");
    fs::write(&bundle, "\nnowhere.circ\n").unwrap();
    let told = read(&bundle, None).unwrap_err();
    assert!(
        told.contains("p.cmb, line 2: cannot read") && told.contains("nowhere.circ"),
        "{told}"
    );
    assert!(read(path, Some("q")).unwrap_err().contains("q.cmb"));
    let whole = of("mpc_main", op::ADD);
    fs::write(path.join("cut.circ"), &whole[..whole.len() - 2]).unwrap();
    let told = read(&path.join("cut.circ"), None).unwrap_err();
    assert!(
        told.contains("cut.circ, byte ") && told.contains("the file ends"),
        "{told}"
    );
    fs::write(path.join("text.circ"), "int main() { return 0; }").unwrap();
    let told = read(&path.join("text.circ"), None).unwrap_err();
    assert!(told.contains("is this a HyCC module?"), "{told}");
}

/// Parties that the program does not fit, and values that do not fit it.
#[test]
fn programs_refuse_what_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m@arith.circ");
    fs::write(&file, of("mpc_main", op::MUL)).unwrap();
    let flat = read(&file, None).unwrap().flat;
    let all: Vec<_> = Party::all(2).collect();
    let refused = |parties, runs, to: &[Party]| {
        let made = Hybrid::new(&flat, &Options::default(), parties, runs, to);
        made.unwrap_err().to_string()
    };
    assert!(refused(1, 1, &all[..1]).contains("for 2 to"));
    assert!(refused(2, 0, &all).contains("not 0"));
    assert!(refused(2, 1, &[]).contains("name one of these"));
    assert!(refused(2, 1, &[Party::new(2)]).contains("[2]"));
    let made = Hybrid::new(&flat, &Options::default(), 2, 2, &all).unwrap();
    let mut values = Values::new(1);
    let told = made.given(all[0], &values).err().unwrap().to_string();
    assert!(told.contains("1 runs, where 2"), "{told}");
    values.put(1, "INPUT_A", vec![0; 8].into());
    let told = made.given(all[0], &values).err().unwrap().to_string();
    assert!(
        told.contains("INPUT_A (int8) has no value in run 1"),
        "{told}"
    );
    values.put(0, "INPUT_A", vec![0; 9].into());
    let told = made.given(all[0], &values).err().unwrap().to_string();
    assert!(told.contains("of 8 bits, the value has 9"), "{told}");
    values.put(0, "INPUT_A", vec![1; 8].into());
    // The other's inputs need not be there.
    assert!(made.given(all[0], &values).is_ok());
    assert!(made.given(all[1], &values).is_err());
}

/// Outputs go to those alone who are to have them.
#[test]
fn outputs_are_for_their_receivers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m@bool_size.circ");
    fs::write(&file, of("mpc_main", op::XOR)).unwrap();
    let flat = read(&file, None).unwrap().flat;
    let made = Hybrid::new(&flat, &Options::default(), 3, 1, &[Party::new(2)]).unwrap();
    let plan = madrigal_engine::Plan::new(made.spec()).unwrap();
    let mut values = Values::new(1);
    values.put(0, "INPUT_A", vec![1, 1, 0, 0, 1, 0, 0, 0].into());
    values.put(0, "INPUT_B", vec![1, 0, 0, 0, 0, 0, 0, 1].into());
    let ended = made.run_locally(&plan, &values).unwrap();
    let got: Vec<_> = ended.iter().map(|(outputs, _)| outputs.is_some()).collect();
    assert_eq!(got, [false, false, true]);
    let outputs = ended[2].0.as_ref().unwrap();
    assert_eq!(outputs.bits(0, "r"), Some(&[0, 1, 0, 0, 1, 0, 0, 1][..]));
}

/// The lines of a bundle opened whatever they named: /dev/zero until memory was full, a pipe that nobody wrote to, files
/// of the user's that its writer may not see, whose beginning the error then told.
#[cfg(unix)]
#[test]
fn a_bundle_opens_only_regular_files_in_its_folder() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("program");
    fs::create_dir_all(folder.join("below")).unwrap();
    fs::write(outside.path().join("m.circ"), of("mpc_main", op::ADD)).unwrap();
    fs::write(folder.join("below/m.circ"), of("mpc_main", op::ADD)).unwrap();
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(from, folder.join(to)).unwrap();
    };
    link("../m.circ", "out.circ");
    link("below/m.circ", "in.circ");
    link("/dev/zero", "zero.circ");
    let pipe = folder.join("pipe.circ");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let bundle = folder.join("p.cmb");
    let told = |line: &str| {
        fs::write(&bundle, format!("\n{line}\n")).unwrap();
        read(&bundle, None).map(drop)
    };
    for line in [
        "../m.circ",
        "below/../../m.circ",
        "/dev/zero",
        "/etc/passwd",
        "out.circ",
        "zero.circ : gmw",
    ] {
        let error = told(line).unwrap_err();
        assert!(error.contains("p.cmb, line 2: "), "{error}");
        assert!(error.contains("not in the bundle's folder"), "{error}");
    }
    let error = told("pipe.circ").unwrap_err();
    assert!(error.contains("pipe.circ: it is a pipe"), "{error}");
    assert!(told("below").unwrap_err().contains("it is a folder"));
    for line in ["below/m.circ", "./below/m.circ : yao", "in.circ"] {
        assert_eq!(told(line), Ok(()), "{line}");
    }
    // A folder may have such a file, too, and it may be named by itself.
    fs::remove_file(&bundle).unwrap();
    let alone = folder.join("alone");
    fs::create_dir(&alone).unwrap();
    fs::rename(&pipe, alone.join("pipe.circ")).unwrap();
    for path in [alone.clone(), alone.join("pipe.circ")] {
        let error = read(&path, None).map(drop).unwrap_err();
        assert!(error.contains("it is a pipe"), "{error}");
    }
}

/// One file may be named on every line, and each line is read: that ends at the limit of bytes.
#[test]
fn a_file_that_is_named_again_and_again_counts_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("p.cmb");
    fs::write(folder.path().join("m.circ"), of("mpc_main", op::ADD)).unwrap();
    fs::write(&bundle, "m.circ\n".repeat(20_000)).unwrap();
    let limits = Limits {
        bytes: 1 << 20,
        ..Limits::default()
    };
    let error = load(&bundle, None, &limits).map(drop).unwrap_err();
    let told = error.to_string();
    assert!(
        told.contains("with this module the program is too large"),
        "{told}"
    );
}
