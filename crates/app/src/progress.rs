//! Progress of a job: bars on standard error, if that is a terminal.

use std::fmt::Write;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use madrigal_core::Phase;
use madrigal_core::text::plain;
use serde::{Deserialize, Serialize};

/// The bars that are shown now, if any are.
static SHOWN: Mutex<Option<MultiProgress>> = Mutex::new(None);

fn shown() -> MutexGuard<'static, Option<MultiProgress>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says something on standard error while work goes on, above the bars if there are any.
pub fn say(what: impl std::fmt::Display) {
    // Nobody is left to tell if standard error is gone.
    let write = || drop(writeln!(crate::terminal::stderr(), "madrigal: {what}"));
    match &*shown() {
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}

/// Progress of one party in one phase, in the phase's own unit.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Step {
    /// Whether the phase is online; else it is setup.
    pub online: bool,
    /// Done so far.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

impl From<madrigal_engine::Progress> for Step {
    fn from(progress: madrigal_engine::Progress) -> Self {
        Self {
            online: progress.phase == Phase::Online,
            done: progress.done,
            total: progress.total,
        }
    }
}

/// The bars. They show the party that is furthest behind.
pub struct Bars {
    shown: Option<Shown>,
}

struct Shown {
    /// Spinner that is shown while the parties meet.
    meeting: ProgressBar,
    bars: [ProgressBar; 2],
    done: Mutex<Vec<[u64; 2]>>,
}

impl Bars {
    /// Makes the bars of `parties` parties; shown on terminals alone.
    pub fn new(parties: usize, quiet: bool) -> Self {
        let shown = (!quiet && std::io::stderr().is_terminal()).then(|| {
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
                done: Mutex::new(vec![[0; 2]; parties]),
            }
        });
        Self { shown }
    }

    /// Shows that the other parties are looked for, until [`met`](Self::met).
    pub fn meeting(&self) {
        if let Some(shown) = &self.shown {
            shown.meeting.enable_steady_tick(Duration::from_millis(100));
        }
    }

    /// Notes that the parties have met.
    pub fn met(&self) {
        if let Some(shown) = &self.shown {
            shown.meeting.finish_and_clear();
        }
    }

    /// Notes how far a party is.
    pub fn update(&self, party: usize, step: Step) {
        let Some(shown) = &self.shown else { return };
        let phase = usize::from(step.online);
        let mut done = shown
            .done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        done[party][phase] = step.done;
        let slowest = done.iter().map(|party| party[phase]).min().unwrap_or(0);
        // The clock of a phase starts with it, not with the program.
        if shown.bars[phase].length() == Some(0) {
            shown.bars[phase].reset_elapsed();
        }
        shown.bars[phase].set_length(step.total);
        shown.bars[phase].set_position(slowest);
    }

    /// Takes away what is shown.
    pub fn clear(&self) {
        self.met();
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
pub struct Steps(Option<ProgressBar>);

impl Steps {
    /// Makes a bar of `steps` steps; shown on terminals alone.
    pub fn new(steps: u64, quiet: bool) -> Self {
        let shown = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let wide = "{bar:30} {pos} of {len}: {wide_msg}";
            let narrow = "{pos} of {len}: {wide_msg}";
            let style = ProgressStyle::with_template(if columns() < 60 { narrow } else { wide });
            ProgressBar::new(steps)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self(shown)
    }

    /// Sets the name of what is being done; the name may be foreign.
    pub fn name(&self, name: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(plain(name).into_owned());
        }
    }

    /// Notes that one step is done.
    pub fn advance(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }

    /// Takes away what is shown.
    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
