//! Requests are answered under a key that nobody has, and lanes of different clients do not influence each other.

use std::time::{Duration, Instant};

use bytes::Bytes;
use madrigal_intake::Code;
use madrigal_service_client::{
    Answer, AnswerReceiver, BlockError, ClientError, RequestSender, ServiceClient, ServiceConfig,
    combine_block, deal_blocks,
};
use madrigal_testkit::seed;

use crate::common::Service;
use crate::random::Random;

/// A service's file with a kind of requests.
pub(crate) fn login(more: &str) -> String {
    format!(
        "[[kinds]]\nname = \"login\"\nrequests = \"aes-128\"\nsubmit = \"anyone\"\nwindow = \"1 ms\"\n{more}\n"
    )
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let limit = Duration::from_secs(120);
    let done = runtime.block_on(async { tokio::time::timeout(limit, work).await });
    done.expect("an end in time");
}

async fn client(service: &Service) -> ServiceClient {
    let mut config = ServiceConfig::new((*service.roster).clone());
    config.patience = Duration::from_secs(30);
    ServiceClient::connect(config).await.unwrap()
}

type Ends = (RequestSender, AnswerReceiver);

async fn ends(service: &Service) -> Ends {
    client(service).await.requests("login").await.unwrap()
}

/// Answers in the order of the requests.
async fn answers((sender, receiver): &mut Ends, shares: &[Bytes]) -> Vec<Answer> {
    let numbers = sender.send(shares).await.unwrap();
    let mut answers = Vec::new();
    while answers.len() < (numbers.end - numbers.start) as usize {
        answers.push(receiver.next().await.unwrap());
    }
    answers.sort_by_key(|answer| answer.number);
    assert_eq!(answers[0].number, numbers.start);
    answers
}

/// Encrypts blocks, again and again while the servers are not ready; the ends are opened anew where a connection is lost.
async fn encrypt(service: &Service, ends: &mut Ends, blocks: &[[u8; 16]]) -> Vec<[u8; 16]> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let shares = deal_blocks(blocks).unwrap();
        let sent = ends.0.send(&shares).await;
        let mut told = Vec::new();
        while sent.is_ok() && told.len() < blocks.len() {
            match ends.1.next().await {
                Some(answer) => told.push(answer),
                None => break,
            }
        }
        told.sort_by_key(|answer| answer.number);
        let values = told.iter().map(|answer| match &answer.shares {
            Ok(shares) => Some(combine_block(shares).unwrap()),
            Err(failed) => {
                assert!(failed.may_retry(), "{failed}");
                None
            }
        });
        let values: Option<Vec<_>> = values.collect();
        match values {
            Some(values) if values.len() == blocks.len() => return values,
            _ => assert!(Instant::now() < until, "no answer in time: {told:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        if sent.is_err() || told.len() < blocks.len() {
            *ends = self::ends(service).await;
        }
    }
}

fn drawn(random: &mut Random, count: usize) -> Vec<[u8; 16]> {
    let mut block = || std::array::from_fn(|_| random.below(256) as u8);
    (0..count).map(|_| block()).collect()
}

/// The key, from what the servers keep. A test alone may do this.
fn key(service: &Service) -> [u8; 16] {
    use madrigal_vault::{Limits, Vault, VaultKey};
    let mut key = [0; 16];
    for server in 0..3 {
        let data = service.folder.path().join(format!("data{server}"));
        let sealed = VaultKey::load(&data.join("vault.key")).unwrap();
        let vault = Vault::open(&data.join("server.vault"), &sealed, Limits::default()).unwrap();
        let part = vault.noted("key of login").unwrap().unwrap();
        key.iter_mut().zip(&part[..16]).for_each(|(a, b)| *a ^= b);
    }
    key
}

fn aes(key: &[u8; 16], block: &[u8; 16]) -> [u8; 16] {
    use aes::cipher::{BlockCipherEncrypt as _, KeyInit as _};
    let mut block = (*block).into();
    aes::Aes128::new(&(*key).into()).encrypt_block(&mut block);
    block.into()
}

#[test]
fn blocks_are_encrypted_under_the_servers_key() {
    let seed = seed();
    println!("MADRIGAL_SEED={seed}");
    let mut random = Random::new(seed);
    run(async {
        let mut service = Service::new(3, &login("most = 300"));
        service.start_all().await;
        let mut ends = ends(&service).await;
        let mut all = Vec::new();
        // One, as many as a plan has, and more than a batch.
        for count in [1, 64, 65, 300, 1000] {
            let blocks = drawn(&mut random, count);
            let encrypted = encrypt(&service, &mut ends, &blocks).await;
            all.extend(blocks.into_iter().zip(encrypted));
        }
        // A server that starts again has its part of the key.
        let server = service.servers[2].take().unwrap();
        server.leave(Duration::from_secs(5)).await;
        service.start(2).await;
        let again = encrypt(&service, &mut ends, &[all[0].0]).await;
        assert_eq!(again, [all[0].1]);
        service.stop_all().await;
        let key = key(&service);
        for (block, encrypted) in &all {
            assert_eq!(aes(&key, block), *encrypted, "MADRIGAL_SEED={seed}");
        }
    });
}

#[test]
fn clients_that_lie_or_are_silent_spoil_nothing_but_their_own() {
    let seed = seed();
    println!("MADRIGAL_SEED={seed}");
    let mut random = Random::new(seed);
    run(async {
        let text = login("most = 64\ndeadline = \"1 s\"");
        let mut service = Service::new(3, &text);
        service.start_all().await;
        let (mut good, mut bad) = (ends(&service).await, ends(&service).await);
        let blocks = drawn(&mut random, 20);
        let expected = encrypt(&service, &mut good, &blocks).await;
        // A client whose connection to one server has gone quiet: it has a session with three, and sends to two.
        let mut silent = crate::common::Client::dial(&service, None).await;
        let mut asked = Vec::new();
        for round in 0..20 {
            // Parts of no block that was meant: a difference at each server in turn, which is a difference of the block.
            let mut shares = deal_blocks(&blocks).unwrap();
            let difference = drawn(&mut random, blocks.len());
            let mut wrong = shares[round % 3].to_vec();
            wrong
                .iter_mut()
                .zip(difference.as_flattened())
                .for_each(|(byte, difference)| *byte ^= difference);
            shares[round % 3] = wrong.into();
            for line in &mut silent.lines[..2] {
                let place = line.connection.welcome().unwrap().kinds.len() - 1;
                let first = 1 + round as u64;
                let payload = vec![1; 16].into();
                let sent = line.connection.requests(place as u32, first, &payload);
                sent.unwrap();
                line.flush().await;
            }
            let (spoilt, right) = tokio::join!(
                answers(&mut bad, &shares),
                encrypt(&service, &mut good, &blocks)
            );
            assert_eq!(right, expected, "MADRIGAL_SEED={seed}");
            let meant = blocks.iter().zip(&difference);
            let meant: Vec<[u8; 16]> = meant
                .map(|(block, other)| std::array::from_fn(|at| block[at] ^ other[at]))
                .collect();
            let told = spoilt.iter().map(|answer| {
                let shares = answer.shares.as_ref().unwrap();
                combine_block(shares).unwrap()
            });
            asked.extend(meant.into_iter().zip(told));
        }
        // Whoever was silent at one server is told to ask again, at the others.
        for line in &mut silent.lines[..2] {
            let mut told = 0;
            while told < 20 {
                match line.told().await {
                    madrigal_intake::FromServer::Refused(refused) => {
                        assert_eq!(refused.code, Code::Retry);
                        told += refused.count;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        service.stop_all().await;
        // Whatever parts a client sends, they are those of some block, and the answer is that block's.
        let key = key(&service);
        for (block, encrypted) in asked {
            assert_eq!(aes(&key, &block), encrypted, "MADRIGAL_SEED={seed}");
        }
    });
}

#[test]
fn what_is_in_flight_when_a_session_ends_may_be_asked_again() {
    run(async {
        let mut service = Service::new(
            3,
            &login("window = \"1 s\"").replacen("window = \"1 ms\"\n", "", 1),
        );
        service.start_all().await;
        let mut ends = ends(&service).await;
        let blocks = [[7; 16]; 3];
        let before = encrypt(&service, &mut ends, &blocks).await;
        // They wait for the window when a server goes.
        let shares = deal_blocks(&blocks).unwrap();
        ends.0.send(&shares).await.unwrap();
        let server = service.servers[2].take().unwrap();
        let (_, told) = tokio::join!(server.leave(Duration::from_secs(5)), async {
            let mut told = Vec::new();
            while told.len() < 3 {
                told.push(ends.1.next().await.unwrap());
            }
            told
        });
        for answer in told {
            // They may have been answered just before.
            if let Err(failed) = answer.shares {
                assert!(failed.may_retry(), "{failed}");
            }
        }
        service.start(2).await;
        let mut ends = self::ends(&service).await;
        assert_eq!(encrypt(&service, &mut ends, &blocks).await, before);
        service.stop_all().await;
    });
}

#[test]
fn another_vault_is_noticed_and_named() {
    run(async {
        let mut service = Service::new(3, &login(""));
        service.start_all().await;
        let mut ends = ends(&service).await;
        let before = encrypt(&service, &mut ends, &[[1; 16]]).await;
        service.stop_all().await;
        // Server 1 loses its vault.
        let data = service.folder.path().join("data1");
        let kept = service.folder.path().join("kept");
        std::fs::rename(&data, &kept).unwrap();
        service.start_all().await;
        let mut ends = self::ends(&service).await;
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let shares = deal_blocks(&[[1; 16]]).unwrap();
            let told = answers(&mut ends, &shares).await;
            let failed = told[0].shares.clone().unwrap_err();
            if !failed.may_retry() {
                assert_eq!(failed.code, Code::Server);
                assert!(failed.text.contains("put back"), "{failed}");
                break;
            }
            assert!(Instant::now() < until);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        for (at, server) in service.servers.iter().enumerate() {
            let words = server.as_ref().unwrap().health().in_words();
            let named = words.contains("server `server1` has another part of the key");
            assert_eq!(named, at != 1, "{words}");
            assert!(words.contains("kind login: "), "{words}");
        }
        service.stop_all().await;
        // It is put back.
        std::fs::remove_dir_all(&data).unwrap();
        std::fs::rename(&kept, &data).unwrap();
        service.start_all().await;
        let mut ends = self::ends(&service).await;
        assert_eq!(encrypt(&service, &mut ends, &[[1; 16]]).await, before);
        service.stop_all().await;
    });
}

#[test]
fn kinds_and_windows_have_limits() {
    run(async {
        let mut service = Service::new(3, &login(""));
        service.start_all().await;
        let other = client(&service).await.requests("logout").await;
        assert!(other.is_err(), "{other:?}");
        let mut ends = ends(&service).await;
        let window = ends.0.window();
        encrypt(&service, &mut ends, &vec![[3; 16]; window]).await;
        let more = deal_blocks(&vec![[3; 16]; window + 1]).unwrap();
        let sent = ends.0.send(&more).await;
        assert!(
            matches!(sent, Err(ClientError::Requests { .. })),
            "{sent:?}"
        );
        service.stop_all().await;
    });
    assert_eq!(combine_block(&[]), Err(BlockError::Size));
    for (fields, problem) in [
        ("most = 0", "1 to 16384"),
        ("window = \"2 s\"", "1 s at most"),
        ("deadline = \"50 ms\"", "100 ms at least"),
        ("program = \"x\"", "not both"),
        ("runs = 3", "takes requests"),
    ] {
        let text = login(fields).replacen(
            "window = \"1 ms\"\n",
            "",
            usize::from(fields.starts_with("window")),
        );
        let service = Service::new(3, &text);
        let error = madrigal_service::Checked::load(&service.file(0)).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
    let service = Service::new(2, &login(""));
    let error = madrigal_service::Checked::load(&service.file(0)).unwrap_err();
    assert!(error.to_string().contains("for 3 servers"), "{error}");
}
