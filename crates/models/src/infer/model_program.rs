//! A model as it is to be computed: all that is known before anything is sent.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use madrigal_app::clients::Asked as AskedOfClients;
use madrigal_app::failure::Result;
use madrigal_app::holders::HolderArg;
use madrigal_app::receivers::Receivers;
use madrigal_app::ways::Ways;
use madrigal_core::Party;
use madrigal_net::Fact;
use madrigal_nn::secret::{Format, Network, Roles};
use madrigal_nn::{Graph, Model as File, Options, Tensor};
use madrigal_program::lower::Mix;
use madrigal_program::{Client, Inputs, Planned, Rounding, Type};

use super::unfit::Unfit;
use crate::args::{NumberArg, Sizes};
use crate::models;
use crate::remedies;

/// Who owns the model, and who the data.
pub(crate) const MODEL: Party = Party::new(0);
pub(crate) const DATA: Party = Party::new(1);

/// Flags about a model and about who computes it.
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a Path,
    pub(crate) parties: usize,
    pub(crate) options: Options,
    /// Client that brings the data, if party 1 does not.
    pub(crate) data: Option<&'a str>,
    pub(crate) to: &'a Receivers,
    pub(crate) public_model: bool,
    pub(crate) number: Option<NumberArg>,
    /// Whether one bit is opened that says if a number may have left its range.
    pub(crate) check_range: bool,
    /// Whether only mixes are wanted in which all parties but one may be corrupted.
    pub(crate) dishonest_majority: bool,
}

/// A model as a program.
pub(crate) struct ModelProgram {
    pub(crate) graph: Graph,
    pub(crate) network: Network,
    pub(crate) roles: Roles,
    pub(crate) number: Type,
    /// Mixes that are compared where none is named.
    pub(crate) mixes: Vec<Mix>,
    /// Facts of the flags about the program, as the parties compare them.
    pub(crate) asked: Vec<Fact>,
}

/// The model's file, not looked into yet.
pub(crate) fn read(path: &Path, sizes: &Sizes) -> Result<File> {
    models::open(path, sizes, |error| {
        let problem = format!("{error}{}", remedies::of_model(&error));
        let path = path.to_owned();
        Unfit::File { path, problem }.into()
    })
}

impl ModelProgram {
    pub(crate) fn new(file: &File, asked: &Asked<'_>) -> Result<Self> {
        let parties = asked.parties;
        if parties <= DATA.index() {
            return Err(Unfit::Alone.into());
        }
        let path = || asked.model.to_owned();
        let roles = Roles {
            parties,
            model: MODEL,
            data: asked
                .data
                .map_or(DATA.into(), |client| Client::new(client).into()),
            to: Receivers::checked("--to", &asked.to.holders(parties)?, parties)?,
            public_model: asked.public_model,
        };
        let graph = file.import(&asked.options).map_err(|error| Unfit::Import {
            path: path(),
            error,
        })?;
        let number = NumberArg::or_of(asked.number, file).map_err(|problem| Unfit::File {
            path: path(),
            problem,
        })?;
        let format = Format {
            number,
            rounding: Rounding::Exact,
        };
        let network = match asked.check_range {
            true => graph.on_secrets_checked(&roles, format),
            false => graph.on_secrets(&roles, format),
        };
        let network = network.map_err(|error| Unfit::Secret {
            path: path(),
            error,
        })?;
        Ok(Self {
            asked: facts(&graph, &network, &roles, (number, asked.check_range)),
            mixes: mixes(parties, asked.dishonest_majority),
            graph,
            network,
            roles,
            number,
        })
    }

    /// The plan in the mix that is named, or in the one that takes the least time by the estimate on which all parties
    /// agree.
    pub(crate) fn plan(&self, ways: &Ways<'_>, mix: Option<Mix>) -> Result<Planned> {
        let program = self.network.program();
        let planned = match mix {
            Some(mix) => ways.plan(program, mix, None),
            None => (ways.fastest(program, &self.mixes)).map(|(_, planned)| planned),
        };
        Ok(planned.map_err(|error| Unfit::plan(&error, self.network.layers()))?)
    }

    /// Inputs and outputs that share files are for in a mix, by the model's own names.
    pub(crate) fn asked_of_clients(&self, model: &Path, mix: Mix) -> AskedOfClients {
        let job = model.file_name().unwrap_or(model.as_os_str());
        let mut asked =
            AskedOfClients::of_program(self.network.program(), mix, &job.to_string_lossy());
        let names: HashMap<&str, &str> = self.network.names().collect();
        let inputs = asked.inputs.iter_mut().map(|input| &mut input.name);
        let outputs = asked.outputs.iter_mut().map(|output| &mut output.name);
        for name in inputs.chain(outputs) {
            if let Some(&own) = names.get(name.as_str()) {
                own.clone_into(name);
            }
        }
        asked
    }

    /// Names of the outputs.
    pub(crate) fn names(&self) -> Vec<String> {
        let outputs = self.graph.outputs().iter();
        outputs.map(|(name, _)| name.clone()).collect()
    }

    /// Inputs computed at once.
    pub(crate) fn batch(&self) -> Option<usize> {
        let (_, id) = self.graph.inputs().first()?;
        self.graph.value(*id).ty.shape.first().copied()
    }

    /// The model's weights beside other inputs.
    pub(crate) fn with_weights(&self, path: &Path, inputs: Inputs) -> Result<Inputs> {
        let inputs = self.network.with_weights(&self.graph, inputs);
        Ok(inputs.map_err(|error| Unfit::Weights {
            path: PathBuf::from(path),
            error,
        })?)
    }

    pub(crate) fn with_data(&self, data: &[Tensor], inputs: Inputs) -> Result<Inputs> {
        Ok((self.network.with_data(data, inputs)).map_err(|error| Unfit::Data { error })?)
    }
}

/// The usual mixes, or those of them in which all parties but one may be corrupted.
fn mixes(parties: usize, dishonest_majority: bool) -> Vec<Mix> {
    let usual = Mix::usual(parties).iter().copied();
    let wanted = |mix: &Mix| !dishonest_majority || mix.withstands(parties) == parties - 1;
    usual.filter(wanted).collect()
}

/// Facts in which the parties' flags must agree, by the flags' names; a fact may follow from those before it.
fn facts(
    graph: &Graph,
    network: &Network,
    roles: &Roles,
    (number, check_range): (Type, bool),
) -> Vec<Fact> {
    let to: Vec<HolderArg> = roles.to.iter().map(HolderArg::from).collect();
    let batch = graph.inputs().first();
    let batch = batch.and_then(|(_, id)| graph.value(*id).ty.shape.first());
    // People compare a few digits; the plan's facts have all that depends on it.
    let digest = network.program().digest();
    let digest: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let architecture = match roles.public_model {
        true => "a model",
        false => "an architecture",
    };
    [
        ("--public-model", roles.public_model.to_string()),
        (
            "--batch",
            batch.map_or_else(|| "none".to_owned(), usize::to_string),
        ),
        ("--numbers", NumberArg(number).to_string()),
        ("--data", HolderArg::from(&roles.data).to_string()),
        ("--to", HolderArg::list(&to)),
        ("--check-range", check_range.to_string()),
        ("--model", format!("{architecture} of digest {digest}")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
