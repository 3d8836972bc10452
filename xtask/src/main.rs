//! One entry for the chores of the project: `cargo xtask help` lists them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

mod circles;
mod codegen;
mod deploy;
mod differential;
mod domains;
mod dudect;
mod external;
mod features;
mod fuzz;
mod hostile;
mod layout;
mod leaks;
mod levels;
mod lint;
mod lpn;
mod neutral;
mod process;
mod profiles;
mod python;
mod readme;
mod reference;
mod scaling;
mod secrets;
mod signposts;
mod site;
mod soak;
mod suites;
mod test;
mod wheel;
mod wording;

use std::process::ExitCode;

pub(crate) use process::{Outcome, root};

const HELP: &str = "\
cargo xtask CHORE

  test                  all tests, then the kernels and what rests on them at each lower level
  lint                  format, generated code, signposts, separators, words, circles, licences,
                        clippy, documentation
  circles [CRATE]       the circles of files that use each other, in all crates or one, shortest first
  readme [--quick]      run what README.md and the guide's page on Rust tell their reader to run; --quick optimises less
  python [--as-tests] [PYTEST...]
                        build the native module of the Python package, check the package's types and run its tests,
                        the guide's pages and the notebooks among them; --as-tests builds with what `test` has built
  site                  build the site of all pages and both references into target/site/html; links that lead nowhere are
                        errors
  wheel [--sdist] [PYTHON[=NUMPY]...]
                        build the wheel of the Python package, with the program in it; install it in a fresh
                        environment, and tell its size and how long its first result takes. With interpreters,
                        the tests run in each, with that version of NumPy; with --sdist, a source distribution
                        is made and the wheel is built from it too
  deploy                check the unit, the manifests and the chart of deploy/ with the checkers that are installed, and tell which
                        were skipped
  external              compare the types of other crates in the library's interface with external-types.toml
  reference             write docs/CLI.md, and the tables of docs/STATISTICS.md and README.md that are made from
                        the flags, the types and the exit statuses, again; a test says if they are not current
  codegen [--check]     write the code generated from schema/ again; or fail if it is not current
  fuzz [--seconds N] [TARGET...]
                        feed each fuzz target (or these) for N seconds (60); needs nightly Rust and
                        cargo-fuzz
  hostile [--files N] [--seed S] [PART...]
                        start the program on N files (1000) changed at random, of all that it reads (or of the
                        cases whose name contains PART): no panic, abort or hang, and memory as their length; MADRIGAL
                        names a program other than the one that is built; Linux
  dudect [--measurements N] [NAME...]
                        look for time that depends on choices or on Delta, in each step of oblivious
                        transfer whose name contains NAME, with N measurements (20000); wants a quiet
                        machine
  differential [--programs N] [--seed S] [--first I] [--mix MIX] [--keep-going]
                        run N random programs and networks (1000), in all mixes in turn or in MIX alone, as all of
                        their parties, and compare what they open with the oracle; --first begins with number I
                        of those that follow from seed S
  lpn [--rows N --errors T [--dimension K] [--locality D]]
                        what the known attacks on silent OT's problem cost: for the parameters in use, or
                        for others; without --dimension the least that leaves a margin over 2^128
  secrets [NAME...]     look for branches and addresses that depend on a secret, under Valgrind, in each
                        path of the protocols (or those whose name contains NAME); x86-64
  leaks [NAME...]       look for memory that is leaked by the protocols' tests, those that take less than 0.1 s or
                        those whose name contains NAME, under Valgrind
  levels [--turns N]    what OTs, correlations and garbling reach of AES at each level of this machine, level
                        beside level in N turns (30) of some ten seconds; wants a quiet machine
  scaling [WORD...]     build the benchmarks in release and run `madrigal-lab scaling` with these words: how work scales with
                        the threads of a party, as a table, as JSON (--json) and drawn (--plots DIR)
  layout                order both programs' functions again by what parties call, under Valgrind (3 minutes);
                        x86-64 Linux
  soak [--minutes N]    repeat the tests of faults with fresh seeds for N minutes (10)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["test"] => test::test(),
        ["lint"] => lint::lint(),
        ["circles"] => circles::circles(None),
        ["circles", name] => circles::circles(Some(name)),
        ["readme"] => readme::readme(false),
        ["readme", "--quick"] => readme::readme(true),
        ["python", ref rest @ ..] => python::python(rest),
        ["site"] => site::site(),
        ["wheel", ref rest @ ..] => wheel::wheel(rest),
        ["deploy"] => deploy::deploy(),
        ["external"] => external::external(),
        ["reference"] => reference::reference(),
        ["codegen"] => codegen::codegen(false),
        ["codegen", "--check"] => codegen::codegen(true),
        ["fuzz", ref rest @ ..] => fuzz::fuzz(rest),
        ["hostile", ref rest @ ..] => hostile::hostile(rest),
        ["dudect", ref rest @ ..] => dudect::dudect(rest),
        ["differential", ref rest @ ..] => differential::differential(rest),
        ["lpn", ref rest @ ..] => lpn::lpn(rest),
        ["secrets", ref rest @ ..] => secrets::secrets(rest),
        ["leaks", ref rest @ ..] => leaks::leaks(rest),
        ["levels", ref rest @ ..] => levels::levels(rest),
        ["scaling", ref rest @ ..] => scaling::scaling(rest),
        ["layout"] => layout::layout(),
        ["soak", ref rest @ ..] => soak::soak(rest),
        ["help" | "--help" | "-h"] | [] => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(format!("there is no chore {words:?}\n{HELP}").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
