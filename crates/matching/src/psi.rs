//! `psi`: lists of files, matched.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::iter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Instant;

use madrigal_app::failure::{Failure, Result};
use madrigal_app::figures::{print, print_text_as_json};
use madrigal_app::files::{self, Output, Pending};
use madrigal_app::held::Seat;
use madrigal_app::present::Present;
use madrigal_app::progress::say;
use madrigal_app::terminal::stderr;
use madrigal_core::Party;
use madrigal_engine::Progress;
use madrigal_lists::{Extra, Keep, ListError, Payload, Source};
use madrigal_net::Session;

use crate::args::{Psi, RowsArg, of_party};
use crate::failure::Unmatched;
use crate::find::find;
use crate::found::Found;
use crate::ledger::Ledger;
use crate::many::{self, Asked};
use crate::question::{Question, Told};
use crate::resume::{all_alone, lost};
use crate::state::{self, State, StateError};
use crate::task::{self, Task};
use crate::{bins, cells, explain, noisy, report, security, told};

/// Number of the job in its session.
const JOB: u32 = 1;

/// Keys of a list whose run is so long that one would not begin it again.
const LONG: u64 = 10_000_000;

/// One party's task, and where its rows go.
struct Part {
    party: Party,
    task: Task,
    out: Option<PathBuf>,
    shares: Option<PathBuf>,
}

/// A party here, what came of it, and the seconds in which its rows were written.
pub type Done = (Party, Found, f64);

/// Does what the flags say.
///
/// # Errors
/// [`Failure`]: flags that do not go together, lists that cannot be read, files that cannot be written, and all of a session.
pub fn run(args: &Psi) -> Result<()> {
    if args.explain {
        return explain(args);
    }
    let mut done = compute(args)?;
    if !args.quiet {
        let _ = write!(stderr(), "{}", report::notes(&done));
    }
    match args.json {
        true => print_text_as_json(&json(args, &done)?),
        false => print(report::text(args.places, &done).as_bytes()),
    }?;
    // The answer has been handed over, and not before.
    done.iter_mut().try_for_each(|(_, found, _)| found.forget())
}

/// Report of a run, as JSON.
///
/// # Errors
/// [`Failure`] of the writer of JSON.
pub fn json(args: &Psi, done: &[Done]) -> Result<String> {
    report::json(args.question(), args.places, done)
}

/// Does what the flags say, and prints no result. What runs have kept stays until it is [forgotten](Found::forget).
///
/// # Errors
/// [`Failure`] in the same cases as [`run`].
pub fn compute(args: &Psi) -> Result<Vec<Done>> {
    args.who.check()?;
    let present = Present::new(&args.who, &args.net)?;
    let many = Asked::new(args, present.parties())?;
    let parts = parts(args, present.parties(), &present.here(), &present.names())?;
    parts.iter().try_for_each(Part::is_there)?;
    let inputs = parts.iter().map(|part| part.task.source.path());
    let outputs: Vec<Output<'_>> = parts.iter().flat_map(outputs).collect();
    files::check(inputs, &outputs)?;
    for folder in parts.iter().filter_map(|part| part.shares.as_deref()) {
        bins::prepare(folder)?;
    }
    if !args.quiet
        && let [part] = &parts[..]
    {
        // Nobody is left to tell if standard error is gone.
        let _ = write!(stderr(), "{}", learnt(&part.task, many.as_ref()));
    }
    let tasks: Vec<_> = parts.iter().map(|part| (part.party, &part.task)).collect();
    if let Some(found) = all_alone(&tasks)? {
        return written(found, &parts, args);
    }
    let threads = args.threads.resolve(args.who.here());
    let found = present.run(
        threads,
        args.quiet,
        async |session: &Session, observe: &dyn Fn(Progress)| {
            let me = session.me();
            let part = parts.iter().find(|part| part.party == me);
            let part = part.ok_or_else(|| Failure::bug("a party without a task"))?;
            match &many {
                Some(many) => many.find(session, JOB, &part.task, observe).await,
                None => find(session, JOB, &part.task, observe).await,
            }
        },
    );
    let found = found.map_err(|failure| lost(failure, tasks.iter().copied()))?;
    written(found, &parts, args)
}

/// Writes all parties' files.
fn written(found: Vec<(Party, Found)>, parts: &[Part], args: &Psi) -> Result<Vec<Done>> {
    let wrote = |(party, found): (Party, Found)| {
        let part = parts.iter().find(|part| part.party == party);
        let part = part.ok_or_else(|| Failure::bug("a party without a task"))?;
        part.wrote(found, args)
    };
    found.into_iter().map(wrote).collect()
}

/// Does what the flags say as one party of several machines, in a session that goes on; prints no result. What flags say of parties and network
/// is the session's. What the run has kept stays until it is [forgotten](Found::forget).
///
/// # Errors
/// [`Failure`] in the same cases as [`run`]. What is wrong with flags, or a file that is not there, ends nothing; all else ends the session.
pub async fn compute_in(args: &Psi, seat: &Seat<'_>) -> Result<Done> {
    let session = seat.session();
    let many = Asked::new(args, session.parties())?;
    let me = session.me();
    let mut parts = parts(args, session.parties(), &[me], seat.names())?;
    let part = parts.pop();
    let part = part.ok_or_else(|| Failure::bug("a party without a task"))?;
    part.is_there()?;
    part.task.check(me)?;
    files::check(iter::once(part.task.source.path()), &outputs(&part))?;
    if let Some(folder) = &part.shares {
        bins::prepare(folder)?;
    }
    if !args.quiet {
        say(learnt(&part.task, many.as_ref()).trim_end());
    }
    let only = |mut all: Vec<Done>| {
        let done = all.pop();
        done.ok_or_else(|| Failure::bug("a party without an answer"))
    };
    if let Some(found) = all_alone(&[(me, &part.task)])? {
        let done = only(written(found, slice::from_ref(&part), args)?)?;
        if let (Some(begun), false) = (&done.1.earlier, args.quiet) {
            say(report::earlier(begun));
        }
        return Ok(done);
    }
    let found = async |number, observe: &dyn Fn(Progress)| {
        let found = match &many {
            Some(many) => many.find(session, number, &part.task, observe).await?,
            None => find(session, number, &part.task, observe).await?,
        };
        if let (Some(_), Some(state)) = (&found.earlier, &part.task.state) {
            // The job has failed, and the session with it.
            let path = state.folder.clone();
            return Err(Unmatched::from(StateError::Answered { path }).into());
        }
        Ok((found.next_job, found))
    };
    let found = seat.jobs(found).await;
    let found = found.map_err(|failure| lost(failure, iter::once((me, &part.task))))?;
    only(written(vec![(me, found)], slice::from_ref(&part), args)?)
}

/// Says who learns what.
fn learnt(task: &Task, many: Option<&Asked>) -> String {
    let keys = told::keys(task.source.all_keys().len(), task.question);
    match many {
        Some(many) => many.learnt(task.bound),
        None => {
            let learnt = told::learnt(task.question, task.to, task.bound, task.noise);
            format!("{learnt}{}{keys}", security::told(task.security))
        }
    }
}

impl Part {
    /// Checks that the list's file can be opened, before anybody waits for the other party.
    fn is_there(&self) -> Result<()> {
        let path = self.task.source.path();
        let opened = File::open(path).map(drop);
        opened.map_err(Failure::file("read the list", path))
    }

    /// Writes the files that were asked for.
    fn wrote(&self, found: Found, args: &Psi) -> Result<Done> {
        let begun = Instant::now();
        if let Some(out) = &self.out {
            write(&found, out, args)?;
        }
        if let (Some(folder), Some(in_bins)) = (&self.shares, &found.in_bins) {
            bins::write(folder, self.party, &found.listed, in_bins)?;
        }
        Ok((self.party, found, begun.elapsed().as_secs_f64()))
    }
}

fn outputs(part: &Part) -> [Output<'_>; 2] {
    let ledger = part.task.ledger.as_ref();
    [
        Output {
            flag: "--out",
            action: "write the rows that match",
            path: part.out.as_deref(),
        },
        Output {
            flag: "--ledger",
            action: "keep the ledger",
            path: ledger.map(|(ledger, _)| &*ledger.path),
        },
    ]
}

/// Says what a run will cost.
fn explain(args: &Psi) -> Result<()> {
    let many = Asked::new(args, args.keys.len())?;
    let mut over = args.over.clone();
    over.or_network(&args.net.network, args.who.local.is_some());
    over.or_extension_for_many();
    let fits = args
        .who
        .local
        .is_none_or(|parties| parties == args.keys.len());
    if let (Some(many), true) = (many, fits) {
        return many::explain(args, &many, &over);
    }
    let (&[first, second], true) = (&args.keys[..], fits) else {
        let problem = format!(
            "--keys has {} numbers: give one for each party, as 1000000,20000",
            args.keys.len()
        );
        return Err(Unmatched::Flags(problem).into());
    };
    let keys = [first, second];
    if let Some(&keys) = keys.iter().find(|&&keys| keys > args.most) {
        let most = args.most;
        return Err(Unmatched::TooLong { keys, most }.into());
    }
    let payloads = [0, 1].map(|party| {
        let of =
            |one: &crate::args::OfParty<String>| one.party.is_none_or(|number| number == party);
        args.payload.iter().any(of)
    });
    let to = to(args)?;
    let noise = args.noisy.noise()?;
    noisy::check(noise, args.question())?;
    let plan = explain::Plan {
        question: args.question(),
        noise,
        to,
        security: args.against.security.into(),
        keys,
        payloads,
        threads: args.threads.resolve(args.who.here()),
        of_partition: match args.state.state.is_empty() {
            true => cells::KEYS,
            false => state::KEYS,
        },
        memory: args.memory << 20,
        over: &over,
    };
    let explained = plan.explain()?;
    match args.json {
        true => print_text_as_json(&explained.json()?),
        false => {
            let learnt = told::learnt(args.question(), to, None, noise);
            let told = security::told(args.against.security.into());
            let more = told::keys(1 + args.several.or.len(), args.question());
            let long = keys.iter().any(|&keys| keys > LONG) && args.state.state.is_empty();
            let rows = matches!(args.question(), Question::Rows | Question::Join);
            let state = match long && rows {
                true => {
                    "with --state DIR at both parties the same command goes on where a lost line has ended it\n"
                }
                false => "",
            };
            print(format!("{learnt}{told}{more}{}{state}", explained.text()).as_bytes())
        }
    }
}

/// Those who learn the answer.
fn to(args: &Psi) -> Result<Told> {
    let to = args.to.parties(2)?;
    Ok(match to[..] {
        [one] => Told::One(one),
        _ => Told::Both,
    })
}

/// The tasks of the parties here, of all of them `parties`. Where these are more than two, receivers are not in them.
fn parts(args: &Psi, parties: usize, here: &[Party], names: &[String]) -> Result<Vec<Part>> {
    let numbers: Vec<usize> = here.iter().map(|party| party.index()).collect();
    let wrong = |problem: String| Failure::from(Unmatched::Flags(problem));
    let to = match parties {
        2 => to(args)?,
        _ => Told::Both,
    };
    let noise = args.noisy.noise()?;
    let mut over = args.over.clone();
    over.or_network(&args.net.network, args.who.local.is_some());
    over.or_extension_for_many();
    let part = |&party: &Party| {
        let number = party.index();
        let missing = |flag: &str| {
            wrong(format!(
                "{flag} is missing for party {number}: give it as {flag} {number}=..."
            ))
        };
        let input = of_party("--input", &args.input, number, &numbers).map_err(wrong)?;
        let columns = of_party("--column", &args.column, number, &numbers).map_err(wrong)?;
        let bound = of_party("--bound", &args.bound, number, &numbers).map_err(wrong)?;
        let out = of_party("--out", &args.out, number, &numbers).map_err(wrong)?;
        let ledger = of_party("--ledger", &args.ledger, number, &numbers).map_err(wrong)?;
        let (limit, budget) = (args.limit, args.noisy.budget);
        let with = many::others(party, parties, names);
        let ledger = ledger.map(|path| {
            let ledger = Ledger {
                path,
                limit,
                budget,
            };
            (ledger, with)
        });
        let state = of_party("--state", &args.state.state, number, &numbers).map_err(wrong)?;
        let shares = of_party("--shares", &args.shares, number, &numbers).map_err(wrong)?;
        if shares.is_none() && !args.keep_shares && args.question() == Question::Shares {
            return Err(missing("--shares"));
        }
        let columns = columns.ok_or_else(|| missing("--column"))?;
        let columns = columns.split(',').map(str::trim);
        let source = Source::new(input.ok_or_else(|| missing("--input"))?, columns);
        let source = source.map_err(Unmatched::from)?.empty(args.empty.into());
        let who = (number, &numbers[..]);
        let mut source = args.several.keys(source, &args.normal, who)?;
        task::check_keys(&source, args.question())?;
        let payload = of_party("--payload", &args.payload, number, &numbers).map_err(wrong)?;
        if let Some(column) = payload {
            let payload = Payload {
                places: args.places,
                duplicates: args.repeated.into(),
                ..Payload::integers(column)
            };
            source = source.payload(payload).map_err(Unmatched::from)?;
        }
        if out.is_some() && !args.to.names(number) {
            return Err(wrong(format!(
                "--out is of no use to party {number}, which does not learn the result by --to: leave it out"
            )));
        }
        Ok(Part {
            party,
            task: Task {
                source,
                question: args.question(),
                places: args.places,
                noise,
                to,
                security: args.against.security.into(),
                bound,
                over: over.clone(),
                most: args.most,
                ledger,
                state: state.map(|folder| State {
                    folder,
                    keys: state::KEYS,
                }),
                memory: args.memory << 20,
                alone: args.threads.resolve(1),
                folder: args.spill.clone().unwrap_or_else(std::env::temp_dir),
                deadline: args.net.patience.deadline,
            },
            out,
            shares,
        })
    };
    here.iter().map(part).collect()
}

/// Writes the rows that are wanted, whole or not at all.
fn write(found: &Found, out: &Path, args: &Psi) -> Result<()> {
    let Some((matches, _)) = &found.matches else {
        return Ok(());
    };
    let extra = (args.question() == Question::Join).then(|| Extra {
        name: args.name.clone(),
        places: args.places,
    });
    let keep = match args.rows {
        RowsArg::Matched => Keep::Matched,
        RowsArg::Others => Keep::Others,
        RowsArg::All => Keep::All,
    };
    let content = |to: &mut dyn io::Write| {
        let watch = &mut |_| ControlFlow::Continue(());
        let more = (extra.as_ref(), args.several.by.as_deref());
        let written = (found.listed).write_rows_by(matches, keep, more, to, watch);
        written.map(drop).map_err(|error| match error {
            ListError::Write { source } => source,
            other => io::Error::other(other),
        })
    };
    let written = Pending::new(out, &content).and_then(Pending::finish);
    let written = written.and_then(|()| match found.keeps() {
        true => sync_folder(out),
        false => Ok(()),
    });
    written.map_err(Failure::file("write the rows", out))
}

/// Has the name of a file on the disk, before what it was made of goes.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if fs::metadata(path)?.is_file() {
        let path = fs::canonicalize(path)?;
        File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()?;
    }
    let _ = path;
    Ok(())
}
