//! Resources that this process uses, as the system tells them: processor time by threads, and connections.

use std::collections::BTreeMap;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::messages::Used;
use crate::figures::peak_rss_bytes;

/// Time between two looks at the threads: one that ends is seen as it was at the last look.
const BETWEEN: Duration = Duration::from_millis(10);
/// Ticks of a second in `/proc`, the same on every Linux.
const TICKS: f64 = 100.0;

/// Threads that take turns. A step's threads end with it, and the next step starts others, of which those with the same
/// number in their names go on where these were; the main thread waits for them. A crew's first thread is its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Threads with this number, the main thread with the first ones.
    Numbered(u32),
    /// A thread without a number in its name, by the system's number.
    Alone(u32),
}

/// Processor time of this process's threads, from when this is made.
#[derive(Debug)]
pub struct Clock {
    before: Option<f64>,
    stop: Sender<()>,
    looker: JoinHandle<Threads>,
}

/// Threads that were seen, by the system's number.
#[derive(Debug, Default)]
struct Threads {
    seen: BTreeMap<u32, Seen>,
    /// The thread that looks.
    own: Option<u32>,
}

/// A thread as it was last seen.
#[derive(Debug, Clone, Copy)]
struct Seen {
    place: Place,
    /// Processor seconds before the clock started.
    before: f64,
    seconds: f64,
}

impl Seen {
    fn spent(&self) -> f64 {
        self.seconds - self.before
    }
}

impl Clock {
    /// Starts the clock.
    pub fn start() -> Self {
        let (stop, stopped) = mpsc::channel();
        let mut threads = Threads::default();
        threads.look(true);
        let before = process_seconds();
        let looker = thread::spawn(move || {
            threads.own = own_number();
            while stopped.recv_timeout(BETWEEN) == Err(RecvTimeoutError::Timeout) {
                threads.look(false);
            }
            threads.look(false);
            threads
        });
        Self {
            before,
            stop,
            looker,
        }
    }

    /// Gives what was used since the start.
    pub fn stop(self) -> Used {
        let connections = connections();
        // Dropped: the thread sees that nobody is there any more.
        drop(self.stop);
        let threads = self.looker.join().unwrap_or_default();
        let own = threads.own.and_then(|own| threads.seen.get(&own));
        let own = own.map_or(0.0, Seen::spent);
        let all = self.before.zip(process_seconds());
        // The process's time includes threads that were not seen; the threads' own times may be finer.
        let all = all.map(|(before, now)| now - before - own);
        let places = threads.places();
        let seen = places.values().sum::<f64>();
        Used {
            processor_seconds: all.map(|all| all.max(seen)),
            busiest_thread_seconds: places.into_values().max_by(f64::total_cmp),
            peak_rss_bytes: peak_rss_bytes(),
            connections,
        }
    }
}

impl Threads {
    /// Looks at all threads; those that are new have done nothing before, unless these are the first that are seen.
    fn look(&mut self, is_first: bool) {
        let numbers = fs::read_dir("/proc/self/task").into_iter().flatten();
        for entry in numbers.flatten() {
            let number = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let seen = thread_in(&entry.path().display().to_string());
            let (Some(number), Some((name, seconds))) = (number, seen) else {
                continue;
            };
            let before = if is_first { seconds } else { 0.0 };
            let place = place(&name, number);
            let seen = self.seen.entry(number).or_insert(Seen {
                place,
                before,
                seconds,
            });
            // A thread gets its name when it has started already.
            (seen.place, seen.seconds) = (place, seconds);
        }
    }

    /// Adds up the seconds of each place, without the thread that looks.
    fn places(&self) -> BTreeMap<Place, f64> {
        let mut places = BTreeMap::new();
        for (number, seen) in &self.seen {
            if Some(*number) != self.own {
                *places.entry(seen.place).or_insert(0.0) += seen.spent();
            }
        }
        places
    }
}

fn place(name: &str, number: u32) -> Place {
    let last = name
        .rsplit_once(' ')
        .and_then(|(step, last)| Some((step, last.parse().ok()?)));
    match last {
        _ if number == std::process::id() => Place::Numbered(0),
        Some(("crew", other)) => Place::Numbered(1 + other),
        Some((_, place)) => Place::Numbered(place),
        None => Place::Alone(number),
    }
}

/// Name and processor seconds of the thread with this folder: to the nanosecond where the system counts so, else in ticks.
fn thread_in(folder: &str) -> Option<(String, f64)> {
    let (name, ticks) = ticks(&format!("{folder}/stat"))?;
    let fine = fs::read_to_string(format!("{folder}/schedstat")).ok();
    let fine = fine.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    Some((name, fine.map_or(ticks, |nanoseconds| nanoseconds * 1e-9)))
}

/// Processor seconds of all threads, those that have ended among them.
fn process_seconds() -> Option<f64> {
    Some(ticks("/proc/self/stat")?.1)
}

/// Name and processor seconds that such a file tells.
fn ticks(file: &str) -> Option<(String, f64)> {
    let text = fs::read_to_string(file).ok()?;
    // The name, in parentheses, may have anything in it.
    let (before, behind) = text.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut fields = behind.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((name.to_owned(), (next()? + next()?) / TICKS))
}

/// The number of this thread.
fn own_number() -> Option<u32> {
    let path = fs::read_link("/proc/thread-self").ok()?;
    path.file_name()?.to_str()?.parse().ok()
}

/// Counts the ends of TCP connections that this process has.
fn connections() -> Option<usize> {
    /// How `/proc/net/tcp` writes the state of a connection that is open.
    const ESTABLISHED: &str = "01";
    let mut open = Vec::new();
    for file in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        // A system without one of them has no such connections.
        let text = fs::read_to_string(file).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let [_, _, _, ESTABLISHED, _, _, _, _, _, inode, ..] = fields[..] {
                open.push(format!("socket:[{inode}]"));
            }
        }
    }
    let files = fs::read_dir("/proc/self/fd").ok()?.flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok());
    let own = links.filter(|link| open.iter().any(|open| link.as_os_str() == open.as_str()));
    Some(own.count())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    use super::*;

    #[test]
    fn threads_that_take_turns_are_one() {
        let me = std::process::id();
        for (name, number, at) in [
            ("madrigal-lab", me, Place::Numbered(0)),
            ("setup 0", me + 1, Place::Numbered(0)),
            ("online 3", me + 2, Place::Numbered(3)),
            ("crew 2", me + 3, Place::Numbered(3)),
            ("tokio-rt-worker", me + 4, Place::Alone(me + 4)),
            ("a step", me + 5, Place::Alone(me + 5)),
        ] {
            assert_eq!(place(name, number), at, "{name}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn threads_that_end_are_counted_and_so_are_connections() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let clock = Clock::start();
        let before = connections().unwrap();
        let _one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _other = listener.accept().unwrap();
        assert!(connections().unwrap() >= 2, "{before}");
        let busy = || {
            let start = Instant::now();
            let own = own_number().unwrap();
            let spent = || thread_in(&format!("/proc/self/task/{own}")).unwrap().1;
            while spent() < 0.1 {
                assert!(start.elapsed() < Duration::from_secs(60), "no time passes");
            }
        };
        thread::scope(|scope| {
            for name in ["step 1", "crew 0", "step 2"] {
                let named = thread::Builder::new().name(name.to_owned());
                named.spawn_scoped(scope, busy).unwrap();
            }
        });
        let used = clock.stop();
        let (all, busiest) = (used.processor_seconds, used.busiest_thread_seconds);
        let [all, busiest] = [all, busiest].map(Option::unwrap);
        // Two of the three take turns.
        assert!(busiest >= 0.15 && all >= 0.25 && busiest <= all, "{used:?}");
        assert!(used.peak_rss_bytes > Some(0), "{used:?}");
    }
}
