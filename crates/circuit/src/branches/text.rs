//! Circuits with branches as a text, which people write and read: netlists in Bristol Fashion, and circuits that put them
//! together.
//!
//! One statement per line. The first line is `branches 1`: the format and its version. Then parts are defined, each by
//! those before it; the last one is a circuit, and what the file means.
//!
//! | line | what it says |
//! |---|---|
//! | `netlist NAME` | a netlist in Bristol Fashion follows, up to a line `end` |
//! | `circuit NAME` | a circuit follows, up to a line `end`; its wires are numbered from 0 on as lines give them |
//! | `input BITS` | of a circuit: an input value; its bits are the next wires |
//! | `call PART on WIRES` | a part's outputs for these input bits are the next wires |
//! | `choose WIRES of PART ... on WIRES` | the outputs of the part whose number stands on the first wires, lowest bit first |
//! | `output WIRES` | of a circuit: an output value |
//!
//! Wires are numbers and ranges `FIRST-LAST`, both ends included. Text after a `#` is a comment. A netlist's own wires are
//! those of Bristol Fashion, and nobody else's.
//!
//! The syntax is that of Masked Triples (section 5.1) with names: a netlist, a conditional (`choose`), and in the place of a
//! sequence any order of calls. Parts that are used in several places are written once.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

use madrigal_core::budget::{Budget, Spent};

use super::error::{BranchError, BranchTextError, NAME, VERSION};
use super::{Branching, Draft, Step};
use crate::bristol::{Limits, read_part};
use crate::error::{ReadError, ReadErrorKind, WidthsError};
use crate::netlist::{Format, Netlist};
use crate::text::{Lines, number, shown, tokens};
use crate::values::BYTE_ORDER_MARK;

/// Bytes that a wire takes once the circuit is compiled, all that is noted of it on the way included.
const PER_WIRE: u64 = 64;
/// Bytes of a wire's number in a list that grows.
const PER_NUMBER: u64 = 8;

impl From<BranchError> for ReadErrorKind {
    fn from(error: BranchError) -> Self {
        BranchTextError::from(error).into()
    }
}

impl From<Spent> for ReadErrorKind {
    fn from(spent: Spent) -> Self {
        BranchTextError::from(spent).into()
    }
}

/// A part that later ones may name.
#[derive(Clone)]
enum Part {
    /// A netlist, and what it is as a branch once it is one.
    Netlist(Arc<Netlist>, OnceCell<Arc<Branching>>),
    Circuit(Arc<Branching>),
}

impl Part {
    /// As a branch of a conditional.
    fn branch(&self, budget: &Budget) -> Result<Arc<Branching>, BranchTextError> {
        let (netlist, branch) = match self {
            Self::Netlist(netlist, branch) => (netlist, branch),
            Self::Circuit(circuit) => return Ok(Arc::clone(circuit)),
        };
        if branch.get().is_none() {
            budget.take(u64::from(netlist.wires()) * PER_NUMBER)?;
        }
        let made = || Arc::new(Branching::netlist(Arc::clone(netlist)));
        Ok(Arc::clone(branch.get_or_init(made)))
    }
}

impl Branching {
    /// Whether a text is a circuit with branches, of any version: its first line begins with the word `branches`.
    pub fn is_text(text: &[u8]) -> bool {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let first = Lines::without_comments(text).next();
        first.is_some_and(|line| tokens(line).next() == Some(b"branches"))
    }

    /// Reads a circuit from its text ([`write`](Self::write)), which may be written by hand. `name` is for messages. The
    /// circuit takes [`Limits::bytes`] of memory at most with all of its branches, however short the text is.
    ///
    /// # Errors
    /// [`ReadError`] names the file, the line, and what to correct.
    pub fn read(name: &str, text: &[u8], limits: &Limits) -> Result<Self, ReadError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let mut lines = Lines::without_comments(text);
        let mut reading = Reading {
            limits,
            budget: Budget::new(limits.bytes),
            text: text.len(),
            parts: HashMap::new(),
        };
        let read = reading.file(&mut lines).map_err(|kind| ReadError {
            name: name.into(),
            line: lines.number().max(1),
            kind,
        })?;
        let name = name.to_owned();
        Ok(Self { name, ..read })
    }

    /// The circuit as a text: reading it back gives a circuit of the same [digest](Self::digest). Names are new ones.
    pub fn write(&self) -> Vec<u8> {
        let mut writing = Writing {
            text: format!("branches {VERSION}\n").into_bytes(),
            names: HashMap::new(),
        };
        writing.circuit(self);
        writing.text
    }

    /// Makes the same circuit with its input bits in values of these widths, in order.
    ///
    /// # Errors
    /// [`WidthsError`] if the widths have another sum than those of the circuit.
    pub fn with_inputs(mut self, widths: &[u32]) -> Result<Self, WidthsError> {
        let found = widths.iter().map(|&width| u64::from(width)).sum();
        let expected = self.input_bits() as u64;
        if found != expected {
            return Err(WidthsError { expected, found });
        }
        self.inputs = widths.to_vec();
        Ok(self)
    }
}

struct Reading<'a> {
    limits: &'a Limits,
    budget: Budget,
    /// Bytes of the text.
    text: usize,
    parts: HashMap<Vec<u8>, Part>,
}

impl Reading<'_> {
    fn file(&mut self, lines: &mut Lines<'_>) -> Result<Branching, ReadErrorKind> {
        let first: Vec<&[u8]> = lines
            .next()
            .map_or(Vec::new(), |line| tokens(line).collect());
        match first[..] {
            [b"branches", version] if number(version) == Some(VERSION) => {}
            [] | [_] => {
                return Err(BranchTextError::Version {
                    found: String::new(),
                }
                .into());
            }
            [_, version, ..] => {
                let found = shown(version);
                return Err(BranchTextError::Version { found }.into());
            }
        }
        let mut last = None;
        while let Some(line) = lines.next() {
            let words: Vec<&[u8]> = tokens(line).take(3).collect();
            let part = match words[..] {
                [b"netlist", name] => {
                    let name = self.new_name(name)?;
                    let own = String::from_utf8_lossy(name);
                    let netlist = read_part(&own, self.text, lines, self.limits)?;
                    let netlist = netlist.ok_or_else(|| cut_off(name))?;
                    (name, Part::Netlist(Arc::new(netlist), OnceCell::new()))
                }
                [b"circuit", name] => {
                    let name = self.new_name(name)?;
                    (name, Part::Circuit(Arc::new(self.circuit(name, lines)?)))
                }
                [b"netlist" | b"circuit", ..] => {
                    let expected = "netlist NAME` or `circuit NAME";
                    return Err(BranchTextError::Words { expected }.into());
                }
                _ => return Err(unexpected("`netlist NAME` or `circuit NAME`", words[0])),
            };
            let (name, part) = part;
            self.parts.insert(name.to_vec(), part.clone());
            last = Some(part);
        }
        let Some(Part::Circuit(circuit)) = last else {
            return Err(BranchTextError::NoCircuit.into());
        };
        // Each part was written once, and is compiled wherever it is used.
        self.budget.take(circuit.total.saturating_mul(PER_WIRE))?;
        self.parts.clear();
        Ok(Arc::unwrap_or_clone(circuit))
    }

    fn new_name<'t>(&self, name: &'t [u8]) -> Result<&'t [u8], BranchTextError> {
        let sign = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let good = name[0].is_ascii_alphabetic() && name.len() <= NAME && name.iter().all(sign);
        if !good || [&b"of"[..], b"on", b"end"].contains(&name) {
            let found = shown(name);
            return Err(BranchTextError::Name { found });
        }
        match self.parts.contains_key(name) {
            true => {
                let name = shown(name);
                Err(BranchTextError::Twice { name })
            }
            false => Ok(name),
        }
    }

    fn part(&self, name: &[u8]) -> Result<&Part, BranchTextError> {
        let unknown = || {
            let name = shown(name);
            BranchTextError::Unknown { name }
        };
        self.parts.get(name).ok_or_else(unknown)
    }

    fn circuit(&self, name: &[u8], lines: &mut Lines<'_>) -> Result<Branching, ReadErrorKind> {
        let mut widths: Vec<u32> = Vec::new();
        let mut draft: Option<Draft> = None;
        let mut outputs: Vec<Vec<u32>> = Vec::new();
        let own = String::from_utf8_lossy(name);
        loop {
            let line = lines.next().ok_or_else(|| cut_off(name))?;
            let words: Vec<&[u8]> = tokens(line).collect();
            if let [b"input", width] = words[..] {
                if draft.is_some() {
                    return Err(BranchTextError::LateInput.into());
                }
                let width = number(width);
                let width = width.ok_or(BranchTextError::Words {
                    expected: "input BITS",
                })?;
                let bits = widths.iter().map(|&width| u64::from(width)).sum::<u64>();
                let bits = bits + u64::from(width);
                crate::bristol::within("input bits", bits, self.limits.input_bits)?;
                widths.push(width);
                continue;
            }
            let draft = draft.get_or_insert_with(|| Draft::new(&own, &widths));
            let there = draft.made.wires;
            match words[..] {
                [b"call", part, b"on", ref wires @ ..] => {
                    let wires = self.wires(wires, there)?;
                    match self.part(part)? {
                        Part::Netlist(netlist, _) => draft.circuit(Arc::clone(netlist), &wires)?,
                        Part::Circuit(circuit) => {
                            draft.choice(&[], &wires, vec![Arc::clone(circuit)])?
                        }
                    };
                }
                [b"choose", ref rest @ ..] => {
                    let place = |word: &[u8]| rest.iter().position(|own| *own == word);
                    let (Some(of), Some(on)) = (place(b"of"), place(b"on")) else {
                        return Err(choose().into());
                    };
                    if of > on {
                        return Err(choose().into());
                    }
                    let index = self.wires(&rest[..of], there)?;
                    let wires = self.wires(&rest[on + 1..], there)?;
                    let branches = rest[of + 1..on].iter();
                    let branches = branches.map(|name| self.part(name)?.branch(&self.budget));
                    draft.choice(
                        &index,
                        &wires,
                        branches.collect::<Result<_, BranchTextError>>()?,
                    )?;
                }
                [b"output", ref wires @ ..] => outputs.push(self.wires(wires, there)?),
                [b"end"] => break,
                [b"input" | b"call", ..] => {
                    let expected = "input BITS` or `call PART on WIRES";
                    return Err(BranchTextError::Words { expected }.into());
                }
                _ => {
                    return Err(unexpected(
                        "`input`, `call`, `choose`, `output` or `end`",
                        words[0],
                    ));
                }
            }
        }
        let draft = draft.unwrap_or_else(|| Draft::new(&own, &widths));
        let outputs: Vec<&[u32]> = outputs.iter().map(Vec::as_slice).collect();
        Ok(draft.finish(&outputs)?)
    }

    /// Wires of a list, of `there` that there are. A range is short however many it names.
    fn wires(&self, words: &[&[u8]], there: u32) -> Result<Vec<u32>, BranchTextError> {
        let mut wires = Vec::new();
        for word in words {
            let range = range(word).ok_or_else(|| {
                let found = shown(word);
                BranchTextError::NotAWire { found }
            })?;
            if range.end > u64::from(there) {
                let (wire, wires) = ((range.end - 1) as u32, there);
                return Err(BranchError::Wire { wire, wires }.into());
            }
            self.budget.take((range.end - range.start) * PER_NUMBER)?;
            wires.extend(range.start as u32..range.end as u32);
        }
        Ok(wires)
    }
}

/// A wire, or wires from a first to a last one.
fn range(word: &[u8]) -> Option<Range<u64>> {
    let end = word.iter().position(|&byte| byte == b'-');
    let (first, last) = match end {
        Some(end) => (&word[..end], &word[end + 1..]),
        None => (word, word),
    };
    let number = |word: &[u8]| (!word.is_empty()).then(|| number(word)).flatten();
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then(|| first.into()..u64::from(last) + 1)
}

fn choose() -> BranchTextError {
    let expected = "choose WIRES of PART ... on WIRES";
    BranchTextError::Words { expected }
}

fn cut_off(name: &[u8]) -> ReadErrorKind {
    let name = shown(name);
    BranchTextError::CutOff { name }.into()
}

fn unexpected(expected: &'static str, word: &[u8]) -> ReadErrorKind {
    let found = shown(word);
    BranchTextError::Statement { expected, found }.into()
}

/// Parts by their digests, so that each is written once.
struct Writing {
    text: Vec<u8>,
    names: HashMap<[u8; 32], String>,
}

impl Writing {
    fn line(&mut self, words: &str, wires: &[u32]) {
        self.text.extend_from_slice(words.as_bytes());
        let mut rest = wires;
        while let Some(&first) = rest.first() {
            let follow = rest
                .iter()
                .zip(first..)
                .take_while(|(wire, next)| **wire == *next);
            let count = follow.count();
            let last = rest[count - 1];
            // Writing to a vector cannot fail.
            let _ = match count {
                1 => write!(self.text, " {first}"),
                _ => write!(self.text, " {first}-{last}"),
            };
            rest = &rest[count..];
        }
        self.text.push(b'\n');
    }

    fn netlist(&mut self, netlist: &Netlist) -> String {
        let digest = netlist.digest();
        if let Some(name) = self.names.get(&digest) {
            return name.clone();
        }
        let name = format!("part{}", self.names.len());
        let text = netlist.write_as(Format::BristolFashion);
        self.line(&format!("\nnetlist {name}"), &[]);
        self.text
            .extend(text.expect("this format expresses all netlists"));
        self.line("end", &[]);
        self.names.insert(digest, name.clone());
        name
    }

    /// A branch: a netlist by itself, or a circuit.
    fn branch(&mut self, branch: &Branching) -> String {
        match branch.as_netlist() {
            Some(netlist) => self.netlist(netlist),
            None => self.circuit(branch),
        }
    }

    fn circuit(&mut self, circuit: &Branching) -> String {
        let digest = circuit.digest();
        if let Some(name) = self.names.get(&digest) {
            return name.clone();
        }
        let mut lines = Vec::new();
        for step in circuit.steps() {
            lines.push(match step {
                Step::Circuit { netlist, inputs } => (
                    format!("call {} on", self.netlist(netlist)),
                    &[][..],
                    inputs,
                ),
                Step::Choice {
                    index,
                    inputs,
                    branches,
                } => {
                    let names: Vec<String> = branches.iter().map(|one| self.branch(one)).collect();
                    (format!(" of {} on", names.join(" ")), &index[..], inputs)
                }
            });
        }
        let name = format!("part{}", self.names.len());
        self.line(&format!("\ncircuit {name}"), &[]);
        for width in circuit.inputs() {
            self.line(&format!("input {width}"), &[]);
        }
        for (words, index, inputs) in lines {
            if words.starts_with(' ') {
                self.line("choose", index);
                // The list goes on in the same line.
                self.text.pop();
            }
            self.line(&words, inputs);
        }
        for value in super::cut(circuit.results(), circuit.outputs()) {
            self.line("output", value);
        }
        self.line("end", &[]);
        self.names.insert(digest, name.clone());
        name
    }
}
