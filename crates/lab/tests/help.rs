//! Texts of `--help` are part of the interface: a change shows in a review.

#[test]
fn help_is_as_it_was() {
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("tests/snapshots/*.trycmd");
}
