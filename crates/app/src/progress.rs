//! Progress of a job: bars on standard error, if that is a terminal, and events for whoever watches.

use std::fmt::Write;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use madrigal_core::text::plain;

pub use crate::watch::Step;
use crate::watch::{Event, Watcher, watcher};

/// The bars that are shown now, if any are.
static SHOWN: Mutex<Option<MultiProgress>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<MultiProgress>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says something to whoever watches this thread, or else on standard error while work goes on, above the bars if there
/// are any.
pub fn say(what: impl std::fmt::Display) {
    Voice::here().say(what);
}

/// Way to say something, from other threads, too, to whoever watches the one that it was taken on.
#[derive(Debug, Clone)]
pub struct Voice(Option<Arc<Watcher>>);

impl Voice {
    /// Takes the way of this thread.
    pub fn here() -> Self {
        Self(watcher())
    }

    /// Says something.
    pub fn say(&self, what: impl std::fmt::Display) {
        self.tell(what.to_string(), false);
    }

    /// Says something that should be changed.
    pub fn warn(&self, what: impl std::fmt::Display) {
        self.tell(what.to_string(), true);
    }

    fn tell(&self, text: String, warning: bool) {
        if let Some(watcher) = &self.0 {
            return (watcher.tell)(Event::Said { text, warning });
        }
        // Nobody is left to tell if standard error is gone.
        let write = || drop(writeln!(crate::terminal::stderr(), "madrigal: {text}"));
        match &*shown() {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }
}

/// The bars. They show the party that is furthest behind.
pub struct Bars {
    shown: Option<Shown>,
    watcher: Option<Arc<Watcher>>,
    done: Mutex<Done>,
}

/// How far the parties are.
struct Done {
    /// Whether the parties have met.
    met: bool,
    /// Done by each party in both phases.
    parties: Vec<[u64; 2]>,
    /// Phases that have begun.
    begun: [bool; 2],
}

struct Shown {
    /// Spinner that is shown while the parties meet.
    meeting: ProgressBar,
    bars: [ProgressBar; 2],
}

/// Whether bars are shown: on terminals alone, unless somebody watches who wants none.
fn are_shown(quiet: bool, watcher: Option<&Arc<Watcher>>) -> bool {
    let wanted = watcher.map_or(!quiet, |watcher| watcher.terminal);
    wanted && std::io::stderr().is_terminal()
}

impl Bars {
    /// Makes the bars of `parties` parties; shown on terminals alone, and told to whoever watches this thread.
    pub fn new(parties: usize, quiet: bool) -> Self {
        let watcher = watcher();
        let shown = are_shown(quiet, watcher.as_ref()).then(|| {
            let all = MultiProgress::new();
            *shown() = Some(all.clone());
            let bar = |name, unit| {
                let style = ProgressStyle::with_template(&template(columns(), unit))
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .with_key("left", told_left());
                all.add(ProgressBar::new(0).with_style(style).with_prefix(name))
            };
            let meeting = "{spinner} waiting for the other parties, {elapsed}";
            let style = ProgressStyle::with_template(meeting);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            Shown {
                meeting: all.add(ProgressBar::new_spinner().with_style(style)),
                bars: [bar("setup", "triples"), bar("online", "gates")],
            }
        });
        let done = Done {
            met: false,
            parties: vec![[0; 2]; parties],
            begun: [false; 2],
        };
        Self {
            shown,
            watcher,
            done: Mutex::new(done),
        }
    }

    /// Shows that the other parties are looked for, until [`met`](Self::met).
    pub fn meeting(&self) {
        if let Some(shown) = &self.shown {
            shown.meeting.enable_steady_tick(Duration::from_millis(100));
        }
    }

    /// Notes that a party has met the others.
    pub fn met(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(watcher), false) = (&self.watcher, std::mem::replace(&mut done.met, true)) {
            (watcher.tell)(Event::Met);
        }
        self.end_meeting();
    }

    fn end_meeting(&self) {
        if let Some(shown) = &self.shown {
            shown.meeting.finish_and_clear();
        }
    }

    /// Notes how far a party is.
    pub fn update(&self, party: usize, step: Step) {
        if self.shown.is_none() && self.watcher.is_none() {
            return;
        }
        let phase = usize::from(step.online);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.parties[party][phase] = step.done;
        let parties = done.parties.iter().map(|party| party[phase]);
        let slowest = parties.min().unwrap_or(0);
        if let Some(watcher) = &self.watcher {
            let Step { online, total, .. } = step;
            if !std::mem::replace(&mut done.begun[phase], true) {
                (watcher.tell)(Event::Begins { online });
            }
            (watcher.tell)(Event::Progress(Step {
                online,
                done: slowest,
                total,
            }));
        }
        let Some(shown) = &self.shown else { return };
        // The clock of a phase starts with it, not with the program.
        if shown.bars[phase].length() == Some(0) {
            shown.bars[phase].reset_elapsed();
        }
        shown.bars[phase].set_length(step.total);
        shown.bars[phase].set_position(slowest);
    }

    /// Takes away what is shown.
    pub fn clear(&self) {
        self.end_meeting();
        if let Some(shown) = &self.shown {
            shown.bars.iter().for_each(ProgressBar::finish_and_clear);
            *self::shown() = None;
        }
    }
}

fn columns() -> u16 {
    console::Term::stderr().size().1
}

/// Gives a line that fits the terminal: a line that wraps could not be taken back.
fn template(columns: u16, unit: &str) -> String {
    let numbers = format!("{{human_pos}} of {{human_len}} {unit}{{left}}");
    match columns {
        95.. => format!("{{prefix:>7}} {{bar:30}} {numbers}"),
        80.. => format!("{{prefix:>7}} {{bar:15}} {numbers}"),
        40.. => "{prefix:>7} {percent:>3} % {bar:8}{left}".to_owned(),
        _ => "{prefix:>7} {percent:>3} %".to_owned(),
    }
}

/// Writes how much time is left, of a bar that it watches.
fn told_left() -> impl Fn(&ProgressState, &mut dyn Write) + Clone + Send + Sync {
    let last = Arc::new(Mutex::new(Last::default()));
    move |state, text| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rest) = last.left(state.elapsed(), state.pos(), state.len()) {
            let _ = write!(text, ", {:#} left", HumanDuration(rest));
        }
    }
}

/// Time when something was done last, and how far that was.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    done: u64,
    at: Duration,
}

impl Last {
    /// Estimates the time that the rest will take, once enough is done to tell: the first steps do not come again.
    /// Gives none where the estimate cannot be believed: where the rest should be over already but nothing has been done
    /// meanwhile, and below a second, which is over before it is read.
    fn left(&mut self, elapsed: Duration, done: u64, all: Option<u64>) -> Option<Duration> {
        let all = all?;
        if done != self.done {
            *self = Self { done, at: elapsed };
        }
        if elapsed < Duration::from_secs(2) || done == 0 || done >= all {
            return None;
        }
        let whole = self.at.as_secs_f64() * (all - done) as f64 / done as f64;
        let rest = whole - (elapsed - self.at).as_secs_f64();
        // More than a century is no estimate.
        (1.0..3.2e9)
            .contains(&rest)
            .then(|| Duration::from_secs_f64(rest))
    }
}

/// One bar for work that has a known number of steps.
pub struct Steps {
    shown: Option<ProgressBar>,
    watched: Option<Watched>,
}

/// Steps that somebody watches.
struct Watched {
    watcher: Arc<Watcher>,
    total: u64,
    /// Done so far, and the name of what is being done.
    now: Mutex<(u64, String)>,
}

impl Watched {
    fn note(&self, change: impl FnOnce(&mut (u64, String))) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut now);
        let (done, name) = now.clone();
        let total = self.total;
        (self.watcher.tell)(Event::Pieces { done, total, name });
    }
}

impl Steps {
    /// Makes a bar of `steps` steps; shown on terminals alone, and told to whoever watches this thread.
    pub fn new(steps: u64, quiet: bool) -> Self {
        let watcher = watcher();
        let shown = are_shown(quiet, watcher.as_ref()).then(|| {
            let wide = "{bar:30} {pos} of {len}: {wide_msg}";
            let narrow = "{pos} of {len}: {wide_msg}";
            let style = ProgressStyle::with_template(if columns() < 60 { narrow } else { wide });
            ProgressBar::new(steps)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        let watched = watcher.map(|watcher| Watched {
            watcher,
            total: steps,
            now: Mutex::default(),
        });
        Self { shown, watched }
    }

    /// Sets the name of what is being done; the name may be foreign.
    pub fn name(&self, name: &str) {
        if let Some(bar) = &self.shown {
            bar.set_message(plain(name).into_owned());
        }
        if let Some(watched) = &self.watched {
            watched.note(|(_, own)| name.clone_into(own));
        }
    }

    /// Notes that one step is done.
    pub fn advance(&self) {
        if let Some(bar) = &self.shown {
            bar.inc(1);
        }
        if let Some(watched) = &self.watched {
            watched.note(|(done, _)| *done += 1);
        }
    }

    /// Takes away what is shown.
    pub fn clear(&self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::watched;

    #[test]
    fn what_is_left_is_told_when_it_is_known() {
        let of =
            |seconds, done| Last::default().left(Duration::from_secs(seconds), done, Some(100));
        assert_eq!(of(1, 50), None);
        assert_eq!(of(1000, 0), None);
        assert_eq!(of(4, 40), Some(Duration::from_secs(6)));
        assert_eq!(of(4, 100), None);
        assert_eq!(of(4, 101), None);
        let most = Last::default().left(Duration::MAX, 1, Some(u64::MAX));
        assert_eq!(most, None);
    }

    /// A job whose last part takes as long as all before it said `0s left` all the while.
    #[test]
    fn no_time_is_told_that_cannot_be_believed() {
        let mut last = Last::default();
        let mut at = |seconds, done| last.left(Duration::from_secs(seconds), done, Some(100));
        assert_eq!(at(10, 50), Some(Duration::from_secs(10)));
        assert_eq!(at(16, 50), Some(Duration::from_secs(4)));
        for still in 20..60 {
            assert_eq!(at(still, 50), None, "{still}");
        }
        assert_eq!(at(60, 75), Some(Duration::from_secs(20)));
        for end in 61..120 {
            assert_eq!(at(end, 99), None, "{end}");
        }
    }

    /// Lines with numbers of 13 digits are no wider than the terminal.
    #[test]
    fn lines_fit_the_terminal() {
        for columns in 1..300 {
            let text = template(columns, "triples");
            let longest = [
                ("{prefix:>7}", 7),
                ("{bar:30}", 30),
                ("{bar:15}", 15),
                ("{bar:8}", 8),
                ("{human_pos}", 17),
                ("{human_len}", 17),
                ("{percent:>3}", 3),
                ("{left}", ", 59m left".len()),
            ];
            let fields = longest.iter().filter(|(name, _)| text.contains(name));
            let width = fields.fold(text.len(), |all, (name, width)| all - name.len() + width);
            assert!(width <= usize::from(columns).max(13), "{columns}: {text}");
        }
    }

    fn heard(work: impl FnOnce()) -> Vec<Event> {
        let events = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&events);
        let watcher = Watcher {
            terminal: false,
            tell: Box::new(move |event| own.lock().unwrap().push(event)),
        };
        watched(watcher, work);
        let events = events.lock().unwrap();
        events.clone()
    }

    fn said(text: &str, warning: bool) -> Event {
        let text = text.to_owned();
        Event::Said { text, warning }
    }

    #[test]
    fn the_party_that_is_furthest_behind_is_told_and_phases_begin_once() {
        let step = |online, done| Step {
            online,
            done,
            total: 8,
        };
        let events = heard(|| {
            let bars = Bars::new(2, true);
            bars.met();
            bars.update(0, step(false, 5));
            bars.update(1, step(false, 3));
            bars.update(0, step(true, 1));
            bars.clear();
        });
        let expected = [
            Event::Met,
            Event::Begins { online: false },
            Event::Progress(step(false, 0)),
            Event::Progress(step(false, 3)),
            Event::Begins { online: true },
            Event::Progress(step(true, 0)),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn pieces_are_told_with_their_names() {
        let events = heard(|| {
            let steps = Steps::new(2, true);
            steps.name("one");
            steps.advance();
            steps.name("two");
            steps.clear();
        });
        let piece = |done, name: &str| Event::Pieces {
            done,
            total: 2,
            name: name.to_owned(),
        };
        assert_eq!(events, [piece(0, "one"), piece(1, "one"), piece(1, "two")]);
    }

    #[test]
    fn other_threads_and_later_work_are_not_watched() {
        let events = heard(|| {
            say("before");
            let voice = Voice::here();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert!(watcher().is_none());
                    // A voice that was taken here is heard from there.
                    voice.warn("after");
                });
            });
            assert_eq!(heard(|| say("within")), [said("within", false)]);
        });
        assert_eq!(events, [said("before", false), said("after", true)]);
        assert!(watcher().is_none());
    }
}
