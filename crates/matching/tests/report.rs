//! Reports say what came of it, whatever was asked.

use std::fs;

use clap::{Args as _, Command, FromArgMatches as _};
use madrigal_matching::Security;
use madrigal_matching::args::Psi;
use madrigal_matching::psi::{compute, json};
use madrigal_psi::{PsiCosts, PsiPlan, Role, Sizes};

#[test]
fn numbers_of_matched_keys_are_told_where_they_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let list = |name: &str, keys: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("key\n{keys}")).unwrap();
        format!("--input={}={}", name.replace(".csv", ""), path.display())
    };
    let lists = [list("0.csv", "a\nb\nb\nc\n"), list("1.csv", "b\nd\n")];
    let report = |words: &[&str], shares: bool| -> serde_json::Value {
        let flags = ["--local=2", "--transport=memory", "--column=key", "--quiet"];
        let words = flags.iter().chain(words).map(|word| (*word).to_owned());
        let command = Psi::augment_args(Command::new("psi").no_binary_name(true));
        let matches = command.get_matches_from(words.chain(lists.clone()));
        let mut args = Psi::from_arg_matches(&matches).unwrap();
        args.keep_shares = shares;
        let done = compute(&args).unwrap_or_else(|failure| panic!("{failure}"));
        serde_json::from_str(&json(&args, &done).unwrap()).unwrap()
    };
    let told = |report: &serde_json::Value, party: usize| {
        let party = &report["parties"][party];
        let number = |name: &str| party[name].as_u64();
        (number("matched_keys"), number("matched_rows"))
    };
    let all = report(&[], false);
    assert_eq!(
        (told(&all, 0), told(&all, 1)),
        ((Some(1), Some(2)), (Some(1), Some(1)))
    );
    assert_eq!(all["security"], "semi-honest");
    let one = report(&["--to=1", "--security=malicious"], false);
    assert_eq!(one["security"], "malicious");
    assert_eq!(
        (told(&one, 0), told(&one, 1)),
        ((None, None), (Some(1), Some(1)))
    );
    // Party 0 has the longer list, and is the receiver all the same where parties may be malicious: sizes do not choose who is told first.
    let both = report(&["--security=malicious"], false);
    assert_eq!(
        (told(&both, 0), told(&both, 1)),
        ((Some(1), Some(2)), (Some(1), Some(1)))
    );
    let sizes = Sizes {
        receiver: 3,
        sender: 2,
    };
    let plan = PsiPlan::new(sizes, 1, true).unwrap();
    let plan = plan.with_security(Security::Malicious);
    for (party, role) in [Role::Receiver, Role::Sender].into_iter().enumerate() {
        let sent = &both["parties"][party]["setup"]["bytes_sent"];
        let expected = PsiCosts::new(&plan, role, 1).setup.bytes_sent;
        assert_eq!(sent.as_u64(), Some(expected));
    }
    let size = report(&["--size"], false);
    assert_eq!(
        (told(&size, 0), told(&size, 1)),
        ((Some(1), None), (Some(1), None))
    );
    let shares = report(&[], true);
    assert_eq!(shares["question"], "shares");
    assert_eq!(
        (told(&shares, 0), told(&shares, 1)),
        ((None, None), (None, None))
    );
}

/// Costs are told without any list.
#[test]
fn what_a_run_will_cost_needs_no_list() {
    let words = [
        "psi",
        "--explain",
        "--keys=1000,20",
        "--local=2",
        "--json",
        "--size",
    ];
    let matches = Psi::augment_args(Command::new("psi")).try_get_matches_from(words);
    let args = Psi::from_arg_matches(&matches.unwrap()).unwrap();
    madrigal_matching::psi::run(&args).unwrap();
    let without = ["psi", "--local=2"];
    assert!(
        Psi::augment_args(Command::new("psi"))
            .try_get_matches_from(without)
            .is_err()
    );
}

/// A program that goes on trusts both parties, so that it refuses to protect from them; rows are protected, and the plan tells what that is worth.
#[test]
fn rows_alone_are_protected_from_malicious_parties() {
    let run = |more: &[&str]| {
        let words = ["psi", "--explain", "--keys=1000,20", "--local=2", "--quiet"];
        let words = words.iter().chain(&["--security=malicious"]).chain(more);
        let matches = Psi::augment_args(Command::new("psi")).try_get_matches_from(words);
        let args = Psi::from_arg_matches(&matches.unwrap()).unwrap();
        madrigal_matching::psi::run(&args)
    };
    run(&[]).unwrap();
    run(&["--join", "--to=0"]).unwrap();
    for more in ["--size", "--sum", "--shares=somewhere"] {
        let failure = run(&[more]).unwrap_err().to_string();
        assert!(failure.contains("--security malicious"), "{failure}");
    }
}
