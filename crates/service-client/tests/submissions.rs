//! Submissions to servers that are as they should be, and to others.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use madrigal_clients::Elements;
use madrigal_core::Digest256;
use madrigal_engine::{Shares, Sharing};
use madrigal_intake::{Code, JobReceipt, State};
use madrigal_service_client::{
    ClientError, JobReceipts, ServiceClient, Submission, Submit, Value, Verified,
};

use crate::fake::*;

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(30), work).await };
    runtime.block_on(limited).expect("in time")
}

/// Values for the inputs of the kind `copy`.
pub(crate) fn inputs(elements: usize) -> Vec<(String, Value)> {
    let x: Vec<u64> = (0..elements as u64).map(|i| i * i + 7).collect();
    let x = Shares::ring_of(Sharing::PUBLIC, x);
    let y = Shares::bits_of(Sharing::PUBLIC, 3, &[5_u8, 2]);
    vec![
        ("y".into(), Value::Shares(vec![2], y)),
        ("x".into(), Value::Shares(vec![elements], x)),
    ]
}

pub(crate) fn submit<'a>(inputs: &'a [(String, Value)]) -> Submit<'a> {
    Submit {
        kind: "copy",
        inputs,
        client: "carol",
        pending: None,
        receipt: None,
    }
}

pub(crate) async fn connect(service: &Arc<Service>) -> Result<ServiceClient, ClientError> {
    ServiceClient::connect_by(service.config(), service.clone()).await
}

/// Submits and gets the outputs, which are the inputs.
async fn there_and_back(service: &Arc<Service>, elements: usize) -> Submission {
    let client = connect(service).await.unwrap();
    let inputs = inputs(elements);
    let submission = client.submit(&submit(&inputs)).await.unwrap();
    submission.verify(&service.roster).unwrap();
    let states = client.status(&submission).await.unwrap();
    assert_eq!(states, vec![State::Counted { batch: 1 }; 3]);
    let outputs = client.wait(&submission).await.unwrap();
    let Value::Shares(_, x) = &inputs[1].1 else {
        panic!("shares");
    };
    assert_eq!(outputs.values.len(), 1);
    let got = outputs.values[0].1.component::<u64>(0);
    assert_eq!(got, x.component::<u64>(0));
    assert_eq!(
        (0..3).map(|at| service.accepted(at)).collect::<Vec<_>>(),
        [1; 3]
    );
    submission
}

#[test]
fn submissions_of_any_size_come_back() {
    for sharing in [Sharing::A, Sharing::R] {
        for elements in [0, 1, 5, 4000, 8191, 8192, 8193, 50_000] {
            let service = Arc::new(Service::new(sharing, &[]));
            run(there_and_back(&service, elements));
        }
    }
}

/// A value that is read piece by piece, over connections that are lost: it is never held together, and is what it was.
#[test]
fn values_may_be_streams() {
    struct Squares(std::sync::atomic::AtomicUsize);
    impl Elements for Squares {
        fn read(&self, start: usize, len: usize) -> std::io::Result<Shares> {
            self.0.fetch_max(len, std::sync::atomic::Ordering::Relaxed);
            let numbers: Vec<u64> = (start..start + len).map(|i| (i * i) as u64).collect();
            Ok(Shares::ring_of(Sharing::PUBLIC, numbers))
        }
    }
    for (sharing, elements) in [
        (Sharing::A, 3),
        (Sharing::A, 100_001),
        (Sharing::R, 100_001),
    ] {
        let service = Arc::new(Service::new(sharing, &[]));
        service.faults(1).dies_at = vec![4, 9];
        let squares = Arc::new(Squares(0.into()));
        let mut inputs = inputs(1);
        inputs[1].1 = Value::Stream(vec![elements], squares.clone());
        run(async {
            let client = connect(&service).await.unwrap();
            let submission = client.submit(&submit(&inputs)).await.unwrap();
            let outputs = client.wait(&submission).await.unwrap();
            let got = outputs.values[0].1.component::<u64>(0);
            assert_eq!(got.len(), elements);
            assert!(got.iter().enumerate().all(|(i, n)| *n == (i * i) as u64));
        });
        assert!(squares.0.load(std::sync::atomic::Ordering::Relaxed) <= 8_192 + 2);
    }
}

/// Connections that hold few bytes at once, servers that wait before each answer.
#[test]
fn slow_servers_are_waited_for() {
    let mut service = Service::new(Sharing::R, &[]);
    service.room = 700;
    let service = Arc::new(service);
    service.faults(1).slow = Duration::from_millis(5);
    run(there_and_back(&service, 20_000));
}

/// Whatever a server was asked when it died: the submission is the same, is taken up where it was, and counts once.
#[test]
fn dying_servers_are_asked_again() {
    let cases = [false, true]
        .into_iter()
        .flat_map(|forgets| (1..12).map(move |at| (forgets, at)));
    // Side by side: each waits before it dials again.
    let each = cases.map(|(forgets, dies_at)| async move {
        let service = Arc::new(Service::new(Sharing::A, &[]));
        {
            let mut faults = service.faults(dies_at % 3);
            (faults.dies_at, faults.forgets) = (vec![dies_at, dies_at + 3, dies_at + 4], forgets);
        }
        there_and_back(&service, 30_000).await;
        let received = *service.servers[dies_at % 3].received.lock().unwrap();
        // Beside the numbers three planes of bits, of a byte each.
        let body = 8 * 30_000 + 3;
        let again = received - body;
        // What had come is not sent again, unless it was forgotten.
        assert!(forgets || again == 0, "{again} bytes again");
    });
    run(futures_util::future::join_all(each));
}

#[test]
fn a_receipt_that_was_lost_is_given_again() {
    for elements in [3, 30_000] {
        let service = Arc::new(Service::new(Sharing::A, &[]));
        service.faults(2).dies_before_receipt = true;
        run(there_and_back(&service, elements));
    }
}

#[test]
fn busy_servers_and_absent_ones_are_asked_again() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    service.faults(0).busy = 3;
    service.faults(1).away = 2;
    run(there_and_back(&service, 30_000));
    // Not for ever.
    let service = Arc::new(Service::new(Sharing::A, &[]));
    service.faults(1).away = usize::MAX;
    let mut config = service.config();
    config.patience = Duration::from_millis(300);
    let error = run(ServiceClient::connect_by(config, service.clone())).unwrap_err();
    assert!(
        matches!(&error, ClientError::Dial { server, .. } if server.place == 1),
        "{error}"
    );
}

#[test]
fn a_refusal_of_one_server_is_told() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    service.faults(2).refuses = Some(Code::Quota);
    run(async {
        let client = connect(&service).await.unwrap();
        for elements in [3, 30_000] {
            let error = client.submit(&submit(&inputs(elements))).await.unwrap_err();
            let text = error.to_string();
            let expected = "server 2 `party2` refuses (quota used up): it is not to be";
            assert_eq!(text, expected);
        }
        // A kind that takes nothing of anonymous clients.
        let inputs = inputs(3);
        let members = Submit {
            kind: "members",
            ..submit(&inputs)
        };
        let error = client.submit(&members).await.unwrap_err();
        assert!(
            matches!(
                error,
                ClientError::Refused {
                    code: Code::NotAllowed,
                    ..
                }
            ),
            "{error}"
        );
    });
}

#[test]
fn receipts_that_lie_are_refused() {
    for case in 0..2 {
        let service = Arc::new(Service::new(Sharing::A, &[]));
        match case {
            0 => service.faults(1).other_digest = true,
            _ => service.faults(1).other_key = Some(fresh()),
        }
        run(async {
            let client = connect(&service).await.unwrap();
            let error = client.submit(&submit(&inputs(3))).await.unwrap_err();
            let ClientError::Receipt { server, .. } = &error else {
                panic!("{error}");
            };
            assert_eq!(server.place, 1);
        });
    }
}

#[test]
fn servers_that_differ_are_told() {
    type Change = fn(&mut madrigal_intake::Terms);
    let changes: [(Change, &str); 6] = [
        (
            |terms| terms.kinds[0].program.0[0] ^= 1,
            "kind `copy`: program",
        ),
        (
            |terms| terms.kinds[0].inputs[1].shape = vec![Some(3)],
            "kind `copy`: inputs",
        ),
        (|terms| drop(terms.kinds.pop()), "kind `members`"),
        (
            |terms| terms.kinds[1].name = "other".into(),
            "kind `halves`",
        ),
        (|terms| terms.place = madrigal_core::Party::new(0), "place"),
        (|terms| terms.servers = 4, "number of servers"),
    ];
    for (change, said) in changes {
        let mut service = Service::new(Sharing::A, &[]);
        service.change(1, change);
        let service = Arc::new(service);
        let error = run(connect(&service)).unwrap_err().to_string();
        assert!(
            error.contains(said) && error.contains("server 1 `party1`"),
            "{error}"
        );
    }
    // Servers may have their kinds in any order.
    let mut service = Service::new(Sharing::A, &[]);
    service.change(1, |terms| terms.kinds.reverse());
    run(there_and_back(&Arc::new(service), 10));
}

/// Whoever has the list of servers can check receipts in files, and nobody else's receipts pass.
#[test]
fn files_of_receipts_can_be_checked_by_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let [of_job, of_submission] = ["job", "submission"].map(|name| folder.path().join(name));
    let service = Arc::new(Service::new(Sharing::R, &[]));
    let (roster, other) = run(async {
        let client = connect(&service).await.unwrap();
        let submission = client.submit(&submit(&inputs(9_000))).await.unwrap();
        let outputs = client.wait(&submission).await.unwrap();
        let roster = client.roster().clone();
        submission.save(&of_submission, &roster).unwrap();
        JobReceipts(outputs.receipts)
            .save(&of_job, &roster)
            .unwrap();
        let verified = Verified::load(&of_submission, &roster).unwrap();
        assert_eq!(verified, Verified::Submission(submission));
        let verified = Verified::load(&of_job, &roster).unwrap();
        assert_eq!(verified, Verified::Job(outputs.job));
        let other = Arc::new(Service::new(Sharing::R, &[]));
        let other = connect(&other).await.unwrap();
        (roster, other.roster().clone())
    });
    for file in [&of_job, &of_submission] {
        assert!(
            Verified::load(file, &other).is_err(),
            "the keys of other servers"
        );
        // Each digit counts.
        let text = fs::read_to_string(file).unwrap();
        let at = text.find("\"signature\": \"").unwrap() + 40;
        let digit = if &text[at..=at] == "0" { "1" } else { "0" };
        let mut changed = text.clone();
        changed.replace_range(at..=at, digit);
        fs::write(file, &changed).unwrap();
        assert!(Verified::load(file, &roster).is_err(), "{}", file.display());
        fs::write(file, &text[..text.len() / 2]).unwrap();
        let error = Verified::load(file, &roster).unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
        fs::remove_file(file).unwrap();
        assert!(Verified::load(file, &roster).is_err());
    }
}

#[test]
fn jobs_that_lie_are_refused() {
    let changes: [fn(&mut JobReceipt); 4] = [
        |job| job.batch += 1,
        |job| job.run.0[0] ^= 1,
        |job| job.recipients.clear(),
        |job| job.outputs[0].header.0[0] ^= 1,
    ];
    let error = |service: Arc<Service>| {
        run(async move {
            let client = connect(&service).await.unwrap();
            let submission = client.submit(&submit(&inputs(9_000))).await.unwrap();
            client.wait(&submission).await.unwrap_err()
        })
    };
    for change in changes {
        let service = Arc::new(Service::new(Sharing::R, &[]));
        service.faults(1).other_job = Some(change);
        let error = error(service);
        assert!(matches!(error, ClientError::JobReceipts(_)), "{error}");
    }
    // All servers say the same, and it is another program.
    let service = Arc::new(Service::new(Sharing::R, &[]));
    (0..3).for_each(|at| service.faults(at).other_job = Some(|job| job.program.0[0] ^= 1));
    assert!(matches!(error(service), ClientError::JobReceipts(_)));
    // All servers have receipted another output than they give, or another run.
    let changes: [fn(&mut JobReceipt); 3] = [
        |job| job.outputs[0].header.0[0] ^= 1,
        |job| job.outputs[0].name = "other".into(),
        |job| job.run.0[0] ^= 1,
    ];
    for change in changes {
        let service = Arc::new(Service::new(Sharing::R, &[]));
        (0..3).for_each(|at| service.faults(at).other_job = Some(change));
        assert!(matches!(error(service), ClientError::Output { .. }));
    }
    let outputs: [fn(&mut Vec<u8>); 4] = [
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes[80] ^= 1,
        |bytes| bytes.truncate(bytes.len() - 1),
        Vec::clear,
    ];
    for change in outputs {
        let service = Arc::new(Service::new(Sharing::R, &[]));
        service.faults(2).other_output = Some(change);
        let error = error(service);
        let told = matches!(&error, ClientError::Output { server, .. } if server.place == 2);
        assert!(told, "{error}");
    }
}

#[test]
fn a_server_that_answers_nonsense_is_told() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    service.faults(0).nonsense = true;
    run(async {
        let client = connect(&service).await.unwrap();
        let submission = client.submit(&submit(&inputs(3))).await.unwrap();
        let error = client.status(&submission).await.unwrap_err();
        assert!(
            matches!(&error, ClientError::Fault { server, .. } if server.place == 0),
            "{error}"
        );
    });
}

#[test]
fn a_submission_that_nobody_has_has_no_result() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        let submission = client.submit(&submit(&inputs(3))).await.unwrap();
        service.servers[1].submitted.lock().unwrap().clear();
        let error = client.wait(&submission).await.unwrap_err();
        assert!(
            matches!(
                error,
                ClientError::NoResult {
                    state: State::Unknown,
                    ..
                }
            ),
            "{error}"
        );
        let changed = Submission {
            id: Digest256([0; 32]),
            ..submission
        };
        assert!(matches!(
            client.wait(&changed).await,
            Err(ClientError::Receipt { .. })
        ));
    });
}

#[test]
fn wrong_inputs_are_refused_before_anything_is_sent() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        let good = inputs(3);
        let short = &good[..1];
        assert!(matches!(
            client.submit(&submit(short)).await,
            Err(ClientError::Inputs { .. })
        ));
        let twice = [good[0].clone(), good[0].clone()];
        assert!(matches!(
            client.submit(&submit(&twice)).await,
            Err(ClientError::Inputs { .. })
        ));
        let mut wrong = good.clone();
        wrong[0].1 = good[1].1.clone();
        assert!(matches!(
            client.submit(&submit(&wrong)).await,
            Err(ClientError::Value { .. })
        ));
        let huge = inputs(3_000_000);
        assert!(matches!(
            client.submit(&submit(&huge)).await,
            Err(ClientError::Value { .. })
        ));
        for kind in ["nothing", "halves"] {
            let error = client
                .submit(&Submit {
                    kind,
                    ..submit(&good)
                })
                .await;
            assert!(matches!(
                error,
                Err(ClientError::NoKind { .. } | ClientError::Sort { .. })
            ));
        }
        let nameless = Submit {
            client: "a b",
            ..submit(&good)
        };
        assert!(matches!(
            client.submit(&nameless).await,
            Err(ClientError::Deal(_))
        ));
        assert_eq!(service.servers[0].submitted.lock().unwrap().len(), 0);
    });
}

/// Many submissions over few connections, one of which is cut now and then.
#[test]
fn many_are_submitted_side_by_side() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    service.faults(1).dies_at = vec![500, 900];
    let mut config = service.config();
    config.connections = 2;
    run(async {
        let client = ServiceClient::connect_by(config, service.clone())
            .await
            .unwrap();
        let all = (0..2_000).map(|i| (format!("client-{i}"), inputs(2)));
        let mut places = vec![false; 2_000];
        let done = client.many("copy", all, 300, |place, result, progress| {
            result.unwrap();
            assert!(!std::mem::replace(&mut places[place], true));
            assert_eq!(
                progress.accepted as usize,
                places.iter().filter(|done| **done).count()
            );
            true
        });
        assert_eq!(done.await.unwrap().accepted, 2_000);
    });
    assert_eq!(
        (0..3).map(|at| service.accepted(at)).collect::<Vec<_>>(),
        [2_000; 3]
    );
    // One stops when it is told to.
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        let all = (0..2_000).map(|i| (format!("client-{i}"), inputs(2)));
        let done = client.many("copy", all, 10, |_, _, progress| progress.accepted < 50);
        let accepted = done.await.unwrap().accepted;
        assert!((50..60).contains(&accepted), "{accepted}");
    });
}
