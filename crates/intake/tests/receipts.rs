//! Receipts: one encoding, one meaning, one signer.

use madrigal_core::{Digest256, domains};
use madrigal_intake::*;
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::{Identity, Validity};
use madrigal_net::roster::Roster;

fn identities() -> Vec<Identity> {
    let fresh = || Identity::generate(Validity::days(1).unwrap()).unwrap();
    (0..3).map(|_| fresh()).collect()
}

fn roster(identities: &[Identity]) -> Roster {
    let entry = |(i, identity): (usize, &Identity)| {
        let address = format!("127.0.0.1:{}", 7700 + i).parse().unwrap();
        (address, identity.fingerprint())
    };
    Roster::local(identities.iter().enumerate().map(entry)).unwrap()
}

fn receipt(server: Fingerprint) -> Receipt {
    Receipt {
        server,
        kind: "survey".into(),
        program: Digest256([1; 32]),
        submission: Digest256([2; 32]),
        digest: Digest256([3; 32]),
        time: 1_800_000_000,
    }
}

fn job(server: Fingerprint) -> JobReceipt {
    let ids = [Digest256([2; 32]), Digest256([4; 32])];
    JobReceipt {
        server,
        kind: "survey".into(),
        program: Digest256([1; 32]),
        batch: 7,
        run: Digest256([8; 32]),
        submissions: 2,
        batch_digest: batch_digest(ids.iter()),
        recipients: vec!["submitters".into(), "sha256:00".into()],
        outputs: vec![JobOutput {
            name: "total".into(),
            element_type: "u64".into(),
            shape: vec![1, 2],
            header: Digest256([9; 32]),
        }],
        privacy: Some(JobPrivacy {
            epsilon: 500_000_000,
            delta: 1_000_000,
        }),
        time: 1_800_000_009,
        held: Vec::new(),
    }
}

#[test]
fn receipts_are_checked() {
    let servers = identities();
    let [a, b] = [servers[0].fingerprint(), servers[1].fingerprint()];
    let mine = receipt(a);
    let signed = mine.sign(&servers[0]).unwrap();
    assert_eq!(Receipt::verify(&signed, &a), Ok(mine.clone()));
    assert!(matches!(
        Receipt::verify(&signed, &b),
        Err(ReceiptError::Signature(_))
    ));
    // A server that signs for another one.
    let other = receipt(a).sign(&servers[1]).unwrap();
    assert_eq!(Receipt::verify(&other, &b), Err(ReceiptError::Server));
    // Every bit counts, of the bytes and of the signature.
    for at in 0..signed.bytes.len() {
        let mut bytes = signed.bytes.to_vec();
        bytes[at] ^= 1;
        let changed = Signed {
            bytes: bytes.into(),
            ..signed.clone()
        };
        assert!(Receipt::verify(&changed, &a).is_err(), "{at}");
    }
    for at in 0..96 {
        let mut signature = *signed.signature.as_bytes();
        signature[at] ^= 1;
        let signature = madrigal_net::identity::Signature::from_bytes(signature);
        let changed = Signed {
            signature,
            ..signed.clone()
        };
        assert!(Receipt::verify(&changed, &a).is_err(), "{at}");
    }
    let (kind, program) = (&mine.kind, &mine.program);
    assert_eq!(
        mine.is_for(kind, program, &mine.submission, &mine.digest),
        Ok(())
    );
    let wrong = mine.is_for(kind, program, &mine.digest, &mine.digest);
    assert!(matches!(
        wrong,
        Err(ReceiptError::Other {
            field: "submission",
            ..
        })
    ));
}

/// A signature for one purpose is none for another, though the bytes are the same.
#[test]
fn purposes_are_kept_apart() {
    let server = &identities()[0];
    let key = server.fingerprint();
    let signature = server.sign(domains::RECEIPT, b"bytes");
    assert!(signature.verify(&key, domains::RECEIPT, b"bytes").is_ok());
    assert!(
        signature
            .verify(&key, domains::JOB_RECEIPT, b"bytes")
            .is_err()
    );
    // Bytes that move from the purpose to what is signed.
    let (purpose, rest) = domains::RECEIPT.split_at(5);
    let moved = [rest, b"bytes"].concat();
    assert!(signature.verify(&key, purpose, &moved).is_err());
}

#[test]
fn one_reading_only() {
    let server = &identities()[0];
    let mine = receipt(server.fingerprint());
    let bytes = mine.to_bytes();
    assert_eq!(Receipt::from_bytes(&bytes), Ok(mine));
    let ours = job(server.fingerprint());
    let job_bytes = ours.to_bytes();
    assert_eq!(JobReceipt::from_bytes(&job_bytes), Ok(ours.clone()));
    for length in 0..bytes.len() {
        assert!(Receipt::from_bytes(&bytes[..length]).is_err());
    }
    for length in 0..job_bytes.len() {
        assert!(JobReceipt::from_bytes(&job_bytes[..length]).is_err());
    }
    assert!(Receipt::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    assert!(JobReceipt::from_bytes(&[&job_bytes[..], &[0]].concat()).is_err());
    // Held submissions stand behind all else, in one order, and a receipt without any has no byte for them.
    let held = |kind: &str| HeldSubmission {
        kind: kind.into(),
        batch: 3,
        submission: Digest256([7; 32]),
    };
    let with = |held: Vec<HeldSubmission>| JobReceipt {
        held,
        ..ours.clone()
    };
    let two = with(vec![held("digits"), held("prices")]);
    let held_bytes = two.to_bytes();
    assert_eq!(held_bytes[..job_bytes.len()], job_bytes);
    assert_eq!(JobReceipt::from_bytes(&held_bytes), Ok(two.clone()));
    for length in job_bytes.len() + 1..held_bytes.len() {
        assert!(JobReceipt::from_bytes(&held_bytes[..length]).is_err());
    }
    for wrong in [
        vec![held("prices"), held("digits")],
        vec![held("digits"); 2],
        (0..17).map(|at| held(&format!("kind-{at:02}"))).collect(),
    ] {
        assert_eq!(with(wrong).sign(server), Err(ReceiptError::Encoding));
    }
    // What would not be read back is not signed.
    let nameless = JobReceipt {
        kind: String::new(),
        ..ours.clone()
    };
    assert_eq!(nameless.sign(server), Err(ReceiptError::Encoding));
    let many = JobReceipt {
        recipients: vec!["a".into(); 300],
        ..ours
    };
    assert_eq!(many.sign(server), Err(ReceiptError::Encoding));
}

#[test]
fn anybody_can_check_a_job() {
    let servers = identities();
    let roster = roster(&servers);
    let sign = |change: &dyn Fn(usize, &mut JobReceipt)| -> Vec<Signed> {
        let one = |(i, server): (usize, &Identity)| {
            let mut receipt = job(server.fingerprint());
            receipt.time += i as u64;
            change(i, &mut receipt);
            receipt.sign(server).unwrap()
        };
        servers.iter().enumerate().map(one).collect()
    };
    let all = sign(&|_, _| ());
    assert_eq!(check(&all, &roster), Ok(job(servers[0].fingerprint())));
    assert!(matches!(
        check(&all[..2], &roster),
        Err(ReceiptError::Count {
            got: 2,
            expected: 3
        })
    ));
    let swapped = [all[1].clone(), all[0].clone(), all[2].clone()];
    assert!(matches!(
        check(&swapped, &roster),
        Err(ReceiptError::Of { server: 0, .. })
    ));
    type Change = fn(&mut JobReceipt);
    let changes: [Change; 10] = [
        |receipt| receipt.kind = "other".into(),
        |receipt| receipt.program.0[0] ^= 1,
        |receipt| receipt.batch += 1,
        |receipt| receipt.run.0[0] ^= 1,
        |receipt| receipt.submissions += 1,
        |receipt| receipt.batch_digest.0[0] ^= 1,
        |receipt| receipt.recipients.clear(),
        |receipt| receipt.outputs[0].shape.push(1),
        |receipt| receipt.privacy = None,
        |receipt| receipt.privacy.as_mut().unwrap().epsilon += 1,
    ];
    for change in changes {
        let apart = sign(&|i, receipt| {
            if i == 2 {
                change(receipt)
            }
        });
        assert!(matches!(
            check(&apart, &roster),
            Err(ReceiptError::Apart { server: 2, .. })
        ));
    }
}

/// Known answers, so that another implementation, or a later version of this one, can be held against them.
#[test]
fn known_answers() {
    let ids = [Digest256([2; 32]), Digest256([4; 32])];
    let headers = b"\x03\x00\x00\x00abc";
    let answers = [
        Chain::digest(headers, &[]).to_string(),
        Chain::digest(headers, &vec![7; 65536]).to_string(),
        Chain::digest(headers, &vec![7; 65537]).to_string(),
        submission_name("sum", &Digest256([1; 32]), headers).to_string(),
        batch_digest(ids.iter()).to_string(),
    ];
    assert_eq!(answers, crate::known::ANSWERS);
}
