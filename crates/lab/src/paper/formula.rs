//! The formulas that a paper's table has in place of numbers.

/// Values of a formula's letters: parties (`N`), bits of a number (`l`) and of a key (`k`).
#[derive(Debug, Clone, Copy)]
pub struct Letters {
    pub parties: usize,
    pub bits: u32,
    pub key: u32,
}

/// Computes a formula of whole numbers, letters, `+`, `-`, `*`, `/` and brackets; nothing for anything else.
pub fn value(text: &str, letters: Letters) -> Option<f64> {
    let mut reader = Reader {
        rest: text.as_bytes(),
        letters,
    };
    let value = reader.sum()?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a [u8],
    letters: Letters,
}

impl Reader<'_> {
    /// Takes the next sign if it is one of these.
    fn take(&mut self, signs: &[u8]) -> Option<u8> {
        let (&sign, rest) = self.rest.split_first()?;
        signs.contains(&sign).then(|| {
            self.rest = rest;
            sign
        })
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(b"+-") {
            let next = self.product()?;
            value += if sign == b'+' { next } else { -next };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.factor()?;
        while let Some(sign) = self.take(b"*/") {
            let next = self.factor()?;
            value = if sign == b'*' {
                value * next
            } else {
                value / next
            };
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<f64> {
        if self.take(b"(").is_some() {
            let value = self.sum()?;
            return self.take(b")").map(|_| value);
        }
        match self.take(b"Nlk") {
            Some(b'N') => return Some(self.letters.parties as f64),
            Some(b'l') => return Some(f64::from(self.letters.bits)),
            Some(_) => return Some(f64::from(self.letters.key)),
            None => {}
        }
        let mut value = None;
        while let Some(digit) = self.take(b"0123456789") {
            value = Some(value.unwrap_or(0.0) * 10.0 + f64::from(digit - b'0'));
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_computed() {
        let letters = Letters {
            parties: 3,
            bits: 32,
            key: 128,
        };
        let of = |text| value(text, letters);
        assert_eq!(of("0"), Some(0.0));
        assert_eq!(of("N*(N-1)*k"), Some(768.0));
        assert_eq!(of("l*N*(N-1)*(k+l/2)"), Some(27_648.0));
        assert_eq!(of("2-1-1"), Some(0.0));
        for wrong in ["", "N*", "(N", "N)", "x", "-1", "2 + 2", "N N"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
