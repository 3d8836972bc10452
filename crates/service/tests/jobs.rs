//! Submissions become jobs, and their results come back.

use crate::common::{Client, Service, statistics};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn values_of_clients_are_summed() {
    for servers in [2, 3] {
        runtime().block_on(async {
            let mut service = Service::new(servers, &statistics(3, 3, "1h"));
            service.start_all().await;
            let mut clients = Client::dial(&service, None).await;
            let mut ann = Client::dial(&service, Some(b"secret of ann")).await;
            let mine = ann.prepare("ann", 31);
            ann.submit(&mine).await;
            // The same once more counts once.
            ann.submit(&mine).await;
            for (client, age) in [("bob", 44), ("carol", 17)] {
                let prepared = clients.prepare(client, age);
                clients.submit(&prepared).await;
            }
            let (receipt, outputs) = ann.wait(mine.id).await;
            assert_eq!(receipt.submissions, 3);
            assert_eq!(outputs, [0, 1, 2, 3]);
            let mut learnt = Vec::new();
            for output in outputs {
                let value = ann.fetch(mine.id, output).await;
                learnt.push(value.component::<u32>(0).to_vec());
            }
            assert_eq!(learnt, [vec![92], vec![17], vec![44], vec![1, 2, 3, 3]]);
            service.stop_all().await;
        });
    }
}
