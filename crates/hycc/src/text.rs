//! Values as people and HyCC's tools write them.

use std::collections::BTreeMap;

use madrigal_circuit::hycc::Type;
use madrigal_core::Zeroizing;

/// A text that is no value. Values are secrets: it tells a line, and nothing that stands there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct TextError {
    /// The line, counted from 1.
    pub line: usize,
    /// Kind of the error.
    pub kind: TextErrorKind,
}

/// Errors of a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextErrorKind {
    /// A name that no variable has.
    #[error("the program has no input {name:?} here")]
    Name {
        /// The name, shortened.
        name: String,
    },
    /// Two values.
    #[error("{name} has a value already; give one for each run")]
    Twice {
        /// The variable.
        name: String,
    },
    /// Something else than the variable's type.
    #[error("{name} is {ty}: {expected} is expected in element {element}")]
    Value {
        /// The variable.
        name: String,
        /// Type of the variable.
        ty: String,
        /// Text that should stand there.
        expected: &'static str,
        /// Numbers that came before, and one.
        element: usize,
    },
    /// A line that is no statement.
    #[error("expected NAME := VALUE;, found something else")]
    Statement,
}

type RunValues = BTreeMap<String, Zeroizing<Vec<u8>>>;

/// All runs of a text.
pub(crate) fn runs<'t>(
    text: &str,
    type_of: &dyn Fn(&str) -> Option<&'t Type>,
    runs: &mut Vec<RunValues>,
) -> Result<(), TextError> {
    let mut run = RunValues::new();
    let mut any = false;
    let mut reader = Reader::new(text);
    loop {
        reader.skip(|byte| byte.is_ascii_whitespace() || byte == b';');
        if reader.rest.is_empty() {
            break;
        }
        if reader.rest.starts_with(b"---") {
            reader.skip(|byte| byte == b'-');
            runs.push(std::mem::take(&mut run));
            any = false;
            continue;
        }
        any = true;
        let line = reader.line;
        let wrong = |kind| TextError { line, kind };
        let name = reader.word();
        reader.skip(|byte| byte == b' ' || byte == b'\t');
        if name.is_empty() || !reader.rest.starts_with(b":=") {
            // A line that is to be checked or shown is no input.
            let checked = !name.is_empty() && reader.rest.starts_with(b"==");
            let other = checked || name == "print";
            if !other {
                return Err(wrong(TextErrorKind::Statement));
            }
            reader.skip(|byte| byte != b';' && byte != b'\n');
            continue;
        }
        reader.advance(2);
        let ty = type_of(&name).ok_or_else(|| {
            let name = name.chars().take(64).collect();
            wrong(TextErrorKind::Name { name })
        })?;
        let bits = reader.whole(&name, ty, true)?;
        if run.insert(name.clone(), bits).is_some() {
            return Err(wrong(TextErrorKind::Twice { name }));
        }
    }
    if any || runs.is_empty() {
        runs.push(run);
    }
    Ok(())
}

/// The bits of one value.
pub(crate) fn value(text: &str, name: &str, ty: &Type) -> Result<Zeroizing<Vec<u8>>, TextError> {
    let mut reader = Reader::new(text);
    let bits = reader.whole(name, ty, false)?;
    reader.skip(|byte| byte.is_ascii_whitespace() || byte == b';');
    match reader.rest.is_empty() {
        true => Ok(bits),
        false => Err(reader.wrong(name, ty, "no more", ty.leaves().len())),
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    line: usize,
    /// Numbers so far.
    elements: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes(),
            line: 1,
            elements: 0,
        }
    }

    fn wrong(&self, name: &str, ty: &Type, expected: &'static str, before: usize) -> TextError {
        TextError {
            line: self.line,
            kind: TextErrorKind::Value {
                name: name.into(),
                ty: ty.to_string(),
                expected,
                element: before + 1,
            },
        }
    }

    fn advance(&mut self, bytes: usize) {
        let (gone, rest) = self.rest.split_at(bytes);
        self.line += gone.iter().filter(|&&byte| byte == b'\n').count();
        self.rest = rest;
    }

    fn skip(&mut self, of: impl Fn(u8) -> bool) {
        let end = self.rest.iter().position(|&byte| !of(byte));
        self.advance(end.unwrap_or(self.rest.len()));
    }

    fn space(&mut self) {
        self.skip(|byte| byte.is_ascii_whitespace());
    }

    /// Takes this byte, if it comes next.
    fn takes(&mut self, byte: u8) -> bool {
        self.space();
        let next = self.rest.first() == Some(&byte);
        if next {
            self.advance(1);
        }
        next
    }

    /// A name: to the next blank, sign of punctuation or bracket.
    fn word(&mut self) -> String {
        let end = |byte: &u8| byte.is_ascii_whitespace() || b":;=[]{}".contains(byte);
        let end = self.rest.iter().position(end).unwrap_or(self.rest.len());
        let word = String::from_utf8_lossy(&self.rest[..end]).into_owned();
        self.advance(end);
        word
    }

    /// A value with what may stand for a whole one: all its bits as one number, or its numbers without
    /// brackets, which end with the line if so.
    fn whole(
        &mut self,
        name: &str,
        ty: &Type,
        line: bool,
    ) -> Result<Zeroizing<Vec<u8>>, TextError> {
        self.elements = 0;
        let width = ty.bits() as usize;
        let mut bits = Zeroizing::new(Vec::with_capacity(width));
        self.space();
        let nested = matches!(ty, Type::Array { .. } | Type::Struct(_));
        if !nested || matches!(self.rest.first(), Some(b'[' | b'{')) {
            self.nested(name, ty, ty, &mut bits)?;
            return Ok(bits);
        }
        let leaves = ty.leaves();
        let begins_hexadecimal = self.rest.starts_with(b"0x") || self.rest.starts_with(b"0X");
        if begins_hexadecimal && leaves.len() != 1 {
            let end = |byte: &u8| byte.is_ascii_whitespace() || b",;".contains(byte);
            let end = self.rest.iter().position(end).unwrap_or(self.rest.len());
            let rest = &self.rest[end..];
            let more = rest
                .iter()
                .find(|byte| !byte.is_ascii_whitespace() || (line && **byte == b'\n'));
            if matches!(more, None | Some(b';' | b'\n')) {
                return self
                    .number(width, false, &mut bits)
                    .map(|()| bits)
                    .ok_or_else(|| self.wrong(name, ty, "a number of as many bits", 0));
            }
        }
        for leaf in &leaves {
            if line {
                self.skip(|byte| matches!(byte, b' ' | b'\t' | b',' | b'\r'));
            } else {
                self.skip(|byte| byte.is_ascii_whitespace() || byte == b',');
            }
            self.number(leaf.bits as usize, leaf.signed, &mut bits)
                .ok_or_else(|| {
                    self.wrong(name, ty, "a number in the range of its type", self.elements)
                })?;
            self.elements += 1;
        }
        Ok(bits)
    }

    fn nested(
        &mut self,
        name: &str,
        whole: &Type,
        ty: &Type,
        bits: &mut Zeroizing<Vec<u8>>,
    ) -> Result<(), TextError> {
        self.space();
        let expect = |own: &Self, fits, expected| match fits {
            true => Ok(()),
            false => Err(own.wrong(name, whole, expected, own.elements)),
        };
        match ty {
            Type::Integer {
                bits: width,
                signed,
            } => {
                let read = self.number(*width as usize, *signed, bits);
                expect(self, read.is_some(), "a number in the range of its type")?;
                self.elements += 1;
            }
            Type::Bool => {
                let read = self.number(1, false, bits);
                expect(self, read.is_some(), "0 or 1")?;
                self.elements += 1;
            }
            Type::Array { element, .. } if element.bits() == 0 => {
                let empty = self.takes(b'[') && self.takes(b']');
                expect(self, empty, "an empty array `[]`")?;
            }
            Type::Array { len, element } => {
                let open = self.takes(b'[');
                expect(self, open, "an array `[...]`")?;
                for place in 0..*len {
                    let comma = place == 0 || self.takes(b',');
                    expect(self, comma, "a comma and another element")?;
                    self.nested(name, whole, element, bits)?;
                }
                let _ = self.takes(b',');
                let closed = self.takes(b']');
                expect(self, closed, "the array's end `]`")?;
            }
            Type::Struct(members) => {
                let open = self.takes(b'{');
                expect(self, open, "a struct `{...}`")?;
                let mut values: BTreeMap<&str, Zeroizing<Vec<u8>>> = BTreeMap::new();
                for _ in members {
                    self.space();
                    let word = self.word();
                    let member = members.iter().find(|(member, _)| *member == word);
                    let fits = member.is_some() && self.takes(b':');
                    expect(self, fits, "a member `name: value;`")?;
                    if let Some((member, ty)) = member {
                        let mut own = Zeroizing::new(Vec::with_capacity(ty.bits() as usize));
                        self.nested(name, whole, ty, &mut own)?;
                        let twice = values.insert(member, own).is_some();
                        expect(self, !twice, "another member")?;
                    }
                    let _ = self.takes(b';') || self.takes(b',');
                }
                let closed = self.takes(b'}');
                expect(self, closed, "the struct's end `}`")?;
                for (member, _) in members {
                    let own = values.get(&member[..]);
                    bits.extend(own.iter().flat_map(|own| own.iter()));
                }
            }
        }
        Ok(())
    }

    /// Appends the bits of the next number.
    fn number(&mut self, width: usize, signed: bool, bits: &mut Zeroizing<Vec<u8>>) -> Option<()> {
        let end = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'-');
        let end = self.rest.iter().position(end).unwrap_or(self.rest.len());
        let token = &self.rest[..end];
        number(token, width, signed, bits)?;
        self.advance(end);
        Some(())
    }
}

fn number(token: &[u8], width: usize, signed: bool, bits: &mut Vec<u8>) -> Option<()> {
    let token = std::str::from_utf8(token).ok()?;
    let (negative, digits) = match token.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, token),
    };
    let hexadecimal = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    if let (Some(digits), false) = (hexadecimal, negative) {
        let start = bits.len();
        let mut over = digits.is_empty();
        for digit in digits.bytes().rev() {
            let nibble = (digit as char).to_digit(16)?;
            for bit in 0..4 {
                let bit = (nibble >> bit & 1) as u8;
                match bits.len() < start + width {
                    true => bits.push(bit),
                    false => over |= bit == 1,
                }
            }
        }
        bits.resize(start + width, 0);
        return (!over).then_some(());
    }
    let value = match (digits, width) {
        ("true", 1) if !negative => 1,
        ("false", 1) if !negative => 0,
        _ => {
            let decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u128>().ok().filter(|_| decimal)?
        }
    };
    let most = match (signed, negative, width) {
        (_, _, 0) => return None,
        (true, true, ..=128) => 1u128 << (width - 1),
        (true, false, ..=128) => (1u128 << (width - 1)) - 1,
        (false, false, ..=128) => u128::MAX >> (128 - width),
        (false, true, _) => 0,
        _ => u128::MAX,
    };
    if value > most {
        return None;
    }
    let code = if negative {
        value.wrapping_neg()
    } else {
        value
    };
    // Above 128 bits copies of the sign.
    let above = u8::from(negative && value > 0);
    bits.extend((0..width).map(|bit| match bit {
        ..128 => (code >> bit & 1) as u8,
        _ => above,
    }));
    Some(())
}

/// Writes a value as HyCC does.
pub(crate) fn written(bits: &[u8], ty: &Type) -> String {
    let mut text = String::new();
    write(&mut &bits[..], ty, &mut text);
    text
}

fn write(bits: &mut &[u8], ty: &Type, text: &mut String) {
    match ty {
        Type::Bool => text.push_str(&taken(bits, 1, false)),
        Type::Integer {
            bits: width,
            signed,
        } => text.push_str(&taken(bits, *width as usize, *signed)),
        Type::Array { len, element } => {
            text.push('[');
            let len = if element.bits() == 0 { 0 } else { *len };
            for place in 0..len {
                text.push_str(if place > 0 { ", " } else { "" });
                write(bits, element, text);
            }
            text.push(']');
        }
        Type::Struct(members) => {
            text.push('{');
            for (place, (name, member)) in members.iter().enumerate() {
                text.push_str(if place > 0 { " " } else { "" });
                text.push_str(name);
                text.push_str(": ");
                write(bits, member, text);
                text.push(';');
            }
            text.push('}');
        }
    }
}

/// The next number: in decimal, or of more than 128 bits in hexadecimal.
fn taken(bits: &mut &[u8], width: usize, signed: bool) -> String {
    let (own, rest) = bits.split_at(width.min(bits.len()));
    *bits = rest;
    if width > 128 {
        let digit = |bits: &[u8]| {
            let value = (0..)
                .zip(bits)
                .fold(0, |all, (at, &bit)| all | u32::from(bit) << at);
            char::from_digit(value, 16).unwrap_or('?')
        };
        let digits: String = own.chunks(4).rev().map(digit).collect();
        return format!("0x{digits}");
    }
    let code = (0..)
        .zip(own)
        .fold(0, |all, (at, &bit)| all | u128::from(bit) << at);
    let above = 128 - width as u32;
    match signed {
        true => ((code << above) as i128 >> above).to_string(),
        false => code.to_string(),
    }
}
