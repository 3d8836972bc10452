//! Futures of a client may be spawned on a runtime of several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use madrigal_engine::Sharing;
use madrigal_service_client::{One, ServiceClient, Submission, Submit};

use crate::fake::*;
use crate::submissions::{connect, inputs};

fn may_move<T: Send>(future: T) -> T {
    future
}

/// The compiler checks this: nobody calls it.
#[allow(dead_code, reason = "that it compiles is the test")]
fn all_may_move(client: &ServiceClient, submit: &Submit<'_>, submission: &Submission) {
    drop(may_move(client.submit(submit)));
    drop(may_move(client.status(submission)));
    drop(may_move(client.wait(submission)));
    drop(may_move(client.wait_after("copy", 0)));
    drop(may_move(client.requests("halves")));
    drop(may_move(client.ask_blocks("blocks", &[], |_| ())));
    let all = std::iter::empty::<One>();
    drop(may_move(client.many("copy", all, 1, |_, _, _| true)));
}

#[test]
fn many_submissions_are_made_on_another_thread() {
    let service = Arc::new(Service::new(Sharing::A, &[]));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = connect(&service).await.unwrap();
        let accepted = Arc::new(AtomicU64::new(0));
        let count = accepted.clone();
        let all = (0..50).map(|i| -> One { (format!("c{i}"), inputs(3)) });
        let made = tokio::spawn(async move {
            let done = client.many("copy", all, 7, |_, result, progress| {
                result.unwrap();
                count.store(progress.accepted, Ordering::Relaxed);
                true
            });
            done.await.unwrap()
        });
        assert_eq!(made.await.unwrap().accepted, 50);
        assert_eq!(accepted.load(Ordering::Relaxed), 50);
    });
}
