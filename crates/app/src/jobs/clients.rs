//! Values of circuits in share files: which types they have there, and how shares are cut into a circuit's values.

use madrigal_engine::{Element, Shares, Sort};
use madrigal_net::Fact;
use madrigal_operations::Circuit;
use madrigal_program::{Client, InputShare};

use super::party::Handed;
use super::task::Job;
use crate::clients::{Asked, AskedInput, AskedOutput};
use crate::failure::{Failure, Result};
use crate::holders::HolderArg;

/// Way to make shares of a circuit's inputs: in some mixes numbers are shared as ring elements.
const AS_BITS: &str = "`madrigal share --bits` shares the bits of numbers, as circuits take them; --protocol names the circuit's protocol";

/// Bits of elements, and how many of them a circuit's value of `width` bits has in a file: a number where there is a type of as
/// many bits, else bytes where it consists of such, else bits; the lowest ones first.
fn elements(width: u32) -> (u32, usize) {
    match width {
        1 | 8 | 16 | 32 | 64 | 128 => (width, 1),
        _ if width.is_multiple_of(8) && width > 0 => (8, width as usize / 8),
        _ => (1, width as usize),
    }
}

/// Name of the type of elements of `bits` bits.
fn type_name(bits: u32) -> String {
    match bits {
        1 => "bool".to_owned(),
        bits => format!("u{bits}"),
    }
}

/// Axes of a value in `lanes` lanes.
fn axes<T>(lanes: T, each: usize, length: impl Fn(usize) -> T) -> Vec<T> {
    match each {
        1 => vec![lanes],
        _ => vec![lanes, length(each)],
    }
}

/// Gives what a circuit's job asks of clients, and the job's name unless a flag says otherwise; `lanes` if they are known.
///
/// # Errors
/// [`Failure`]: owners or receivers that are not there.
pub fn asked_of_clients(job: &Job, circuit: &Circuit, lanes: Option<u64>) -> Result<Asked> {
    let holder = |holder: &HolderArg| holder.holder(job.parties).map_err(Failure::bug);
    let lanes = lanes.map(|lanes| usize::try_from(lanes).map_err(Failure::bug));
    let lanes = lanes.transpose()?;
    let sharing = job.how.backend().kept.sharing;
    let inputs = circuit.inputs().iter().zip(&job.owners).enumerate();
    let inputs = inputs.map(|(place, (&width, owner))| {
        let (bits, each) = elements(width);
        let many = match each {
            1 => "one".to_owned(),
            each => each.to_string(),
        };
        Ok(AskedInput {
            name: place.to_string(),
            owner: holder(owner)?,
            // A circuit does not know what its bits mean.
            element_type: None,
            shape: axes(lanes, each, Some),
            form: (sharing, Element::Bits(bits as usize)),
            in_words: format!("{}, {many} for each lane,", type_name(bits)),
            remedy: Some(AS_BITS),
        })
    });
    let clients: Vec<Client> = (job.to.iter())
        .filter_map(|to| to.client().map(Client::new))
        .collect();
    let outputs = circuit.outputs().iter().enumerate();
    let outputs = outputs.map(|(place, &width)| {
        let (bits, each) = elements(width);
        AskedOutput {
            name: place.to_string(),
            clients: clients.clone(),
            element_type: type_name(bits),
            shape: axes(lanes.unwrap_or_default(), each, |each| each),
        }
    });
    let name = job.circuit.name();
    let name = name.file_name().unwrap_or(name.as_os_str());
    Ok(Asked {
        job: name.to_string_lossy().into_owned(),
        parties: job.parties,
        inputs: inputs.collect::<Result<_>>()?,
        outputs: outputs.collect(),
    })
}

/// Cuts the shares of files into a circuit's values, each with the fact that all parties must have in common.
pub fn dealt_shares(
    circuit: &Circuit,
    asked: &Asked,
    shares: Vec<Option<InputShare>>,
) -> Vec<(Shares, Fact)> {
    let values = circuit.inputs().iter().zip(&asked.inputs).zip(shares);
    let of = |((&width, input), share): ((&u32, &AskedInput), Option<InputShare>)| {
        let share = share?;
        let fact = (
            format!("submission of input {}", input.name),
            share.submission,
        );
        Some((regrouped(&share.shares, width as usize), fact))
    };
    values.filter_map(of).collect()
}

/// Counts the lanes of each input that came in files, by its name.
pub fn lanes_of<'a>(
    circuit: &Circuit,
    asked: &'a Asked,
    shares: &[Option<InputShare>],
) -> Vec<(&'a str, u64)> {
    let values = circuit.inputs().iter().zip(&asked.inputs).zip(shares);
    let of = |((&width, input), share): ((&u32, &'a AskedInput), &Option<InputShare>)| {
        let lanes = share.as_ref()?.shares.len() / elements(width).1.max(1);
        Some((input.name.as_str(), lanes as u64))
    };
    values.filter_map(of).collect()
}

impl Handed {
    /// Shares of outputs as files have them.
    pub fn for_files(&self, circuit: &Circuit) -> Vec<Shares> {
        let values = self.shares.iter().zip(circuit.outputs());
        let of = |(share, &width): (&Shares, &u32)| regrouped(share, elements(width).0 as usize);
        values.map(of).collect()
    }
}

/// Makes elements of `width` bits of the bits in order: bits of an element follow each other, the lowest one first, and so do
/// elements.
fn regrouped(shares: &Shares, width: usize) -> Shares {
    let sort = shares.sort();
    let from = sort.element.bits();
    if from == width {
        return shares.clone();
    }
    let len = (sort.len * from).checked_div(width).unwrap_or(0);
    let mut made = Shares::zeros(Sort::new(sort.sharing, Element::Bits(width), len));
    for component in 0..sort.sharing.components() {
        for plane in 0..from {
            let row = shares.plane(plane, component);
            for element in 0..sort.len {
                let bit = row[element / 8] >> (element % 8) & 1;
                let at = element * from + plane;
                let (plane, lane) = (at % width, at / width);
                made.plane_mut(plane, component)[lane / 8] |= bit << (lane % 8);
            }
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use madrigal_engine::Sharing;

    use super::*;

    #[test]
    fn bits_keep_their_order() {
        let bytes = [0x01_u8, 0x80, 0xa5, 0x5a, 0xff, 0x10];
        for sharing in [Sharing::B, Sharing::PUBLIC] {
            let shares = Shares::bits_of(sharing, 8, &bytes);
            let words = regrouped(&shares, 24);
            let expected = [0x00a5_8001_u32, 0x0010_ff5a];
            assert_eq!(*words.to_numbers::<u32>().unwrap(), expected);
            assert_eq!(*regrouped(&words, 8).to_numbers::<u8>().unwrap(), bytes);
            let single = regrouped(&words, 1);
            assert_eq!((single.len(), single.sort().sharing), (48, sharing));
        }
        let both = Shares::zeros(Sort::new(Sharing::R, Element::Bits(1), 10));
        assert_eq!(
            *regrouped(&both, 5).sort(),
            Sort::new(Sharing::R, Element::Bits(5), 2)
        );
    }

    #[test]
    fn values_have_the_widest_type_that_is_theirs() {
        let told = [1, 8, 32, 128, 256, 40, 5].map(elements);
        assert_eq!(
            told,
            [(1, 1), (8, 1), (32, 1), (128, 1), (8, 32), (8, 5), (1, 5)]
        );
    }
}
