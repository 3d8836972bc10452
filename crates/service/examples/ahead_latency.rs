//! How long a small job in A and B takes on correlations that are ready, and on those that it makes: the highest of a few bids, three servers on this
//! machine: `ahead_latency [JOBS [BIDDERS [PAUSE_MS]]]`.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use madrigal_program::{Array, Client, Program, Shape, Type};
use madrigal_program_file::{ProgramFile, general};
use madrigal_service::args::DemoArg;
use madrigal_service::local::{self, Shown};
use madrigal_service::operation::KindLabel;
use madrigal_service::{Checked, Server};
use madrigal_service_client::{ServiceClient, ServiceConfig, Submit, Value, token_digest};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SERVERS: usize = 3;
const TOKEN: &[u8] = b"a token of a benchmark alone";

/// Numbers of bidders that the program is recorded for.
const SAMPLES: [usize; 5] = [2, 3, 5, 11, 23];

fn auction() -> Result<ProgramFile> {
    let of = |members: usize| -> Result<ProgramFile> {
        let (member, analyst) = (Client::new("member"), Client::new("analyst"));
        let mut program = Program::new(SERVERS);
        let x = program.input_named::<u32>("x", &member, [members]);
        program.open_named("highest", &x.greatest(0), &analyst);
        Ok(ProgramFile::of(&program.finish()?)?)
    };
    let samples: Result<Vec<_>> = SAMPLES
        .map(|members| Ok((vec![members], of(members)?)))
        .into_iter()
        .collect();
    Ok(general(&["members".to_owned()], &samples?)?)
}

fn add_kind(folder: &Path, bidders: usize, line: &str) -> Result<ServiceConfig> {
    auction()?.save(folder.join("auction.madrigal"))?;
    let mut config = ServiceConfig::load(&folder.join("member.toml"))?;
    for (server, entry) in config.servers.parties().iter().enumerate() {
        let digest = token_digest(TOKEN, &entry.key);
        let path = folder.join(format!("server{server}.toml"));
        let text = fs::read_to_string(&path)?
            + &format!(
                "\n[[clients]]\nname = \"ann\"\ntoken-sha256 = \"{digest}\"\n\n[[kinds]]\nname = \"auction\"\n\
                 program = \"auction.madrigal\"\nmix = \"A+B\"\nsubmit = [\"ann\"]\nreceive = {{ analyst = [\"ann\"] }}\n\
                 batch = {{ dimension = \"members\", least = {bidders}, most = {bidders}, after = \"1s\" }}\n{line}\n"
            );
        fs::write(&path, text)?;
    }
    config.token = Some(TOKEN.to_vec().into());
    config.client = Some("ann".to_owned());
    Ok(config)
}

fn bid(number: u32) -> Result<Value> {
    let shape = Shape::checked(&[1]).ok_or("no such shape")?;
    let typed: Type = "u32".parse().map_err(|_| "no such type")?;
    let array = Array::from_codes(typed, &shape, [u128::from(number)].into_iter());
    Ok(Value::from(array.ok_or("a number that does not fit")?))
}

/// Times from the first bid to the result, in order, with the mean time of the jobs and the bytes that each server sent in one.
async fn measure(jobs: u32, bidders: usize, pause: Duration, line: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    local::make(folder.path(), SERVERS, &Shown::Demo(DemoArg::Statistics), 1)
        .map_err(|error| error.to_string())?;
    let config = add_kind(folder.path(), bidders, line)?;
    let mut servers = Vec::new();
    for server in 0..SERVERS {
        let file = folder.path().join(format!("server{server}.toml"));
        servers.push(Server::start(Checked::load(&file)?).await?);
    }
    while !servers.iter().all(|server| server.health().is_ready()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let client = ServiceClient::connect(config).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (mut batch, mut times) = (0, Vec::new());
    for job in 0..jobs {
        let bids: Vec<u32> = (0..bidders as u32)
            .map(|at| (job * 37 + at * 101) % 1000)
            .collect();
        let begun = Instant::now();
        let each = bids.iter().map(async |&number| {
            let inputs = [("x".to_owned(), bid(number)?)];
            let submission = Submit {
                kind: "auction",
                inputs: &inputs,
                client: "ann",
                pending: None,
                receipt: None,
            };
            client
                .submit(&submission)
                .await
                .map_err(Box::<dyn Error>::from)
        });
        try_join_all(each).await?;
        let outputs = client.wait_after("auction", batch).await?;
        batch = outputs.job.batch;
        assert_eq!(
            outputs.values[0].1.component::<u32>(0)[0],
            *bids.iter().max().unwrap_or(&0)
        );
        times.push(begun.elapsed());
        tokio::time::sleep(pause).await;
    }
    times.sort_unstable();
    let label = KindLabel::from("auction");
    let meters = servers[0].meters();
    let sent = meters.sent.get_or_create(&label).get() / u64::from(jobs);
    let ahead = meters.runs_ahead.get_or_create(&label).get();
    let text = meters.in_words()?;
    let sum = text
        .lines()
        .find(|line| line.starts_with("madrigal_run_seconds_sum{kind=\"auction\"}"));
    let sum: f64 = sum
        .and_then(|line| line.split(' ').next_back()?.parse().ok())
        .unwrap_or(0.0);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "{bidders} bidders, `{line}`: from the first bid to the result {:.1} ms in the median, {:.1} ms for 95 of 100; the job alone {:.1} ms on average; \
         {sent} bytes sent by server 0; {ahead} of {jobs} on correlations that were ready",
        at(50),
        at(95),
        sum / f64::from(jobs) * 1e3,
    );
    for server in servers {
        server.leave(Duration::from_secs(1)).await;
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let jobs = args.next().transpose()?.unwrap_or(50) as u32;
    let bidders = args.next().transpose()?.unwrap_or(3) as usize;
    let pause = Duration::from_millis(args.next().transpose()?.unwrap_or(300));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for line in ["", "ahead = 4", "", "ahead = 4"] {
        runtime.block_on(measure(jobs, bidders, pause, line))?;
    }
    Ok(())
}
