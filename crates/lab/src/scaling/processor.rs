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

/// Processor time of this process's threads, from when this is made.
pub(super) struct Clock {
    before: Option<f64>,
    stop: Sender<()>,
    looker: JoinHandle<Threads>,
}

/// Seconds of each thread, when it was first seen and when it was last seen, by its number.
#[derive(Default)]
struct Threads {
    seen: BTreeMap<u32, (f64, f64)>,
    /// The thread that looks.
    own: Option<u32>,
}

impl Clock {
    pub(super) fn start() -> Self {
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
    pub(super) fn stop(self) -> Used {
        let connections = connections();
        // Dropped: the thread sees that nobody is there any more.
        drop(self.stop);
        let threads = self.looker.join().unwrap_or_default();
        let spent = |(first, last): (f64, f64)| last - first;
        let own = threads.own.and_then(|own| threads.seen.get(&own));
        let others = threads
            .seen
            .iter()
            .filter(|(number, _)| Some(**number) != threads.own);
        let others: Vec<f64> = others.map(|(_, &times)| spent(times)).collect();
        let all = self.before.zip(process_seconds());
        // The process's time includes threads that were not seen; the threads' own times may be finer.
        let all = all.map(|(before, now)| now - before - own.map_or(0.0, |&times| spent(times)));
        let seen = others.iter().sum::<f64>();
        Used {
            processor_seconds: all.map(|all| all.max(seen)),
            busiest_thread_seconds: others.into_iter().max_by(f64::total_cmp),
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
            let seconds = seconds_of(&format!("{}", entry.path().display()));
            let (Some(number), Some(seconds)) = (number, seconds) else {
                continue;
            };
            let before = if is_first { seconds } else { 0.0 };
            self.seen.entry(number).or_insert((before, before)).1 = seconds;
        }
    }
}

/// Processor seconds of the thread with this folder: to the nanosecond where the system counts so, else in ticks.
fn seconds_of(folder: &str) -> Option<f64> {
    let fine = fs::read_to_string(format!("{folder}/schedstat")).ok();
    let fine = fine.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    fine.map(|nanoseconds| nanoseconds * 1e-9)
        .or_else(|| ticks(&format!("{folder}/stat")))
}

/// Processor seconds of all threads, those that have ended among them.
fn process_seconds() -> Option<f64> {
    ticks("/proc/self/stat")
}

fn ticks(file: &str) -> Option<f64> {
    let text = fs::read_to_string(file).ok()?;
    // The name, in parentheses, may have anything in it.
    let (_, behind) = text.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / TICKS)
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
            while own_number().and_then(|own| seconds_of(&format!("/proc/self/task/{own}")))
                < Some(0.1)
            {
                assert!(start.elapsed() < Duration::from_secs(60), "no time passes");
            }
        };
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(busy);
            }
        });
        let used = clock.stop();
        let (all, busiest) = (used.processor_seconds, used.busiest_thread_seconds);
        let [all, busiest] = [all, busiest].map(Option::unwrap);
        assert!(busiest >= 0.05 && all >= 0.15 && busiest <= all, "{used:?}");
        assert!(used.peak_rss_bytes > Some(0), "{used:?}");
    }
}
