//! Receipts of submissions.

use madrigal_core::{Digest256, domains};
use madrigal_net::fingerprint::Fingerprint;
use madrigal_net::identity::Identity;

use crate::canonical::{Reader, Writer};
use crate::receipt_error::ReceiptError;
use crate::signed::Signed;

/// A server's word that it has a submission on its disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Fingerprint of the server's key.
    pub server: Fingerprint,
    /// Name of the kind.
    pub kind: String,
    /// Digest of the kind's program.
    pub program: Digest256,
    /// Name of the submission.
    pub submission: Digest256,
    /// Digest of its headers and of the body that this server has.
    pub digest: Digest256,
    /// Time at which it was on disk, in seconds since 1970.
    pub time: u64,
}

impl Receipt {
    /// The bytes that are signed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.bytes(self.server.as_bytes());
        to.text(&self.kind);
        to.bytes(&self.program.0);
        to.bytes(&self.submission.0);
        to.bytes(&self.digest.0);
        to.number(self.time);
        to.0
    }

    /// Reads what [`Receipt::to_bytes`] wrote; every other text is refused.
    ///
    /// # Errors
    /// [`ReceiptError::Encoding`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReceiptError> {
        let mut from = Reader(bytes);
        let receipt = Self {
            server: from.fingerprint()?,
            kind: from.text(madrigal_net::roster::MAX_NAME)?,
            program: from.digest()?,
            submission: from.digest()?,
            digest: from.digest()?,
            time: from.number()?,
        };
        from.end().map(|()| receipt)
    }

    /// Signs the receipt.
    ///
    /// # Errors
    /// [`ReceiptError::Encoding`]: a field that no receipt has, such as a text that is empty or too long.
    pub fn sign(&self, identity: &Identity) -> Result<Signed, ReceiptError> {
        let bytes = self.to_bytes();
        if Self::from_bytes(&bytes)? != *self {
            return Err(ReceiptError::Encoding);
        }
        let signature = identity.sign(domains::RECEIPT, &bytes);
        Ok(Signed {
            bytes: bytes.into(),
            signature,
        })
    }

    /// Reads a receipt that the server with this key has signed.
    ///
    /// # Errors
    /// [`ReceiptError`]: another encoding, server or signature.
    pub fn verify(signed: &Signed, server: &Fingerprint) -> Result<Self, ReceiptError> {
        let signature = &signed.signature;
        signature.verify(server, domains::RECEIPT, &signed.bytes)?;
        let receipt = Self::from_bytes(&signed.bytes)?;
        match receipt.server == *server {
            true => Ok(receipt),
            false => Err(ReceiptError::Server),
        }
    }

    /// Checks that the receipt is for what was submitted.
    ///
    /// # Errors
    /// [`ReceiptError::Other`] for the first field that differs.
    pub fn is_for(
        &self,
        kind: &str,
        program: &Digest256,
        submission: &Digest256,
        digest: &Digest256,
    ) -> Result<(), ReceiptError> {
        let fields = [
            ("kind", self.kind.clone(), kind.to_owned()),
            ("program", self.program.to_string(), program.to_string()),
            (
                "submission",
                self.submission.to_string(),
                submission.to_string(),
            ),
            ("digest", self.digest.to_string(), digest.to_string()),
        ];
        let apart = fields
            .into_iter()
            .find(|(_, got, expected)| got != expected);
        match apart {
            None => Ok(()),
            Some((field, got, expected)) => Err(ReceiptError::Other {
                field,
                got,
                expected,
            }),
        }
    }
}
