//! Warnings: what whoever runs a program should know, though nothing has failed.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Something that whoever runs a program should know, though nothing has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The kernels were built without optimisation, as cargo's dev profile builds what others depend on.
    Unoptimised,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unoptimised => {
                "madrigal was built without optimisation, and takes some twenty times as long as it \
                 could; build with --release, or optimise dependencies in Cargo.toml:\n  \
                 [profile.dev.package.\"*\"]\n  opt-level = 3"
            }
        })
    }
}

/// Function that is told of warnings.
static HOOK: Mutex<fn(Warning)> = Mutex::new(print);

/// Has `hook` told of warnings from now on; without one they go to standard error. `|_| {}` silences them. Each
/// warning is told once in a process.
///
/// ```
/// madrigal_net::on_warning(|warning| println!("{warning}"));
/// ```
pub fn on_warning(hook: fn(Warning)) {
    *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = hook;
}

/// Whoever has not heard of hooks is who must read this.
#[expect(
    clippy::print_stderr,
    reason = "as panics are told, and with a hook as theirs"
)]
fn print(warning: Warning) {
    eprintln!("warning: {warning}");
}

/// Tells that kernels are slow, the first time that a session begins.
pub(crate) fn of_kernels() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    once(&TOLD, madrigal_kernels::is_optimised());
}

fn once(told: &AtomicBool, optimised: bool) {
    if !optimised && !told.swap(true, Relaxed) {
        let hook = *HOOK.lock().unwrap_or_else(PoisonError::into_inner);
        hook(Warning::Unoptimised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn slow_kernels_are_told_once_and_fast_ones_never() {
        static HEARD: AtomicUsize = AtomicUsize::new(0);
        on_warning(|warning| {
            assert!(warning.to_string().contains("opt-level = 3"));
            HEARD.fetch_add(1, Relaxed);
        });
        let told = AtomicBool::new(false);
        for (optimised, heard) in [(true, 0), (false, 1), (false, 1), (true, 1)] {
            once(&told, optimised);
            assert_eq!(HEARD.load(Relaxed), heard);
        }
        on_warning(print);
    }

    /// The workspace's profiles optimise the kernels, also for tests: otherwise these take an hour.
    #[test]
    fn the_workspace_has_fast_kernels() {
        assert!(madrigal_kernels::is_optimised());
    }
}
