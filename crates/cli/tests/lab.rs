//! `bench` and `sql` lead to the programs `madrigal-lab` and `madrigal-sql`, where those are.

use crate::command::madrigal;

#[test]
fn without_the_laboratory_benchmarks_say_how_to_run_it() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let help = madrigal(directory.path(), "help bench").good();
    assert!(help.stdout.contains("madrigal-lab"), "{help}");
    let path = directory.path();
    let program = path.join(format!("madrigal{}", std::env::consts::EXE_SUFFIX));
    std::fs::hard_link(env!("CARGO_BIN_EXE_madrigal"), &program).unwrap();
    let run_words = |folders: &str, words: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.args(words);
        let output = command.env("PATH", folders).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let run = |folders: &str| run_words(folders, &["bench", "aes", "--help", "-N", "3"]);
    for words in [&["sql", "run", "--help"][..], &["bench", "tpch"]] {
        let (status, _, told) = run_words("nowhere", words);
        assert_eq!(status, Some(2), "{told}");
        assert!(told.contains("madrigal-sql -- "), "{told}");
    }
    let (status, _, told) = run("nowhere");
    assert_eq!(status, Some(2), "{told}");
    assert!(
        told.contains("madrigal-lab -- ") && told.lines().count() == 1,
        "{told}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        let folder = path.join("folder");
        std::fs::create_dir(&folder).unwrap();
        symlink("/bin/false", folder.join("madrigal-lab")).unwrap();
        assert_eq!(run(folder.to_str().unwrap()).0, Some(1));
        // The one beside the program goes first.
        symlink("/bin/echo", path.join("madrigal-lab")).unwrap();
        let (status, told, _) = run(folder.to_str().unwrap());
        assert_eq!((status, &*told), (Some(0), "aes --help -N 3\n"));
        symlink("/bin/echo", path.join("madrigal-sql")).unwrap();
        for (words, expected) in [
            (&["sql", "run", "--local", "3"][..], "run --local 3\n"),
            (&["bench", "tpch", "--json"], "tpch --json\n"),
        ] {
            let (status, told, _) = run_words("nowhere", words);
            assert_eq!((status, &*told), (Some(0), expected));
        }
    }
}
