//! Texts of `--help` are part of the interface: a change shows in a review.

#[test]
fn help_is_as_it_was() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("tests/snapshots/*.trycmd");
}

#[test]
fn completions_and_man_pages_come_from_the_flags() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script =
            super::command::madrigal(directory.path(), &format!("completions {shell}")).good();
        assert!(script.stdout.contains("connect-timeout"), "{shell}");
    }
    super::command::madrigal(directory.path(), "man pages").good();
    let page = std::fs::read_to_string(directory.path().join("pages/madrigal-run.1")).unwrap();
    assert!(page.contains("connect") && page.contains("Exit status"));
}
