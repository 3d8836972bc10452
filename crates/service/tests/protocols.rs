//! What servers send each other within jobs, held against what programs of this version of the protocols of jobs have always sent.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fmt::Write as _;

use madrigal_core::Digest256;
use madrigal_engine::PROTOCOLS;
use madrigal_net::frame::FrameKind;
use sha2::{Digest as _, Sha256};

use crate::batch_views::{run, start};
use crate::common::{Client, Service, statistics};
use crate::upgrades::all_ready;

/// The first job of a session in which values are computed.
const JOB: u32 = 2;

/// Digest of steps, places and lengths of all that is sent in a job on three submissions, between this many servers in these sharings.
async fn form(servers: usize, mix: &str) -> String {
    let mix = format!("mix = \"{mix}\"\nsubmit =");
    let text = statistics(3, 3, "1h").replace("submit =", &mix);
    let mut service = Service::new(servers, &text);
    let taps = start(&mut service).await;
    all_ready(&service).await;
    let mut clients = Client::dial(&service, None).await;
    let mut last = None;
    for (client, age) in [("ann-1", 31), ("bob", 44), ("carol", 17)] {
        let prepared = clients.prepare(client, age);
        clients.submit(&prepared).await;
        last = Some(prepared.id);
    }
    clients.wait(last.unwrap()).await;
    let passed = taps.take_if(|_| true).unwrap();
    let mut all = Vec::new();
    for one in passed {
        let header = one.frame.header;
        match header.kind {
            FrameKind::Data if header.job == JOB => all.push((
                (one.from, one.to, header.step, header.sequence),
                (header.last, one.frame.payload.len()),
            )),
            FrameKind::Data | FrameKind::Control | FrameKind::Credit | FrameKind::Blocked => {}
        }
    }
    assert!(!all.is_empty());
    all.sort_unstable();
    let mut text = String::new();
    all.iter().for_each(|one| _ = writeln!(text, "{one:?}"));
    service.stop_all().await;
    Digest256(Sha256::digest(text).into()).to_string()
}

/// A change of what is sent makes servers of two versions compute on each other's bytes: it takes another version. Contents are not looked at here.
#[test]
fn what_is_sent_in_jobs_changes_with_the_version_alone() {
    assert_eq!(
        PROTOCOLS.versions.newest, VERSION,
        "write the digests of this version below"
    );
    let got = FORMS.map(|(servers, mix, _)| {
        let digest = run(form(servers, mix));
        (servers, mix, digest[..16].to_owned())
    });
    let expected = FORMS.map(|(servers, mix, digest)| (servers, mix, digest.to_owned()));
    assert_eq!(
        got, expected,
        "what servers send each other within jobs has changed. Servers of the version before and of this one would compute on each other's messages: raise \
         PROTOCOLS in crates/engine/src/versions.rs, then VERSION here, with the new digests"
    );
}

/// Version of the protocols of jobs that the digests are of.
const VERSION: u32 = 1;
/// Beginnings of digests.
const FORMS: [(usize, &str, &str); 4] = [
    (3, "R", "b14caa6429b076dc"),
    (3, "A+B", "6134832bfc617e50"),
    (3, "A+Y", "fb0a500ed0a3ea32"),
    (2, "A+Y2", "7f348a90a5d75273"),
];
