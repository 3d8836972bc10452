//! Clients of a service of servers that stay up: asked by Python's threads and event loops, and served by threads of their own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use madrigal_app::failure::Status;
use madrigal_core::Zeroizing;
use madrigal_net::roster::is_name;
use madrigal_program::Array;
use madrigal_service_client::{Outputs, ServiceClient, ServiceConfig, Submission, Submit, Value};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyByteArray;
use tokio::runtime::Runtime;
use tokio::sync::{OnceCell, oneshot, watch};

use crate::arrays::{Parts, Values};
use crate::done::{Done, Reason};
use crate::service::call::lock;
use crate::service::told::{Job, KindParts};
use crate::value_error;

mod call;
mod many;
mod submitted;
mod told;

pub use self::call::Call;
pub use self::submitted::Submitted;

/// Threads that serve connections: while one hands results to Python, the other goes on.
const THREADS: usize = 2;
/// Time in which connections are to end in good order.
const GRACE: Duration = Duration::from_millis(200);
/// The longest patience: times that are longer do not fit into clocks.
const LONGEST: f64 = 365.0 * 86_400.0;

/// A value for an input, by its name.
type Given<'py> = (String, PyRef<'py, Values>);

/// A service, whose servers are connected to when something is first asked of them.
#[pyclass(frozen, module = "madrigal._native")]
pub struct Service {
    config: ServiceConfig,
    held: Mutex<Held>,
    closed: watch::Sender<bool>,
}

/// Threads and connections, while there are any.
enum Held {
    New,
    Open(Runtime, Arc<Shared>),
    Closed,
}

/// Connections that calls have in common.
struct Shared {
    config: ServiceConfig,
    client: OnceCell<ServiceClient>,
}

impl Shared {
    /// The client, connected now if it was not yet.
    async fn client(&self) -> Result<&ServiceClient, Reason> {
        let connect = || ServiceClient::connect(self.config.clone());
        Ok(self.client.get_or_try_init(connect).await?)
    }
}

fn closed() -> Reason {
    Reason::own("the service is closed: make another one", Status::Usage)
}

impl Service {
    /// Begins work on the service's threads. `done` hears once what came of it.
    fn begin<F, M, T>(
        &self,
        done: Py<PyAny>,
        work: impl FnOnce(Arc<Shared>, Arc<AtomicU64>) -> F,
    ) -> PyResult<Call>
    where
        F: Future<Output = Result<M, Reason>> + Send + 'static,
        M: FnOnce(Python<'_>) -> PyResult<T> + Send,
        T: for<'py> IntoPyObject<'py>,
    {
        let done = Done::new(done);
        let (stop, stopped) = oneshot::channel();
        let count = Arc::new(AtomicU64::new(0));
        let call = Call::new(stop, count.clone());
        let mut held = lock(&self.held);
        if matches!(*held, Held::New) {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(THREADS)
                .thread_name("madrigal service")
                .enable_all()
                .build();
            let runtime = runtime.map_err(|error| {
                let text = format!("no threads for the service: {error}");
                Reason::own(text, Status::Internal).raised()
            })?;
            let shared = Shared {
                config: self.config.clone(),
                client: OnceCell::new(),
            };
            *held = Held::Open(runtime, Arc::new(shared));
        }
        let Held::Open(runtime, shared) = &*held else {
            return Err(closed().raised());
        };
        let work = work(shared.clone(), count);
        let mut over = self.closed.subscribe();
        runtime.spawn(async move {
            let stopped = async {
                // Whoever forgets a call lets it go on.
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            let told = tokio::select! {
                biased;
                made = work => made,
                () = stopped => Err(Reason::own("it was given up", Status::Interrupted)),
                _ = over.wait_for(|over| *over) => Err(closed()),
            };
            done.tell(told);
        });
        Ok(call)
    }

    fn submitted(&self, submission: Submission) -> Submitted {
        Submitted::new(submission, self.config.servers.clone())
    }
}

#[pymethods]
impl Service {
    #[new]
    fn new(
        path: PathBuf,
        client: Option<&str>,
        timeout: Option<f64>,
        connections: usize,
    ) -> PyResult<Self> {
        let mut config = ServiceConfig::load(&path).map_err(|error| {
            Reason::own(format!("{}: {error}", path.display()), Status::File).raised()
        })?;
        if let Some(client) = client {
            if !is_name(client) {
                return Err(value_error(
                    "client is a name of 1 to 64 letters, digits, `-`, `_` or `.`",
                ));
            }
            config.client = config.client.or_else(|| Some(client.to_owned()));
        }
        if let Some(seconds) = timeout {
            if seconds.is_nan() || seconds < 0.0 {
                return Err(value_error("timeout is a number of seconds, 0 or more"));
            }
            config.patience = Duration::from_secs_f64(seconds.min(LONGEST));
            // A server that says nothing for as long is away, too. Less than a second is too short for a disk.
            let silence = config.patience.max(Duration::from_secs(1));
            config.silence = config.silence.min(silence);
        }
        config.connections = connections.max(1);
        Ok(Self {
            config,
            held: Mutex::new(Held::New),
            closed: watch::Sender::new(false),
        })
    }

    /// Names of the servers, in their order.
    #[getter]
    fn servers(&self) -> Vec<String> {
        let servers = self.config.servers.parties().iter();
        servers.map(|server| server.name.clone()).collect()
    }

    /// Name that the client gives itself, if it gives one.
    #[getter]
    fn client(&self) -> Option<String> {
        self.config.client.clone()
    }

    /// Whether servers know the client by a key or a token.
    #[getter]
    fn known(&self) -> bool {
        self.config.identity.is_some() || self.config.token.is_some()
    }

    /// `done` hears the kinds that the servers have.
    fn kinds(&self, done: Py<PyAny>) -> PyResult<Call> {
        self.begin(done, |shared, _| async move {
            let kinds: Vec<KindParts> = (shared.client().await?.kinds().iter())
                .map(told::kind)
                .collect();
            Ok(move |_: Python<'_>| Ok(kinds))
        })
    }

    /// Submits values; `done` hears the submission.
    fn submit(
        &self,
        kind: String,
        given: Vec<Given<'_>>,
        client: String,
        pending: Option<PathBuf>,
        receipt: Option<PathBuf>,
        done: Py<PyAny>,
    ) -> PyResult<Call> {
        let value = |(name, values): Given<'_>| Ok((name, Value::Array(values.take()?)));
        let inputs: Vec<_> = given.into_iter().map(value).collect::<PyResult<_>>()?;
        let servers = self.config.servers.clone();
        self.begin(done, |shared, _| async move {
            let submit = Submit {
                kind: &kind,
                inputs: &inputs,
                client: &client,
                pending: pending.as_deref(),
                receipt: receipt.as_deref(),
            };
            let submission = shared.client().await?.submit(&submit).await?;
            Ok(move |_: Python<'_>| Ok(Submitted::new(submission, servers)))
        })
    }

    /// Makes a submission of each place along the first axes; `done` hears how many were accepted, places of failures with the number of their reason,
    /// and these reasons.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are Python's, by name there"
    )]
    fn many(
        &self,
        kind: String,
        given: Vec<(String, PyRef<'_, Values>, Vec<usize>)>,
        count: usize,
        client: String,
        clients: Option<Vec<String>>,
        numbered: bool,
        at_once: usize,
        done: Py<PyAny>,
    ) -> PyResult<Call> {
        let names = many::Names::new(client, clients, numbered, count)?;
        let rows = many::Rows::new(given, names, count)?;
        self.begin(done, |shared, counted| async move {
            let made = many::submit(shared.client().await?, &kind, rows, at_once, &counted).await?;
            Ok(move |_: Python<'_>| Ok(made))
        })
    }

    /// `done` hears where a submission stands at each server: its state, the batch, and words.
    fn status(&self, of: &Submitted, done: Py<PyAny>) -> PyResult<Call> {
        let submission = of.submission();
        self.begin(done, |shared, _| async move {
            let states = shared.client().await?.status(&submission).await?;
            let states: Vec<_> = states.iter().map(told::state).collect();
            Ok(move |_: Python<'_>| Ok(states))
        })
    }

    /// Waits for the job of a submission; `done` hears outputs and the job.
    fn wait(&self, of: &Submitted, done: Py<PyAny>) -> PyResult<Call> {
        let submission = of.submission();
        self.begin(done, |shared, _| async move {
            let client = shared.client().await?;
            finished(client, client.wait(&submission).await?)
        })
    }

    /// Waits for the first job of a kind after a batch; `done` hears outputs and the job.
    fn after(&self, kind: String, batch: u64, done: Py<PyAny>) -> PyResult<Call> {
        self.begin(done, |shared, _| async move {
            let client = shared.client().await?;
            finished(client, client.wait_after(&kind, batch).await?)
        })
    }

    /// Asks for blocks of 16 bytes, side by side; `done` hears the answers, side by side in the same order.
    fn requests(&self, kind: String, blocks: &[u8], done: Py<PyAny>) -> PyResult<Call> {
        let (blocks, rest) = blocks.as_chunks::<16>();
        if !rest.is_empty() {
            return Err(value_error("blocks have 16 bytes each"));
        }
        let blocks = Zeroizing::new(blocks.to_vec());
        self.begin(done, |shared, counted| async move {
            let count = |more: usize| {
                counted.fetch_add(more as u64, Ordering::Relaxed);
            };
            let client = shared.client().await?;
            let answers = client.ask_blocks(&kind, &blocks, count).await?;
            Ok(move |py: Python<'_>| Ok(PyByteArray::new(py, answers.as_flattened()).unbind()))
        })
    }

    /// The submission that a receipt is of: a file's, or bytes.
    fn load(&self, path: Option<PathBuf>, bytes: Option<PyBackedBytes>) -> PyResult<Submitted> {
        let loaded = match (path, bytes) {
            (Some(path), _) => Submission::load(&path),
            (None, bytes) => Submission::from_bytes(bytes.as_deref().unwrap_or_default()),
        };
        let checked = loaded.and_then(|submission| {
            submission.verify(&self.config.servers)?;
            Ok(submission)
        });
        let submission = checked.map_err(|error| Reason::from(error).raised())?;
        Ok(self.submitted(submission))
    }

    /// Ends connections and threads. Whoever waits for something is told so.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let _ = self.closed.send_replace(true);
            let held = std::mem::replace(&mut *lock(&self.held), Held::Closed);
            if let Held::Open(runtime, shared) = held {
                drop(shared);
                let until = Instant::now() + GRACE;
                while runtime.metrics().num_alive_tasks() > 0 && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(2));
                }
                runtime.shutdown_timeout(GRACE);
            }
        });
    }
}

/// Threads that hand something to Python need its lock, which whoever drops this may have: nobody waits for them.
impl Drop for Service {
    fn drop(&mut self) {
        let held = std::mem::replace(&mut *lock(&self.held), Held::Closed);
        if let Held::Open(runtime, _) = held {
            runtime.shutdown_background();
        }
    }
}

/// Outputs of a job by their names, and the job.
type Finished = (Vec<(String, Parts)>, Job);

/// Outputs of a job and its receipts, ready to be handed to Python.
fn finished(
    client: &ServiceClient,
    outputs: Outputs,
) -> Result<impl FnOnce(Python<'_>) -> PyResult<Finished> + Send + use<>, Reason> {
    let job = told::job(client, &outputs);
    let arrays: Vec<(String, Array)> = told::arrays(&outputs)?;
    Ok(move |py: Python<'_>| {
        let all = arrays
            .iter()
            .map(|(name, array)| Ok((name.clone(), crate::arrays::parts(py, array)?)));
        Ok((all.collect::<PyResult<Vec<_>>>()?, job))
    })
}
