//! Values of many clients, as they are submitted, summed and counted; and the results, compared with what was brought.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use madrigal_program::{Array, Shape, Type};
use madrigal_service_client::{ServiceClient, ServiceConfig, Submit, Value};
use tokio::time::{sleep, timeout};

use super::loaded::Loaded;

/// Upper edges of the demo's ranges of ages.
const EDGES: [u32; 4] = [20, 40, 60, 80];
/// Ages are below this.
const AGES: u64 = 100;
/// Time within which each next result comes.
const RESULT: Duration = Duration::from_secs(120);

/// Submissions that clients make.
#[derive(Debug, Clone, Copy)]
pub struct Sums {
    pub seconds: f64,
    /// Clients with connections of their own to all servers.
    pub connections: usize,
    /// Submissions of each connection under way at once.
    pub in_flight: usize,
    /// Submissions after which it ends, also before the time is over.
    pub most: u64,
}

/// Totals of ages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    count: u64,
    sum: u64,
    below: [u64; EDGES.len()],
}

impl Totals {
    fn take(&mut self, age: u32) {
        self.count += 1;
        self.sum += u64::from(age);
        for (below, edge) in self.below.iter_mut().zip(EDGES) {
            *below += u64::from(age < edge);
        }
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        for (all, one) in self.below.iter_mut().zip(other.below) {
            *all += one;
        }
    }
}

/// Ages of one client after the other, from a number: the same in each run.
fn age(number: u64) -> u32 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32 % AGES as u32
}

/// Submits ages to the demo of statistics for some time, and then has the analyst fetch all results.
pub async fn run(folder: &Path, kind: &'static str, sums: Sums) -> Result<Loaded, String> {
    let load = |name: &str| {
        let config = ServiceConfig::load(&folder.join(name));
        config.map_err(|error| error.to_string())
    };
    let (member, analyst) = (load("member.toml")?, load("analyst.toml")?);
    let (over, next) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let mut clients = Vec::new();
    for _ in 0..sums.connections {
        let client = ServiceClient::connect(member.clone()).await;
        clients.push(Arc::new(client.map_err(|error| error.to_string())?));
    }
    let begun = Instant::now();
    let tasks: Vec<_> = clients
        .iter()
        .flat_map(|client| (0..sums.in_flight).map(|_| Arc::clone(client)))
        .map(|client| {
            let (over, next) = (Arc::clone(&over), Arc::clone(&next));
            tokio::spawn(submit(client, kind, sums.most, over, next))
        })
        .collect();
    let end = Duration::from_secs_f64(sums.seconds);
    while begun.elapsed() < end && next.load(Relaxed) < sums.most {
        sleep(Duration::from_millis(20)).await;
    }
    over.store(true, Relaxed);
    let (mut loaded, mut brought) = (Loaded::default(), Totals::default());
    for task in tasks {
        let (one, totals) = task.await.map_err(|error| error.to_string())?;
        loaded.add(one);
        brought.add(&totals);
    }
    loaded.seconds = begun.elapsed().as_secs_f64();
    let analyst = ServiceClient::connect(analyst).await;
    let analyst = analyst.map_err(|error| error.to_string())?;
    let counted = counted(&analyst, kind, brought.count).await?;
    // A submission that failed may count or not; where none failed all is known.
    let failed = loaded.lost;
    loaded.lost += brought.count.saturating_sub(counted.count);
    loaded.wrong = match failed {
        0 => u64::from(counted != brought),
        _ => counted.count.saturating_sub(brought.count + failed),
    };
    Ok(loaded)
}

/// Submits one age after the other.
async fn submit(
    client: Arc<ServiceClient>,
    kind: &'static str,
    most: u64,
    over: Arc<AtomicBool>,
    next: Arc<AtomicU64>,
) -> (Loaded, Totals) {
    let (mut loaded, mut totals) = (Loaded::default(), Totals::default());
    while !over.load(Relaxed) {
        let number = next.fetch_add(1, Relaxed);
        if number >= most {
            break;
        }
        let age = age(number);
        let inputs = [("age".to_owned(), scalar(age))];
        let name = format!("member-{number}");
        let begun = Instant::now();
        let submission = Submit {
            kind,
            inputs: &inputs,
            client: &name,
            pending: None,
            receipt: None,
        };
        match client.submit(&submission).await {
            Err(_) => loaded.lost += 1,
            Ok(_) => {
                loaded.answered += 1;
                loaded.times.add(begun.elapsed().as_secs_f64());
                totals.take(age);
            }
        }
    }
    (loaded, totals)
}

fn scalar(age: u32) -> Value {
    let shape = Shape::checked(&[1]).expect("one element is a shape");
    let typed: Type = "u32".parse().expect("u32 is a type");
    let array = Array::from_codes(typed, &shape, std::iter::once(u128::from(age)));
    Value::from(array.expect("an age fits its type"))
}

/// Adds up the results of all batches, until as many submissions are counted, or no more come.
async fn counted(analyst: &ServiceClient, kind: &str, expected: u64) -> Result<Totals, String> {
    let (mut totals, mut batch) = (Totals::default(), 0);
    while totals.count < expected {
        let Ok(outputs) = timeout(RESULT, analyst.wait_after(kind, batch)).await else {
            break;
        };
        let outputs = outputs.map_err(|error| error.to_string())?;
        batch = outputs.job.batch;
        let value = |at: usize| outputs.values[at].1.component::<u32>(0);
        totals.count += outputs.job.submissions;
        totals.sum += u64::from(value(0)[0]);
        for (all, one) in totals.below.iter_mut().zip(value(3)) {
            *all += u64::from(*one);
        }
    }
    Ok(totals)
}
