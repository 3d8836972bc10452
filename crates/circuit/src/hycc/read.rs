//! The reader of modules, version 5 of the format: bytes to checked gates.

use std::collections::HashSet;
use std::ops::Range;

use madrigal_core::text::is_plain;

use super::error::{ModuleError, ModuleErrorKind};
use super::module::{Call, Gate, Input, Module, Variable};
use super::order;
use super::types::{MOST_NESTED, Type};
use crate::bristol::Limits;

const MAGIC: u32 = 0xcb11_c06c;
const VERSION: u8 = 5;

impl Module {
    /// Reads a module. `file` is for messages.
    ///
    /// # Errors
    /// [`ModuleError`] names the file, the place in bytes, and what is wrong there.
    pub fn read(file: &str, bytes: &[u8], limits: &Limits) -> Result<Self, ModuleError> {
        let mut reader = Reader {
            bytes,
            at: 0,
            limits,
        };
        reader.module(file).map_err(|kind| ModuleError {
            file: file.into(),
            offset: reader.at as u64,
            kind,
        })
    }
}

/// Ways to group pins.
enum Partition {
    Pin(u8),
    Repeat(u64, Box<Self>),
    All(Vec<Self>),
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    limits: &'a Limits,
}

impl Reader<'_> {
    fn module(&mut self, file: &str) -> Result<Module, ModuleErrorKind> {
        let magic = self.u32("the header")?;
        if magic != MAGIC {
            self.at = 0;
            return Err(ModuleErrorKind::Magic { found: magic });
        }
        let version = self.u8("the header")?;
        if version != VERSION {
            return Err(ModuleErrorKind::Version { found: version });
        }
        let mut counts = [0; 6];
        for count in &mut counts {
            *count = self.u32("the header")?;
        }
        let [
            num_gates,
            num_pins,
            num_fan_ins,
            num_inputs,
            num_outputs,
            num_calls,
        ] = counts;
        self.within("gates", num_gates.into(), self.limits.gates)?;
        self.within("input pins", num_pins.into(), self.limits.input_bits)?;
        self.within("inputs", num_inputs.into(), self.limits.values)?;
        self.within("outputs", num_outputs.into(), self.limits.values)?;
        let name = self.name("the module's name")?;
        self.properties()?;

        let mut inputs = Vec::new();
        for _ in 0..num_inputs {
            let name = self.name("an input")?;
            let owner = self.u8("an input")?;
            let ty = self.ty(0)?;
            inputs.push(Input { name, owner, ty });
        }
        distinct("inputs", inputs.iter().map(|input| &input.name[..]))?;
        let outputs = self.variables(num_outputs, "an output")?;
        distinct("outputs", outputs.iter().map(|output| &output.name[..]))?;
        let mut calls = Vec::new();
        for _ in 0..num_calls {
            let callee = self.name("a call")?;
            let (arguments, returns) = (self.u32("a call")?, self.u32("a call")?);
            let returns = self.variables(returns, "a return")?;
            let arguments = self.variables(arguments, "an argument")?;
            distinct("returns", returns.iter().map(|one| &one.name[..]))?;
            distinct("arguments", arguments.iter().map(|one| &one.name[..]))?;
            calls.push(Call {
                callee,
                arguments,
                returns,
                from: Vec::new(),
                to: Vec::new(),
            });
        }

        let mut widths = self.pins(num_pins)?;
        let mut next = 0;
        let mut own = Vec::new();
        for input in &inputs {
            own.push(take_pins(&widths, &mut next, &input.name, &input.ty)?);
        }
        for call in &mut calls {
            for one in &call.returns {
                let pins = take_pins(&widths, &mut next, &one.name, &one.ty)?;
                call.to.push(pins);
            }
        }
        counted("input pins", next, widths.len() as u64)?;

        // A gate has a byte at least: what a header announces beyond that is not believed. Neither list grows in steps,
        // which would take twice as much.
        let left = self.bytes.len() - self.at;
        let count = left.min(num_gates as usize);
        let (mut gates, mut first) = (Vec::with_capacity(count), Vec::with_capacity(count));
        widths.reserve_exact(count);
        for _ in 0..num_gates {
            let gate = self.gate(&mut widths, &mut first)?;
            gates.push(gate);
        }
        let mut fan_ins = 0;
        let mut from = Vec::new();
        for output in &outputs {
            from.push(self.fan_in(&widths, output, &mut fan_ins)?);
        }
        for call in &mut calls {
            for one in &call.arguments {
                call.from.push(self.fan_in(&widths, one, &mut fan_ins)?);
            }
        }
        counted("output pins", num_fan_ins, fan_ins)?;
        if self.at < self.bytes.len() {
            let bytes = self.bytes.len() - self.at;
            return Err(ModuleErrorKind::Trailing { bytes });
        }
        let mut module = Module {
            file: file.into(),
            name,
            inputs,
            outputs,
            calls,
            gates,
            widths,
            first,
            pins: own,
            from,
            order: Vec::new(),
        };
        module.order = order::of(&module)?;
        Ok(module)
    }

    /// Names with types and values, to an empty name. None that are known mean anything.
    fn properties(&mut self) -> Result<(), ModuleErrorKind> {
        loop {
            if self.name("the properties")?.is_empty() {
                return Ok(());
            }
            let ty = self.ty(0)?;
            if ty.bits() != 32 {
                return Err(ModuleErrorKind::value(
                    "a property of a number of bits other than 32:",
                    ty.bits(),
                ));
            }
            self.u32("a property")?;
        }
    }

    fn variables(
        &mut self,
        count: u32,
        what: &'static str,
    ) -> Result<Vec<Variable>, ModuleErrorKind> {
        let mut variables = Vec::new();
        for _ in 0..count {
            let name = self.name(what)?;
            let ty = self.ty(0)?;
            variables.push(Variable { name, ty });
        }
        Ok(variables)
    }

    fn ty(&mut self, depth: usize) -> Result<Type, ModuleErrorKind> {
        const WHAT: &str = "a type";
        let kind = self.u8(WHAT)? & 0x3f;
        let count = self.var(WHAT)?;
        let what = "types nested, one in the other,";
        self.within(what, depth as u64, MOST_NESTED as u32)?;
        self.within("bits or parts of a type", count, self.limits.input_bits)?;
        let bits = count as u32;
        let ty = match (kind, bits) {
            (1 | 2, 1..) => Type::Integer {
                bits,
                signed: kind == 1,
            },
            (3, _) => Type::Array {
                len: bits,
                element: Box::new(self.ty(depth + 1)?),
            },
            (4, _) => {
                let mut members = Vec::new();
                for _ in 0..bits {
                    let name = self.name(WHAT)?;
                    members.push((name, self.ty(depth + 1)?));
                }
                Type::Struct(members)
            }
            (5, 1) => Type::Bool,
            (1 | 2 | 5, _) => {
                return Err(ModuleErrorKind::value("a number of bits of", count));
            }
            _ => {
                return Err(ModuleErrorKind::value("a type of kind", kind));
            }
        };
        self.within("bits of a type", ty.bits(), self.limits.input_bits)?;
        Ok(ty)
    }

    /// The widths of all pins.
    fn pins(&mut self, expected: u32) -> Result<Vec<u8>, ModuleErrorKind> {
        let tree = self.partition(0)?;
        let mut pins = Vec::new();
        expand(&tree, u64::from(expected), &mut pins)?;
        counted("input pins", expected, pins.len() as u64)?;
        Ok(pins)
    }

    fn partition(&mut self, depth: usize) -> Result<Partition, ModuleErrorKind> {
        const WHAT: &str = "the partition of the input pins";
        let what = "groups of pins, one in the other,";
        self.within(what, depth as u64, 2 * MOST_NESTED as u32)?;
        let byte = self.u8(WHAT)?;
        let size = match u64::from(byte & 0x3f) {
            0 => self.var(WHAT)?,
            size => size,
        };
        match byte >> 6 {
            0 => match u8::try_from(size) {
                Ok(width @ (1 | 8 | 16 | 32 | 64)) => Ok(Partition::Pin(width)),
                _ => Err(ModuleErrorKind::value("an input pin of width", size)),
            },
            1 => Ok(Partition::Repeat(
                size,
                Box::new(self.partition(depth + 1)?),
            )),
            2 => {
                let mut all = Vec::new();
                for _ in 0..size {
                    all.push(self.partition(depth + 1)?);
                }
                Ok(Partition::All(all))
            }
            kind => Err(ModuleErrorKind::value("a group of pins of kind", kind)),
        }
    }

    fn gate(
        &mut self,
        widths: &mut Vec<u8>,
        first: &mut Vec<u32>,
    ) -> Result<Gate, ModuleErrorKind> {
        const WHAT: &str = "a gate";
        let opcode = self.u8(WHAT)?;
        let bits = "bits";
        let mut width = 1;
        let mut count = 1;
        let gate = match opcode {
            0x01..=0x03 => {
                let a = self.wire(widths, WHAT, bits, |width| width == 1)?;
                let b = self.wire(widths, WHAT, bits, |width| width == 1)?;
                match opcode {
                    0x01 => Gate::And(a, b),
                    0x02 => Gate::Or(a, b),
                    _ => Gate::Xor(a, b),
                }
            }
            0x04 => Gate::Not(self.wire(widths, "NOT", bits, |width| width == 1)?),
            0x05 => Gate::One,
            0xc1 | 0xc2 | 0xc4 => {
                let name = "arithmetic";
                let a = self.wire(widths, name, "words", |width| width > 1)?;
                width = widths[a as usize];
                let b = self.wire(widths, name, "words of one width", |own| own == width)?;
                match opcode {
                    0xc1 => Gate::Add(a, b),
                    0xc2 => Gate::Sub(a, b),
                    _ => Gate::Mul(a, b),
                }
            }
            0xc3 => {
                let a = self.wire(widths, "NEG", "words", |width| width > 1)?;
                width = widths[a as usize];
                Gate::Neg(a)
            }
            0xc5 => {
                let (bits, value) = (self.var("a constant")?, self.var("a constant")?);
                width = word(bits, "a constant of width")?;
                let mask = u64::MAX >> (64 - width);
                Gate::Constant {
                    width,
                    value: value & mask,
                }
            }
            0x40..=0x7f => {
                let len = (opcode & 0x3f) + 1;
                width = match len {
                    1 => 1,
                    _ => word(len.into(), "a word combined from a number of bits of")?,
                };
                let mut wires = Vec::with_capacity(len.into());
                for _ in 0..len {
                    wires.push(self.wire(widths, "COMBINE", bits, |width| width == 1)?);
                }
                Gate::Combine(wires)
            }
            0xe0 => {
                let a = self.wire(widths, "SPLIT", "words", |width| width > 1)?;
                count = widths[a as usize];
                Gate::Split(a)
            }
            _ => {
                return Err(ModuleErrorKind::value("a gate with the opcode", opcode));
            }
        };
        first.push(widths.len() as u32);
        widths.extend((0..count).map(|_| width));
        self.within("wires", widths.len() as u64, self.limits.wires())?;
        Ok(gate)
    }

    fn fan_in(
        &mut self,
        widths: &[u8],
        variable: &Variable,
        count: &mut u64,
    ) -> Result<Vec<u32>, ModuleErrorKind> {
        let expected = variable.ty.bits();
        let (mut found, mut wires) = (0, Vec::new());
        while found < expected {
            let wire = self.wire(widths, "an output", "a wire", |_| true)?;
            found += u64::from(widths[wire as usize]);
            wires.push(wire);
        }
        *count += wires.len() as u64;
        filled(&variable.name, expected, found)?;
        Ok(wires)
    }

    /// A wire that is there already, of a width that fits.
    fn wire(
        &mut self,
        widths: &[u8],
        gate: &'static str,
        expected: &'static str,
        fits: impl Fn(u8) -> bool,
    ) -> Result<u32, ModuleErrorKind> {
        let wire = self.u32(gate)?;
        let width = widths.get(wire as usize).copied();
        let found = width.ok_or(ModuleErrorKind::Wire {
            wire,
            wires: widths.len() as u32,
        })?;
        match fits(found) {
            true => Ok(wire),
            false => Err(ModuleErrorKind::Width {
                gate,
                expected,
                wire,
                found,
            }),
        }
    }

    fn within(&self, what: &'static str, found: u64, limit: u32) -> Result<(), ModuleErrorKind> {
        let limit = u64::from(limit);
        match found > limit {
            true => Err(ModuleErrorKind::Limit { what, found, limit }),
            false => Ok(()),
        }
    }

    fn u8(&mut self, expected: &'static str) -> Result<u8, ModuleErrorKind> {
        let byte = self.bytes.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte.ok_or(ModuleErrorKind::Short { expected })
    }

    fn u32(&mut self, expected: &'static str) -> Result<u32, ModuleErrorKind> {
        let bytes = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk());
        let bytes = bytes.ok_or(ModuleErrorKind::Short { expected })?;
        self.at += 4;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// Seven bits in each byte, the lowest first; the highest bit says that another byte follows.
    fn var(&mut self, expected: &'static str) -> Result<u64, ModuleErrorKind> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.u8(expected)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ModuleErrorKind::value(
            "a number of more than 64 bits that begins with",
            value,
        ))
    }

    /// Bytes to the next zero.
    fn name(&mut self, expected: &'static str) -> Result<String, ModuleErrorKind> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == 0);
        let end = end.ok_or(ModuleErrorKind::Short { expected })?;
        let name = std::str::from_utf8(&rest[..end]).map_err(|_| ModuleErrorKind::Name)?;
        // Names go to terminals, and into texts of values, where one that ends a line would be read as another's value.
        if !name.chars().all(is_plain) {
            return Err(ModuleErrorKind::Name);
        }
        self.at += end + 1;
        Ok(name.to_owned())
    }
}

/// Checks that the file has as many of something as its header announces.
fn counted(what: &'static str, expected: u32, found: u64) -> Result<(), ModuleErrorKind> {
    let expected = expected.into();
    match found == expected {
        true => Ok(()),
        false => Err(ModuleErrorKind::Count {
            what,
            expected,
            found,
        }),
    }
}

/// Checks that pins have the bits of their variable.
fn filled(name: &str, expected: u64, found: u64) -> Result<(), ModuleErrorKind> {
    match found == expected {
        true => Ok(()),
        false => Err(ModuleErrorKind::Pins {
            name: name.to_owned(),
            expected,
            found,
        }),
    }
}

/// A width that words have.
fn word(bits: u64, what: &'static str) -> Result<u8, ModuleErrorKind> {
    match bits {
        8 | 16 | 32 | 64 => Ok(bits as u8),
        found => Err(ModuleErrorKind::value(what, found)),
    }
}

/// The pins of a partition, `most` at the utmost.
fn expand(tree: &Partition, most: u64, pins: &mut Vec<u8>) -> Result<(), ModuleErrorKind> {
    let within = |found: u64| match found > most {
        true => Err(ModuleErrorKind::Count {
            what: "input pins",
            expected: most,
            found,
        }),
        false => Ok(()),
    };
    match tree {
        Partition::Pin(width) => {
            within(pins.len() as u64 + 1)?;
            pins.push(*width);
        }
        Partition::All(all) => {
            for one in all {
                expand(one, most, pins)?;
            }
        }
        Partition::Repeat(0, _) => {}
        Partition::Repeat(count, one) => {
            let start = pins.len();
            expand(one, most, pins)?;
            let each = (pins.len() - start) as u64;
            within((start as u64).saturating_add(each.saturating_mul(*count)))?;
            for _ in 1..if each > 0 { *count } else { 0 } {
                pins.extend_from_within(start..start + each as usize);
            }
        }
    }
    Ok(())
}

/// The next pins, as many as a variable's bits fill.
fn take_pins(
    widths: &[u8],
    next: &mut u32,
    name: &str,
    ty: &Type,
) -> Result<Range<u32>, ModuleErrorKind> {
    let (first, expected) = (*next, ty.bits());
    let mut found = 0;
    while found < expected {
        let Some(&width) = widths.get(*next as usize) else {
            break;
        };
        found += u64::from(width);
        *next += 1;
    }
    filled(name, expected, found)?;
    Ok(first..*next)
}

fn distinct<'a>(
    side: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), ModuleErrorKind> {
    let mut known = HashSet::new();
    for name in names {
        if !known.insert(name) {
            let name = name.to_owned();
            return Err(ModuleErrorKind::Twice { side, name });
        }
    }
    Ok(())
}
