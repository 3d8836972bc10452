//! The one encoding of what is signed: parts of fixed order, integers little-endian, texts and lists after their lengths.

use madrigal_core::Digest256;
use madrigal_core::text::is_plain;
use madrigal_net::fingerprint::Fingerprint;

use crate::receipt_error::ReceiptError;

/// Puts parts one after the other.
#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8; 32]) {
        self.0.extend(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u16).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.0.push(count as u8);
    }
}

/// Takes parts off the front.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReceiptError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(ReceiptError::Encoding)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn number(&mut self) -> Result<u64, ReceiptError> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn digest(&mut self) -> Result<Digest256, ReceiptError> {
        self.array().map(Digest256)
    }

    pub(crate) fn fingerprint(&mut self) -> Result<Fingerprint, ReceiptError> {
        self.array().map(Fingerprint::from_bytes)
    }

    pub(crate) fn count(&mut self, most: usize) -> Result<usize, ReceiptError> {
        let [count] = self.array()?;
        match usize::from(count) {
            count if count <= most => Ok(count),
            _ => Err(ReceiptError::Encoding),
        }
    }

    pub(crate) fn text(&mut self, most: usize) -> Result<String, ReceiptError> {
        let length = usize::from(u16::from_le_bytes(self.array()?));
        let (text, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(ReceiptError::Encoding)?;
        self.0 = rest;
        let text = std::str::from_utf8(text).map_err(|_| ReceiptError::Encoding)?;
        let fits = (1..=most).contains(&length) && text.chars().all(is_plain);
        fits.then(|| text.to_owned()).ok_or(ReceiptError::Encoding)
    }

    /// Whether all was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Nothing follows.
    pub(crate) fn end(&self) -> Result<(), ReceiptError> {
        self.0
            .is_empty()
            .then_some(())
            .ok_or(ReceiptError::Encoding)
    }
}
