//! An oblivious pseudorandom function: the receiver has it at its own keys, the sender everywhere.
//!
//! The receiver has VOLE's values U and tags M, the sender keys K and Delta, with M = K + U Delta. The receiver encodes d under each digest d of its own,
//! which gives the store P, and sends P + U. The sender adds Delta (P + U) to K, which gives K' = M + P Delta. Decoding is linear, so
//! Decode(K', d) + d Delta = Decode(M, d) + (Decode(P, d) + d) Delta. For the receiver's digests the factor of Delta is zero, and both sides have
//! Decode(M, d). For others it is not, but for a chance of 2^-64 or 2^-128, and the hash of the element looks random to the receiver.
//!
//! Elements are hashed under one key of AES for each 1024 columns in which their rows begin and, where the sender has more digests than the store has columns, for
//! some bits of the digest: for a thousand or two of the sender's elements. Both sides know these columns and bits.
//!
//! Against malicious parties the hash is another one ([`crate::oracle`]), and VOLE is checked: a challenge of the receiver goes with the seed, and the sender
//! answers before its tags.

use bytes::Bytes;
use madrigal_core::{Zeroizing, domains};
use madrigal_correlations_make::{
    VOLE_CHALLENGE_BYTES, VoleAnswerer, VoleExpected, VoleKeys, VoleValues,
};
use madrigal_kernels::{Block, Element, Kernels, ROWS_PER_KEY, RowHash};
use madrigal_net::{Context, Error, Receiver, Result, Sender};
use madrigal_okvs::{Found, OkvsError, Shape, decode_each, encode};
use madrigal_ot::SeededRng;
use sha2::{Digest as _, Sha256};

use crate::oracle::Oracle;

/// Elements of a store in one message.
pub(crate) const ELEMENTS: usize = 1 << 20;

/// Columns in which rows begin whose elements are hashed under one key.
const COLUMNS_PER_KEY: u32 = 1024;

/// Seeds of a store that are tried. Each fails once in 2^40 times.
const TRIES: usize = 3;

/// Values of the store: of a digest all bits, or half of them.
pub(crate) trait Value: Element {
    /// The value under a digest.
    fn of(digest: Block) -> Self;
}

impl Value for u64 {
    fn of(digest: Block) -> Self {
        digest.lo()
    }
}

impl Value for Block {
    fn of(digest: Block) -> Self {
        digest
    }
}

/// Messages of one store: the seed, and the elements.
pub(crate) fn messages(shape: &Shape) -> usize {
    1 + shape.columns().div_ceil(ELEMENTS)
}

/// Bytes of one store whose elements have this many bytes.
pub(crate) fn message_bytes(shape: &Shape, element: usize) -> usize {
    16 + shape.columns() * element
}

/// Settings of a function, the same at both sides.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// Shape of the receiver's store.
    pub(crate) shape: &'a Shape,
    /// Whether pads are wanted, too.
    pub(crate) pads: bool,
    /// Digests that the sender has it at.
    pub(crate) evaluated: u64,
    /// Whether a party may be malicious.
    pub(crate) checked: bool,
}

impl Setting<'_> {
    /// Bits of a digest that choose the key of AES among those of its columns.
    fn more_bits(self) -> u32 {
        let of_column = self.evaluated / self.shape.columns() as u64;
        of_column.next_power_of_two().ilog2()
    }
}

/// The function as one side has it.
pub(crate) struct Function {
    shape: Shape,
    more_bits: u32,
    seed: Block,
    hash: Hash,
    /// Tags of the receiver, or keys K' of the sender.
    elements: Zeroizing<Vec<Block>>,
    /// The sender's factor, of values of a digest's lower 64 bits or of all.
    delta: Option<(Zeroizing<Block>, bool)>,
}

/// The sender's keys for a store.
pub(crate) struct Keys {
    elements: Zeroizing<Vec<Block>>,
    delta: Zeroizing<Block>,
    /// Means to answer the receiver's challenge, where there is one.
    answerer: Option<VoleAnswerer>,
}

/// The hash of a step's elements.
enum Hash {
    /// A hash to tags, and one to pads where they are wanted.
    Rows(RowHash, Option<RowHash>),
    /// A random oracle.
    Oracle(Oracle),
}

impl Hash {
    fn new(step: &Context, setting: &Setting<'_>) -> Self {
        let id = step.public_id();
        if setting.checked {
            return Self::Oracle(Oracle::new(&id));
        }
        let digest: [u8; 32] = Sha256::new()
            .chain_update(domains::PSI_TAGS)
            .chain_update(id)
            .finalize()
            .into();
        let (first, second) = digest.split_at(16);
        let hash =
            |key: &[u8]| RowHash::new(Block::from_bytes(*key.first_chunk().unwrap_or(&[0; 16])));
        Self::Rows(hash(first), setting.pads.then(|| hash(second)))
    }
}

impl Function {
    /// Makes the receiver's function, which it has at `digests` alone, as many as `shape` says, all distinct. They are settled, and nothing that is sent
    /// before depends on them. With it comes what the sender must answer where it may be malicious: before that is checked, nothing may depend on the function.
    pub(crate) async fn receiver<V: Value>(
        step: &Context,
        setting: Setting<'_>,
        vole: &mut VoleValues<V>,
        tx: &mut Sender,
        digests: &[Block],
    ) -> Result<(Self, Option<VoleExpected>)> {
        let (seed, mut store) = encoded::<V>(step, setting.shape, digests)?;
        let mut values = Zeroizing::<Vec<V>>::zeros(store.len());
        let mut elements = Zeroizing::<Vec<Block>>::zeros(store.len());
        vole.extend(&mut values, &mut elements).await?;
        for (store, &value) in store.iter_mut().zip(values.iter()) {
            *store ^= value;
        }
        let mut head = seed.to_bytes().to_vec();
        let expected = match setting.checked {
            true => {
                let (mut challenge, expected) = vole.challenge(&values, &elements)?;
                head.append(&mut challenge);
                Some(expected)
            }
            false => None,
        };
        drop(values);
        tx.send(head).await?;
        for piece in store.chunks_mut(ELEMENTS) {
            tx.send(Bytes::copy_from_slice(V::bytes_mut(piece))).await?;
        }
        step.flush();
        let function = Self {
            shape: *setting.shape,
            more_bits: setting.more_bits(),
            seed,
            hash: Hash::new(step, &setting),
            elements,
            delta: None,
        };
        Ok((function, expected))
    }

    /// Makes the sender's function from [keys](Self::keys) of VOLE, and the answer to the receiver's challenge, if there is one.
    pub(crate) async fn sender<V: Value>(
        step: &Context,
        setting: Setting<'_>,
        keys: Keys,
        rx: &mut Receiver,
    ) -> Result<(Self, Vec<u8>)> {
        let Keys {
            mut elements,
            delta,
            answerer,
        } = keys;
        let challenge = if setting.checked {
            VOLE_CHALLENGE_BYTES
        } else {
            0
        };
        let head = rx.recv(16 + challenge).await?;
        let (seed, challenge) = head.split_at(16);
        let seed = Block::from_bytes(*seed.first_chunk().unwrap_or(&[0; 16]));
        // By the keys as they are, before the store is added to them.
        let answer = match answerer {
            Some(answerer) => answerer.answer(challenge, &elements)?.to_vec(),
            None => Vec::new(),
        };
        for keys in elements.chunks_mut(ELEMENTS) {
            let bytes = rx.recv(keys.len() * (V::BITS / 8)).await?;
            let mut masked = vec![V::default(); keys.len()];
            V::bytes_mut(&mut masked).copy_from_slice(&bytes);
            Kernels::detect().field_multiply_add(*delta, &masked, keys);
        }
        let function = Self {
            shape: *setting.shape,
            more_bits: setting.more_bits(),
            seed,
            hash: Hash::new(step, &setting),
            elements,
            delta: Some((delta, V::BITS < 128)),
        };
        Ok((function, answer))
    }

    /// The sender's keys for the next store. The receiver needs nothing for them but what is sent here, so they are made ahead.
    pub(crate) async fn keys<V: Value>(shape: &Shape, vole: &mut VoleKeys<V>) -> Result<Keys> {
        let mut elements = Zeroizing::<Vec<Block>>::zeros(shape.columns());
        vole.extend(&mut elements).await?;
        Ok(Keys {
            elements,
            delta: vole.delta(),
            answerer: vole.answerer()?,
        })
    }

    /// Tells `take` the place of each digest, the function's value and its pad, in an order that depends on the digests.
    pub(crate) fn each(
        &self,
        step: &Context,
        digests: &[Block],
        take: impl FnMut(u32, Block, Block),
    ) -> Result<()> {
        let done = step.metered_now(|| self.tell(digests, take));
        done.map_err(|error| step.fail(Error::bug(error)))
    }

    /// The function at digests, in their order.
    pub(crate) fn at(&self, digests: &[Block]) -> Result<Zeroizing<Vec<Block>>, OkvsError> {
        let mut values = Zeroizing::<Vec<Block>>::zeros(digests.len());
        self.fill(digests, &mut values)?;
        Ok(values)
    }

    /// Sets each value to the function at its digest.
    pub(crate) fn fill(&self, digests: &[Block], values: &mut [Block]) -> Result<(), OkvsError> {
        self.tell(digests, |place, value, _| {
            if let Some(place) = values.get_mut(place as usize) {
                *place = value;
            }
        })
    }

    fn tell(
        &self,
        digests: &[Block],
        mut take: impl FnMut(u32, Block, Block),
    ) -> Result<(), OkvsError> {
        let mut room = Zeroizing::new(Room::default());
        let evaluate = |found: Found<'_, Block>| self.some(found, &mut room, &mut take);
        decode_each(&self.shape, self.seed, digests, &self.elements, evaluate)
    }

    fn some(
        &self,
        found: Found<'_, Block>,
        room: &mut Room,
        take: &mut impl FnMut(u32, Block, Block),
    ) {
        let n = found.values.len();
        room.reach(n);
        let elements = &mut room.elements[..n];
        elements.copy_from_slice(found.values);
        match &self.delta {
            None => {}
            Some((delta, true)) => {
                let values = &mut room.values[..n];
                for (value, &key) in values.iter_mut().zip(found.keys) {
                    *value = u64::of(key);
                }
                Kernels::detect().field_multiply_add(**delta, values, elements);
            }
            Some((delta, false)) => {
                Kernels::detect().field_multiply_add(**delta, found.keys, elements);
            }
        }
        let (hashes, pads) = (&mut room.hashes[..n], &mut room.pads[..n]);
        let mask = (1 << self.more_bits) - 1;
        let key = |i: usize| {
            let columns = u64::from(found.starts[i] / COLUMNS_PER_KEY);
            columns << self.more_bits | found.keys[i].lo() & mask
        };
        match &self.hash {
            Hash::Oracle(oracle) => oracle.hash(elements, found.keys, hashes, pads),
            Hash::Rows(tags, of_pads) => {
                let mut at = 0;
                while at < n {
                    let first = key(at);
                    let end = (at + 1..n).find(|&i| key(i) != first).unwrap_or(n);
                    let (row, range) = (first * ROWS_PER_KEY, at..end);
                    at = end;
                    let elements = &elements[range.clone()];
                    tags.hash_same_row(row, elements, &mut hashes[range.clone()]);
                    if let Some(hash) = of_pads {
                        hash.hash_same_row(row, elements, &mut pads[range]);
                    }
                }
            }
        }
        for ((&place, &hash), &pad) in found.places.iter().zip(hashes.iter()).zip(pads.iter()) {
            take(place, hash, pad);
        }
    }
}

/// Memory for some elements.
#[derive(Default)]
struct Room {
    elements: Vec<Block>,
    values: Vec<u64>,
    hashes: Vec<Block>,
    pads: Vec<Block>,
}

impl madrigal_core::Wipe for Room {
    fn wipe(&mut self) {
        self.elements.wipe();
        self.values.wipe();
        self.hashes.wipe();
        self.pads.wipe();
    }
}

impl Room {
    fn reach(&mut self, n: usize) {
        if self.elements.len() < n {
            self.elements = vec![Block::ZERO; n];
            self.values = vec![0; n];
            self.hashes = vec![Block::ZERO; n];
            self.pads = vec![Block::ZERO; n];
        }
    }
}

/// The receiver's store for its digests, with the seed of its rows.
fn encoded<V: Value>(
    step: &Context,
    shape: &Shape,
    digests: &[Block],
) -> Result<(Block, Zeroizing<Vec<V>>)> {
    let mut private = step.private_prg();
    let rng_seed = private.next_block();
    let number = step.own_key_numbers().of(0);
    let made = step.metered_now(|| {
        let mut rng = SeededRng::numbered(rng_seed, number);
        let mut values = Zeroizing::<Vec<V>>::zeros(digests.len());
        for (value, &digest) in values.iter_mut().zip(digests) {
            *value = V::of(digest);
        }
        let mut tries = 1;
        loop {
            // A seed that does not serve is told to nobody.
            let seed = private.next_block();
            match encode(shape, seed, digests, &values, &mut rng) {
                Err(OkvsError::Dependent) if tries < TRIES => tries += 1,
                made => return made.map(|store| (seed, store)),
            }
        }
    });
    made.map_err(|error| step.fail(Error::bug(error)))
}
