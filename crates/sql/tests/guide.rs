//! The page of tables does what it says.

use std::path::Path;
use std::process::Command;

/// Blocks of the page between fences that say what they are.
fn blocks<'a>(page: &'a str, fence: &str) -> Vec<&'a str> {
    let begin = format!("```{fence}\n");
    page.split(begin.as_str())
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next())
        .collect()
}

/// The first query of docs/TABLES.md gives the table that follows it, and the refused one is refused in these words.
#[test]
fn the_first_query_of_the_page_gives_what_it_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/TABLES.md")).unwrap();
    let query = blocks(&page, "sh")[0];
    let texts = blocks(&page, "text");
    let run = |script: &str| {
        let script = script.replace("madrigal sql", env!("CARGO_BIN_EXE_madrigal-sql"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&root);
        shell.output().unwrap()
    };
    let shown = run(query);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    assert_eq!(String::from_utf8(shown.stdout).unwrap().trim_end(), texts[0]);
    let told = String::from_utf8(shown.stderr).unwrap();
    assert!(told.contains("claims of party 1: it has 6 rows"), "{told}");
    let (command, answer) = texts[1].split_once('\n').unwrap();
    let refused = run(&format!("cd examples/tables && {}", command.trim_start_matches("$ ")));
    assert_eq!(String::from_utf8(refused.stderr).unwrap().trim_end(), answer);
    assert!(!refused.status.success() && refused.stdout.is_empty());
}
