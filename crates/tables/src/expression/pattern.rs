//! Patterns of texts.

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// This character.
    Exactly(char),
    /// One character.
    Any,
    /// Any number of characters.
    Rest,
}

/// The parts of a pattern: `%` and `_` stand for characters, one after `\` for itself.
pub(crate) fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        parts.push(match character {
            '%' => Part::Rest,
            '_' => Part::Any,
            '\\' => Part::Exactly(characters.next().unwrap_or('\\')),
            _ => Part::Exactly(character),
        });
    }
    parts
}

/// Whether a text is like a pattern.
pub(crate) fn matches(pattern: &[Part], text: &str) -> bool {
    // Reachable ends of the text's beginning, part by part.
    let text: Vec<char> = text.chars().collect();
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; text.len() + 1];
        let mut any = false;
        for at in 0..=text.len() {
            match part {
                Part::Rest => {
                    any |= reached[at];
                    next[at] = any;
                }
                Part::Any if at > 0 => next[at] = reached[at - 1],
                Part::Exactly(character) if at > 0 => {
                    next[at] = reached[at - 1] && text[at - 1] == *character;
                }
                _ => {}
            }
        }
        reached = next;
    }
    reached[text.len()]
}

/// Runs of characters between `%`s; what stands before the first and after the last one is bound to the text's ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Runs {
    /// Each run's bytes, `None` where any character stands.
    pub(crate) runs: Vec<Vec<Option<u8>>>,
    /// Whether the first run begins the text.
    pub(crate) from_start: bool,
    /// Whether the last run ends the text.
    pub(crate) to_end: bool,
}

/// The runs of a pattern.
pub(crate) fn runs(pattern: &[Part]) -> Runs {
    let mut runs: Vec<Vec<Option<u8>>> = vec![Vec::new()];
    for part in pattern {
        let last = runs.last_mut().expect("a first run");
        match part {
            Part::Rest => runs.push(Vec::new()),
            Part::Any => last.push(None),
            Part::Exactly(character) => {
                let mut bytes = [0; 4];
                let bytes = character.encode_utf8(&mut bytes).bytes();
                last.extend(bytes.map(Some));
            }
        }
    }
    let (from_start, to_end) = match pattern {
        [] => (true, true),
        _ => (
            pattern.first() != Some(&Part::Rest),
            pattern.last() != Some(&Part::Rest),
        ),
    };
    // An empty run between two `%`s says nothing.
    let whole = runs.len() == 1;
    if !whole {
        runs.retain(|run| !run.is_empty());
    }
    Runs {
        runs,
        from_start,
        to_end,
    }
}
