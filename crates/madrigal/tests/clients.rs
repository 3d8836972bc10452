//! Clients and servers over TLS: values go in as share files and come out as such, and what is wrong is told by name.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;

use madrigal::app::failure::Failure;
use madrigal::app::remote::{identity_files, sealing_file};
use madrigal::app::{App, Numbers, Staged};
use madrigal::clients::{Named, Received, ShareFile, combine, deal, private_generator, read_file};
use madrigal::engine::{Element, Shares, Sharing, with_ring};
use madrigal::net::identity::{Identity, Validity};
use madrigal::net::roster::{Roster, RosterEntry};
use madrigal::net::sealing::SealingKey;
use madrigal::program::lower::Mix;
use madrigal::program::{Client, Everyone, Opened, Plain, StageError, Stages};

use crate::commands::empty_folder;

/// Incomes of many clients, whose sum goes to the press, and a client's limit that all are compared with.
fn survey() -> App<Opened<u32>> {
    survey_up_to(None)
}

/// The survey, where no income may be above a bound.
fn survey_up_to(most: Option<u32>) -> App<Opened<u32>> {
    App::new("survey", "What many earn together", move |p, numbers| {
        let press = Client::new("press");
        let incomes =
            p.input_named::<u32>("incomes", Client::new("people"), [numbers.get("people"), 1]);
        let limit = p.input_named::<u32>("limit", Client::new("office"), ());
        if let Some(most) = most {
            p.require_named("incomes are not above the bound", &incomes.within(..=most));
        }
        let above = incomes.gt(&limit).cast::<u32>().sum(0).sum(0);
        p.open_named("total", incomes.sum(0).sum(0), &press);
        p.open_named("above", above, Everyone)
    })
    .number("people", 2, 100, "People who take part")
    .parties(3)
}

/// Two stages: the second one, which takes another client's value, is there because of what the first one opens. Both hand
/// out an output of one name.
async fn stages(mut stages: Stages<'_>, _: &Numbers) -> Result<String, StageError> {
    let press = Client::new("press");
    let mut p = stages.program();
    let limit = p.input_named::<u32>("limit", Client::new("office"), ());
    let large = p.open_named("large", limit.gt(1000u32), Everyone);
    p.open_named("total", &limit + &limit, &press);
    let kept = p.keep(&limit);
    if stages.run(p).await?.get(large) == [false] {
        return Ok("small".to_owned());
    }
    let mut p = stages.program();
    let more = p.input_named::<u32>("more", Client::new("dora"), ());
    let total = p.kept(&kept) + more;
    p.open_named("total", total, &press);
    stages.last(p).await?;
    Ok("large".to_owned())
}

fn staged() -> impl Fn(&str) -> Result<String, Failure> {
    let command = Staged::new("survey", "What two have", stages).parties(3);
    move |line: &str| command.run(line.split_whitespace())
}

const SERVERS: [&str; 3] = ["ada", "ben", "cem"];

/// Keys of three servers and of the press, and the servers' list.
struct House {
    folder: PathBuf,
    sealing: Vec<SealingKey>,
    press: SealingKey,
}

impl House {
    fn new() -> Self {
        let folder = empty_folder();
        let mut entries = Vec::new();
        let mut sealing = Vec::new();
        for name in SERVERS {
            let identity = Identity::generate(Validity::days(1).unwrap()).unwrap();
            identity.save(&identity_files(&folder.join(name))).unwrap();
            let key = SealingKey::generate().unwrap();
            key.save(&sealing_file(&folder.join(name))).unwrap();
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            entries.push(RosterEntry {
                name: name.into(),
                address: free.local_addr().unwrap().to_string().parse().unwrap(),
                key: identity.fingerprint(),
                sealing: Some(key.public()),
            });
            sealing.push(key);
        }
        let list = Roster::new(entries).unwrap().to_toml();
        fs::write(folder.join("parties.toml"), list).unwrap();
        let press = SealingKey::generate().unwrap();
        Self {
            folder,
            sealing,
            press,
        }
    }

    /// Shares a number of a client's; gives a file for each server.
    fn share(&self, mix: Mix, name: &str, client: &str, value: u32) -> Vec<PathBuf> {
        self.share_for("survey", mix, name, client, value)
    }

    fn share_for(&self, job: &str, mix: Mix, name: &str, client: &str, value: u32) -> Vec<PathBuf> {
        let named = Named {
            job: job.into(),
            name: name.into(),
            client: client.into(),
            element_type: u32::TYPE.to_string(),
            shape: if name == "incomes" {
                vec![1, 1]
            } else {
                vec![]
            },
        };
        let (sharing, element) = mix.kept_form(u32::TYPE);
        let value = match element {
            Element::Ring(_) => Shares::ring_of(Sharing::PUBLIC, vec![value]),
            Element::Bits(bits) => Shares::bits_of(Sharing::PUBLIC, bits, &[value]),
        };
        let files = deal(named, &value, sharing, 3, &mut private_generator().unwrap()).unwrap();
        let each = files.iter().zip(&self.sealing).zip(SERVERS);
        let write = |((file, key), server): ((&ShareFile, &SealingKey), &str)| {
            let submission = file.header().submission();
            let name = format!("{name}.{client}.{submission}.{server}.share");
            let path = self.folder.join(name);
            let mut to = Vec::new();
            file.write(&mut to, Some(&key.public())).unwrap();
            fs::write(&path, to).unwrap();
            path
        };
        each.map(write).collect()
    }

    /// Runs all servers, each with its arguments; gives what they print or their errors.
    fn run(&self, mix: Mix, lines: [String; 3]) -> Vec<Result<String, (String, u8)>> {
        self.run_up_to(None, mix, lines)
    }

    fn run_up_to(
        &self,
        most: Option<u32>,
        mix: Mix,
        lines: [String; 3],
    ) -> Vec<Result<String, (String, u8)>> {
        let command = |line: &str| survey_up_to(most).run(line.split_whitespace());
        self.run_by(&command, mix, lines)
    }

    /// Runs all servers by a command.
    fn run_by(
        &self,
        command: &(dyn Fn(&str) -> Result<String, Failure> + Sync),
        mix: Mix,
        lines: [String; 3],
    ) -> Vec<Result<String, (String, u8)>> {
        let (folder, press) = (&self.folder, self.press.public());
        thread::scope(|scope| {
            let servers: Vec<_> = lines.iter().enumerate().map(|(me, line)| {
                scope.spawn(move || {
                    let (name, folder) = (SERVERS[me], folder.display());
                    let line = format!(
                        "survey --party {me} --parties {folder}/parties.toml --identity {folder}/{name} -q \
                         --mix {mix} --keep-shares {folder}/out --client-key press={press} --connect-timeout 20s {line}"
                    );
                    command(&line).map_err(|error| (error.to_string(), error.status() as u8))
                })
            }).collect();
            servers.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }

    /// What the press puts together.
    fn total(&self) -> u32 {
        self.output("total")
    }

    /// What the press puts together of an output.
    fn output(&self, name: &str) -> u32 {
        let files = SERVERS.map(|server| {
            let file = self.folder.join(format!("out/{name}.press.{server}.share"));
            assert!(read_file(&file, None).is_err(), "sealed for the press");
            let share = read_file(&file, Some(&self.press)).unwrap();
            Received { file, share }
        });
        let (header, value) = combine(files.into()).unwrap();
        assert_eq!(header.named().job, "survey");
        match value.sort().element {
            Element::Ring(width) => {
                with_ring!(width, T => madrigal::Ring::to_u128(value.component::<T>(0)[0]) as u32)
            }
            Element::Bits(_) => value.to_numbers::<u32>().unwrap()[0],
        }
    }
}

fn files(paths: &[&[PathBuf]], server: usize) -> String {
    let files: Vec<String> = paths
        .iter()
        .map(|files| files[server].display().to_string())
        .collect();
    files.join(",")
}

#[test]
fn values_of_clients_go_from_files_to_files() {
    for mix in [Mix::R, Mix::AB, Mix::B, Mix::AY] {
        let house = House::new();
        let dora = house.share(mix, "incomes", "dora", 4_000_000_000);
        let emil = house.share(mix, "incomes", "emil", 1234);
        let limit = house.share(mix, "limit", "office", 2000);
        let line = |server: usize| {
            // In any order of files.
            let incomes: [&[PathBuf]; 2] = if server == 1 {
                [&emil, &dora]
            } else {
                [&dora, &emil]
            };
            let limit: &Path = &limit[server];
            format!(
                "--shared-input incomes={} --shared-input limit={}",
                files(&incomes, server),
                limit.display()
            )
        };
        for told in house.run(mix, [0, 1, 2].map(line)) {
            assert_eq!(told.unwrap(), "above: 1\n", "{mix}");
        }
        assert_eq!(house.total(), 4_000_001_234, "{mix}");
    }
}

/// A client that gives servers different things is named by its input, before anything is computed.
#[test]
fn submissions_that_do_not_go_together_are_named() {
    for mix in [Mix::R, Mix::AB] {
        let house = House::new();
        let dora = house.share(mix, "incomes", "dora", 5);
        let other = house.share_for("survey", mix, "incomes", "dora", 6);
        let emil = house.share(mix, "incomes", "emil", 1234);
        let limit = house.share(mix, "limit", "office", 2000);
        let line = |server: usize| {
            let dora: &[PathBuf] = if server == 2 { &other } else { &dora };
            format!(
                "--shared-input incomes={} --shared-input limit={}",
                files(&[dora, &emil], server),
                limit[server].display()
            )
        };
        for told in house.run(mix, [0, 1, 2].map(line)) {
            let (told, status) = told.unwrap_err();
            assert!(
                told.contains("submission of input 0 (\"incomes\")"),
                "{mix}: {told}"
            );
            assert_eq!(status, 5, "{told}");
        }
        assert!(!house.folder.join("out").exists());
    }
}

/// Servers check values that none of them knows: one client's income is above the bound, and nobody learns any result.
#[test]
fn values_that_the_program_does_not_allow_end_it() {
    for mix in [Mix::R, Mix::AB] {
        let house = House::new();
        let dora = house.share(mix, "incomes", "dora", 2001);
        let emil = house.share(mix, "incomes", "emil", 1234);
        let limit = house.share(mix, "limit", "office", 2000);
        let line = |server: usize| {
            format!(
                "--shared-input incomes={} --shared-input limit={}",
                files(&[&dora, &emil], server),
                limit[server].display()
            )
        };
        for told in house.run_up_to(Some(2000), mix, [0, 1, 2].map(line)) {
            let (told, status) = told.unwrap_err();
            for words in [
                "incomes are not above the bound",
                "client people",
                "nothing was opened",
            ] {
                assert!(told.contains(words), "{mix}: {told}");
            }
            assert_eq!(status, 6, "{told}");
        }
        assert!(!house.folder.join("out").exists());
        for told in house.run_up_to(Some(2001), mix, [0, 1, 2].map(line)) {
            assert_eq!(told.unwrap(), "above: 1\n", "{mix}");
        }
        assert_eq!(house.total(), 3235);
    }
    let line = "survey --local 3 -q -i incomes=5,2002 -i limit=2000";
    let error = survey_up_to(Some(2001))
        .run(line.split_whitespace())
        .unwrap_err();
    assert_eq!(error.status() as u8, 6, "{error}");
    let help = survey_up_to(Some(5)).run("survey --help".split_whitespace());
    let help = help.unwrap_or_else(|error| error.to_string());
    assert!(
        help.contains("Required, or else nothing is opened:"),
        "{help}"
    );
}

#[test]
fn wrong_files_and_flags_are_refused_by_name() {
    let house = House::new();
    let mix = Mix::R;
    let dora = house.share(mix, "incomes", "dora", 5);
    let emil = house.share(mix, "incomes", "emil", 7);
    let limit = house.share(mix, "limit", "office", 2000);
    let elsewhere = house.share_for("other", mix, "limit", "office", 3);
    let stranger = house.share(mix, "limit", "stranger", 3);
    let additive = house.share(Mix::AB, "limit", "office", 4);
    let missing = house.folder.join("none.share");
    let incomes = format!("--shared-input incomes={}", files(&[&dora, &emil], 0));
    let at = |path: &Path| format!("{incomes} --shared-input limit={}", path.display());
    let folder = house.folder.display();
    let refused = |line: &str| {
        let line = format!(
            "survey --party 0 --parties {folder}/parties.toml --identity {folder}/ada -q --mix {mix} \
             --connect-timeout 1s {line}"
        );
        survey()
            .run(line.split_whitespace())
            .unwrap_err()
            .to_string()
    };
    let keep = format!("--keep-shares {folder}/out");
    for (line, words) in [
        (
            at(&limit[0]),
            vec!["output total is for client press", "--keep-shares"],
        ),
        (format!("{} {keep}", at(&limit[1])), vec!["limit", "0"]),
        (
            format!("{} {keep}", at(&elsewhere[0])),
            vec!["job", "other", "survey"],
        ),
        (
            format!("{} {keep}", at(&stranger[0])),
            vec!["client", "stranger", "office"],
        ),
        (format!("{} {keep}", at(&additive[0])), vec!["sharing"]),
        (format!("{} {keep}", at(&dora[0])), vec!["incomes", "limit"]),
        (format!("{} {keep}", at(&missing)), vec!["none.share"]),
        (
            format!("{incomes} {keep}"),
            vec!["--shared-input limit=FILE is missing", "client office"],
        ),
        (
            format!(
                "{} {keep} --shared-input nothing={}",
                at(&limit[0]),
                missing.display()
            ),
            vec!["no such input", "incomes, limit"],
        ),
        (
            format!(
                "--shared-input incomes={} --shared-input limit={} {keep}",
                dora[0].display(),
                limit[0].display()
            ),
            vec!["dora", "people"],
        ),
        (
            format!(
                "--shared-input incomes={} --shared-input limit={} {keep}",
                files(&[&dora, &dora], 0),
                limit[0].display()
            ),
            vec!["same submission"],
        ),
        (
            format!(
                "{} {keep} --client-key nobody={}",
                at(&limit[0]),
                house.press.public()
            ),
            vec!["no output for a client nobody"],
        ),
        (
            format!("{} {keep} -i limit=3", at(&limit[0])),
            vec!["is for client office", "--shared-input"],
        ),
    ] {
        let told = refused(&line);
        for word in words {
            assert!(told.contains(word), "{word}: {told}");
        }
    }
    let local = format!("survey --local 3 {incomes} -i incomes=1,2 -i limit=3");
    let told = survey()
        .run(local.split_whitespace())
        .unwrap_err()
        .to_string();
    assert!(told.contains("--party"), "{told}");
}

#[test]
fn stages_take_and_leave_values_of_clients() {
    for mix in [Mix::R, Mix::AB] {
        let house = House::new();
        let limit = house.share(mix, "limit", "office", 2000);
        let more = house.share(mix, "more", "dora", 7);
        let small = house.share(mix, "limit", "office", 3);
        let line = |limit: &Path, more: &Path| {
            let (limit, more) = (limit.display(), more.display());
            format!("--shared-input limit={limit} --shared-input more={more}")
        };
        let lines = [0, 1, 2].map(|server| line(&limit[server], &more[server]));
        for told in house.run_by(&staged(), mix, lines) {
            assert_eq!(told.unwrap(), "large\n", "{mix}");
        }
        assert_eq!(
            (house.output("total"), house.output("total.1")),
            (4000, 2007)
        );
        let other = house.share(mix, "more", "dora", 7);
        let lines = [&more, &more, &other].map(|more| more.clone());
        let lines = [0, 1, 2].map(|server| line(&limit[server], &lines[server][server]));
        for told in house.run_by(&staged(), mix, lines) {
            let (told, status) = told.unwrap_err();
            assert!(told.contains("submission of input 0 (\"more\")"), "{told}");
            assert_eq!(status, 5, "{told}");
        }
        // The second stage is not reached.
        let lines = [0, 1, 2].map(|server| line(&small[server], &more[server]));
        for told in house.run_by(&staged(), mix, lines) {
            assert_eq!(told.unwrap(), "small\n", "{mix}");
        }
        assert_eq!(house.total(), 6);
        let lines =
            [0, 1, 2].map(|server| format!("--shared-input limit={}", limit[server].display()));
        for told in house.run_by(&staged(), mix, lines) {
            let (told, status) = told.unwrap_err();
            assert!(
                told.contains("--shared-input more=FILE is missing: u32 of client dora"),
                "{told}"
            );
            assert_eq!(status, 2, "{told}");
        }
    }
    // On trial, all values are in the clear.
    let told = staged()("survey --local 3 -q -i limit=2000 -i more=7").unwrap();
    assert_eq!(told, "large\n");
    let told = staged()("survey check --local 3").unwrap();
    assert!(told.starts_with("right: "), "{told}");
    let told = staged()("survey --local 3 -q -i limit=3 --keep-shares out").unwrap_err();
    assert!(told.to_string().contains("--party"), "{told}");
}

/// On trial, all values are given in one place, and clients' outputs are shown.
#[test]
fn trials_take_clients_values_in_the_clear() {
    let line = "survey --local 3 -q -i incomes=5,2001 -i limit=2000";
    let told = survey().run(line.split_whitespace()).unwrap();
    assert_eq!(told, "total: 2006\nabove: 1\n");
    let told = survey()
        .run("survey check --local 3".split_whitespace())
        .unwrap();
    assert!(told.starts_with("right: 3 parties"), "{told}");
}
