//! A model as it is to be computed: all that is known before anything is sent.

use std::path::{Path, PathBuf};

use madrigal_app::ways::Ways;
use madrigal_core::Party;
use madrigal_nn::secret::{Format, Network, Roles};
use madrigal_nn::{Graph, Model as File, Options, Tensor};
use madrigal_program::lower::Mix;
use madrigal_program::{Inputs, Planned, Rounding, Type};

use super::unfit::Unfit;
use crate::args::{NumberArg, Receivers};
use crate::exit::{Result, Usage};
use crate::models;

/// Who owns the model, and who the data.
pub const MODEL: Party = Party::new(0);
pub const DATA: Party = Party::new(1);

/// What the flags say of a model and of who computes it.
pub struct Asked<'a> {
    pub model: &'a Path,
    pub parties: usize,
    pub options: Options,
    pub to: &'a Receivers,
    pub public_model: bool,
    pub number: Option<NumberArg>,
}

/// A model as a program.
pub struct Made {
    pub graph: Graph,
    pub network: Network,
    pub roles: Roles,
    pub number: Type,
}

/// The model's file, not looked into yet.
pub fn read(path: &Path) -> Result<File> {
    models::open(path, |error| {
        let problem = error.to_string();
        let path = path.to_owned();
        Unfit::File { path, problem }.into()
    })
}

impl Made {
    pub fn new(file: &File, asked: &Asked<'_>) -> Result<Self> {
        let parties = asked.parties;
        if parties <= DATA.index() {
            return Err(Unfit::Alone.into());
        }
        let path = || asked.model.to_owned();
        let roles = Roles {
            parties,
            model: MODEL,
            data: DATA,
            to: receivers(asked.to, parties)?,
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
        let network = graph.on_secrets(&roles, format);
        let network = network.map_err(|error| Unfit::Secret {
            path: path(),
            error,
        })?;
        Ok(Self {
            graph,
            network,
            roles,
            number,
        })
    }

    /// The plan in the mix that is named, or in the one that takes the least time by the estimate on which all parties
    /// agree.
    pub fn plan(&self, ways: &Ways<'_>, mix: Option<Mix>) -> Result<(Mix, Planned)> {
        let program = self.network.program();
        let planned = match mix {
            Some(mix) => ways.plan(program, mix, None).map(|planned| (mix, planned)),
            None => ways.fastest(program, Mix::usual(self.roles.parties)),
        };
        Ok(planned.map_err(Unfit::Plan)?)
    }

    /// Of the outputs.
    pub fn names(&self) -> Vec<String> {
        let outputs = self.graph.outputs().iter();
        outputs.map(|(name, _)| name.clone()).collect()
    }

    /// Inputs computed at once.
    pub fn batch(&self) -> Option<usize> {
        let (_, id) = self.graph.inputs().first()?;
        self.graph.value(*id).ty.shape.first().copied()
    }

    /// The model's weights beside other inputs.
    pub fn with_weights(&self, path: &Path, inputs: Inputs) -> Result<Inputs> {
        let inputs = self.network.with_weights(&self.graph, inputs);
        Ok(inputs.map_err(|error| Unfit::Weights {
            path: PathBuf::from(path),
            error,
        })?)
    }

    pub fn with_data(&self, data: &[Tensor], inputs: Inputs) -> Result<Inputs> {
        Ok((self.network.with_data(data, inputs)).map_err(|error| Unfit::Data { error })?)
    }
}

fn receivers(to: &Receivers, parties: usize) -> Result<Vec<Party>> {
    let party = |&index: &usize| {
        Party::checked(index, parties).map_err(|source| Usage::Party {
            flag: "--to",
            source,
        })
    };
    match to {
        Receivers::All => Ok(Party::all(parties).collect()),
        Receivers::These(to) if to.is_empty() => Err(Usage::NoReceiver.into()),
        Receivers::These(to) => Ok(to
            .iter()
            .map(party)
            .collect::<std::result::Result<_, _>>()?),
    }
}
