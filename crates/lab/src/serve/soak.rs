//! Many jobs of several kinds in one run of the servers: each result is compared, and what the servers take of the machine is watched.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use madrigal_core::Zeroizing;
use madrigal_program::{Array, Client, Computation, Program, ProgramError, Shape, Type};
use madrigal_program_file::{ProgramFile, choices, general};
use madrigal_service_client::{ServiceClient, ServiceConfig, Submit, Value, token_digest};
use tokio::time::timeout;

use super::load;
use super::loaded::Loaded;
use super::servers::{Servers, Taken};
use crate::exit::{Failure, Result};

/// A client with a token, who brings values and gets results.
const ANN: &str = "ann";
const TOKEN: &[u8] = b"a token of a benchmark alone";
/// Elements of a job of one client.
const ELEMENTS: usize = 16;
/// Jobs of one client under way at once.
const SQUARES: usize = 4;
/// Jobs of all kinds under way at once: beside those of one client one of each kind of batches, and one of requests.
pub const SIDE_BY_SIDE: usize = SQUARES + 3;
/// The kind of requests.
const REQUESTS: &str = "login";
/// Time within which each result comes.
const RESULT: Duration = Duration::from_secs(120);
/// Times that the servers' use of the machine is looked at.
const LOOKS: u64 = 100;
/// The bidders of an auction, and the voters of a count.
const BIDDERS: usize = 3;
const VOTERS: usize = 5;
/// Numbers of submissions that programs of several clients are recorded for.
const SAMPLES: [usize; 5] = [2, 3, 5, 11, 23];

/// Kinds of jobs, each with the sharings, clients of a batch, and who gets results.
const KINDS: [(&str, &str, usize); 3] = [
    ("squares", "R", 1),
    ("votes", "R", VOTERS),
    ("auction", "A+B", BIDDERS),
];

/// Use of the machine early and late in a run.
#[derive(Debug, Clone, Copy)]
pub struct Watched {
    pub early: Taken,
    pub late: Taken,
}

/// Adds the kinds to the files of servers that were made for a demo.
pub fn add_kinds(folder: &Path, servers: usize) -> Result<()> {
    let config = ServiceConfig::load(&folder.join("member.toml")).map_err(Failure::bug)?;
    for (name, _, clients) in KINDS {
        let made = match clients {
            1 => squares(servers)
                .map_err(Failure::bug)
                .and_then(|program| ProgramFile::of(&program).map_err(Failure::bug)),
            _ => several(servers, name),
        };
        let saved = made?.save(folder.join(format!("{name}.madrigal")));
        saved.map_err(Failure::bug)?;
    }
    for (server, entry) in config.servers.parties().iter().enumerate() {
        let digest = token_digest(TOKEN, &entry.key);
        let mut text = format!("\n[[clients]]\nname = \"{ANN}\"\ntoken-sha256 = \"{digest}\"\n");
        for (name, mix, clients) in KINDS {
            text += &format!(
                "\n[[kinds]]\nname = \"{name}\"\nprogram = \"{name}.madrigal\"\nmix = \"{mix}\"\nsubmit = [\"{ANN}\"]\n\
                 expires = \"30s\"\nkept = \"20s\"\n"
            );
            if clients > 1 {
                text += &format!(
                    "receive = {{ analyst = [\"{ANN}\"] }}\n\
                     batch = {{ dimension = \"members\", least = {clients}, most = {clients}, after = \"1s\" }}\n"
                );
            }
        }
        text += &format!(
            "\n[[kinds]]\nname = \"{REQUESTS}\"\nrequests = \"aes-128\"\nsubmit = \"anyone\"\n"
        );
        let path = folder.join(format!("server{server}.toml"));
        let file = OpenOptions::new().append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(Failure::file("write the file", &path))?;
    }
    Ok(())
}

/// Squares of one client's numbers, for the client.
fn squares(servers: usize) -> std::result::Result<Computation, ProgramError> {
    let member = Client::new("member");
    let mut program = Program::new(servers);
    let x = program.input_named::<u64>("x", &member, [ELEMENTS]);
    program.open_named("squares", &(&x * &x), &member);
    program.finish()
}

/// A count of votes, or the highest bid and who made it.
fn several(servers: usize, name: &str) -> Result<ProgramFile> {
    let of = |members: usize| -> std::result::Result<Computation, ProgramError> {
        let (member, analyst) = (Client::new("member"), Client::new("analyst"));
        let mut program = Program::new(servers);
        let x = program.input_named::<u32>("x", &member, [members]);
        match name {
            "votes" => program.open_named("yes", &x.ge(1).count(0), &analyst),
            _ => program.open_named("highest", &x.greatest(0), &analyst),
        };
        program.finish()
    };
    debug_assert_eq!(SAMPLES.len(), choices(1));
    let samples = SAMPLES.map(|members| {
        let file = ProgramFile::of(&of(members).map_err(Failure::bug)?);
        Ok((vec![members], file.map_err(Failure::bug)?))
    });
    let samples: Result<Vec<_>> = samples.into_iter().collect();
    general(&["members".to_owned()], &samples?).map_err(Failure::bug)
}

/// Jobs that are done, of all kinds.
#[derive(Default)]
struct Jobs {
    done: AtomicU64,
    most: u64,
}

impl Jobs {
    /// The number of a next job, if there is to be one.
    fn next(&self) -> Option<u64> {
        let number = self.done.fetch_add(1, Relaxed);
        (number < self.most).then_some(number)
    }
}

/// Has the servers do jobs of all kinds side by side.
pub async fn run(
    folder: &Path,
    servers: &Servers,
    most: u64,
) -> std::result::Result<(Loaded, Watched), String> {
    let config = ServiceConfig::load(&folder.join("member.toml"));
    let mut config = config.map_err(|error| error.to_string())?;
    config.token = Some(Zeroizing::new(TOKEN.to_vec()));
    config.client = Some(ANN.to_owned());
    let client = ServiceClient::connect(config).await;
    let client = Arc::new(client.map_err(|error| error.to_string())?);
    let jobs = Arc::new(Jobs {
        most,
        ..Jobs::default()
    });
    let begun = Instant::now();
    let mut tasks: Vec<_> = (0..SQUARES)
        .map(|_| tokio::spawn(one_by_one(Arc::clone(&client), Arc::clone(&jobs))))
        .collect();
    for (name, _, clients) in KINDS.into_iter().filter(|(.., clients)| *clients > 1) {
        let (client, jobs) = (Arc::clone(&client), Arc::clone(&jobs));
        tasks.push(tokio::spawn(batches(client, jobs, name, clients)));
    }
    tasks.push(tokio::spawn(requests(
        Arc::clone(&client),
        Arc::clone(&jobs),
    )));
    let mut looks = Vec::new();
    while tasks.iter().any(|task| !task.is_finished()) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if jobs.done.load(Relaxed) * LOOKS >= most * looks.len() as u64 {
            looks.push(servers.taken());
        }
    }
    let mut all = Loaded::default();
    for task in tasks {
        all.add(task.await.map_err(|error| error.to_string())??);
    }
    all.seconds = begun.elapsed().as_secs_f64();
    let tenth = |number: usize| {
        let (from, to) = (looks.len() * number / 10, looks.len() * (number + 1) / 10);
        median(looks.get(from..to.max(from + 1)).unwrap_or_default())
    };
    let watched = Watched {
        early: tenth(2),
        late: tenth(9),
    };
    Ok((all, watched))
}

/// The median of each figure.
fn median(looks: &[Taken]) -> Taken {
    let of = |figure: fn(&Taken) -> u64| {
        let mut all: Vec<u64> = looks.iter().map(figure).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(0)
    };
    Taken {
        memory: of(|taken| taken.memory),
        peak: of(|taken| taken.peak),
        descriptors: of(|taken| taken.descriptors),
        threads: of(|taken| taken.threads),
        disk: of(|taken| taken.disk),
    }
}

fn value(typed: &str, codes: &[u128]) -> std::result::Result<Value, String> {
    let shape = Shape::checked(&[codes.len()]).ok_or("no such shape")?;
    let typed: Type = typed.parse().map_err(|_| "no such type".to_owned())?;
    let array = Array::from_codes(typed, &shape, codes.iter().copied());
    Ok(Value::from(array.ok_or("numbers that do not fit")?))
}

/// A number that looks like any other.
fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24
}

/// Jobs of one client, one after the other.
async fn one_by_one(
    client: Arc<ServiceClient>,
    jobs: Arc<Jobs>,
) -> std::result::Result<Loaded, String> {
    let mut loaded = Loaded::default();
    while let Some(job) = jobs.next() {
        let numbers: Vec<u64> = (0..ELEMENTS as u64)
            .map(|at| spread(job * 31 + at))
            .collect();
        let codes: Vec<u128> = numbers.iter().copied().map(u128::from).collect();
        let inputs = [("x".to_owned(), value("u64", &codes)?)];
        let begun = Instant::now();
        let submission = Submit {
            kind: "squares",
            inputs: &inputs,
            client: ANN,
            pending: None,
            receipt: None,
        };
        let work = async {
            let submission = client.submit(&submission).await?;
            client.wait(&submission).await
        };
        let Ok(outputs) = timeout(RESULT, work).await else {
            loaded.lost += 1;
            continue;
        };
        let outputs = outputs.map_err(|error| error.to_string())?;
        let squares = outputs.values[0].1.component::<u64>(0);
        let right = numbers.iter().map(|number| number.wrapping_mul(*number));
        loaded.wrong += u64::from(!right.eq(squares.iter().copied()));
        loaded.answered += 1;
        loaded.times.add(begun.elapsed().as_secs_f64());
    }
    Ok(loaded)
}

/// Jobs of several submissions, one after the other.
async fn batches(
    client: Arc<ServiceClient>,
    jobs: Arc<Jobs>,
    kind: &'static str,
    clients: usize,
) -> std::result::Result<Loaded, String> {
    let (mut loaded, mut batch) = (Loaded::default(), 0);
    while let Some(job) = jobs.next() {
        let values: Vec<u32> = (0..clients as u64)
            .map(|at| spread(job * 37 + at) as u32 % 1000)
            .map(|value| if kind == "votes" { value % 2 } else { value })
            .collect();
        let begun = Instant::now();
        let each = values.iter().map(async |&number| {
            let inputs = [("x".to_owned(), value("u32", &[u128::from(number)])?)];
            let submission = Submit {
                kind,
                inputs: &inputs,
                client: ANN,
                pending: None,
                receipt: None,
            };
            let submitted = client.submit(&submission).await;
            submitted.map_err(|error| error.to_string())
        });
        try_join_all(each).await?;
        let Ok(outputs) = timeout(RESULT, client.wait_after(kind, batch)).await else {
            loaded.lost += 1;
            continue;
        };
        let outputs = outputs.map_err(|error| error.to_string())?;
        batch = outputs.job.batch;
        let told = outputs.values[0].1.component::<u32>(0)[0];
        let right = match kind {
            "votes" => values.iter().sum(),
            _ => values.iter().copied().max().unwrap_or(0),
        };
        let whole = outputs.job.submissions == clients as u64;
        loaded.wrong += u64::from(!whole || told != right);
        loaded.answered += 1;
        loaded.times.add(begun.elapsed().as_secs_f64());
    }
    Ok(loaded)
}

/// Requests, those of each job on connections of their own.
async fn requests(
    client: Arc<ServiceClient>,
    jobs: Arc<Jobs>,
) -> std::result::Result<Loaded, String> {
    let mut loaded = Loaded::default();
    let expected = load::learnt(&client, REQUESTS).await?;
    while jobs.next().is_some() {
        let begun = Instant::now();
        let Ok(answers) = timeout(RESULT, load::once(&client, REQUESTS)).await else {
            loaded.lost += 1;
            continue;
        };
        loaded.wrong += u64::from(answers? != expected);
        loaded.answered += 1;
        loaded.times.add(begun.elapsed().as_secs_f64());
    }
    Ok(loaded)
}
