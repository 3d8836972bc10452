//! Whether a share file is what a job asks for.

use std::path::Path;

use madrigal_core::Party;
use madrigal_engine::{Element, Sharing};
use madrigal_net::sealing::SealingKey;

use crate::error::{ShareFault, ShareFileError};
use crate::field::Field;
use crate::file::{Preamble, ShareFile, read_checked};
use crate::header::{Header, Purpose};

/// Demands of a server, or a client, on a share file. A field that is `None` may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Purpose of the shares.
    pub purpose: Purpose,
    /// Name of the job.
    pub job: Option<String>,
    /// Name of the input or output.
    pub name: Option<String>,
    /// Name of the client.
    pub client: Option<String>,
    /// Text of the type.
    pub element_type: Option<String>,
    /// Lengths of the axes, each of them or any.
    pub shape: Option<Vec<Option<usize>>>,
    /// Sharing and element.
    pub form: Option<(Sharing, Element)>,
    /// Number of servers.
    pub servers: Option<usize>,
    /// Server whose share it is.
    pub place: Option<Party>,
}

impl Expected {
    /// Anything for one purpose.
    pub const fn any(purpose: Purpose) -> Self {
        Self {
            purpose,
            job: None,
            name: None,
            client: None,
            element_type: None,
            shape: None,
            form: None,
            servers: None,
            place: None,
        }
    }

    /// Checks a file.
    ///
    /// # Errors
    /// [`ShareFault::Other`] for the first field that differs.
    pub fn check(&self, file: &ShareFile) -> Result<(), ShareFault> {
        self.check_header(file.header(), file.place())
    }

    /// Checks the beginning of a file, before anything else of it is read.
    ///
    /// # Errors
    /// [`ShareFault::Other`] for the first field that differs.
    pub fn check_preamble(&self, preamble: &Preamble) -> Result<(), ShareFault> {
        self.check_header(&preamble.header, preamble.place)
    }

    /// Checks a header, and the server whose share it is about.
    ///
    /// # Errors
    /// [`ShareFault::Other`] for the first field that differs.
    pub fn check_header(&self, header: &Header, place: Party) -> Result<(), ShareFault> {
        let differs = |field, got, expected| {
            Err(ShareFault::Other {
                field,
                got,
                expected,
            })
        };
        if header.purpose() != self.purpose {
            let words = |purpose: Purpose| format!("an {}", purpose.in_words());
            return differs(Field::Purpose, words(header.purpose()), words(self.purpose));
        }
        let texts = [Field::Job, Field::Name, Field::Client, Field::Type];
        let expected = [&self.job, &self.name, &self.client, &self.element_type];
        for (field, expected) in texts.into_iter().zip(expected) {
            let got = content(header, field);
            let expected = expected.as_ref().map(|text| quoted(text));
            if let Some(expected) = expected.filter(|expected| *expected != got) {
                return differs(field, got, expected);
            }
        }
        if let Some(expected) = &self.shape {
            let got = &header.named().shape;
            let fits = |(got, expected): (&usize, &Option<usize>)| {
                expected.is_none_or(|axis| axis == *got)
            };
            if got.len() != expected.len() || !got.iter().zip(expected).all(fits) {
                return differs(
                    Field::Shape,
                    shape(got.iter().map(|&axis| Some(axis))),
                    shape(expected.iter().copied()),
                );
            }
        }
        if let Some((sharing, element)) = self.form {
            let sort = header.sort();
            if sort.sharing != sharing {
                return differs(
                    Field::Sharing,
                    sort.sharing.to_string(),
                    sharing.to_string(),
                );
            }
            if sort.element != element {
                return differs(
                    Field::Element,
                    sort.element.to_string(),
                    element.to_string(),
                );
            }
        }
        if let Some(servers) = self.servers.filter(|&servers| servers != header.servers()) {
            return differs(
                Field::Servers,
                content(header, Field::Servers),
                servers.to_string(),
            );
        }
        if let Some(expected) = self.place.filter(|&expected| expected != place) {
            return differs(
                Field::Place,
                place.index().to_string(),
                expected.index().to_string(),
            );
        }
        Ok(())
    }
}

/// Fields that headers are compared in.
const COMPARED: [Field; 11] = [
    Field::Purpose,
    Field::Job,
    Field::Name,
    Field::Client,
    Field::Type,
    Field::Shape,
    Field::Sharing,
    Field::Element,
    Field::Servers,
    Field::Nonce,
    Field::Commitments,
];

/// The first field in which two headers differ, and what it is in each.
pub(crate) fn difference(one: &Header, other: &Header) -> Option<(Field, String, String)> {
    COMPARED.into_iter().find_map(|field| {
        let (one, other) = (content(one, field), content(other, field));
        (one != other).then_some((field, one, other))
    })
}

/// The content of a header's field, for people and for comparisons: different contents have different words.
fn content(header: &Header, field: Field) -> String {
    let named = header.named();
    match field {
        Field::Purpose => header.purpose().in_words().into(),
        Field::Job => quoted(&named.job),
        Field::Name => quoted(&named.name),
        Field::Client => quoted(&named.client),
        Field::Type => quoted(&named.element_type),
        Field::Shape => shape(named.shape.iter().map(|&axis| Some(axis))),
        Field::Sharing => header.sort().sharing.to_string(),
        Field::Element => header.sort().element.to_string(),
        Field::Servers => header.servers().to_string(),
        Field::Nonce => madrigal_core::Digest256(*header.nonce()).to_string(),
        Field::Commitments => {
            let all = header.commitments().iter().map(ToString::to_string);
            format!("[{}]", all.collect::<Vec<_>>().join(", "))
        }
        // A header is that of all servers' files.
        Field::Place => String::new(),
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", text.escape_debug())
}

/// A shape as programs write it; an axis of any length is `_`.
fn shape(axes: impl Iterator<Item = Option<usize>>) -> String {
    let axes = axes.map(|axis| axis.map_or("_".into(), |axis| axis.to_string()));
    format!("[{}]", axes.collect::<Vec<_>>().join(", "))
}

/// Reads a share file that is to be what is expected. One that is not is refused by its beginning, whatever its length.
///
/// # Errors
/// [`ShareFileError`] as of [`read_file`](crate::read_file), with [`ShareFault::Other`] for the first field that differs.
pub fn read_expected(
    path: &Path,
    key: Option<&SealingKey>,
    expected: &Expected,
) -> Result<ShareFile, ShareFileError> {
    read_checked(path, key, &|preamble| expected.check_preamble(preamble))
}
