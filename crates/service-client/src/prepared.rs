//! A submission that is dealt: the headers, and a body for each server.

use std::sync::Arc;

use bytes::Bytes;
use madrigal_clients::{
    Elements, Header, Named, SEED_BYTES, StreamDealer, deal_with, nonce, seeded_generator,
};
use madrigal_core::{Digest256, Party, Zeroizing};
use madrigal_engine::{Element, Sharing};
use madrigal_intake::limits::PIECE;
use madrigal_intake::{Chain, Kind, What, body_length, pack, submission_name};
use madrigal_kernels::Prg;

use crate::body::{Body, InMemory, Streamed};
use crate::error::ClientError;
use crate::value::{Fitted, Value};

/// A submission for all servers.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) kind: String,
    pub(crate) program: Digest256,
    pub(crate) client: String,
    pub(crate) id: Digest256,
    pub(crate) headers: Bytes,
    /// Digest and body of each server.
    pub(crate) bodies: Vec<(Digest256, Arc<dyn Body>)>,
}

impl Prepared {
    /// Deals inputs from a seed: the same inputs give the same submission.
    pub(crate) fn deal(
        kind: &Kind,
        inputs: &[(String, Value)],
        client: &str,
        servers: usize,
        seed: &[u8; SEED_BYTES],
    ) -> Result<Self, ClientError> {
        if kind.what != What::Program {
            return Err(ClientError::Sort {
                kind: kind.name.clone(),
                is: "requests",
                wanted: "submissions",
            });
        }
        let values = in_order(kind, inputs)?;
        let mut random = seeded_generator(seed);
        let nonce = nonce(&mut random);
        let mut fitted = Vec::with_capacity(values.len());
        for (input, value) in kind.inputs.iter().zip(values) {
            let (shape, value) = value.fit(kind, input)?;
            let named = Named {
                job: kind.name.clone(),
                name: input.name.clone(),
                client: client.to_owned(),
                element_type: input.element_type.clone(),
                shape,
            };
            fitted.push((named, (input.sharing, input.element), value));
        }
        let streams = fitted
            .iter()
            .any(|(.., value)| matches!(value, Fitted::Stream(_)));
        let (packed, bodies) = match streams {
            true => streamed(kind, fitted, servers, nonce, &mut random)?,
            false => whole(kind, fitted, servers, nonce, &mut random)?,
        };
        Ok(Self {
            kind: kind.name.clone(),
            program: kind.program,
            client: client.to_owned(),
            id: submission_name(&kind.name, &kind.program, &packed),
            headers: packed,
            bodies,
        })
    }
}

/// Names, form and value of an input.
type Given = (Named, (Sharing, Element), Fitted);

/// Digest and body of each server.
type Bodies = Vec<(Digest256, Arc<dyn Body>)>;

/// Bytes of each server's body, if the kind takes them.
fn lengths(kind: &Kind, headers: &[Header], servers: usize) -> Result<Vec<u64>, ClientError> {
    let length = |place| {
        let length = body_length(headers, Party::new(place)).unwrap_or(u64::MAX);
        match length <= kind.most_bytes {
            true => Ok(length),
            false => Err(ClientError::Value {
                kind: kind.name.clone(),
                input: "all together".into(),
                got: format!("{length} bytes for a server"),
                expected: format!("{} bytes at most", kind.most_bytes),
            }),
        }
    };
    (0..servers).map(length).collect()
}

/// Deals values in memory.
fn whole(
    kind: &Kind,
    given: Vec<Given>,
    servers: usize,
    nonce: [u8; 32],
    random: &mut Prg,
) -> Result<(Bytes, Bodies), ClientError> {
    let (mut headers, mut files): (Vec<Header>, Vec<_>) = (Vec::new(), Vec::new());
    for (named, (sharing, _), value) in given {
        let Fitted::Whole(value) = value else {
            unreachable!("no value is a stream");
        };
        let dealt = deal_with(named, &value, sharing, servers, nonce, random)?;
        headers.extend(dealt.first().map(|file| file.header().clone()));
        files.push(dealt);
    }
    let packed = Bytes::from(pack(&headers)?);
    let mut bodies: Bodies = Vec::with_capacity(servers);
    for (place, length) in lengths(kind, &headers, servers)?.into_iter().enumerate() {
        let mut body = Zeroizing::new(Vec::with_capacity(length as usize));
        for files in &files {
            files[place].write_body(&mut *body)?;
        }
        let digest = Chain::digest(&packed, &body);
        bodies.push((digest, Arc::new(InMemory::new(body))));
    }
    Ok((packed, bodies))
}

/// Deals values piece by piece: the bodies are made once for their digests, and again while they are sent.
fn streamed(
    kind: &Kind,
    given: Vec<Given>,
    servers: usize,
    nonce: [u8; 32],
    random: &mut Prg,
) -> Result<(Bytes, Bodies), ClientError> {
    let dealers = given.into_iter().map(|(named, form, value)| {
        let elements: Box<dyn Elements> = match value {
            Fitted::Whole(value) => Box::new(value),
            Fitted::Stream(elements) => Box::new(elements),
        };
        StreamDealer::new(named, form, servers, nonce, elements, random)
    });
    let dealers: Arc<Vec<StreamDealer>> = Arc::new(dealers.collect::<Result<_, _>>()?);
    let headers: Vec<Header> = dealers
        .iter()
        .map(|dealer| dealer.header().clone())
        .collect();
    let packed = Bytes::from(pack(&headers)?);
    let mut bodies: Bodies = Vec::with_capacity(servers);
    for (place, length) in lengths(kind, &headers, servers)?.into_iter().enumerate() {
        let body = Streamed::new(dealers.clone(), Party::new(place), length);
        let mut chain = Chain::begin(&packed, length);
        for offset in (0..length).step_by(PIECE) {
            let bytes = (length - offset).min(PIECE as u64) as usize;
            let piece = body.piece(offset, bytes);
            chain.piece(&piece.map_err(|error| ClientError::Body(error.to_string()))?);
        }
        bodies.push((chain.link(), Arc::new(body)));
    }
    Ok((packed, bodies))
}

/// The values in the order of the kind's inputs.
fn in_order<'a>(kind: &Kind, inputs: &'a [(String, Value)]) -> Result<Vec<&'a Value>, ClientError> {
    let list = |names: &mut dyn Iterator<Item = &String>| {
        let names: Vec<_> = names
            .map(|name| format!("`{}`", name.escape_debug()))
            .collect();
        names.join(", ")
    };
    let wrong = || ClientError::Inputs {
        kind: kind.name.clone(),
        got: list(&mut inputs.iter().map(|(name, _)| name)),
        expected: list(&mut kind.inputs.iter().map(|input| &input.name)),
    };
    if inputs.len() != kind.inputs.len() {
        return Err(wrong());
    }
    let find = |name: &String| inputs.iter().find(|(given, _)| given == name);
    let values = kind.inputs.iter().map(|input| find(&input.name));
    values
        .map(|found| found.map(|(_, value)| value).ok_or_else(wrong))
        .collect()
}
