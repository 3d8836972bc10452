//! Bounds of what one client may take up, and what a server refuses to begin with.

use std::fs;
use std::time::Duration;

use madrigal_core::chain::Chain;
use madrigal_intake::{Code, FromServer, State, token_digest};
use madrigal_service::Checked;

use crate::common::{ANN, Client, Service, statistics};
use crate::jobs::runtime;

/// The refusal of a submission to the first server.
async fn refused(client: &mut Client, name: &str, age: u32) -> (Code, String) {
    let prepared = client.prepare(name, age);
    let line = &mut client.lines[0];
    let (headers, body) = (
        prepared.headers.clone().freeze(),
        prepared.bodies[0].clone(),
    );
    let digest = Chain::digest(&headers, &body);
    let sent = line
        .connection
        .whole(0, (prepared.id, headers, digest), body.into());
    sent.unwrap();
    match line.told().await {
        FromServer::Refused(refused) => (refused.code, refused.text),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_client_has_its_share_of_a_kind() {
    runtime().block_on(async {
        let text = statistics(5, 5, "1h").replace("submit =", "each = 2\nsubmit =");
        let mut service = Service::new(2, &text);
        service.start_all().await;
        let mut ann = Client::dial(&service, Some(b"secret of ann")).await;
        for age in [31, 32] {
            let prepared = ann.prepare("ann", age);
            ann.submit(&prepared).await;
        }
        let (code, text) = refused(&mut ann, "ann", 33).await;
        assert_eq!(code, Code::Quota);
        assert!(text.contains("client ann would have more than 2"), "{text}");
        // Strangers do not count in her share, whatever they call themselves.
        let mut strangers = Client::dial(&service, None).await;
        for age in [40, 41, 42] {
            let prepared = strangers.prepare("bob", age);
            strangers.submit(&prepared).await;
        }
        // Those are five, and the batch gives her room again.
        let room = async {
            while refused_again(&mut ann).await {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), room)
            .await
            .unwrap();
        service.stop_all().await;
    });
}

/// Tries once more; whether there is no room.
async fn refused_again(ann: &mut Client) -> bool {
    let prepared = ann.prepare("ann", 50);
    let line = &mut ann.lines[0];
    let (headers, body) = (
        prepared.headers.clone().freeze(),
        prepared.bodies[0].clone(),
    );
    let digest = Chain::digest(&headers, &body);
    let sent = line
        .connection
        .whole(0, (prepared.id, headers, digest), body.into());
    sent.unwrap();
    match line.told().await {
        FromServer::Refused(refused) => refused.code == Code::Quota,
        FromServer::Accepted { .. } => false,
        other => panic!("{other:?}"),
    }
}

/// An upload in pieces whose shares are not what its client committed to is not accepted, and makes room again.
#[test]
fn uploads_in_pieces_are_checked_before_they_are_accepted() {
    runtime().block_on(async {
        let text = statistics(1, 1, "1h").replace("submit =", "mix = \"R\"\nsubmit =");
        let mut service = Service::new(3, &text);
        service.start_all().await;
        let mut clients = Client::dial(&service, None).await;
        let mut wrong = clients.prepare("bob", 31);
        *wrong.bodies[1].last_mut().unwrap() ^= 1;
        for (at, good) in [(1, false), (0, true)] {
            let line = &mut clients.lines[at];
            let (headers, body) = (wrong.headers.clone().freeze(), wrong.bodies[at].clone());
            let digest = Chain::digest(&headers, &body);
            let length = body.len() as u64;
            let begun = line
                .connection
                .begin(0, (wrong.id, headers, digest), length);
            let number = begun.unwrap();
            match line.told().await {
                FromServer::Begun { offset: 0, .. } => {}
                other => panic!("{other:?}"),
            }
            line.connection.piece(number, body.into()).unwrap();
            line.connection.end(number).unwrap();
            match line.told().await {
                FromServer::Accepted { .. } if good => {}
                FromServer::Refused(refused) if !good => {
                    assert_eq!(refused.code, Code::Header);
                    assert!(refused.text.contains("commit"), "{}", refused.text);
                }
                other => panic!("{other:?}"),
            }
        }
        clients.lines[1].connection.status(wrong.id).unwrap();
        match clients.lines[1].told().await {
            FromServer::State { state, .. } => assert_eq!(state, State::Expired),
            other => panic!("{other:?}"),
        }
        // The kind goes on, one by one.
        let mine = clients.prepare("carol", 17);
        clients.submit(&mine).await;
        let (receipt, _) = clients.wait(mine.id).await;
        assert_eq!((receipt.submissions, receipt.batch), (1, 1));
        service.stop_all().await;
    });
}

/// The error of a service's file.
fn wrong(service: &Service, text: &str) -> String {
    let head = "parties = \"parties.toml\"\nparty = \"server0\"\ndata = \"data0\"\n";
    fs::write(service.file(0), format!("{head}{text}")).unwrap();
    match Checked::load(&service.file(0)) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn kinds_that_cannot_be_told_or_held_are_refused() {
    let service = Service::new(2, &statistics(2, 100, "1h"));
    let one = statistics(2, 100, "1h");
    let memory = {
        let checked = Checked::load(&service.file(0)).unwrap();
        let kind = &checked.kinds[0];
        // A thousand bytes for each submission's file, at the least.
        assert!(kind.shares_memory > 100_000 && kind.memory >= kind.shares_memory);
        kind.memory
    };
    let ann = token_digest(b"secret of ann", &service.roster.party(0).unwrap().key);
    let clients = one.replace(ANN, &ann.to_string());
    assert_eq!(
        wrong(&service, &format!("memory = {memory}\n{clients}")),
        ""
    );
    let small = wrong(&service, &format!("memory = {}\n{clients}", memory - 1));
    assert!(
        small.contains(&format!("takes {memory} bytes of memory")),
        "{small}"
    );
    assert!(
        small.contains("for the shares that clients bring"),
        "{small}"
    );

    let none = clients.replace("submit =", "each = 0\nsubmit =");
    assert!(wrong(&service, &none).contains("kinds.ages.each"));
    let crowd = clients.replace("after = \"1h\"", "after = \"1h\", clients = [\"ann\"]");
    assert_eq!(wrong(&service, &crowd), "");
    let digest = |text: &str| {
        assert_eq!(wrong(&service, text), "");
        Checked::load(&service.file(0)).unwrap().kinds[0].digest
    };
    assert_ne!(digest(&crowd), digest(&clients));

    // Kinds of which much is told, until the message that clients get first is full.
    let (head, kind) = clients.split_once("[[kinds]]").unwrap();
    let names: Vec<String> = (0..8).map(|i| format!("{i}{}", "c".repeat(60))).collect();
    let others = names.iter().map(|name| {
        let token = token_digest(name.as_bytes(), &service.roster.party(0).unwrap().key);
        format!("[[clients]]\nname = \"{name}\"\ntoken-sha256 = \"{token}\"\n")
    });
    let head = head.to_owned() + &others.collect::<String>();
    let kind = kind.replace("\"anyone\"", &format!("{names:?}"));
    let many = |count: usize| {
        let kinds = (0..count).map(|i| {
            let name = format!("name = \"{i:03}{}\"", "x".repeat(61));
            format!("[[kinds]]{}", kind.replace("name = \"ages\"", &name))
        });
        head.clone() + &kinds.collect::<String>()
    };
    let text = wrong(&service, &many(250));
    let fit = text.split("the first ").nth(1);
    let fit = fit.and_then(|rest| rest.split(' ').next()).unwrap_or(&text);
    let fit: usize = fit.parse().unwrap();
    assert!((50..250).contains(&fit));
    assert_eq!(wrong(&service, &many(fit)), "");
    assert!(wrong(&service, &many(fit + 1)).contains(&format!("the first {fit} of them fit")));
}
