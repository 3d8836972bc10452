//! Inputs that servers hold: a model is loaded, jobs compute with it, another one takes its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use madrigal_core::Party;
use madrigal_intake::State;
use madrigal_program::{Array, Client as Role, Program, Shape, Type};
use madrigal_program_file::{ProgramFile, choices, general};
use madrigal_service::config::LogConfig;
use madrigal_service::operation::start_log;
use madrigal_service::{Checked, ServeError, Server};
use madrigal_service_client::{
    ClientError, Outputs, ServiceClient, ServiceConfig, Submission, Submit, Value,
};
use madrigal_testkit::seed;
use tokio::time::{sleep, timeout};

use crate::common::{ANN, BOB, Service};
use crate::kills::Host;
use crate::power::Disk;
use crate::random::Random;
use crate::tap::{Taps, change_load};

/// Time within which anything happens.
const SOON: Duration = Duration::from_secs(60);

/// Products of each member's two numbers with the owner's two weights, added up, for the member.
pub(crate) fn program(servers: usize) -> ProgramFile {
    let samples = [2, 3, 5, 11, 23];
    assert_eq!(samples.len(), choices(1));
    let samples = samples.map(|rows| {
        let (owner, member) = (Role::new("owner"), Role::new("member"));
        let mut program = Program::new(servers);
        let weights = program.input_named::<u32>("weights", &owner, [2]);
        let x = program.input_named::<u32>("x", &member, [rows, 2]);
        program.open_named("y", &(&x * &weights).sum(1), &member);
        let file = ProgramFile::of(&program.finish().unwrap()).unwrap();
        (vec![rows], file)
    });
    general(&["rows".to_owned()], &samples).unwrap()
}

const MODEL: &str =
    "name = \"model\"\nprogram = \"dot.madrigal\"\nholds = \"owner\"\nsubmit = [\"ann\"]\n";
const DOT: &str = "name = \"dot\"\nprogram = \"dot.madrigal\"\nheld = { owner = \"model\" }\nsubmit = [\"bob\"]\nruns = 50\n\
     batch = { dimension = \"rows\", least = 1, most = 8, after = \"10ms\" }\n";

fn clients() -> String {
    format!(
        "[[clients]]\nname = \"ann\"\ntoken-sha256 = \"{ANN}\"\n[[clients]]\nname = \"bob\"\ntoken-sha256 = \"{BOB}\"\n"
    )
}

/// The service's file, with these kinds.
pub(crate) fn file(mix: &str, kinds: &[&str]) -> String {
    let kinds = kinds
        .iter()
        .map(|kind| format!("[[kinds]]\nmix = \"{mix}\"\n{kind}"));
    clients() + &kinds.collect::<String>()
}

/// A service with a kind that holds weights and one that uses them; no server is started.
pub(crate) fn service(servers: usize, mix: &str) -> Service {
    let service = Service::new(servers, &file(mix, &[MODEL, DOT]));
    let saved = program(servers).save(service.folder.path().join("dot.madrigal"));
    saved.unwrap();
    service
}

pub(crate) async fn connect(service: &Service, name: &str) -> ServiceClient {
    let mut config = ServiceConfig::new((*service.roster).clone());
    config.client = Some(name.to_owned());
    config.token = Some(format!("secret of {name}").into_bytes().into());
    config.patience = SOON;
    ServiceClient::connect(config).await.unwrap()
}

fn value(axes: &[usize], numbers: &[u32]) -> Value {
    let shape = Shape::checked(axes).unwrap();
    let typed: Type = "u32".parse().unwrap();
    let codes = numbers.iter().copied().map(u128::from);
    Value::from(Array::from_codes(typed, &shape, codes).unwrap())
}

async fn submit(
    client: &ServiceClient,
    (kind, name, input): (&str, &str, &str),
    value: Value,
) -> Submission {
    let inputs = [(input.to_owned(), value)];
    let submit = Submit {
        kind,
        inputs: &inputs,
        client: name,
        pending: None,
        receipt: None,
    };
    client.submit(&submit).await.unwrap()
}

async fn load(ann: &ServiceClient, weights: [u32; 2]) -> Submission {
    submit(ann, ("model", "ann", "weights"), value(&[2], &weights)).await
}

/// Loads weights, and waits until they are held; gives the submission and its batch.
pub(crate) async fn loaded(ann: &ServiceClient, weights: [u32; 2]) -> (Submission, u64) {
    let submission = load(ann, weights).await;
    let outputs = done(ann, &submission).await.unwrap();
    assert!(outputs.values.is_empty() && outputs.job.outputs.is_empty());
    assert!(outputs.job.recipients.is_empty() && outputs.job.held.is_empty());
    (submission, outputs.job.batch)
}

pub(crate) async fn bring(bob: &ServiceClient, x: [u32; 2]) -> Submission {
    submit(bob, ("dot", "bob", "x"), value(&[1, 2], &x)).await
}

async fn done(client: &ServiceClient, submission: &Submission) -> Result<Outputs, ClientError> {
    let done = timeout(SOON, client.wait(submission)).await;
    done.expect("an end in time")
}

fn dot(x: [u32; 2], weights: [u32; 2]) -> u32 {
    let product = |at: usize| x[at].wrapping_mul(weights[at]);
    product(0).wrapping_add(product(1))
}

/// Checks that a result is that of these weights, and that its receipt names their load.
fn must_be_of(outputs: &Outputs, x: [u32; 2], weights: [u32; 2], of: &(Submission, u64)) {
    let [(_, y)] = &outputs.values[..] else {
        panic!("{} outputs", outputs.values.len());
    };
    assert_eq!(y.component::<u32>(0), [dot(x, weights)]);
    let [held] = &outputs.job.held[..] else {
        panic!("{:?}", outputs.job.held);
    };
    assert_eq!(
        (&*held.kind, held.batch, held.submission),
        ("model", of.1, of.0.id)
    );
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !done() {
        assert!(Instant::now() < end, "{what}: not in time");
        sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    crate::jobs::runtime().block_on(work)
}

/// Nothing begins before something is loaded; then each result is that of the weights that its receipt names.
#[test]
fn jobs_compute_with_what_was_loaded() {
    for (servers, mix) in [(3, "R"), (2, "A+B"), (3, "A+B")] {
        run(async {
            let mut service = service(servers, mix);
            service.start_all().await;
            let (ann, bob) = (
                connect(&service, "ann").await,
                connect(&service, "bob").await,
            );
            let x = [7, u32::MAX];
            let early = bring(&bob, x).await;
            let states = bob.status(&early).await.unwrap();
            for state in states {
                match state {
                    State::Held { reason } => assert_eq!(
                        reason,
                        "it waits for inputs that kind `model` is to hold: nothing is loaded there yet"
                    ),
                    other => panic!("{other:?}"),
                }
            }
            let health = |at: usize| service.servers[at].as_ref().unwrap().health();
            for at in 0..servers {
                let told = health(at).in_words();
                assert!(told.contains("kind dot: it waits for inputs"), "{told}");
            }
            let first = loaded(&ann, [3, 5]).await;
            must_be_of(&done(&bob, &early).await.unwrap(), x, [3, 5], &first);
            until("all are ready", || {
                (0..servers).all(|at| health(at).is_ready())
            })
            .await;
            let second = loaded(&ann, [11, 13]).await;
            assert!(second.1 > first.1);
            let late = bring(&bob, x).await;
            must_be_of(&done(&bob, &late).await.unwrap(), x, [11, 13], &second);
            // What was replaced goes away, and whoever asks for it hears that.
            let told = loop {
                // The others may have heard of the later load a moment ago.
                match done(&ann, &first.0).await {
                    Ok(_) => sleep(Duration::from_millis(20)).await,
                    Err(error) => break error.to_string(),
                }
            };
            assert!(told.contains("is held no longer"), "{told}");
            service.stop_all().await;
        });
    }
}

/// Weights are replaced again and again while jobs go on: each result is that of one load alone, the one that its receipt names.
#[test]
fn a_model_may_be_replaced_at_any_time() {
    let mut random = Random::new(seed());
    run(async {
        let mut service = service(3, "R");
        service.start_all().await;
        let ann = connect(&service, "ann").await;
        let bob = Arc::new(connect(&service, "bob").await);
        let loading = tokio::spawn(async move {
            let mut loads = Vec::new();
            for number in 0..12_u32 {
                let weights = [1 + number, 1000 * (1 + number)];
                loads.push((loaded(&ann, weights).await, weights));
            }
            loads
        });
        let mut results = Vec::new();
        while !loading.is_finished() || results.len() < 12 {
            let x = [random.below(1000) as u32, random.below(1000) as u32];
            let bob = Arc::clone(&bob);
            results.push(tokio::spawn(async move {
                let submission = bring(&bob, x).await;
                (x, done(&bob, &submission).await.unwrap())
            }));
            sleep(Duration::from_millis(random.below(20) as u64)).await;
        }
        let loads = loading.await.unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for result in results {
            let (x, outputs) = result.await.unwrap();
            let batch = outputs.job.held[0].batch;
            let (of, weights) = loads.iter().find(|(of, _)| of.1 == batch).unwrap();
            must_be_of(&outputs, x, *weights, of);
            seen.insert(batch);
        }
        assert!(seen.len() > 1, "one load was used alone: {seen:?}");
        service.stop_all().await;
    });
}

/// Power goes at each server in turn, between a load and its use and in between: what was loaded is there afterwards, and jobs of all servers agree.
#[test]
fn what_is_held_survives_a_loss_of_power() {
    let mut random = Random::new(seed());
    // `RUST_LOG=info` shows what the servers do.
    let log = std::env::var("RUST_LOG").is_ok();
    let _ = log.then(|| start_log(&LogConfig::default()));
    let service = service(3, "R");
    let mut hosts: Vec<Option<Host>> = (0..3)
        .map(|at| Some(Host::start(&service, at, Disk::default())))
        .collect();
    let runtime = crate::jobs::runtime();
    let (ann, bob) = runtime.block_on(async {
        (
            connect(&service, "ann").await,
            connect(&service, "bob").await,
        )
    });
    for at in [1, 0, 2, 0] {
        let weights = [random.below(1 << 20) as u32, random.below(1 << 20) as u32];
        let x = [random.below(1 << 20) as u32, 1];
        let mut kill = |hosts: &mut Vec<Option<Host>>| {
            let disk = hosts[at].take().unwrap().kill(&mut random);
            hosts[at] = Some(Host::start(&service, at, disk));
        };
        // The one that dies may not have heard yet that the load counts.
        let of = runtime.block_on(loaded(&ann, weights));
        kill(&mut hosts);
        let brought = runtime.block_on(bring(&bob, x));
        let result = runtime.block_on(done(&bob, &brought)).unwrap();
        must_be_of(&result, x, weights, &of);
        // And in the middle of a load: it counts in the end.
        let again = runtime.block_on(load(&ann, [weights[1], weights[0]]));
        kill(&mut hosts);
        let outputs = runtime.block_on(done(&ann, &again)).unwrap();
        let of = (again, outputs.job.batch);
        let brought = runtime.block_on(bring(&bob, x));
        let result = runtime.block_on(done(&bob, &brought)).unwrap();
        must_be_of(&result, x, [weights[1], weights[0]], &of);
    }
    drop(hosts);
}

/// A server whose vault is gone has no load: no batch begins, and clients hear whose fault it is. Nothing is computed with other shares.
#[test]
fn no_batch_begins_while_a_server_lacks_the_load() {
    run(async {
        let mut service = service(3, "R");
        service.start_all().await;
        let (ann, bob) = (
            connect(&service, "ann").await,
            connect(&service, "bob").await,
        );
        loaded(&ann, [3, 5]).await;
        let server = service.servers[1].take().unwrap();
        server.leave(Duration::from_secs(5)).await;
        std::fs::remove_dir_all(service.folder.path().join("data1")).unwrap();
        service.start(1).await;
        let late = bring(&bob, [1, 2]).await;
        let end = Instant::now() + SOON;
        let reasons = loop {
            let states = bob.status(&late).await.unwrap();
            let reasons = states.into_iter().map(|state| match state {
                State::Held { reason } => reason,
                other => format!("{other:?}"),
            });
            let reasons: Vec<String> = reasons.collect();
            if reasons[0].starts_with("party 1 refuses") {
                break reasons;
            }
            assert!(Instant::now() < end, "{reasons:?}");
            sleep(Duration::from_millis(20)).await;
        };
        for reason in reasons {
            assert!(reason.contains("nothing is loaded there yet"), "{reason}");
        }
        let waited = timeout(Duration::from_secs(1), bob.wait(&late)).await;
        assert!(waited.is_err(), "{waited:?}");
        service.stop_all().await;
    });
}

/// The leader names another load to one server than to the others, as if it had another: that server breaks the run, which is run again.
#[test]
fn a_run_with_another_load_comes_to_nothing() {
    run(async {
        let mut service = service(3, "R");
        let taps = Taps::default();
        for at in 0..3 {
            let checked = Checked::load(&service.file(at)).unwrap();
            let between = Some(taps.at(Party::new(at)));
            let server = Server::start_between(checked, None, between).await;
            service.servers[at] = Some(server.unwrap());
        }
        let changed = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&changed);
        taps.change(Box::new(move |_, to, frame| {
            if to == Party::new(2) && count.load(Relaxed) < 3 && change_load(frame) {
                count.fetch_add(1, Relaxed);
            }
            true
        }));
        let (ann, bob) = (
            connect(&service, "ann").await,
            connect(&service, "bob").await,
        );
        let of = loaded(&ann, [3, 5]).await;
        let brought = bring(&bob, [1, 2]).await;
        must_be_of(&done(&bob, &brought).await.unwrap(), [1, 2], [3, 5], &of);
        assert_eq!(changed.load(Relaxed), 3);
        let meters = service.servers[2].as_ref().unwrap().meters();
        let meters = meters.in_words().unwrap();
        let line = "madrigal_runs_broken_total{kind=\"dot\"} 3";
        assert!(meters.contains(line), "{meters}");
        service.stop_all().await;
    });
}

/// What is wrong about kinds is told when the file is read, with the field.
#[test]
fn kinds_that_do_not_fit_are_refused() {
    let service = service(3, "R");
    let reject = |kinds: &[&str], expected: &str| {
        let head = "parties = \"parties.toml\"\nparty = \"server0\"\ndata = \"data0\"\n";
        let digest = format!("sha256:{}", "0".repeat(64));
        let text = head.to_owned() + &file("R", kinds);
        let text = text.replace(ANN, &digest).replace(BOB, &digest);
        std::fs::write(service.file(0), text).unwrap();
        let told = Checked::load(&service.file(0)).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    };
    let with = |kind: &str, from: &str, to: &str| kind.replace(from, to);
    reject(&[DOT], "`held.owner`: there is no kind `model`");
    let plain = with(MODEL, "holds = \"owner\"\n", "lengths = { rows = 3 }\n");
    reject(&[&plain], "inputs are of");
    reject(
        &[&with(MODEL, "\"owner\"", "\"nobody\""), DOT],
        "`holds` is `nobody`, and the program has no input",
    );
    reject(
        &[&with(MODEL, "\"owner\"", "\"member\""), DOT],
        "the shape of input `x` depends on a length",
    );
    reject(
        &[MODEL, &with(DOT, "owner =", "member =")],
        "the first axis of input `weights` is not `rows`",
    );
    reject(
        &[
            MODEL,
            &with(
                DOT,
                "{ owner = \"model\" }",
                "{ owner = \"model\", other = \"model\" }",
            ),
        ],
        "kinds.dot.held.owner",
    );
    reject(
        &[
            MODEL,
            &with(DOT, "{ owner = \"model\" }", "{ owner = \"dot\" }"),
        ],
        "a kind does not hold its own inputs",
    );
    let anyone = with(MODEL, "[\"ann\"]", "\"anyone\"");
    reject(&[&anyone, DOT], "kinds.model.submit");
    let kept = format!("{MODEL}kept = \"1 day\"\n");
    reject(&[&kept, DOT], "kinds.model.kept");
    let batch =
        format!("{MODEL}batch = {{ dimension = \"rows\", least = 1, most = 2, after = \"1s\" }}\n");
    reject(&[&batch, DOT], "kinds.model.batch");
    // Other sharings, and another program of the same shapes.
    let text = file("R", &[MODEL]) + &file("A+B", &[DOT])[clients().len()..];
    let head = "parties = \"parties.toml\"\nparty = \"server0\"\ndata = \"data0\"\n";
    let digest = format!("sha256:{}", "0".repeat(64));
    let text = head.to_owned() + &text.replace(ANN, &digest).replace(BOB, &digest);
    std::fs::write(service.file(0), text).unwrap();
    let told = Checked::load(&service.file(0)).unwrap_err().to_string();
    assert!(told.contains("compare `mix`"), "{told}");
    let folder = service.folder.path();
    let mut program = Program::new(3);
    let (owner, member) = (Role::new("owner"), Role::new("member"));
    let weights = program.input_named::<u32>("weights", &owner, [2]);
    let x = program.input_named::<u32>("x", &member, [2]);
    program.open_named("y", &(&x + &weights), &member);
    let other = ProgramFile::of(&program.finish().unwrap()).unwrap();
    other.save(folder.join("other.madrigal")).unwrap();
    reject(
        &[&with(MODEL, "dot.madrigal", "other.madrigal"), DOT],
        "the programs of this kind and of kind `model` differ",
    );
}

/// The digest of a kind covers what it uses, and its role; other kinds have the digest that they always had.
#[test]
fn digests_cover_what_is_held() {
    let digests = |kinds: &[&str]| {
        let text = file("R", kinds);
        let service = Service::new(3, &text);
        let folder = service.folder.path();
        program(3).save(folder.join("dot.madrigal")).unwrap();
        let checked = Checked::load(&service.file(0)).unwrap();
        checked
            .kinds
            .iter()
            .map(|kind| kind.digest)
            .collect::<Vec<_>>()
    };
    let usual = digests(&[MODEL, DOT]);
    assert_eq!(usual, digests(&[DOT, MODEL]));
    let renamed = digests(&[
        &MODEL.replace("\"model\"", "\"zodel\""),
        &DOT.replace("\"model\"", "\"zodel\""),
    ]);
    assert_ne!(usual[0], renamed[0]);
    assert_ne!(usual[1], renamed[1]);
}

/// A policy refuses kinds that hold inputs and kinds that use them by default, and asks who may load.
#[test]
fn policies_cover_what_is_held() {
    let service = service(3, "R");
    let text = std::fs::read_to_string(service.file(0)).unwrap();
    let text = format!("policy = \"policy.toml\"\n{text}");
    std::fs::write(service.file(0), text).unwrap();
    let refused = |policy: &str| -> Vec<(String, String, String)> {
        std::fs::write(service.folder.path().join("policy.toml"), policy).unwrap();
        match Checked::load(&service.file(0)).unwrap().allowed() {
            Ok(()) => Vec::new(),
            Err(ServeError::Refused(refused)) => refused
                .into_iter()
                .map(|refusal| (refusal.kind, refusal.why, refusal.rule))
                .collect(),
            Err(other) => panic!("{other:?}"),
        }
    };
    let [dot, model] = &refused("")[..] else {
        panic!("two kinds are refused");
    };
    assert_eq!((&*dot.0, &*model.0), ("dot", "model"));
    assert!(
        dot.2
            .contains("# It computes with what these kinds hold: model.")
    );
    assert!(model.2.contains("submitters = [\"ann\"]"), "{}", model.2);
    let both = format!("{}\n{}", dot.2, model.2);
    assert_eq!(refused(&both), []);
    let without = both.replace("submitters = [\"ann\"]\n", "");
    let [(kind, why, _)] = &refused(&without)[..] else {
        panic!("the holding kind alone is refused");
    };
    assert_eq!(kind, "model");
    assert!(
        why.contains("those who submit load what later jobs compute with"),
        "{why}"
    );
    let other = both.replace("submitters = [\"ann\"]", "submitters = [\"bob\"]");
    assert!(refused(&other)[0].1.contains("client `ann` may submit"));
}
