//! Readers: lines to checked gates.

use super::{Limits, within};
use crate::error::{GateError, HeaderError, ReadError, ReadErrorKind};
use crate::netlist::{Assembler, Format, Gate, Netlist};
use crate::text::{Lines, number, shown, tokens};
use crate::values::BYTE_ORDER_MARK;

impl Netlist {
    /// Reads a netlist in either Bristol format, recognised by its header, or in ABY's
    /// ([`read_aby`](Self::read_aby)), which has none. `name` is for messages.
    ///
    /// A byte order mark before the text, comments from a `#` to the line's end, blanks at the ends of lines, blank
    /// lines, line ends of CR or of CR and LF, and a missing last line end are accepted; beyond that the text must be
    /// exact: counts as announced, each wire an input or assigned once, and before it is read. An old-format `n2` of 0 means that there is no second
    /// input value; in Bristol Fashion a value of width 0 is a value.
    ///
    /// # Errors
    /// [`ReadError`] names the file, the line, and what to correct.
    pub fn read(name: &str, text: &[u8], limits: &Limits) -> Result<Self, ReadError> {
        let unmarked = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if Self::is_aby(unmarked) {
            return Self::read_aby(name, unmarked, limits);
        }
        let mut lines = Lines::without_comments(unmarked);
        let read = read(name, text.len(), &mut lines, limits, None).map_err(|kind| ReadError {
            name: name.into(),
            line: lines.number().max(1),
            kind,
        })?;
        Ok(read.expect("it ends where the text ends"))
    }
}

fn read(
    name: &str,
    bytes: usize,
    lines: &mut Lines<'_>,
    limits: &Limits,
    end: Option<&[u8]>,
) -> Result<Option<Netlist>, ReadErrorKind> {
    let mut ended = end.is_none();
    let header = Header::read(lines, limits)?;
    let mut assembler = Assembler::new(
        name,
        header.format,
        header.wires,
        header.inputs,
        header.outputs,
    )?;
    assembler.expect_text(bytes)?;
    let expected = u64::from(header.gates);
    let mut numbers = Vec::new();
    let mut found = 0;
    for line in lines.by_ref() {
        if Some(line) == end {
            ended = true;
            break;
        }
        found += 1;
        if found > expected {
            return Err(HeaderError::GateCount { expected, found }.into());
        }
        gate(&mut assembler, header.format, line, &mut numbers)?;
    }
    if found != expected {
        return Err(HeaderError::GateCount { expected, found }.into());
    }
    if !ended {
        return Ok(None);
    }
    Ok(Some(assembler.finish()?))
}

/// Reads a netlist within a text of `bytes` bytes, up to a line `end`; gives nothing where the text ends before that.
pub(crate) fn read_part(
    name: &str,
    bytes: usize,
    lines: &mut Lines<'_>,
    limits: &Limits,
) -> Result<Option<Netlist>, ReadErrorKind> {
    read(name, bytes, lines, limits, Some(b"end"))
}

struct Header {
    format: Format,
    gates: u32,
    wires: u32,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

impl Header {
    fn read(lines: &mut Lines<'_>, limits: &Limits) -> Result<Self, HeaderError> {
        let counts = numbers(lines, "the first line 'gates wires'")?;
        let [gates, wires] = counts[..] else {
            return Err(HeaderError::Counts {
                found: counts.len(),
            });
        };
        within("gates", gates.into(), limits.gates)?;
        within("wires", wires.into(), limits.wires())?;

        let second = numbers(lines, "the second line, the widths")?;
        let third: Option<Vec<u32>> = lines
            .clone()
            .next()
            .and_then(|line| tokens(line).map(number).collect());
        // A first gate that lost its word must not turn an old header into a broken new one.
        let counted = |line: &[u32]| widths("", line).is_ok();
        let fashion =
            third.is_some_and(|third| second.len() != 3 || counted(&second) || counted(&third));
        let (format, inputs, outputs) = if fashion {
            let inputs = widths("input", &second)?;
            let third = numbers(lines, "the third line, the output widths")?;
            (Format::BristolFashion, inputs, widths("output", &third)?)
        } else {
            let [first, second, output] = second[..] else {
                return Err(HeaderError::OldWidths {
                    found: second.len(),
                });
            };
            let inputs = if second == 0 {
                vec![first]
            } else {
                vec![first, second]
            };
            (Format::Bristol, inputs, vec![output])
        };
        within("input values", inputs.len() as u64, limits.values)?;
        within("output values", outputs.len() as u64, limits.values)?;
        let input_bits = inputs.iter().map(|&width| u64::from(width)).sum();
        within("input bits", input_bits, limits.input_bits)?;
        Ok(Self {
            format,
            gates,
            wires,
            inputs,
            outputs,
        })
    }
}

/// The widths of a Bristol Fashion line `count width ... width`.
fn widths(side: &'static str, line: &[u32]) -> Result<Vec<u32>, HeaderError> {
    match line.split_first() {
        Some((&count, rest)) if count as usize == rest.len() => Ok(rest.to_vec()),
        Some((&count, rest)) => Err(HeaderError::FashionWidths {
            side,
            count,
            found: rest.len(),
        }),
        None => Err(HeaderError::Missing {
            expected: "the widths",
        }),
    }
}

/// The next line, which must hold numbers only.
fn numbers(lines: &mut Lines<'_>, expected: &'static str) -> Result<Vec<u32>, HeaderError> {
    let line = lines.next().ok_or(HeaderError::Missing { expected })?;
    tokens(line)
        .map(|token| {
            number(token).ok_or_else(|| HeaderError::NotANumber {
                expected,
                found: shown(token),
            })
        })
        .collect()
}

/// Reads one gate; `numbers` is working space.
fn gate(
    assembler: &mut Assembler,
    format: Format,
    line: &[u8],
    numbers: &mut Vec<u32>,
) -> Result<(), GateError> {
    numbers.clear();
    let mut tokens = tokens(line);
    let operation = loop {
        let token = tokens.next().ok_or(GateError::NoOperation)?;
        match number(token) {
            Some(number) => numbers.push(number),
            None if token[0].is_ascii_alphabetic() => break token,
            None => {
                return Err(GateError::NotANumber {
                    found: shown(token),
                });
            }
        }
    };
    if let Some(token) = tokens.next() {
        return Err(GateError::Trailing {
            found: shown(token),
        });
    }
    let (ins, outs, wires) = match &numbers[..] {
        [ins, outs, wires @ ..] => (*ins, *outs, wires),
        few => (0, 0, few),
    };
    let counted = u64::from(ins) + u64::from(outs) == wires.len() as u64;
    if !counted || numbers.len() < 2 {
        let found = wires.len();
        return Err(GateError::Operands { ins, outs, found });
    }
    let arity = |op, expected| GateError::Arity {
        op,
        expected,
        ins,
        outs,
    };
    let two = |op| match *wires {
        [a, b, out] if ins == 2 => Ok((a, b, out)),
        _ => Err(arity(op, "2 inputs and 1 output")),
    };
    let one = |op| match *wires {
        [a, out] if ins == 1 => Ok((a, out)),
        _ => Err(arity(op, "1 input and 1 output")),
    };
    let new = format == Format::BristolFashion;
    let gate = match operation {
        b"XOR" => two("XOR").map(|(a, b, out)| Gate::Xor { a, b, out })?,
        b"AND" => two("AND").map(|(a, b, out)| Gate::And { a, b, out })?,
        b"OR" => two("OR").map(|(a, b, out)| Gate::Or { a, b, out })?,
        b"XNOR" => {
            return assembler.inverted(two("XNOR").map(|(a, b, out)| Gate::Xor { a, b, out })?);
        }
        b"NAND" => {
            return assembler.inverted(two("NAND").map(|(a, b, out)| Gate::And { a, b, out })?);
        }
        b"NOR" => {
            return assembler.inverted(two("NOR").map(|(a, b, out)| Gate::Or { a, b, out })?);
        }
        b"INV" | b"NOT" => one("INV").map(|(a, out)| Gate::Inv { a, out })?,
        b"EQW" if new => one("EQW").map(|(a, out)| Gate::Copy { a, out })?,
        b"EQ" if new => match one("EQ")? {
            (bit @ 0..=1, out) => Gate::Const { bit: bit == 1, out },
            (found, _) => return Err(GateError::Constant { found }),
        },
        b"MAND" if new => {
            if outs == 0 || u64::from(ins) != 2 * u64::from(outs) {
                return Err(arity("MAND", "2n inputs and n outputs, n at least 1"));
            }
            return assembler.mand(wires);
        }
        _ => {
            let known = if new {
                "XOR, AND, OR, XNOR, NAND, NOR, INV, NOT, EQ, EQW and MAND"
            } else {
                "XOR, AND, OR, XNOR, NAND, NOR, INV and NOT"
            };
            return Err(GateError::Operation {
                found: shown(operation),
                format: format.name(),
                known,
            });
        }
    };
    assembler.gate(gate)
}
