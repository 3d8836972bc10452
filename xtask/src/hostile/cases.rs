//! What is changed, and which commands read it.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::change::{Random, change};

/// Files in a folder, and a command of the program that reads them.
pub(crate) struct Case {
    /// For people.
    pub(crate) name: String,
    /// What its command is: what is counted together.
    pub(crate) kind: String,
    /// Names, which may have folders, and contents.
    files: Vec<(String, Vec<u8>)>,
    /// Files that stay as they are; those of `files` take the places of some.
    others: Vec<(String, Vec<u8>)>,
    pub(crate) words: Vec<String>,
    /// Whether it is a program of HyCC's, which has a budget of its own.
    pub(crate) has_program: bool,
}

type Found<T> = Result<T, Box<dyn std::error::Error>>;

/// Those of this repository, and those that the program makes in `made`.
pub(crate) fn all(root: &Path, made: &Path, program: &Path) -> Found<Vec<Case>> {
    let mut cases = trials(&root.join("crates/cli/tests/trials"))?;
    cases.extend(circuits(&root.join("crates/circuit/tests/data"))?);
    cases.extend(branches(&root.join("fuzz/seeds"))?);
    cases.extend(programs(&root.join("fuzz/seeds"))?);
    cases.extend(hycc(&root.join("fuzz/seeds"))?);
    cases.extend(lists_and_stores(root, made, program)?);
    cases.extend(shares(root, &made.join("clients"), program)?);
    Ok(cases)
}

impl Case {
    fn new(name: &str, files: &[(String, Vec<u8>)], line: &str) -> Self {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let kind = match &words[..] {
            [command, sub, ..]
                if ["circuit", "model", "program", "store"].contains(&&command[..]) =>
            {
                format!("{command} {sub}")
            }
            [command, ..] if words.iter().any(|word| word == "--hycc") => {
                format!("{command} --hycc")
            }
            [command, ..] => command.clone(),
            [] => String::new(),
        };
        Self {
            name: name.to_owned(),
            kind,
            files: files.to_vec(),
            others: Vec::new(),
            has_program: words.iter().any(|word| word == "--hycc"),
            words,
        }
    }

    /// The name and content of one file, changed.
    pub(crate) fn change(&self, random: &mut Random, others: &[Self]) -> (String, Vec<u8>) {
        let (name, file) = random.of(&self.files);
        let end = |name: &str| name.rsplit_once('.').map(|(_, end)| end.to_owned());
        let other = random.of(others).files.iter();
        let mut other = other.filter(|(other, _)| end(other) == end(name));
        let other = other.next().map_or(&file[..], |(_, other)| &other[..]);
        let mut changed = file.clone();
        change(&mut changed, other, random);
        (name.clone(), changed)
    }

    /// Bytes of all files.
    pub(crate) fn length(&self, changed: &(String, Vec<u8>)) -> u64 {
        let others = self.files.iter().filter(|(name, _)| *name != changed.0);
        others.map(|(_, file)| file.len() as u64).sum::<u64>() + changed.1.len() as u64
    }

    /// Puts the files into a folder.
    pub(crate) fn write(
        &self,
        folder: &Path,
        changed: Option<&(String, Vec<u8>)>,
    ) -> std::io::Result<PathBuf> {
        let files = self.others.iter().chain(&self.files).chain(changed);
        for (name, file) in files {
            let path = folder.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&path, file)?;
            #[cfg(unix)]
            if name.ends_with("key") {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            }
        }
        Ok(folder.to_owned())
    }
}

/// All files of a folder and the folders in it, by their paths there.
fn files_of(folder: &Path) -> Found<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
                    files.push((name, fs::read(path)?));
                }
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Commands of the trials that are one run of the program.
fn trials(folder: &Path) -> Found<Vec<Case>> {
    let mut cases = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder)? {
        folders.push(entry?.path());
    }
    folders.sort();
    for trial in folders.into_iter().filter(|path| path.is_dir()) {
        let mut files = files_of(&trial)?;
        let script = files.iter().find(|(name, _)| name == "cmd.sh");
        let script = script.map(|(_, text)| String::from_utf8_lossy(text).into_owned());
        files.retain(|(name, _)| name != "cmd.sh" && !name.starts_with("expected"));
        let name = trial
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for line in script.unwrap_or_default().lines() {
            let Some(line) = line.strip_prefix("$MADRIGAL ") else {
                continue;
            };
            if !line.contains(['$', '|', '>', ';', '&', '\'', '"']) {
                cases.push(Case::new(&name, &files, line));
            }
        }
    }
    Ok(cases)
}

/// Each circuit as it is read for its figures, for another format, and for a run.
fn circuits(folder: &Path) -> Found<Vec<Case>> {
    let mut cases = Vec::new();
    for (name, file) in files_of(folder)? {
        let circuit = [".txt", ".bristol"].iter().any(|end| name.ends_with(end));
        if !circuit || name.starts_with("LICENSE") || file.len() > 100_000 {
            continue;
        }
        let files = [("c.txt".to_owned(), file)];
        for line in [
            "circuit info c.txt",
            "circuit convert c.txt --to bristol-fashion",
            "explain --circuit c.txt",
        ] {
            cases.push(Case::new(&name, &files, line));
        }
    }
    Ok(cases)
}

/// The circuit with branches of a seed of the fuzzer, as other circuits are read, and for its values.
fn branches(seeds: &Path) -> Found<Vec<Case>> {
    let files = [
        (
            "b.txt".to_owned(),
            fs::read(seeds.join("branches/hand.txt"))?,
        ),
        ("all".to_owned(), b"1 0 3\n0 1 2\n".to_vec()),
    ];
    let lines = [
        "circuit info b.txt",
        "circuit convert b.txt --to branches",
        "circuit convert b.txt --to bristol-fashion",
        "circuit eval b.txt --input all",
        "explain --circuit b.txt",
        "explain --circuit b.txt --branches merged",
        "explain --circuit b.txt --protocol Y2",
    ];
    let case = |line| Case::new("branches", &files, line);
    Ok(lines.map(case).into())
}

/// The modules of a seed of the fuzzer, each after its length in two bytes, in files of their own.
/// Programs from files: told, and computed in the clear.
fn programs(seeds: &Path) -> Found<Vec<Case>> {
    let file = |name: &str| -> Found<Vec<(String, Vec<u8>)>> {
        Ok(vec![(
            name.to_owned(),
            fs::read(seeds.join("program").join(name))?,
        )])
    };
    let (gap, loops) = (file("gap.mad")?, file("loops.mad")?);
    let given = "--input pay=1,2,3 --input rate=4,5,6";
    let x = "--input x=0,1,2,3,4,5,6,7,8,9,10,11 --input t=1,2,3,4,5";
    Ok(vec![
        Case::new("gap", &gap, "program info gap.mad --dim n=3"),
        Case::new(
            "gap",
            &gap,
            &format!("program simulate gap.mad --dim n=3 {given}"),
        ),
        Case::new("gap", &gap, "program explain gap.mad --dim n=3"),
        Case::new("loops", &loops, "program info loops.mad"),
        Case::new("loops", &loops, &format!("program simulate loops.mad {x}")),
        Case::new("loops", &loops, "program explain loops.mad"),
    ])
}

fn hycc(seeds: &Path) -> Found<Vec<Case>> {
    let seed = fs::read(seeds.join("hycc/modules"))?;
    let (mut rest, mut files, mut bundle) = (&seed[..], Vec::new(), String::new());
    while let Some((length, more)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes(*length)).min(more.len());
        let (module, more) = more.split_at(length);
        let name = format!("p/m{}.circ", files.len());
        bundle += &format!("m{}.circ : gmw\n", files.len());
        files.push((name, module.to_vec()));
        rest = more;
    }
    files.push(("p/p.cmb".to_owned(), bundle.into_bytes()));
    let line = "explain --hycc p --file-memory 64MiB";
    Ok(vec![Case::new("modules", &files, line)])
}

/// Starts the program in a folder.
fn start(program: &Path, folder: &Path, line: &str) -> std::io::Result<Child> {
    let mut command = Command::new(program);
    let command = command.args(line.split(' ')).current_dir(folder);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// What a command that succeeds has written.
fn written(started: Child) -> Found<Vec<u8>> {
    let ended = started.wait_with_output()?;
    match ended.status.success() {
        true => Ok(ended.stdout),
        false => Err(String::from_utf8_lossy(&ended.stderr).into_owned().into()),
    }
}

/// Share files: an input's at a server, and an output's in the clear, which two servers have left.
fn shares(root: &Path, made: &Path, program: &Path) -> Found<Vec<Case>> {
    fs::create_dir_all(made)?;
    let run = |line: &str| written(start(program, made, line)?);
    let mut list = Vec::new();
    for party in 0..2 {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let line = format!("keygen --out p{party} --address 127.0.0.1:{port}");
        list.extend(run(&line)?);
    }
    fs::write(made.join("parties.toml"), list)?;
    let adder = root.join("crates/circuit/tests/data/int_add8_size.bristol");
    fs::copy(adder, made.join("sum.txt"))?;
    fs::write(made.join("a"), "3\nff\n")?;
    fs::write(made.join("values.csv"), "4\n2\n")?;
    let share = "share --parties parties.toml --job sum.txt --name 1 --client alice --type u8 --bits --protocol B \
                 --shape 2 --input values.csv --out shares";
    run(share)?;
    let server = |me: u8| {
        format!(
            "run --circuit sum.txt --parties parties.toml --party {me} --identity p{me} --owners 0,alice --to press \
             --shared-input 1=shares/1.alice.p{me}.share --keep-shares out --quiet"
        )
    };
    let both = [format!("{} --input a", server(0)), server(1)];
    let [first, second] = both.each_ref().map(|line| start(program, made, line));
    let (first, second) = (first?, second?);
    written(first)?;
    written(second)?;
    let mut files = files_of(made)?;
    files.retain(|(name, _)| !name.starts_with("out/"));
    let alone = format!("{} --listen 127.0.0.1:0 --connect-timeout 10ms", both[0]);
    let mut outputs = files_of(&made.join("out"))?;
    outputs
        .iter_mut()
        .for_each(|(name, _)| name.insert_str(0, "out/"));
    let combine = "combine out/0.press.p0.share out/0.press.p1.share";
    // Others of their files are changed in other cases.
    let case = |line: &str, changed: &[&str]| {
        let is_changed =
            |(name, _): &&(String, Vec<u8>)| changed.iter().any(|end| name.ends_with(end));
        let own: Vec<_> = files.iter().filter(is_changed).cloned().collect();
        let others = files.clone();
        Case {
            others,
            ..Case::new("shares", &own, line)
        }
    };
    let server = case(&alone, &["shares/1.alice.p0.share", "p0.sealing.key"]);
    let client = case(share, &["values.csv", "parties.toml"]);
    Ok(vec![server, client, Case::new("shares", &outputs, combine)])
}

/// What the program writes for itself and for others.
fn lists_and_stores(root: &Path, made: &Path, program: &Path) -> Found<Vec<Case>> {
    fs::create_dir_all(made)?;
    let run = |line: &str| written(start(program, made, line)?);
    let mut list = run("keygen --out p0 --address 127.0.0.1:9")?;
    list.extend(run("keygen --out p1 --address 127.0.0.1:10")?);
    fs::write(made.join("parties.toml"), list)?;
    let files = files_of(made)?;
    let doctor =
        "doctor --peers parties.toml --identity p0 --listen 127.0.0.1:0 --connect-timeout 10ms";
    let mut cases = vec![Case::new("parties", &files, doctor)];
    run("precompute --triples bits=64 --local 2 --store made --quiet")?;
    let mut files = files_of(made)?;
    files.retain(|(name, _)| name.starts_with("made/"));
    for line in [
        "store status made/party0",
        "store status made/party1 --verify",
    ] {
        cases.push(Case::new("store", &files, line));
    }
    let adder = fs::read(root.join("crates/circuit/tests/data/int_add8_size.bristol"))?;
    let values = [
        ("sum.txt".to_owned(), adder),
        ("a".to_owned(), b"3\nff\n".to_vec()),
        ("b".to_owned(), b"0x04\n02\n".to_vec()),
        ("all".to_owned(), b"3 4\nff 2\n".to_vec()),
    ];
    for line in [
        "circuit eval sum.txt --input all",
        "run --circuit sum.txt --local 2 --transport memory --input 0=a --input 1=b",
    ] {
        cases.push(Case::new("values", &values, line));
    }
    Ok(cases)
}
