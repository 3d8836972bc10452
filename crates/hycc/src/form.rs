//! A sum of words, as it is gathered.

/// A sum of words times factors, and a constant.
pub(crate) struct Form {
    pub(crate) terms: Vec<(u32, u64)>,
    pub(crate) constant: u64,
}

impl Form {
    pub(crate) fn plus(mut self, mut other: Self) -> Self {
        if self.terms.len() < other.terms.len() {
            std::mem::swap(&mut self, &mut other);
        }
        self.terms.append(&mut other.terms);
        self.constant = self.constant.wrapping_add(other.constant);
        self
    }

    pub(crate) fn times(mut self, factor: u64) -> Self {
        for (_, own) in &mut self.terms {
            *own = own.wrapping_mul(factor);
        }
        self.constant = self.constant.wrapping_mul(factor);
        self
    }
}
