//! A submission that is dealt: the headers, and a body for each server.

use std::sync::Arc;

use bytes::Bytes;
use madrigal_clients::{Header, Named, SEED_BYTES, deal_with, nonce, seeded_generator};
use madrigal_core::{Digest256, Party, Zeroizing};
use madrigal_intake::{Chain, Kind, What, body_length, pack, submission_name};

use crate::body::{Body, InMemory};
use crate::error::ClientError;
use crate::value::Value;

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
        let mut headers: Vec<Header> = Vec::with_capacity(values.len());
        let mut files = Vec::with_capacity(values.len());
        for (input, value) in kind.inputs.iter().zip(values) {
            let (shape, value) = value.fit(kind, input)?;
            let named = Named {
                job: kind.name.clone(),
                name: input.name.clone(),
                client: client.to_owned(),
                element_type: input.element_type.clone(),
                shape,
            };
            let dealt = deal_with(named, &value, input.sharing, servers, nonce, &mut random)?;
            headers.extend(dealt.first().map(|file| file.header().clone()));
            files.push(dealt);
        }
        let packed = Bytes::from(pack(&headers)?);
        let mut bodies: Vec<(Digest256, Arc<dyn Body>)> = Vec::with_capacity(servers);
        for place in 0..servers {
            let length = body_length(&headers, Party::new(place)).unwrap_or(u64::MAX);
            if length > kind.most_bytes {
                return Err(ClientError::Value {
                    kind: kind.name.clone(),
                    input: "all together".into(),
                    got: format!("{length} bytes for a server"),
                    expected: format!("{} bytes at most", kind.most_bytes),
                });
            }
            let mut body = Zeroizing::new(Vec::with_capacity(length as usize));
            for files in &files {
                files[place].write_body(&mut *body)?;
            }
            let digest = Chain::digest(&packed, &body);
            bodies.push((digest, Arc::new(InMemory::new(body))));
        }
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
