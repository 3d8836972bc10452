//! Places in the source that programs are written in.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::panic::Location;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The file and the line of the source that asked for something, and the part of the program that it was for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Source {
    place: &'static Place,
    part: Option<u32>,
}

/// A line of a file. Each is there once, for as long as the process runs.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Place {
    file: &'static str,
    line: u32,
}

/// Places that are told apart, and bytes of the names of their files: those of this executable are far fewer.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 1 << 20;

/// The place of all that came when there was no room for more.
static ELSEWHERE: Place = Place {
    file: "(elsewhere)",
    line: 0,
};

/// All places, and the names of files that are no part of this executable.
#[derive(Default)]
struct Known {
    places: HashSet<&'static Place>,
    files: HashSet<&'static str>,
    bytes: usize,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

impl Known {
    fn place(&mut self, file: &'static str, line: u32) -> &'static Place {
        let place = Place { file, line };
        if let Some(known) = self.places.get(&place) {
            return known;
        }
        if self.places.len() >= MOST {
            return &ELSEWHERE;
        }
        let kept: &'static Place = Box::leak(Box::new(place));
        self.places.insert(kept);
        kept
    }

    fn file(&mut self, file: &str) -> Option<&'static str> {
        if let Some(known) = self.files.get(file) {
            return Some(known);
        }
        self.bytes = Some(self.bytes + file.len()).filter(|&bytes| bytes <= MOST_BYTES)?;
        let kept: &'static str = Box::leak(file.into());
        self.files.insert(kept);
        Some(kept)
    }
}

thread_local! {
    /// Places of callers by where the compiler keeps them: each operator of a program asks for its own.
    static CALLERS: RefCell<HashMap<usize, &'static Place>> = RefCell::default();
}

impl Source {
    /// The line that the caller was called from.
    #[track_caller]
    pub(crate) fn here() -> Self {
        let caller: &'static Location<'static> = Location::caller();
        let address = std::ptr::from_ref(caller).addr();
        let place = CALLERS.with_borrow_mut(|callers| {
            *callers.entry(address).or_insert_with(|| {
                let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
                known.place(caller.file(), caller.line())
            })
        });
        Self { place, part: None }
    }

    /// A line of a file that a front end reads programs from, or in another language.
    ///
    /// Lines are kept for as long as the process runs, and 65,536 are told apart; further ones are `(elsewhere)`.
    pub fn named(file: &str, line: u32) -> Self {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match known.file(file) {
            Some(file) => known.place(file, line),
            None => &ELSEWHERE,
        };
        Self { place, part: None }
    }

    /// The place as one of a part, unless it belongs to another part already.
    pub(crate) fn of_part(self, part: Option<u32>) -> Self {
        let part = self.part.or(part);
        Self { part, ..self }
    }

    /// The file, as the compiler or the front end was given it.
    pub fn file(&self) -> &'static str {
        self.place.file
    }

    /// The line, counted from 1.
    pub fn line(&self) -> u32 {
        self.place.line
    }

    /// The part, as [`Program::part`](crate::Program::part) was told it.
    pub fn part(&self) -> Option<u32> {
        self.part
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file(), self.line())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
