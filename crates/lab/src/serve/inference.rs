//! A network whose weights servers hold, and images of many clients: each result, compared with what the network gives in the clear.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use madrigal_program::{Array, Inputs, Shape};
use madrigal_service::{demo, local};
use madrigal_service_client::{ServiceClient, ServiceConfig, Submit, Value};
use tokio::time::{sleep, timeout};

use super::loaded::Loaded;
use super::servers::SERVERS;

/// Images that clients bring in turn.
const IMAGES: usize = 256;
/// Names of the clients, as the demo has them.
const OWNER: &str = "owner";
const MEMBER: &str = "member";
/// Time within which each result comes.
const RESULT: Duration = Duration::from_secs(120);

/// Images that clients submit.
#[derive(Debug, Clone, Copy)]
pub struct Images {
    pub seconds: f64,
    /// Clients with connections of their own to all servers.
    pub connections: usize,
    /// Images of each connection under way at once.
    pub in_flight: usize,
    /// Images after which it ends, also before the time is over.
    pub most: u64,
}

/// Images, and the scores that the network gives each of them: codes of numbers.
struct Known {
    images: Vec<Array>,
    scores: Vec<Vec<u32>>,
}

/// A number between -1 and 1 that looks like any other, the same in each run.
fn number(seed: u64) -> f64 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f64 / f64::from(1 << 23) - 1.0
}

fn array(axes: &[usize], mut of: impl FnMut(u64) -> f64) -> Result<Array, String> {
    let shape = Shape::checked(axes).ok_or("no such shape")?;
    let numbers = (0..shape.elements() as u64).map(|at| demo::Number::from_f64(of(at)));
    let numbers: Option<Vec<_>> = numbers.collect();
    let array = Array::of(&shape, &numbers.ok_or("a number that does not fit")?);
    array.ok_or_else(|| "numbers that do not fit".to_owned())
}

/// Weights of the network, with their names: as large as those of trained ones.
fn weights() -> Result<Vec<(&'static str, Array)>, String> {
    let [pixels, hidden, classes] = demo::LAYERS;
    Ok(vec![
        ("w1", array(&[pixels, hidden], |at| 0.12 * number(at))?),
        ("b1", array(&[hidden], |at| 0.2 * number(at + (1 << 30)))?),
        (
            "w2",
            array(&[hidden, classes], |at| 0.3 * number(at + (2 << 30)))?,
        ),
        ("b2", array(&[classes], |at| 0.2 * number(at + (3 << 30)))?),
    ])
}

/// Images with pixels from 0 to 1, of which most are 0, and what the program itself gives for them in the clear.
fn known(weights: &[(&'static str, Array)]) -> Result<Known, String> {
    let [pixels, _, classes] = demo::LAYERS;
    let all = array(&[IMAGES, pixels], |at| {
        (3.0 * number(at + (4 << 30)) - 2.0).max(0.0)
    })?;
    let program = demo::inference(SERVERS).map_err(|error| error.to_string())?;
    let program = program.bind(&[("images", IMAGES)]);
    let program = program.map_err(|error| error.to_string())?;
    let mut inputs = Inputs::new().with_array(Some("image"), all.clone());
    for (name, weights) in weights {
        inputs = inputs.with_array(Some(name), weights.clone());
    }
    let told = program.simulate(&inputs);
    let told = told.map_err(|error| error.to_string())?;
    let scores = told.arrays().next().flatten().ok_or("no scores")?;
    let scores: Vec<u32> = scores.codes().map(|code| code as u32).collect();
    let image = |at: usize| {
        all.rows(at..at + 1)
            .ok_or_else(|| "no such image".to_owned())
    };
    Ok(Known {
        images: (0..IMAGES).map(image).collect::<Result<_, _>>()?,
        scores: scores.chunks(classes).map(<[u32]>::to_vec).collect(),
    })
}

async fn connect(folder: &Path, name: &str) -> Result<ServiceClient, String> {
    let config = ServiceConfig::load(&folder.join(format!("{name}.toml")));
    let config = config.map_err(|error| error.to_string())?;
    let client = ServiceClient::connect(config).await;
    client.map_err(|error| error.to_string())
}

/// Loads the network into the demo of inference, and then has clients bring images for some time.
pub async fn run(folder: &Path, images: Images) -> Result<Loaded, String> {
    let weights = weights()?;
    let known = Arc::new(known(&weights)?);
    let inputs: Vec<_> = weights
        .into_iter()
        .map(|(name, weights)| (name.to_owned(), Value::from(weights)))
        .collect();
    let owner = connect(folder, OWNER).await?;
    let submission = Submit {
        kind: local::DIGITS_MODEL,
        inputs: &inputs,
        client: OWNER,
        pending: None,
        receipt: None,
    };
    let loaded = owner.submit(&submission).await;
    let loaded = loaded.map_err(|error| error.to_string())?;
    let held = timeout(RESULT, owner.wait(&loaded)).await;
    held.map_err(|_| "the weights were not taken in time".to_owned())?
        .map_err(|error| error.to_string())?;
    let mut clients = Vec::new();
    for _ in 0..images.connections {
        clients.push(Arc::new(connect(folder, MEMBER).await?));
    }
    let (over, next) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let begun = Instant::now();
    let tasks: Vec<_> = clients
        .iter()
        .flat_map(|client| (0..images.in_flight).map(|_| Arc::clone(client)))
        .map(|client| {
            let (over, next) = (Arc::clone(&over), Arc::clone(&next));
            tokio::spawn(ask(client, Arc::clone(&known), images.most, over, next))
        })
        .collect();
    let end = Duration::from_secs_f64(images.seconds);
    while begun.elapsed() < end && next.load(Relaxed) < images.most {
        sleep(Duration::from_millis(20)).await;
    }
    over.store(true, Relaxed);
    let mut all = Loaded::default();
    for task in tasks {
        all.add(task.await.map_err(|error| error.to_string())?);
    }
    all.seconds = begun.elapsed().as_secs_f64();
    Ok(all)
}

/// Brings one image after the other, and waits for the scores of each.
async fn ask(
    client: Arc<ServiceClient>,
    known: Arc<Known>,
    most: u64,
    over: Arc<AtomicBool>,
    next: Arc<AtomicU64>,
) -> Loaded {
    let mut loaded = Loaded::default();
    while !over.load(Relaxed) {
        let number = next.fetch_add(1, Relaxed);
        if number >= most {
            break;
        }
        let at = number as usize % IMAGES;
        let inputs = [("image".to_owned(), Value::from(known.images[at].clone()))];
        let begun = Instant::now();
        let submission = Submit {
            kind: local::DIGITS,
            inputs: &inputs,
            client: MEMBER,
            pending: None,
            receipt: None,
        };
        let work = async {
            let submission = client.submit(&submission).await?;
            client.wait(&submission).await
        };
        let Ok(Ok(outputs)) = timeout(RESULT, work).await else {
            loaded.lost += 1;
            continue;
        };
        let scores = outputs.values.first();
        let right = scores
            .is_some_and(|(_, scores)| scores.component::<u32>(0) == known.scores[at].as_slice());
        loaded.wrong += u64::from(!right);
        loaded.answered += 1;
        loaded.times.add(begun.elapsed().as_secs_f64());
    }
    loaded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else all results would be right.
    #[test]
    fn images_have_scores_of_their_own() {
        let known = known(&weights().unwrap()).unwrap();
        assert_eq!((known.images.len(), known.scores.len()), (IMAGES, IMAGES));
        let mut scores = known.scores.clone();
        scores.sort();
        scores.dedup();
        assert_eq!(scores.len(), IMAGES);
        // No sum has wrapped around: scores are as small as those of networks.
        let small = |code: &u32| code.cast_signed().abs() < 50 << 12;
        assert!(known.scores.iter().flatten().all(small));
    }
}
