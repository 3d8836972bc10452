//! Kinds of jobs and requests, as a server describes them.

use std::fmt;

use madrigal_clients::{Expected, Header, Purpose, sharing_named};
use madrigal_core::{Digest256, Party};
use madrigal_engine::{Element, Sharing, Width};

use crate::check::{digest, holds, name, words};
use crate::error::WireError;
use crate::headers::HeadersError;
use crate::limits::{MAX_BODY, MAX_RANK, MAX_REQUEST, MAX_VALUES};
use crate::schema;

/// Lengths of axes; `None`: any.
pub type Shape = Vec<Option<usize>>;

/// Description of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// Name, as parties' names are.
    pub name: String,
    /// Digest of the program.
    pub program: Digest256,
    /// Jobs of submissions, or requests.
    pub what: What,
    /// Inputs of a submission, or of a request.
    pub inputs: Vec<Input>,
    /// Outputs of a job, or of a request.
    pub outputs: Vec<Output>,
    /// Those who may submit, in words.
    pub submitters: String,
    /// Most bytes of a submission's body.
    pub most_bytes: u64,
    /// Whether anonymous clients may submit.
    pub anonymous: bool,
}

/// Uses of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Jobs, each of a batch of submissions.
    Program,
    /// Requests, answered at once.
    Requests {
        /// Bytes of a request.
        request_bytes: u32,
        /// Bytes of an answer.
        answer_bytes: u32,
    },
}

/// An input of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Name within the kind.
    pub name: String,
    /// Type of the elements, as share files have it.
    pub element_type: String,
    /// Lengths of the axes.
    pub shape: Shape,
    /// Sharing in which a client deals it.
    pub sharing: Sharing,
    /// Elements that are shared.
    pub element: Element,
}

/// An output of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Name within the kind.
    pub name: String,
    /// Type of the elements.
    pub element_type: String,
    /// Lengths of the axes.
    pub shape: Shape,
    /// Those who receive it, in words.
    pub receivers: String,
}

impl Kind {
    /// The first field in which this kind differs from another server's of that name: the field, ours, theirs.
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let fields = |kind: &Self| {
            [
                ("name", kind.name.clone()),
                ("program", kind.program.to_string()),
                ("use", kind.what.to_string()),
                ("inputs", list(&kind.inputs)),
                ("outputs", list(&kind.outputs)),
                ("most bytes", kind.most_bytes.to_string()),
            ]
        };
        let pairs = fields(self).into_iter().zip(fields(other));
        let mut apart = pairs.filter(|((_, one), (_, other))| one != other);
        apart
            .next()
            .map(|((field, one), (_, other))| (field, one, other))
    }

    /// Checks the headers of a submission to this kind by a client, for `servers` servers.
    ///
    /// # Errors
    /// [`HeadersError`]: too few or too many, one that the input does not take, or headers of different clients or nonces.
    pub fn check(&self, headers: &[Header], servers: usize) -> Result<(), HeadersError> {
        if headers.len() != self.inputs.len() {
            let (got, expected) = (headers.len(), self.inputs.len());
            return Err(HeadersError::Count { got, expected });
        }
        for (at, (input, header)) in self.inputs.iter().zip(headers).enumerate() {
            let expected = Expected {
                job: Some(self.name.clone()),
                name: Some(input.name.clone()),
                client: Some(headers[0].named().client.clone()),
                element_type: Some(input.element_type.clone()),
                shape: Some(input.shape.clone()),
                form: Some((input.sharing, input.element)),
                servers: Some(servers),
                ..Expected::any(Purpose::Input)
            };
            let checked = expected.check_header(header, Party::new(0));
            checked.map_err(|fault| HeadersError::Input {
                at,
                fault: Box::new(fault),
            })?;
            if header.nonce() != headers[0].nonce() {
                return Err(HeadersError::Nonce { at });
            }
        }
        Ok(())
    }

    pub(crate) fn sent(&self) -> schema::Kind {
        let (what, request_bytes, answer_bytes) = match self.what {
            What::Program => (1, 0, 0),
            What::Requests {
                request_bytes,
                answer_bytes,
            } => (2, request_bytes, answer_bytes),
        };
        schema::Kind {
            name: self.name.clone(),
            program: self.program.0.to_vec(),
            what,
            inputs: self.inputs.iter().map(Input::sent).collect(),
            outputs: self.outputs.iter().map(Output::sent).collect(),
            submitters: self.submitters.clone(),
            most_bytes: self.most_bytes,
            anonymous: self.anonymous,
            request_bytes,
            answer_bytes,
        }
    }

    pub(crate) fn checked(kind: schema::Kind) -> Result<Self, WireError> {
        let sizes = [kind.request_bytes, kind.answer_bytes];
        let one_size = |bytes: &u32| (1..=MAX_REQUEST).contains(&(*bytes as usize));
        let what = match (kind.what, sizes) {
            (1, [0, 0]) => What::Program,
            (2, sizes) if sizes.iter().all(one_size) => What::Requests {
                request_bytes: kind.request_bytes,
                answer_bytes: kind.answer_bytes,
            },
            _ => {
                return Err(WireError::Field(
                    "a kind that is neither of programs nor of requests",
                ));
            }
        };
        let counts = kind.inputs.len().max(kind.outputs.len());
        holds(
            counts <= MAX_VALUES,
            "a kind with more than 64 inputs or outputs",
        )?;
        holds(
            kind.most_bytes <= MAX_BODY,
            "a kind with bodies of more than 2^46 bytes",
        )?;
        let inputs = kind.inputs.into_iter().map(Input::checked);
        let outputs = kind.outputs.into_iter().map(Output::checked);
        Ok(Self {
            name: name(kind.name, "a kind's name that is none")?,
            program: digest(&kind.program, "a program's digest that has not 32 bytes")?,
            what,
            inputs: inputs.collect::<Result<_, _>>()?,
            outputs: outputs.collect::<Result<_, _>>()?,
            submitters: words(
                kind.submitters,
                "words that are too long or cannot be shown",
            )?,
            most_bytes: kind.most_bytes,
            anonymous: kind.anonymous,
        })
    }
}

impl Input {
    fn sent(&self) -> schema::Input {
        schema::Input {
            name: self.name.clone(),
            element_type: self.element_type.clone(),
            shape: shape_sent(&self.shape),
            sharing: self.sharing.name().into(),
            ring: matches!(self.element, Element::Ring(_)),
            width: self.element.bits() as u32,
        }
    }

    fn checked(input: schema::Input) -> Result<Self, WireError> {
        let sharing = sharing_named(&input.sharing);
        let bits = input.width as usize;
        let width = Width::ALL.into_iter().find(|width| width.bits() == bits);
        let element = match (input.ring, width) {
            (false, _) if (1..=128).contains(&bits) => Element::Bits(bits),
            (true, Some(width)) => Element::Ring(width),
            _ => {
                return Err(WireError::Field(
                    "an input of elements that are shared nowhere",
                ));
            }
        };
        Ok(Self {
            name: value_text(input.name)?,
            element_type: value_text(input.element_type)?,
            shape: shape_checked(&input.shape)?,
            sharing: sharing.ok_or(WireError::Field("an input in a sharing that is not kept"))?,
            element,
        })
    }
}

impl Output {
    fn sent(&self) -> schema::Output {
        schema::Output {
            name: self.name.clone(),
            element_type: self.element_type.clone(),
            shape: shape_sent(&self.shape),
            receivers: self.receivers.clone(),
        }
    }

    fn checked(output: schema::Output) -> Result<Self, WireError> {
        Ok(Self {
            name: value_text(output.name)?,
            element_type: value_text(output.element_type)?,
            shape: shape_checked(&output.shape)?,
            receivers: words(
                output.receivers,
                "words that are too long or cannot be shown",
            )?,
        })
    }
}

fn value_text(text: String) -> Result<String, WireError> {
    let fits = !text.is_empty() && text.len() <= madrigal_clients::MAX_TEXT;
    holds(fits, "an input or output without a name or a type")?;
    words(text, "a name or type that cannot be shown")
}

fn shape_sent(shape: &Shape) -> Vec<i64> {
    let axis =
        |axis: &Option<usize>| axis.map_or(-1, |axis| i64::try_from(axis).unwrap_or(i64::MAX));
    shape.iter().map(axis).collect()
}

fn shape_checked(axes: &[i64]) -> Result<Shape, WireError> {
    holds(axes.len() <= MAX_RANK, "a shape of more than 8 axes")?;
    let axis = |&axis: &i64| match axis {
        -1 => Ok(None),
        axis => usize::try_from(axis)
            .map(Some)
            .map_err(|_| WireError::Field("a length below 0")),
    };
    axes.iter().map(axis).collect()
}

fn list<T: fmt::Display>(values: &[T]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    values.join("; ")
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program => f.write_str("program"),
            Self::Requests {
                request_bytes,
                answer_bytes,
            } => {
                write!(
                    f,
                    "requests of {request_bytes} bytes, answers of {answer_bytes}"
                )
            }
        }
    }
}

/// A shape as programs write it; an axis of any length is `_`.
pub fn shape_in_words(shape: &Shape) -> String {
    let axes = shape
        .iter()
        .map(|axis| axis.map_or("_".into(), |axis| axis.to_string()));
    format!("[{}]", axes.collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, form) = (shape_in_words(&self.shape), &self.element);
        write!(
            f,
            "{}: {} {shape} in {} as {form}",
            self.name, self.element_type, self.sharing
        )
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = shape_in_words(&self.shape);
        write!(
            f,
            "{}: {} {shape} for {}",
            self.name, self.element_type, self.receivers
        )
    }
}
