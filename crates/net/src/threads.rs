//! Work on several threads beside the future that waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use futures_channel::mpsc::unbounded;
use futures_util::StreamExt as _;
use madrigal_kernels::crew::Crew;
use madrigal_kernels::meter;

use crate::context::Context;
use crate::error::{Error, Result};

/// Messages from the threads.
enum Said<E, R> {
    Told(E),
    /// AES blocks that no context counted there.
    Computed(u64),
    /// The work with this number is over; the outer error is its panic.
    Ended(usize, thread::Result<Result<R>>),
}

/// Runs each piece of work on a thread of its own, where it may block, with
/// [`block_on`](crate::block_on) or otherwise. `hear` gets on this thread what they tell meanwhile, in
/// the order of each. Gives the results in the order of the work.
///
/// The future that waits holds no thread up: a single-threaded runtime goes on with its sockets. When it
/// is dropped, the threads go on until they end by themselves; the end of their job ends what waits for
/// messages.
///
/// The [crew](madrigal_kernels::crew) that is at work where this is called is at work on the threads too.
///
/// The AES blocks of the pieces count as computed by the future that waits, but for what contexts count
/// in the pieces themselves.
///
/// # Errors
/// [`Error`]: the first error of a piece of work, or that a thread could not be started: the job of `context`
/// then fails for all pieces and all parties.
///
/// # Panics
/// With the panic of a piece of work, which fails the job too.
pub async fn on_threads<W, E, R>(
    context: &Context,
    work: impl IntoIterator<Item = W>,
    mut hear: impl FnMut(E),
) -> Result<Vec<R>>
where
    W: FnOnce(&dyn Fn(E)) -> Result<R> + Send + 'static,
    E: Send + 'static,
    R: Send + 'static,
{
    let (say, mut said) = unbounded();
    let mut results = Vec::new();
    for (number, piece) in work.into_iter().enumerate() {
        let (say, job) = (say.clone(), context.clone());
        let crew = Crew::current();
        let run = move || {
            // Perhaps nobody listens any more.
            let tell = |event| drop(say.unbounded_send(Said::Told(event)));
            let work = || crew.at_work(|| piece(&tell));
            let work = || catch_unwind(AssertUnwindSafe(work));
            let (result, blocks) = meter::metered(work);
            let failure = match &result {
                Ok(result) => result.as_ref().err().cloned(),
                Err(_) => Some(Error::bug("one of its threads panicked")),
            };
            failure.map(|failure| job.fail(failure));
            let _ = say.unbounded_send(Said::Computed(blocks));
            let _ = say.unbounded_send(Said::Ended(number, result));
        };
        let step = context.path().rsplit('/').next().unwrap_or_default();
        let thread = thread::Builder::new().name(format!("{step} {number}"));
        if let Err(error) = thread.spawn(run) {
            let reason =
                format!("cannot start thread {number} of a step: {error}; use fewer threads");
            return Err(context.fail(ended(&reason)));
        }
        results.push(None);
    }
    drop(say);
    let mut failed = false;
    while let Some(event) = said.next().await {
        match event {
            Said::Told(event) => hear(event),
            Said::Computed(blocks) => meter::add(blocks),
            Said::Ended(number, Ok(Ok(result))) => results[number] = Some(result),
            Said::Ended(_, Ok(Err(_))) => failed = true,
            Said::Ended(_, Err(panic)) => resume_unwind(panic),
        }
    }
    if failed {
        context.check()?;
    }
    // Each thread's last word is how it ended.
    Ok(results.into_iter().flatten().collect())
}

fn ended(reason: &str) -> Error {
    Error::Ended {
        reason: reason.to_owned(),
    }
}
