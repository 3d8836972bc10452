//! Pending files and receipts: what a crash leaves, and what is made of it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use madrigal_engine::Sharing;
use madrigal_service_client::{ClientError, Submission, Submit};

use crate::fake::*;
use crate::submissions::{connect, inputs, run, submit};

fn files(folder: &tempfile::TempDir) -> (PathBuf, PathBuf) {
    (
        folder.path().join("income.pending"),
        folder.path().join("income.receipt"),
    )
}

/// A submission whose client was killed in the midst goes on as the same one, and counts once.
#[test]
fn an_interrupted_submission_is_the_same_one() {
    for elements in [3, 60_000] {
        let folder = tempfile::tempdir().unwrap();
        let (pending, receipt) = files(&folder);
        let service = Arc::new(Service::new(Sharing::R, &[]));
        let inputs = inputs(elements);
        let submit = Submit {
            pending: Some(&pending),
            receipt: Some(&receipt),
            ..submit(&inputs)
        };
        // Server 2 is so slow that the client is gone before it has answered.
        service.faults(2).slow = std::time::Duration::from_millis(300);
        run(async {
            let client = connect(&service).await.unwrap();
            let limit = std::time::Duration::from_millis(200);
            assert!(
                tokio::time::timeout(limit, client.submit(&submit))
                    .await
                    .is_err()
            );
        });
        assert!(pending.exists() && !receipt.exists());
        #[cfg(unix)]
        {
            let mode = fs::metadata(&pending).unwrap().permissions();
            let mode = std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777;
            assert_eq!(mode, 0o600);
        }
        service.faults(2).slow = std::time::Duration::ZERO;
        let submission = run(async {
            let client = connect(&service).await.unwrap();
            client.submit(&submit).await.unwrap()
        });
        assert!(!pending.exists());
        for server in &service.servers {
            let submitted = server.submitted.lock().unwrap();
            assert_eq!(submitted.keys().collect::<Vec<_>>(), [&submission.id.0]);
        }
        // With its file one comes back later.
        let loaded = Submission::load(&receipt).unwrap();
        assert_eq!(loaded, submission);
        let text = fs::read_to_string(&receipt).unwrap();
        assert!(!text.contains("seed"));
        run(async {
            let client = connect(&service).await.unwrap();
            client.wait(&loaded).await.unwrap();
        });
    }
}

/// Other inputs would be cut up with the same random parts.
#[test]
fn other_inputs_do_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (pending, _) = files(&folder);
    let service = Arc::new(Service::new(Sharing::A, &[]));
    service.faults(1).refuses = Some(madrigal_intake::Code::Quota);
    let (first, second) = (inputs(3), inputs(4));
    let mut changed = inputs(3);
    changed[0].1 = madrigal_service_client::Value::Shares(
        vec![2],
        madrigal_engine::Shares::bits_of(Sharing::PUBLIC, 3, &[5_u8, 3]),
    );
    run(async {
        let client = connect(&service).await.unwrap();
        let with = |inputs| Submit {
            pending: Some(&pending),
            ..submit(inputs)
        };
        assert!(client.submit(&with(&first)).await.is_err());
        let before = fs::read(&pending).unwrap();
        service.faults(1).refuses = None;
        let received = *service.servers[0].received.lock().unwrap();
        for other in [&second, &changed] {
            let error = client.submit(&with(other)).await.unwrap_err();
            assert!(matches!(&error, ClientError::File { .. }), "{error}");
        }
        let renamed = Submit {
            client: "dave",
            ..with(&first)
        };
        assert!(client.submit(&renamed).await.is_err());
        assert_eq!(*service.servers[0].received.lock().unwrap(), received);
        assert_eq!(fs::read(&pending).unwrap(), before);
        client.submit(&with(&first)).await.unwrap();
    });
}

#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (pending, receipt) = files(&folder);
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        let inputs = inputs(3);
        fs::write(&pending, "{}").unwrap();
        let with = Submit {
            pending: Some(&pending),
            ..submit(&inputs)
        };
        // Open to others, then damaged.
        let error = client.submit(&with).await.unwrap_err().to_string();
        assert!(error.contains("0600") || cfg!(not(unix)), "{error}");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(&pending, mode).unwrap();
        }
        let error = client.submit(&with).await.unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
        let submission = client.submit(&submit(&inputs)).await.unwrap();
        submission.save(&receipt, &service.roster).unwrap();
        let text = fs::read_to_string(&receipt).unwrap();
        for at in (0..text.len()).step_by(97) {
            fs::write(&receipt, &text[..at]).unwrap();
            assert!(Submission::load(&receipt).is_err());
        }
        let zeros = text.replace(&submission.id.to_string(), &"0".repeat(64));
        fs::write(&receipt, zeros).unwrap();
        let changed = Submission::load(&receipt).unwrap();
        assert!(changed.verify(&service.roster).is_err());
        assert!(Submission::load(&folder.path().join("none")).is_err());
    });
}
