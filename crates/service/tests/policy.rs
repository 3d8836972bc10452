//! Policies: what is refused at the start, and how limits of batches hold.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::time::Duration;

use madrigal_core::Digest256;
use madrigal_intake::{FromServer, State};
use madrigal_noise::Noise;
use madrigal_program::{Client as ProgramClient, Program};
use madrigal_program_file::{ProgramFile, general};
use madrigal_service::policy::{Policy, Verdict};
use madrigal_service::{Checked, ServeError, Server};

use crate::common::{ANN, Client, Line, Service, statistics};
use crate::jobs::runtime;

/// Time within which anything happens.
const SOON: u32 = 400;

/// Adds the line of a policy to the file of a server, and writes the policy.
fn give_policy(service: &Service, at: usize, policy: &str) {
    let file = service.file(at);
    let text = fs::read_to_string(&file).unwrap();
    if !text.contains("policy = ") {
        fs::write(&file, format!("policy = \"policy{at}.toml\"\n{text}")).unwrap();
    }
    fs::write(
        service.folder.path().join(format!("policy{at}.toml")),
        policy,
    )
    .unwrap();
}

/// The rule that a server proposes for its only kind.
fn proposed(service: &Service, at: usize) -> String {
    give_policy(service, at, "");
    let checked = Checked::load(&service.file(at)).unwrap();
    match checked.allowed() {
        Err(ServeError::Refused(refused)) => refused[0].rule.clone(),
        other => panic!("{other:?}"),
    }
}

/// Reason for which a policy does not allow the only kind of a server.
fn fault(service: &Service, at: usize) -> String {
    let checked = Checked::load(&service.file(at)).unwrap();
    match checked.allowed() {
        Err(ServeError::Refused(refused)) => refused[0].why.clone(),
        other => panic!("{other:?}"),
    }
}

async fn status(service: &Service, at: usize, id: Digest256) -> State {
    let mut line = Line::dial(&service.roster, at, None).await;
    line.connection.status(id).unwrap();
    match line.told().await {
        FromServer::State { state, .. } => state,
        other => panic!("{other:?}"),
    }
}

/// Waits until a server says of a submission what is expected.
async fn until(service: &Service, at: usize, id: Digest256, expected: impl Fn(&State) -> bool) {
    let mut last = State::Unknown;
    for _ in 0..SOON {
        last = status(service, at, id).await;
        if expected(&last) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("server {at} says {last:?}");
}

async fn submit(service: &Service, name: &str, ages: &[u32]) -> Digest256 {
    let mut client = Client::dial(service, None).await;
    let mut last = None;
    for (at, &age) in ages.iter().enumerate() {
        let prepared = client.prepare(&format!("{name}-{at}"), age);
        client.submit(&prepared).await;
        last = Some(prepared.id);
    }
    last.unwrap()
}

/// One server's limit holds for all: what comes beyond it stays, with a reason at each server, and is counted once there is room. A restart forgets no batch.
#[test]
fn batches_past_a_limit_wait() {
    runtime().block_on(async {
        let mut service = Service::new(2, &statistics(2, 2, "1h"));
        let rule = proposed(&service, 1);
        give_policy(&service, 1, &format!("{rule}batches = 1\n"));
        service.start_all().await;
        let first = submit(&service, "first", &[31, 44]).await;
        for at in 0..2 {
            until(&service, at, first, |state| {
                *state == State::Counted { batch: 1 }
            })
            .await;
        }
        let second = submit(&service, "second", &[10, 20]).await;
        let held = |state: &State| {
            let State::Held { reason } = state else {
                return false;
            };
            assert!(reason.starts_with("party 1 refuses: the limit"), "{reason}");
            assert!(reason.contains("1 in all"), "{reason}");
            true
        };
        for at in 0..2 {
            until(&service, at, second, held).await;
        }
        let meters = service.servers[1].as_ref().unwrap().meters();
        let meters = meters.in_words().unwrap();
        assert!(
            meters.contains("madrigal_batches_left{kind=\"ages\"} 0\n"),
            "{meters}"
        );
        service.stop_all().await;
        service.start_all().await;
        for at in 0..2 {
            until(&service, at, second, held).await;
        }
        service.stop_all().await;
        give_policy(
            &service,
            1,
            &format!("{rule}batches = 2\nper = \"1 day\"\n"),
        );
        service.start_all().await;
        for at in 0..2 {
            until(&service, at, second, |state| {
                *state == State::Counted { batch: 2 }
            })
            .await;
        }
        service.stop_all().await;
    });
}

/// The leader's own limit, by time: the next batch begins when the time is over, without anybody's doing. The policy's least counts where it is greater.
#[test]
fn time_makes_room_and_the_greater_least_counts() {
    runtime().block_on(async {
        let mut service = Service::new(2, &statistics(1, 3, "0 s"));
        let rule = proposed(&service, 0).replace("least = 1", "least = 3");
        give_policy(&service, 0, &format!("{rule}batches = 1\nper = \"3 s\"\n"));
        service.start_all().await;
        let first = submit(&service, "first", &[1, 2]).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(status(&service, 1, first).await, State::Accepted);
        submit(&service, "more", &[3]).await;
        until(&service, 1, first, |state| *state == State::Counted { batch: 1 }).await;
        let second = submit(&service, "second", &[4, 5, 6]).await;
        until(&service, 1, second, |state| matches!(state, State::Held { reason } if reason.contains("the next may begin at"))).await;
        until(&service, 1, second, |state| *state == State::Counted { batch: 2 }).await;
        service.stop_all().await;
    });
}

/// Kinds that no rule allows are refused, and the rule that is proposed is taken.
#[test]
fn what_no_rule_allows_is_refused() {
    let anyone = statistics(3, 5, "1h");
    let requests = "[[kinds]]\nname = \"login\"\nrequests = \"aes-128\"\nsubmit = \"anyone\"\n";
    for text in [&anyone, requests] {
        let service = Service::new(3, text);
        let rule = proposed(&service, 0);
        assert!(fault(&service, 0).contains("no rule is about it"));
        give_policy(&service, 0, &rule);
        let checked = Checked::load(&service.file(0)).unwrap();
        checked.allowed().unwrap();
        let (jobs, requests) = checked.verdicts();
        assert!(matches!(
            &[jobs, requests].concat()[..],
            [Verdict::Allowed(_)]
        ));
    }
    // A server without a policy takes what its file says.
    let service = Service::new(2, &anyone);
    let checked = Checked::load(&service.file(0)).unwrap();
    assert_eq!(checked.verdicts().0, [Verdict::NoPolicy]);
    checked.allowed().unwrap();
    // A start is refused as a check is.
    give_policy(&service, 0, "");
    let checked = Checked::load(&service.file(0)).unwrap();
    let started = runtime().block_on(Server::start(checked));
    assert!(matches!(started, Err(ServeError::Refused(_))));
    assert!(!service.folder.path().join("data0").exists());
}

/// Whoever edits the service's file gets nobody an output: neither by another receiver, nor by another token of a receiver, nor by a lower least.
#[test]
fn the_service_file_cannot_widen_the_policy() {
    let service = Service::new(2, &statistics(3, 5, "1h"));
    let rule = proposed(&service, 0);
    give_policy(&service, 0, &rule);
    let good = fs::read_to_string(service.file(0)).unwrap();
    let edit = |from: &str, to: &str| {
        assert!(good.contains(from), "{good}");
        fs::write(service.file(0), good.replace(from, to)).unwrap();
    };
    let other = format!("sha256:{}", "ab".repeat(32));
    let eve = format!("[[clients]]\nname = \"eve\"\nkey = \"{other}\"\n[[kinds]]");
    // Another receiver is another program; a rule for it has to name her.
    edit("[\"ann\"]", "[\"ann\", \"eve\"]");
    let text = fs::read_to_string(service.file(0)).unwrap();
    fs::write(service.file(0), text.replace("[[kinds]]", &eve)).unwrap();
    assert!(fault(&service, 0).contains("no rule is about it"));
    let digest = |rule: &str| {
        let from = rule.find("program = ").unwrap();
        rule[from..].lines().next().unwrap().to_owned()
    };
    let wider = proposed(&service, 0);
    give_policy(&service, 0, &rule.replace(&digest(&rule), &digest(&wider)));
    let why = fault(&service, 0);
    assert!(
        why.contains("client `eve` gets output") && why.contains("`recipients`"),
        "{why}"
    );
    give_policy(&service, 0, &rule);
    // A key beside the token, which would be a second way in.
    edit("token-sha256", &format!("key = \"{other}\"\ntoken-sha256"));
    let why = fault(&service, 0);
    assert!(
        why.contains("client `ann` has another key or token"),
        "{why}"
    );
    // More than any batch has.
    fs::write(service.file(0), &good).unwrap();
    give_policy(&service, 0, &rule.replace("least = 3", "least = 6"));
    assert!(fault(&service, 0).contains("`least` is 6"));
    give_policy(&service, 0, &rule.replace("least = 3", "least = 5"));
    let checked = Checked::load(&service.file(0)).unwrap();
    assert!(matches!(&checked.verdicts().0[0], Verdict::Allowed(allowed) if allowed.least == 5));
}

/// Clients that a service's file gets while the server runs are held against the policy, too.
#[test]
fn a_file_that_is_read_again_is_held_against_the_policy() {
    runtime().block_on(async {
        let mut service = Service::new(2, &statistics(3, 5, "1h"));
        let rule = proposed(&service, 0);
        give_policy(&service, 0, &rule);
        service.start(0).await;
        let server = service.servers[0].as_ref().unwrap();
        let file = service.file(0);
        server.reload(&file).await.unwrap();
        let good = fs::read_to_string(&file).unwrap();
        let other = format!("key = \"sha256:{}\"\ntoken-sha256", "ab".repeat(32));
        fs::write(&file, good.replace("token-sha256", &other)).unwrap();
        let refused = server.reload(&file).await;
        assert!(
            matches!(refused, Err(ServeError::Refused(_))),
            "{refused:?}"
        );
        // Clients that get nothing may come and go.
        let eve = format!(
            "[[clients]]\nname = \"eve\"\nkey = \"sha256:{}\"\n[[kinds]]",
            "cd".repeat(32)
        );
        fs::write(&file, good.replace("[[kinds]]", &eve)).unwrap();
        server.reload(&file).await.unwrap();
        service.stop_all().await;
    });
}

/// A policy is read again with the file: what its rules have room for begins, what was spent stays spent, and all servers whose limits are used up are told.
#[test]
fn a_policy_is_read_again() {
    runtime().block_on(async {
        let mut service = Service::new(2, &statistics(2, 2, "1h"));
        for at in 0..2 {
            let rule = proposed(&service, at);
            give_policy(&service, at, &format!("{rule}batches = 1\n"));
        }
        service.start_all().await;
        let counted = |batch| move |state: &State| *state == State::Counted { batch };
        let first = submit(&service, "first", &[31, 44]).await;
        until(&service, 0, first, counted(1)).await;
        let second = submit(&service, "second", &[10, 20]).await;
        for at in 0..2 {
            until(&service, at, second, |state| {
                matches!(state, State::Held { reason } if reason.contains("party 0 refuses") && reason.contains("party 1 refuses"))
            })
            .await;
        }
        for at in 0..2 {
            let policy = service.folder.path().join(format!("policy{at}.toml"));
            let text = fs::read_to_string(&policy).unwrap();
            fs::write(&policy, text.replace("batches = 1", "batches = 2")).unwrap();
            let server = service.servers[at].as_ref().unwrap();
            server.reload(&service.file(at)).await.unwrap();
        }
        until(&service, 1, second, counted(2)).await;
        let third = submit(&service, "third", &[1, 2]).await;
        until(&service, 1, third, |state| {
            matches!(state, State::Held { reason } if reason.contains("2 in all"))
        })
        .await;
        // A policy that allows nothing is refused, and nothing else of the file is taken; another file is none for a server that is at work.
        let server = service.servers[1].as_ref().unwrap();
        give_policy(&service, 1, "");
        let refused = server.reload(&service.file(1)).await;
        assert!(
            matches!(refused, Err(ServeError::Refused(_))),
            "{refused:?}"
        );
        let text = fs::read_to_string(service.file(1)).unwrap();
        let without = text.replace("policy = \"policy1.toml\"\n", "");
        assert_ne!(text, without);
        fs::write(service.file(1), without).unwrap();
        let refused = server.reload(&service.file(1)).await;
        assert!(
            matches!(refused, Err(ServeError::Refused(_))),
            "{refused:?}"
        );
        service.stop_all().await;
    });
}

/// Kinds with outputs for those who submit, and requests, are for clients that the policy names, where it does.
#[test]
fn submitters_are_pinned_where_results_are_for_them() {
    let requests = "[[clients]]\nname = \"ann\"\ntoken-sha256 = \"ANN\"\n[[kinds]]\nname = \"login\"\nrequests = \"aes-128\"\nsubmit = [\"ann\"]\n";
    let service = Service::new(3, &requests.replace("ANN", ANN));
    let rule = proposed(&service, 0);
    assert!(rule.contains("submitters = [\"ann\"]"), "{rule}");
    give_policy(&service, 0, &rule);
    Checked::load(&service.file(0)).unwrap().allowed().unwrap();
    let good = fs::read_to_string(service.file(0)).unwrap();
    for (submit, why) in [
        ("\"known\"", "the kind's `submit` does not"),
        ("[\"ann\", \"eve\"]", "client `eve` may submit"),
    ] {
        let eve = format!(
            "[[clients]]\nname = \"eve\"\nkey = \"sha256:{}\"\n[[kinds]]",
            "cd".repeat(32)
        );
        let text = good.replace("[\"ann\"]", submit).replace("[[kinds]]", &eve);
        fs::write(service.file(0), text).unwrap();
        let fault = fault(&service, 0);
        assert!(fault.contains(why), "{fault}");
    }
    give_policy(&service, 0, "[[allow]]\nprogram = \"aes-128\"\n");
    assert!(fault(&service, 0).contains("`submitters` is not there"));
}

/// A program for `ages` that tells the analyst how many are below 40, with noise that hides one of them, if it does so.
fn noisy(service: &Service, servers: usize, noise: bool) {
    let samples = [2, 3, 5, 11, 23].map(|members| {
        let (member, analyst) = (ProgramClient::new("member"), ProgramClient::new("analyst"));
        let mut p = Program::new(servers);
        let ages = p.input_named::<u32>("age", &member, [members]);
        let mut count = ages.lt(40_u32).cast::<i32>().sum(0);
        if noise {
            count = count + p.noise::<i32>(Noise::new(0.5, 1e-9, 1).unwrap(), ());
        }
        p.open_named("below", &count, &analyst);
        let file = ProgramFile::of(&p.finish().unwrap()).unwrap();
        (vec![members], file)
    });
    let program = general(&["members".to_owned()], &samples).unwrap();
    program
        .save(service.folder.path().join("ages.madrigal"))
        .unwrap();
}

/// A budget is spent by batches with noise alone, and counted over restarts. The receipt tells what a batch has spent.
#[test]
fn a_budget_is_spent_by_batches_with_noise() {
    runtime().block_on(async {
        for servers in [2, 3] {
            let mut service = Service::new(servers, &statistics(2, 2, "1h"));
            let budget = "epsilon = 1.2\n";
            noisy(&service, servers, false);
            let rule = proposed(&service, 1);
            give_policy(&service, 1, &format!("{rule}{budget}"));
            let why = fault(&service, 1);
            assert!(why.contains("output 0 (\"below\") is not private"), "{why}");
            noisy(&service, servers, true);
            let rule = proposed(&service, 1);
            give_policy(&service, 1, &format!("{rule}epsilon = 0.4\n"));
            let why = fault(&service, 1);
            assert!(why.contains("a batch spends epsilon 0.5 and delta 1e-9"), "{why}");
            give_policy(&service, 1, &format!("{rule}{budget}"));
            service.start_all().await;
            for batch in 1..=2 {
                let mut ann = Client::dial(&service, Some(b"secret of ann")).await;
                let mine = ann.prepare("ann", 31);
                ann.submit(&mine).await;
                submit(&service, "bob", &[50]).await;
                let (receipt, outputs) = ann.wait(mine.id).await;
                assert_eq!((receipt.batch, outputs.len()), (batch, 1));
                let privacy = receipt.privacy.unwrap();
                assert_eq!((privacy.epsilon, privacy.delta), (500_000_000, 1_000_000));
                let told = ann.fetch(mine.id, 0).await.component::<u32>(0)[0] as i32;
                let most = Noise::new(0.5, 1e-9, 1).unwrap().coins().unwrap().most() as i32;
                assert!((1 - most..=1 + most).contains(&told), "{told}");
                if batch == 1 {
                    service.stop_all().await;
                    service.start_all().await;
                }
            }
            let held = submit(&service, "third", &[1, 2]).await;
            until(&service, 0, held, |state| {
                matches!(state, State::Held { reason } if reason.contains("epsilon 1 and delta 2e-9 of epsilon 1.2 and delta 1e-6 are spent"))
            })
            .await;
            let meters = service.servers[1].as_ref().unwrap().meters();
            let meters = meters.in_words().unwrap();
            let left = meters.lines().find(|line| line.starts_with("madrigal_epsilon_left"));
            let left: f64 = left.unwrap().split(' ').nth(1).unwrap().parse().unwrap();
            assert!((left - 0.2).abs() < 1e-9, "{left}");
            service.stop_all().await;
        }
    });
}

#[test]
fn wrong_policies_name_the_field() {
    let digest = "ab".repeat(32);
    let rule = |more: &str| format!("[[allow]]\nprogram = \"{digest}\"\n{more}");
    let cases = [
        (rule(""), "allow.1.least"),
        (rule("least = 0"), "allow.1.least"),
        (rule("least = 1\nper = \"1 day\""), "allow.1.per"),
        (
            rule("least = 1\nbatches = 2\nper = \"10 ms\""),
            "allow.1.per",
        ),
        (rule("least = 1\nbatches = 4097"), "allow.1.batches"),
        (
            rule("least = 1\nrecipients = [\"ann\"]"),
            "allow.1.recipients",
        ),
        (
            rule("least = 1\nsubmitters = [\"ann\"]"),
            "allow.1.submitters",
        ),
        (
            rule("least = 1\nsubmitters = \"all\""),
            "allow.1.submitters",
        ),
        (rule("least = 1\n") + &rule("least = 2"), "rules 1 and 2"),
        (
            "[[allow]]\nprogram = \"abcd\"\nleast = 1".to_owned(),
            "allow.1.program",
        ),
        (
            "[[allow]]\nprogram = \"aes-128\"\nleast = 1".to_owned(),
            "allow.1.least",
        ),
        (
            "[[allow]]\nprogram = \"aes-128\"\nbatches = 1".to_owned(),
            "allow.1.batches",
        ),
        ("[[clients]]\nname = \"ann\"".to_owned(), "clients.ann"),
        (rule("least = 1\nepsilon = -1.0"), "allow.1.epsilon"),
        (rule("least = 1\ndelta = 1e-9"), "allow.1.delta"),
        (
            rule("least = 1\nepsilon = 1.0\ndelta = 2.0"),
            "allow.1.delta",
        ),
        (
            "[[allow]]\nprogram = \"aes-128\"\nepsilon = 1.0".to_owned(),
            "allow.1.epsilon",
        ),
        (rule("least = 1\nepsilons = 1.0"), "epsilons"),
    ];
    for (text, part) in cases {
        let error = Policy::parse(&text, "policy.toml".as_ref())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("policy.toml: ") && error.contains(part),
            "{part}: {error}"
        );
    }
    let ends = rule("least = 1\nbatches = 4096\nper = \"1 s\"\nsubmitters = \"any\"");
    assert_eq!(
        Policy::parse(&ends, "policy.toml".as_ref())
            .unwrap()
            .rules
            .len(),
        1
    );
}
