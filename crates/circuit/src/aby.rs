//! The circuit format of ABY (Demmler, Schneider and Zohner 2015), as its `bin/circ` has it.
//!
//! One statement per line; its first token says which. Wires are numbers, the two constants negative ones.
//!
//! | line | what it says |
//! |---|---|
//! | `C id ...`, `S id ...` | inputs of the client and of the server |
//! | `0 id`, `1 id` | the wire `id` is constant |
//! | `A x y z`, `X x y z` | `z = x & y`, `z = x ^ y` |
//! | `I x z` | `z = !x` |
//! | `M x y s z` | `z = s ? y : x`; one AND |
//! | `O id ...` | outputs |
//!
//! Text after a `#` is a comment, and so is every other line: files have lines such as `DFFs:`.
//!
//! Files of ABY have the inputs of both parties on one line `S`; [`Netlist::with_inputs`] tells them apart.

use std::collections::HashMap;

use crate::bristol::{Limits, within};
use crate::builder::{Builder, Wire};
use crate::error::{AbyError, ReadError, ReadErrorKind};
use crate::netlist::{MAX_WIRES, Netlist};
use crate::text::{Lines, number, shown, tokens};
use crate::values::BYTE_ORDER_MARK;

impl Netlist {
    /// Whether a text is a netlist in ABY's format: it does not begin with numbers, as both Bristol formats
    /// do, and some line begins with one of the letters `C`, `S` and `O`.
    pub fn is_aby(text: &[u8]) -> bool {
        let mut lines = Lines::without_comments(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
        let letter = |line: &[u8]| matches!(tokens(line).next(), Some(b"C" | b"S" | b"O"));
        match lines.next() {
            Some(first) if tokens(first).all(|token| number(token).is_some()) => false,
            Some(first) => letter(first) || lines.any(letter),
            None => false,
        }
    }

    /// Reads a netlist in ABY's format. Each line `C` that has wires is an input value, then each line `S`,
    /// then come the outputs likewise; bit j of a value is the j-th wire of its line. The netlist is made of
    /// the gates that an output needs, each distinct one once; [`format`](Self::format) is that of built
    /// ones. `name` is for messages.
    ///
    /// # Errors
    /// [`ReadError`] names the file, the line, and what to correct.
    pub fn read_aby(name: &str, text: &[u8], limits: &Limits) -> Result<Self, ReadError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let mut lines = Lines::without_comments(text);
        let mut reading = Reading::new(name, limits);
        // The client's inputs come first, wherever they stand.
        let done = [&b"C"[..], b"S"].into_iter().try_for_each(|kind| {
            lines = Lines::without_comments(text);
            lines
                .by_ref()
                .try_for_each(|line| reading.inputs(kind, line))
        });
        let done = done.and_then(|()| {
            lines = Lines::without_comments(text);
            lines.by_ref().try_for_each(|line| reading.line(line))?;
            reading.finish()
        });
        done.map_err(|kind| ReadError {
            name: name.into(),
            line: lines.number().max(1),
            kind,
        })
    }
}

struct Reading<'a> {
    limits: &'a Limits,
    builder: Builder,
    /// Wires by the file's numbers.
    wires: HashMap<i64, Wire>,
    inputs: u32,
    values: u32,
    gates: u32,
    outputs: u32,
}

impl<'a> Reading<'a> {
    fn new(name: &str, limits: &'a Limits) -> Self {
        Self {
            limits,
            builder: Builder::new(name),
            wires: HashMap::new(),
            inputs: 0,
            values: 0,
            gates: 0,
            outputs: 0,
        }
    }

    /// A line of inputs of this kind, if it is one.
    fn inputs(&mut self, kind: &[u8], line: &[u8]) -> Result<(), ReadErrorKind> {
        let mut tokens = tokens(line);
        if tokens.next() != Some(kind) {
            return Ok(());
        }
        let ids = tokens.map(id).collect::<Result<Vec<_>, _>>()?;
        if ids.is_empty() {
            return Ok(());
        }
        self.values += 1;
        within("input values", self.values.into(), self.limits.values)?;
        let bits = u64::from(self.inputs) + ids.len() as u64;
        within(
            "input bits",
            bits,
            self.limits.input_bits.min(MAX_WIRES / 4),
        )?;
        self.inputs = bits as u32;
        let wires = self.builder.input(ids.len() as u32);
        for (id, wire) in ids.into_iter().zip(wires) {
            self.assign(id, wire)?;
        }
        Ok(())
    }

    /// Any other line.
    fn line(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        let mut tokens = tokens(line);
        let statement = tokens.next().unwrap_or_default();
        let (name, expected): (&'static str, usize) = match statement {
            b"0" | b"1" => ("a constant", 1),
            b"A" => ("A", 3),
            b"X" => ("X", 3),
            b"I" => ("I", 2),
            b"M" => ("M", 4),
            b"O" => return self.output(tokens),
            _ => return Ok(()),
        };
        let mut ids = [0; 4];
        let mut found = 0;
        for token in tokens {
            if let Some(place) = ids.get_mut(found) {
                *place = id(token)?;
            }
            found += 1;
        }
        if found != expected {
            return Err(AbyError::Wires {
                statement: name,
                expected,
                found,
            }
            .into());
        }
        self.gates = self.gates.saturating_add(1);
        // A gate makes three wires at most.
        let most = self.limits.gates.min(MAX_WIRES / 4);
        within("gates", self.gates.into(), most)?;
        let (operands, out) = (&ids[..expected - 1], ids[expected - 1]);
        let mut of = [None; 3];
        for (of, &id) in of.iter_mut().zip(operands) {
            *of = Some(self.read(id)?);
        }
        let builder = &mut self.builder;
        let wire = match (statement, of) {
            (b"0" | b"1", _) => builder.constant(statement == b"1"),
            (b"A", [Some(x), Some(y), _]) => builder.and(x, y),
            (b"X", [Some(x), Some(y), _]) => builder.xor(x, y),
            (b"I", [Some(x), ..]) => builder.not(x),
            (_, [Some(x), Some(y), Some(choice)]) => {
                let differ = builder.xor(x, y);
                let chosen = builder.and(choice, differ);
                builder.xor(x, chosen)
            }
            _ => unreachable!("operands were counted above"),
        };
        self.assign(out, wire)
    }

    fn output<'t>(&mut self, tokens: impl Iterator<Item = &'t [u8]>) -> Result<(), ReadErrorKind> {
        let mut bits = Vec::new();
        for token in tokens {
            bits.push(self.read(id(token)?)?);
        }
        if bits.is_empty() {
            return Ok(());
        }
        self.outputs += 1;
        within("output values", self.outputs.into(), self.limits.values)?;
        self.builder.output(&bits);
        Ok(())
    }

    fn read(&self, id: i64) -> Result<Wire, ReadErrorKind> {
        let wire = self.wires.get(&id).copied();
        Ok(wire.ok_or(AbyError::Undefined { wire: id })?)
    }

    fn assign(&mut self, id: i64, wire: Wire) -> Result<(), ReadErrorKind> {
        match self.wires.insert(id, wire) {
            None => Ok(()),
            Some(_) => Err(AbyError::Reassigned { wire: id }.into()),
        }
    }

    fn finish(self) -> Result<Netlist, ReadErrorKind> {
        if self.outputs == 0 {
            return Err(AbyError::NoOutput.into());
        }
        Ok(self.builder.finish())
    }
}

/// A wire's number: decimal, perhaps negative, of less than 2^32.
fn id(token: &[u8]) -> Result<i64, AbyError> {
    let (negative, digits) = match token.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    let magnitude = number(digits).filter(|_| !digits.is_empty());
    let magnitude = magnitude.map(i64::from).ok_or_else(|| AbyError::NotAWire {
        found: shown(token),
    })?;
    Ok(if negative { -magnitude } else { magnitude })
}
