//! The data files: shares of one kind, in chunks of a fixed number of items.
//!
//! A chunk is the columns of its items (a, b, c, ...) one after the other, each padded to a byte,
//! encrypted with AES-256-GCM. The key is the file's own, the nonce is the chunk's number, and each
//! number is encrypted once: a file is written from its beginning to its end by the one who made it,
//! and never again. The additional data binds the header, the chunk's number and its items, so that
//! chunks can neither move nor be exchanged for those of another store under the same key.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use aws_lc_rs::aead::{Aad, LessSafeKey, Nonce};
use madrigal_core::{Zeroizing, bits};
use madrigal_correlations::{Kind, Strings};

use crate::error::{Result, StoreError};
use crate::files;
use crate::key::Keys;
use crate::records::Header;

/// Bytes of a chunk, about: small jobs do not decrypt much that they do not use.
const CHUNK_BYTES: u128 = 96 << 10;
/// Bytes of what is made at once, about: what a maker keeps in memory.
const BATCH_BYTES: u128 = 16 << 20;
/// The most bytes of a chunk and of a file.
const MAX_CHUNK_BYTES: u128 = 1 << 34;
const MAX_FILE_BYTES: u128 = 1 << 60;
const TAG_BYTES: usize = 16;

/// How the items of a kind lie in a file.
#[derive(Clone, Debug)]
pub(crate) struct ChunkLayout {
    /// Bits of an item in each column.
    widths: Vec<usize>,
    /// Items of a chunk, but for the last one.
    per_chunk: u64,
    /// Items of the file.
    count: u64,
}

impl ChunkLayout {
    pub(crate) fn new(kind: Kind, count: u64) -> Result<Self> {
        let columns = kind.columns();
        let item: u128 = columns.iter().sum();
        let per_chunk = Self::items(item, CHUNK_BYTES);
        let chunk = item.saturating_mul(u128::from(per_chunk)) / 8;
        let all = item.saturating_mul(u128::from(count)) / 8;
        // Below, no product of these overflows.
        if count == 0 || chunk > MAX_CHUNK_BYTES || all > MAX_FILE_BYTES {
            return Err(StoreError::Size);
        }
        let widths: Option<Vec<usize>> = columns.iter().map(|&w| w.try_into().ok()).collect();
        Ok(Self {
            widths: widths.ok_or(StoreError::Size)?,
            per_chunk,
            count,
        })
    }

    /// A power of two of items of `item` bits that take about `bytes`; at least one.
    fn items(item: u128, bytes: u128) -> u64 {
        let fit = (8 * bytes / item.max(1)).clamp(1, 1 << 30);
        1 << fit.ilog2()
    }

    /// Items that are made at once: whole chunks.
    pub(crate) fn batch(kind: Kind) -> usize {
        let item: u128 = kind.columns().iter().fold(0, |a, &b| a.saturating_add(b));
        Self::items(item, BATCH_BYTES).max(Self::items(item, CHUNK_BYTES)) as usize
    }

    fn chunks(&self) -> u64 {
        self.count.div_ceil(self.per_chunk)
    }

    /// The items of a chunk.
    fn items_of(&self, chunk: u64) -> Range<u64> {
        let start = chunk * self.per_chunk;
        start..self.count.min(start + self.per_chunk)
    }

    fn columns_of(&self, items: u64) -> impl Iterator<Item = (usize, usize)> {
        let bytes = move |width: usize| bits::bytes_for(items as usize * width);
        self.widths.iter().map(move |&width| (width, bytes(width)))
    }

    /// Bytes of a chunk of `items`, before it is encrypted.
    fn bytes_of(&self, items: u64) -> usize {
        self.columns_of(items).map(|(_, bytes)| bytes).sum()
    }

    /// Where a chunk begins in the file.
    fn offset(&self, chunk: u64) -> u64 {
        chunk * (self.bytes_of(self.per_chunk) + TAG_BYTES) as u64
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        let last = self.chunks() - 1;
        let items = self.items_of(last);
        self.offset(last) + (self.bytes_of(items.end - items.start) + TAG_BYTES) as u64
    }
}

/// Key and layout that writer and reader share.
struct Cipher {
    name: String,
    key: LessSafeKey,
    header: [u8; 32],
    layout: ChunkLayout,
}

impl Cipher {
    fn new(header: &Header, keys: &Keys, kind: Kind, count: u64) -> Result<Self> {
        let name = kind.to_string();
        Ok(Self {
            key: keys.of_file(&name)?,
            header: header.digest(),
            layout: ChunkLayout::new(kind, count)?,
            name,
        })
    }

    fn nonce(chunk: u64) -> Nonce {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&chunk.to_be_bytes());
        Nonce::assume_unique_for_key(nonce)
    }

    /// The file's name is in its key.
    fn aad(&self, chunk: u64) -> Aad<[u8; 56]> {
        let items = self.layout.items_of(chunk);
        let mut data = [0; 56];
        data[..32].copy_from_slice(&self.header);
        data[32..40].copy_from_slice(&chunk.to_le_bytes());
        data[40..48].copy_from_slice(&items.start.to_le_bytes());
        data[48..].copy_from_slice(&items.end.to_le_bytes());
        Aad::from(data)
    }
}

/// Writes a file from its beginning to its end.
pub(crate) struct Writer {
    cipher: Cipher,
    file: File,
    next: u64,
    buffer: Zeroizing<Vec<u8>>,
}

impl Writer {
    pub(crate) fn new(
        directory: &Path,
        header: &Header,
        keys: &Keys,
        kind: Kind,
        count: u64,
    ) -> Result<Self> {
        let cipher = Cipher::new(header, keys, kind, count)?;
        let most = cipher.layout.bytes_of(cipher.layout.per_chunk.min(count)) + TAG_BYTES;
        Ok(Self {
            file: files::create(directory, &cipher.name)?,
            cipher,
            next: 0,
            buffer: Zeroizing::new(Vec::with_capacity(most)),
        })
    }

    /// Appends `count` items: whole chunks, but for the last ones of the file.
    ///
    /// # Panics
    /// If they are others.
    pub(crate) fn append(&mut self, columns: &Strings, count: u64) -> Result<()> {
        let mut done = 0;
        while done < count {
            let items = self.cipher.layout.items_of(self.next);
            let items = items.end - items.start;
            assert!(items <= count - done, "batches end where chunks end");
            self.buffer.clear();
            for ((width, bytes), column) in self.cipher.layout.columns_of(items).zip(columns) {
                // A whole byte: see the test of layouts.
                let start = done as usize * width / 8;
                self.buffer.extend_from_slice(&column[start..start + bytes]);
            }
            self.cipher
                .key
                .seal_in_place_append_tag(
                    Cipher::nonce(self.next),
                    self.cipher.aad(self.next),
                    &mut *self.buffer,
                )
                .map_err(|_| StoreError::Cryptography)?;
            self.file
                .write_all(&self.buffer)
                .map_err(StoreError::io("write", &self.cipher.name))?;
            self.next += 1;
            done += items;
        }
        Ok(())
    }

    /// Has all of it on disk.
    ///
    /// # Panics
    /// If it is not all there.
    pub(crate) fn finish(self) -> Result<()> {
        assert_eq!(self.next, self.cipher.layout.chunks(), "a whole file");
        self.file
            .sync_all()
            .map_err(StoreError::io("write", &self.cipher.name))
    }
}

/// Reads items of a file.
pub(crate) struct Reader {
    cipher: Cipher,
    file: File,
    /// The chunk that was decrypted last.
    chunk: Option<u64>,
    buffer: Zeroizing<Vec<u8>>,
}

impl Reader {
    pub(crate) fn new(
        directory: &Path,
        header: &Header,
        keys: &Keys,
        kind: Kind,
        count: u64,
    ) -> Result<Self> {
        let cipher = Cipher::new(header, keys, kind, count)?;
        let name = &cipher.name;
        let file = File::open(directory.join(name)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::damaged(name, "it is missing"),
            _ => StoreError::io("read", name)(source),
        })?;
        let data = file.metadata().map_err(StoreError::io("read", name))?;
        if data.len() != cipher.layout.file_bytes() {
            return Err(StoreError::damaged(name, "it has another length"));
        }
        Ok(Self {
            cipher,
            file,
            chunk: None,
            buffer: Zeroizing::default(),
        })
    }

    /// Room for `count` items.
    pub(crate) fn room(&self, count: usize) -> Strings {
        let widths = self.cipher.layout.widths.iter();
        widths
            .map(|&width| Zeroizing::new(vec![0; bits::bytes_for(width * count)]))
            .collect()
    }

    /// The chunks that hold `items`, each with the items of it that are wanted.
    pub(crate) fn pieces(
        &self,
        items: Range<u64>,
    ) -> impl Iterator<Item = (u64, Range<u64>)> + use<> {
        let layout = self.cipher.layout.clone();
        let first = items.start / layout.per_chunk;
        let end = items.end.div_ceil(layout.per_chunk);
        (first..end).map(move |chunk| {
            let there = layout.items_of(chunk);
            (
                chunk,
                there.start.max(items.start)..there.end.min(items.end),
            )
        })
    }

    /// Reads items of one chunk, to place `at` (in items) of the columns.
    pub(crate) fn read(
        &mut self,
        (chunk, items): (u64, Range<u64>),
        columns: &mut Strings,
        at: usize,
    ) -> Result<()> {
        self.decrypt(chunk)?;
        let there = self.cipher.layout.items_of(chunk);
        let (from, count) = (
            (items.start - there.start) as usize,
            (items.end - items.start) as usize,
        );
        let mut offset = 0;
        let lengths = self.cipher.layout.columns_of(there.end - there.start);
        for ((width, bytes), column) in lengths.zip(columns) {
            let source = &self.buffer[offset..offset + bytes];
            offset += bytes;
            if width.is_multiple_of(8) {
                let width = width / 8;
                column[at * width..(at + count) * width]
                    .copy_from_slice(&source[from * width..(from + count) * width]);
            } else {
                let mut row = Zeroizing::new(vec![0; bits::bytes_for(count * width)]);
                bits::take(source, from * width, &mut row, count * width);
                bits::put(column, at * width, &row, count * width);
            }
        }
        Ok(())
    }

    /// Reads all chunks, to see whether they are whole.
    pub(crate) fn verify(&mut self) -> Result<()> {
        (0..self.cipher.layout.chunks()).try_for_each(|chunk| self.decrypt(chunk))
    }

    fn decrypt(&mut self, chunk: u64) -> Result<()> {
        if self.chunk == Some(chunk) {
            return Ok(());
        }
        self.chunk = None;
        let Cipher {
            name, key, layout, ..
        } = &self.cipher;
        let items = layout.items_of(chunk);
        let bytes = layout.bytes_of(items.end - items.start) + TAG_BYTES;
        if self.buffer.capacity() < bytes {
            self.buffer = Zeroizing::new(Vec::with_capacity(bytes));
        }
        self.buffer.resize(bytes, 0);
        self.file
            .seek(SeekFrom::Start(layout.offset(chunk)))
            .and_then(|_| self.file.read_exact(&mut self.buffer))
            .map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => StoreError::damaged(name, "it is cut off"),
                _ => StoreError::io("read", name)(source),
            })?;
        key.open_in_place(
            Cipher::nonce(chunk),
            self.cipher.aad(chunk),
            &mut self.buffer,
        )
        .map_err(|_| StoreError::damaged(name, "a chunk of it does not authenticate"))?;
        self.chunk = Some(chunk);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use madrigal_correlations::Needs;

    #[test]
    fn chunks_and_batches_begin_at_whole_bytes() -> Result<(), Box<dyn std::error::Error>> {
        let needs: Needs = "bits=3M,u8=9,u128=70k,shared-u16=1M,vectors-1=1M,vectors-9999999=3,\
            matrix-u8-1x1x1=1M,matrix-u64-999x1000x1001=2"
            .parse()?;
        for (kind, count) in needs.kinds() {
            let layout = ChunkLayout::new(kind, count as u64)?;
            for &width in &layout.widths {
                assert!(
                    (layout.per_chunk as usize * width).is_multiple_of(8),
                    "{kind}"
                );
            }
            let batch = ChunkLayout::batch(kind) as u64;
            assert!(batch.is_multiple_of(layout.per_chunk), "{kind}");
            // The chunks are all items, one after the other, and the file ends with the last.
            let mut end = (0, 0);
            for chunk in 0..layout.chunks() {
                let items = layout.items_of(chunk);
                assert_eq!((items.start, layout.offset(chunk)), end, "{kind}");
                let bytes = layout.bytes_of(items.end - items.start) + TAG_BYTES;
                end = (items.end, end.1 + bytes as u64);
            }
            assert_eq!(end, (count as u64, layout.file_bytes()), "{kind}");
        }
        Ok(())
    }

    #[test]
    fn what_no_disk_holds_is_refused() {
        for (kind, count) in [
            (Kind::BitTriples, 0),
            (Kind::BitTriples, u64::MAX),
            (Kind::VectorTriples { length: usize::MAX }, 1),
            (Kind::VectorTriples { length: 1 << 38 }, 1),
        ] {
            let layout = ChunkLayout::new(kind, count);
            assert!(matches!(layout, Err(StoreError::Size)), "{layout:?}");
        }
    }
}
