//! Progress of a job: bars on standard error, if that is a terminal.

use std::io::IsTerminal as _;
use std::sync::Mutex;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use madrigal_core::Phase;
use serde::{Deserialize, Serialize};

/// How far one party is in one phase, in the phase's own unit.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Step {
    pub online: bool,
    pub done: u64,
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
    bars: [ProgressBar; 2],
    done: Mutex<Vec<[u64; 2]>>,
}

impl Bars {
    pub fn new(parties: usize, quiet: bool) -> Self {
        let shown = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let all = MultiProgress::new();
            let bar = |name, unit| {
                let template = format!(
                    "{{prefix:>7}} {{bar:30}} {{human_pos}} of {{human_len}} {unit}, {{eta}} left"
                );
                let style = ProgressStyle::with_template(&template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar());
                all.add(ProgressBar::new(0).with_style(style).with_prefix(name))
            };
            Shown {
                bars: [bar("setup", "triples"), bar("online", "gates")],
                done: Mutex::new(vec![[0; 2]; parties]),
            }
        });
        Self { shown }
    }

    pub fn update(&self, party: usize, step: Step) {
        let Some(shown) = &self.shown else { return };
        let phase = usize::from(step.online);
        let mut done = shown
            .done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        done[party][phase] = step.done;
        let slowest = done.iter().map(|party| party[phase]).min().unwrap_or(0);
        shown.bars[phase].set_length(step.total);
        shown.bars[phase].set_position(slowest);
    }

    pub fn clear(&self) {
        if let Some(shown) = &self.shown {
            shown.bars.iter().for_each(ProgressBar::finish_and_clear);
        }
    }
}

/// One bar for work that has a known number of steps.
pub struct Steps(Option<ProgressBar>);

impl Steps {
    pub fn new(steps: u64, quiet: bool) -> Self {
        let shown = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos} of {len}: {msg}");
            ProgressBar::new(steps)
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self(shown)
    }

    /// What is being done.
    pub fn name(&self, name: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(name.to_owned());
        }
    }

    pub fn advance(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }

    pub fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
