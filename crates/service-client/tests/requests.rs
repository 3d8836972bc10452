//! Requests: answered, refused, lost.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use madrigal_clients::{combine_bare, deal_bare, private_generator};
use madrigal_core::Zeroizing;
use madrigal_engine::{Element, Shares, Sharing, Sort, Width};
use madrigal_intake::Code;
use madrigal_service_client::{ClientError, ServiceClient};

use crate::fake::*;
use crate::submissions::{connect, inputs, run, submit};

/// Shares of requests with these pairs of numbers, for each server side by side.
fn dealt(pairs: &[[u64; 2]]) -> Vec<Bytes> {
    let mut random = private_generator().unwrap();
    let mut strings = vec![Zeroizing::new(Vec::new()); 3];
    for pair in pairs {
        let value = Shares::ring_of(Sharing::PUBLIC, pair.to_vec());
        deal_bare(&value, Sharing::A, &mut random, &mut strings).unwrap();
    }
    strings
        .iter()
        .map(|string| Bytes::copy_from_slice(string))
        .collect()
}

fn value(shares: &[Bytes]) -> u64 {
    let sort = Sort::new(Sharing::A, Element::Ring(Width::W64), 1);
    let shares: Vec<&[u8]> = shares.iter().map(|share| &share[..]).collect();
    combine_bare(&sort, &shares).unwrap().component::<u64>(0)[0]
}

#[test]
fn requests_are_pipelined() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        let (mut sender, mut receiver) = client.requests("halves").await.unwrap();
        let sends = async {
            for batch in 0..100_u64 {
                let pairs: Vec<[u64; 2]> = (0..47).map(|i| [1 + 47 * batch + i, 5]).collect();
                let numbers = sender.send(&dealt(&pairs)).await.unwrap();
                assert_eq!(numbers, 1 + 47 * batch..1 + 47 * (batch + 1));
            }
        };
        let receives = async {
            let mut seen = vec![false; 4701];
            for _ in 0..4700 {
                let answer = receiver.next().await.unwrap();
                assert!(!std::mem::replace(&mut seen[answer.number as usize], true));
                // Numbers count from 1, and so do the values.
                assert_eq!(value(&answer.shares.unwrap()), answer.number);
            }
        };
        tokio::join!(sends, receives);
        // All connections of a pair have one session, and no others have it.
        let sessions = |at: usize| -> Vec<[u8; 16]> {
            let came = service.servers[at].came.lock().unwrap();
            came.iter().map(|(_, _, session)| *session).collect()
        };
        let [a, b, c] = [0, 1, 2].map(sessions);
        assert!(a[1] == b[1] && b[1] == c[1]);
        assert!(a[0] != a[1] && a[0] != b[0]);
    });
}

#[test]
fn wrong_sizes_are_refused() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        assert!(matches!(
            client.requests("copy").await,
            Err(ClientError::Sort { .. })
        ));
        let (mut sender, _receiver) = client.requests("halves").await.unwrap();
        for lengths in [
            [0, 0, 0],
            [15, 15, 15],
            [16, 16, 32],
            [16 * 501, 16 * 501, 16 * 501],
        ] {
            let shares = lengths.map(|length: usize| Bytes::from(vec![0; length]));
            let sent = sender.send(&shares).await;
            assert!(
                matches!(sent, Err(ClientError::Requests { .. })),
                "{lengths:?}"
            );
        }
    });
}

/// Requests on their way when a connection is lost fail, each once, and may be sent again.
#[test]
fn lost_requests_fail_and_may_be_retried() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        let (mut sender, mut receiver) = client.requests("halves").await.unwrap();
        sender.send(&dealt(&[[1, 2]; 10])).await.unwrap();
        for _ in 0..10 {
            receiver.next().await.unwrap().shares.unwrap();
        }
        service.faults(1).mute = true;
        sender.send(&dealt(&[[1, 2]; 490])).await.unwrap();
        // The greeting twice, and two messages with requests: it dies at the next one.
        service.faults(1).dies_at = vec![5];
        sender.send(&dealt(&[[1, 2]; 10])).await.unwrap();
        let mut lost = 0;
        while let Some(answer) = receiver.next().await {
            let failed = answer.shares.unwrap_err();
            assert_eq!((failed.server.place, failed.code), (1, Code::Retry));
            assert!(failed.may_retry());
            lost += 1;
        }
        assert_eq!(lost, 500);
        assert!(receiver.next().await.is_none());
        let error = sender.send(&dealt(&[[1, 2]])).await.unwrap_err();
        assert!(matches!(error, ClientError::Lost { .. }), "{error}");
        // Another pair works.
        service.faults(1).mute = false;
        let (mut sender, mut receiver) = client.requests("halves").await.unwrap();
        sender.send(&dealt(&[[9, 2]])).await.unwrap();
        assert_eq!(value(&receiver.next().await.unwrap().shares.unwrap()), 9);
    });
}

/// A server that owes an answer and says nothing is lost; one that is asked to wait for a job is not.
#[test]
fn silent_servers_are_lost() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    let mut config = service.config();
    config.silence = Duration::from_millis(200);
    run(async {
        let client = ServiceClient::connect_by(config, service.clone())
            .await
            .unwrap();
        let (mut sender, mut receiver) = client.requests("halves").await.unwrap();
        service.faults(2).mute = true;
        sender.send(&dealt(&[[1, 2]; 3])).await.unwrap();
        for _ in 0..3 {
            let failed = receiver.next().await.unwrap().shares.unwrap_err();
            assert_eq!((failed.server.place, failed.code), (2, Code::Retry));
            assert!(failed.text.contains("silent"), "{failed}");
        }
        let inputs = inputs(3);
        let submission = client.submit(&submit(&inputs)).await.unwrap();
        // The job takes longer than a server may be silent.
        service.faults(1).late = Duration::from_millis(700);
        let waited = client.wait(&submission).await.unwrap();
        assert_eq!(waited.values.len(), 1);
    });
}
