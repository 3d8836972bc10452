//! Parties of this process that stay: they meet the others once, and do job after job in one session, as other threads ask
//! them to.

mod stages;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use futures_util::future::LocalBoxFuture;
use madrigal_engine::Progress;
use madrigal_net::{Fact, Session, block_on};
use madrigal_program::{Array, Computation, Inputs};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use self::stages::{StageFailure, StageRun, StageTask};
use crate::arguments::{Flags, What};
use crate::failure::{Failure, Result};
use crate::from_file::{FromFile, ProgramFlags};
use crate::present::Present;
use crate::run::run_in;
pub use crate::seat::{Ending, Seat};
use crate::stop::Group;
use crate::watch::{Watcher, watched};

/// The parties of this process, all of a computation or one of several machines, in one session on threads of their own until
/// they leave it. A job that fails between the parties ends the session: nobody can know how far the others have come.
#[derive(Debug)]
pub struct Held {
    seats: Vec<Door>,
    group: Group,
    thread: JoinHandle<()>,
}

/// One party as other threads see it.
#[derive(Debug)]
struct Door {
    tasks: Mutex<Option<UnboundedSender<Task>>>,
    ending: Kept,
}

/// The way in which a session has ended, once it has.
type Kept = Arc<Mutex<Option<Ending>>>;

/// Work in a session, or what is to be told where there is none any more.
type Task = Box<dyn for<'a> FnOnce(Result<&'a Seat<'a>, Ending>) -> LocalBoxFuture<'a, ()> + Send>;

/// A program for one party, as [`FromFile`] has it.
pub struct Job {
    /// Name of the program, by which clients' shares are bound to it.
    pub name: String,
    /// The program.
    pub program: Computation,
    /// The lengths of its dimensions, which parties compare.
    pub lengths: Vec<Fact>,
    /// Inputs of the party.
    pub inputs: Inputs,
    /// Way in which it is computed; what it says of parties and network is the session's.
    pub flags: ProgramFlags,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Held {
    /// Takes the places of the parties that the flags name, who look for the others at once.
    ///
    /// # Errors
    /// [`Failure`]: flags that do not go together, a thread that the system does not give. Parties that do not meet are told
    /// to the first job.
    pub fn new(flags: ProgramFlags) -> Result<Self> {
        Self::hosted(flags, |host| host())
    }

    /// Takes the places as [`new`](Self::new) does; what the parties do is told to a watcher.
    ///
    /// # Errors
    /// [`Failure`] in the same cases as [`new`](Self::new).
    pub fn watched(flags: ProgramFlags, watcher: Watcher) -> Result<Self> {
        Self::hosted(flags, |host| watched(watcher, host))
    }

    fn hosted(
        flags: ProgramFlags,
        within: impl FnOnce(&dyn Fn()) + Send + 'static,
    ) -> Result<Self> {
        let mut flags = flags.flags;
        flags.settle(What::Run)?;
        flags.who.check()?;
        let (mut seats, mut places) = (Vec::new(), Vec::new());
        for _ in 0..flags.who.local.unwrap_or(1) {
            let (tasks, place) = unbounded_channel();
            let ending = Kept::default();
            places.push((Mutex::new(Some(place)), Arc::clone(&ending)));
            let tasks = Mutex::new(Some(tasks));
            seats.push(Door { tasks, ending });
        }
        let group = Group::default();
        let own = group.clone();
        let host = move || Group::enter(Some(own), || within(&|| host(&flags, &places)));
        let thread = thread::Builder::new().name("madrigal session".to_owned());
        let thread = thread
            .spawn(host)
            .map_err(Failure::system("cannot start a thread for the session"))?;
        Ok(Self {
            seats,
            group,
            thread,
        })
    }

    /// Runs a program as the party of a seat, after all that this was asked to do before. `done` hears what would be printed,
    /// on the party's thread; `sink` gets outputs.
    ///
    /// # Panics
    /// If there is no such seat: of parties on several machines there is seat 0 alone.
    pub fn program(
        &self,
        seat: usize,
        job: Job,
        sink: impl Fn(&str, &Array) -> Result<bool> + Send + 'static,
        done: impl FnOnce(Result<String, Ending>) + Send + 'static,
    ) {
        self.submit(
            seat,
            Box::new(move |seat| {
                Box::pin(async move {
                    done(match seat {
                        Ok(seat) => program(seat, job, &sink).await,
                        Err(ending) => Err(ending),
                    });
                })
            }),
        );
    }

    /// Does work of another kind as the party of a seat, after all that this was asked to do before; `done` hears what came of
    /// it, on the party's thread.
    ///
    /// # Panics
    /// If there is no such seat.
    pub fn work<T: 'static>(
        &self,
        seat: usize,
        work: impl for<'a> FnOnce(&'a Seat<'a>) -> LocalBoxFuture<'a, Result<T>> + Send + 'static,
        done: impl FnOnce(Result<T, Ending>) + Send + 'static,
    ) {
        let task: Task = Box::new(move |seat| {
            Box::pin(async move {
                done(match seat {
                    Ok(seat) => work(seat).await.map_err(|failure| Ending::from(&failure)),
                    Err(ending) => Err(ending),
                });
            })
        });
        self.submit(seat, task);
    }

    fn submit(&self, seat: usize, task: Task) {
        let door = &self.seats[seat];
        let rejected = match &*lock(&door.tasks) {
            Some(tasks) => tasks.send(task).err().map(|error| error.0),
            None => Some(task),
        };
        if let Some(task) = rejected {
            let ending = lock(&door.ending).clone();
            let ending = ending.map_or_else(Ending::closed, |ending| ending.for_later());
            block_on(task(Err(ending)));
        }
    }

    /// Has a party leave the session once it has done what it was asked to.
    pub fn leave(&self, seat: usize) {
        *lock(&self.seats[seat].tasks) = None;
    }

    /// Has all parties of this process leave.
    pub fn close(&self) {
        (0..self.seats.len()).for_each(|seat| self.leave(seat));
    }

    /// Ends what the parties do at once, and tells the others.
    pub fn stop(&self) {
        self.close();
        self.group.stop();
    }

    /// Whether all parties of this process have left, and their threads are gone.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }
}

/// Has the parties do their tasks until they leave.
fn host(flags: &Flags, places: &[(Mutex<Option<UnboundedReceiver<Task>>>, Kept)]) {
    let work = || -> Result<()> {
        let present = Present::new(&flags.who, &flags.net)?;
        let (me, server, transport) = (present.me(), present.server(), present.transport());
        let names = present.names();
        let work = async |session: &Session, observe: &dyn Fn(Progress)| {
            let place = me.map_or(session.me().index(), |_| 0);
            let (tasks, ending) = &places[place];
            let Some(mut tasks) = lock(tasks).take() else {
                return Err(Failure::bug("a party sits down once"));
            };
            let seat = Seat::new(session, observe, transport, server.as_ref(), &names);
            work(&seat, &mut tasks, ending).await;
            Ok(())
        };
        present.run(flags.own_threads(), flags.quiet, work)?;
        Ok(())
    };
    let done = catch_unwind(AssertUnwindSafe(work));
    let failure = match done {
        Ok(Ok(())) => return,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::bug("a party's thread panicked"),
    };
    let failure = Ending::from(&failure);
    for (tasks, ending) in places {
        lock(ending).get_or_insert_with(|| failure.clone());
        let tasks = lock(tasks).take();
        if let Some(mut tasks) = tasks {
            block_on(refuse(&mut tasks, &failure));
        }
    }
}

/// Tells all that wait, and all that come, that a session has ended: those that were asked before they could know as they would
/// have heard it.
async fn refuse(tasks: &mut UnboundedReceiver<Task>, ending: &Ending) {
    tasks.close();
    while let Some(task) = tasks.recv().await {
        task(Err(ending.clone())).await;
    }
}

/// Does tasks until nobody asks for more, or one has failed between the parties.
async fn work(seat: &Seat<'_>, tasks: &mut UnboundedReceiver<Task>, ending: &Kept) {
    while let Some(task) = tasks.recv().await {
        task(Ok(seat)).await;
        if let Some(failed) = seat.failure() {
            *lock(ending) = Some(failed.clone());
            refuse(tasks, &failed.for_later()).await;
        }
    }
}

async fn program(
    seat: &Seat<'_>,
    job: Job,
    sink: &dyn Fn(&str, &Array) -> Result<bool>,
) -> Result<String, Ending> {
    let Job {
        name,
        program,
        lengths,
        inputs,
        flags,
    } = job;
    let mut flags = flags.flags;
    let done = async {
        flags.settle(What::Run)?;
        let program = FromFile {
            name: &name,
            program,
            lengths,
            inputs: None,
        };
        program.for_parties(seat.session().parties())?;
        run_in(&program.flagged(&flags, Some(sink)), inputs, seat).await
    };
    done.await.map_err(|failure| Ending::from(&failure))
}
