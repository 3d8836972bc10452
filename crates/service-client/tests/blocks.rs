//! Blocks that are asked for together.

use std::sync::Arc;
use std::time::Duration;

use madrigal_engine::Sharing;
use madrigal_service_client::{ClientError, ServiceClient};

use crate::fake::*;
use crate::submissions::{connect, run};

/// The number that the servers gave a block.
fn number(block: [u8; 16]) -> u64 {
    assert_eq!(block[..8], block[8..]);
    u64::from_le_bytes(block[..8].try_into().unwrap())
}

#[test]
fn answers_come_in_the_order_of_the_blocks() {
    for count in [0_u64, 1, 2, 499, 500, 501, 3000] {
        let service = Arc::new(Service::new(Sharing::A, &[]));
        run(async {
            let client = connect(&service).await.unwrap();
            let mut told = 0;
            let blocks = vec![[7; 16]; count as usize];
            let answers = client.ask_blocks("blocks", &blocks, |more| told += more);
            let answers = answers.await.unwrap();
            let numbers: Vec<u64> = answers.iter().map(|&block| number(block)).collect();
            assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
            assert_eq!(told as u64, count);
        });
    }
}

/// A connection is lost with requests on their way: what has no answer is asked for again, and nothing else.
#[test]
fn lost_blocks_are_asked_for_again() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    // The greeting twice, and a message with requests; then again.
    service.faults(1).dies_at = vec![4, 8];
    run(async {
        let client = connect(&service).await.unwrap();
        let blocks = vec![[7; 16]; 3000];
        let mut told = 0;
        let answers = client.ask_blocks("blocks", &blocks, |more| told += more);
        let answers = answers.await.unwrap();
        assert!(answers.iter().all(|&block| number(block) > 0));
        assert_eq!(told, 3000);
        assert!(service.servers[1].came.lock().unwrap().len() >= 4);
    });
}

#[test]
fn blocks_that_nobody_answers_are_given_up() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    let mut config = service.config();
    (config.silence, config.patience) = (Duration::from_millis(100), Duration::from_millis(300));
    run(async {
        let client = ServiceClient::connect_by(config, service.clone())
            .await
            .unwrap();
        service.faults(2).mute = true;
        let error = client.ask_blocks("blocks", &[[7; 16]; 10], |_| ()).await;
        let error = error.unwrap_err();
        assert_eq!(error.server().map(|server| server.place), Some(2));
        assert!(error.to_string().contains("silent"), "{error}");
    });
}

#[test]
fn wrong_kinds_and_answers_are_told() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    run(async {
        let client = connect(&service).await.unwrap();
        let asked = client.ask_blocks("copy", &[[7; 16]], |_| ()).await;
        assert!(matches!(asked, Err(ClientError::Sort { .. })));
        let asked = client.ask_blocks("none", &[[7; 16]], |_| ()).await;
        assert!(matches!(asked, Err(ClientError::NoKind { .. })));
        // Answers of 8 bytes are no blocks.
        let asked = client.ask_blocks("halves", &[[7; 16]], |_| ()).await;
        assert!(matches!(asked, Err(ClientError::Block { .. })));
        service.faults(0).other_block = true;
        // The wrong part fails the comparison, though it is behind many right ones; nobody waits for parts that were not sent.
        let asked = client.ask_blocks("blocks", &[[7; 16]; 3000], |_| ()).await;
        let error = asked.unwrap_err().to_string();
        assert!(error.contains("servers 0 and 1"), "{error}");
    });
}
