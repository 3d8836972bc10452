//! Values of clients: share files that a party brings, and those that it leaves for clients.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueHint};
use madrigal_clients::{
    Expected, Named, Purpose, Received, ShareFault, ShareFile, ShareFileError, gather, read_file,
};
use madrigal_core::Party;
use madrigal_engine::Shares;
use madrigal_net::sealing::{PublicSealingKey, SealingKey};
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Holder, InputPort, InputShare, Inputs, OutputPort, Outputs};

use crate::failure::{Failure, Fault, Result, Status};
use crate::files::Pending;
use crate::present::Present;
use crate::progress::say;
use crate::remote::sealing_file;

/// Flags about clients' inputs and outputs, of one party of several machines.
#[derive(Args, Debug, Default)]
pub struct ClientFlags {
    /// This party's share of a client's input, as `madrigal share` has written it; several files, with commas between
    /// them or the flag again, are rows of several clients, in the order of the clients' names
    #[arg(long = "shared-input", value_name = "NAME=FILE", value_hint = ValueHint::FilePath)]
    pub shared_inputs: Vec<SharedInputFlag>,

    /// The job that share files are for, as clients named it [default: the program's name]
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,

    /// Where this party leaves its shares of outputs that are for clients, who put them together with `madrigal combine`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub keep_shares: Option<PathBuf>,

    /// A client's public sealing key: shares of outputs for it are sealed. Without its key they are in the clear, and
    /// whoever has those of all parties has the output
    #[arg(long, value_name = "CLIENT=KEY")]
    pub client_key: Vec<ClientKeyFlag>,

    /// Our sealing key, which opens share files [default: the file BASE.sealing.key beside our other key]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub sealing_key: Option<PathBuf>,
}

/// `--shared-input NAME=FILE,...`
#[derive(Debug, Clone)]
pub struct SharedInputFlag {
    name: String,
    files: Vec<PathBuf>,
}

impl FromStr for SharedInputFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, files) = text.split_once('=').ok_or(
            "expected NAME=FILE, for example pay=pay.alice.server0.share; --help lists the names",
        )?;
        let files: Vec<PathBuf> = files.split(',').map(PathBuf::from).collect();
        if files.iter().any(|file| file.as_os_str().is_empty()) {
            return Err("expected NAME=FILE,FILE,..., and a file has no name".into());
        }
        let name = name.to_owned();
        Ok(Self { name, files })
    }
}

/// `--client-key CLIENT=KEY`
#[derive(Debug, Clone)]
pub struct ClientKeyFlag {
    client: String,
    key: PublicSealingKey,
}

impl FromStr for ClientKeyFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (client, key) = text
            .split_once('=')
            .ok_or("expected CLIENT=KEY, with the key that `madrigal keygen --sealing` shows")?;
        let key = key.parse().map_err(|error| format!("{error}"))?;
        let client = client.to_owned();
        Ok(Self { client, key })
    }
}

/// Inputs and outputs of clients that are not as the program has them.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("--shared-input {name}=...: the program has no such input, but {known}")]
    Unknown { name: String, known: String },
    #[error(
        "--shared-input {name}=... is for {owner}, which brings it in the clear; use --input there"
    )]
    OfParty { name: String, owner: Holder },
    #[error(
        "--shared-input {name}=FILE is missing: {sort} of {owner}, of which this party needs its share"
    )]
    Missing {
        name: String,
        sort: String,
        owner: Holder,
    },
    #[error(
        "--shared-input and --keep-shares are for one party of several machines (--party); with --local all parties are here, so give clients' values with --input, and their outputs are shown"
    )]
    Local,
    #[error("--shared-input and --keep-shares are not for programs that run in stages")]
    Stages,
    #[error(
        "output {name} is for {client}: say with --keep-shares DIR where this party leaves its share"
    )]
    NotKept { name: String, client: String },
    #[error("--client-key {client}=...: the program has no output for a client {client}")]
    NoSuchClient { client: String },
    #[error("no sealing key: say with --sealing-key FILE which key opens share files")]
    NoKey,
    #[error(transparent)]
    File(#[from] ShareFileError),
    #[error("the share of output {name}: {fault}")]
    Output {
        name: String,
        fault: Box<ShareFault>,
    },
    #[error(
        "--shared-input {name}=...: the files' rows are {found} together, and the input is {sort}: give the files of all clients, each once"
    )]
    Rows {
        name: String,
        found: usize,
        sort: String,
    },
}

impl Fault for Problem {
    fn status(&self) -> Status {
        match self {
            Self::File(_) | Self::Rows { .. } => Status::File,
            _ => Status::Usage,
        }
    }
}

fn name(place: usize, given: Option<&String>) -> String {
    given.cloned().unwrap_or_else(|| place.to_string())
}

/// Names and mix that share files must have.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The program.
    pub program: &'a Computation,
    /// The mix that it runs in.
    pub mix: Mix,
    /// Name of the program, which is the job's if no flag says otherwise.
    pub name: &'a str,
}

impl ClientFlags {
    /// Checks that no flag is given, where the program runs in stages.
    ///
    /// # Errors
    /// [`Failure`] if one is.
    pub(crate) fn check_unused(&self) -> Result<()> {
        match self.shared_inputs.is_empty() && self.keep_shares.is_none() {
            true => Ok(()),
            false => Err(Problem::Stages.into()),
        }
    }

    /// Adds this party's shares of clients' inputs to its own inputs, and checks that shares of outputs have a place.
    ///
    /// # Errors
    /// [`Failure`]: flags for inputs and outputs that are not there, shares that are missing, and files that are not what
    /// the program asks for.
    pub fn bring(&self, asked: Asked<'_>, present: &Present<'_>, inputs: Inputs) -> Result<Inputs> {
        let Some(me) = present.me() else {
            return match self.shared_inputs.is_empty() && self.keep_shares.is_none() {
                true => Ok(inputs),
                false => Err(Problem::Local.into()),
            };
        };
        self.check_outputs(asked.program)?;
        let ports = asked.program.inputs();
        for flag in &self.shared_inputs {
            let named = |(place, port): (usize, &InputPort)| name(place, port.name.as_ref());
            let found = ports
                .iter()
                .enumerate()
                .find(|&one| named(one) == flag.name);
            let Some((_, port)) = found else {
                let known: Vec<_> = ports.iter().enumerate().map(named).collect();
                return Err(Failure::from(Problem::Unknown {
                    name: flag.name.clone(),
                    known: known.join(", "),
                }));
            };
            if port.owner.client().is_none() {
                let (name, owner) = (flag.name.clone(), port.owner.clone());
                return Err(Problem::OfParty { name, owner }.into());
            }
        }
        let mut inputs = inputs;
        let mut key = None;
        for (place, port) in ports.iter().enumerate() {
            if port.owner.client().is_none() {
                continue;
            }
            let input = name(place, port.name.as_ref());
            let flags = self.shared_inputs.iter().filter(|flag| flag.name == input);
            let files: Vec<&PathBuf> = flags.flat_map(|flag| &flag.files).collect();
            if files.is_empty() {
                return Err(Failure::from(Problem::Missing {
                    name: input,
                    sort: port.tensor_type.to_string(),
                    owner: port.owner.clone(),
                }));
            }
            if key.is_none() {
                key = Some(self.key(present)?);
            }
            let share = self.share(asked, (port, &input), (me, key.as_ref()), &files)?;
            inputs = inputs.with_share_at(ports, place, share);
        }
        Ok(inputs)
    }

    /// The key that opens share files.
    fn key(&self, present: &Present<'_>) -> Result<SealingKey> {
        let beside = || match present {
            Present::One(party) => party.identity().map(sealing_file),
            Present::All { .. } => None,
        };
        let path = self.sealing_key.clone().or_else(beside);
        let path = path.ok_or(Problem::NoKey)?;
        Ok(SealingKey::load(&path, Default::default())?)
    }

    /// One input's share, of one client's file or of the rows of several.
    fn share(
        &self,
        asked: Asked<'_>,
        (port, input): (&InputPort, &str),
        (me, key): (Party, Option<&SealingKey>),
        files: &[&PathBuf],
    ) -> Result<InputShare> {
        let typed = &port.tensor_type;
        let axes = typed.shape.axes();
        let rows = files.len() > 1 && !axes.is_empty();
        let whole = |axis: usize| (!rows || axis > 0).then(|| axes[axis]);
        let expected = Expected {
            job: Some(self.job.as_deref().unwrap_or(asked.name).to_owned()),
            name: Some(input.to_owned()),
            element_type: Some(typed.element.to_string()),
            shape: Some((0..axes.len()).map(whole).collect()),
            form: Some(asked.mix.kept_form(typed.element)),
            servers: Some(asked.program.parties()),
            place: Some(me),
            // Rows are of several clients, under names of their own.
            client: (port.owner.client())
                .filter(|_| !rows)
                .map(|client| client.name().to_owned()),
            ..Expected::any(Purpose::Input)
        };
        let received = files.iter().map(|file| {
            let share = read_file(file, key).map_err(Problem::File)?;
            expected.check(&share).map_err(|fault| ShareFileError {
                file: file.to_path_buf(),
                value: Some(share.header().in_words()),
                fault: Box::new(fault),
            })?;
            let file = file.to_path_buf();
            Ok(Received { file, share })
        });
        let received: Vec<Received> = received.collect::<Result<_, Problem>>()?;
        let received = gather(received).map_err(Problem::File)?;
        let headers = received.iter().map(|one| one.share.header());
        let submissions: Vec<String> = headers.map(|one| one.submission().to_string()).collect();
        let shares: Vec<&Shares> = received.iter().map(|one| one.share.shares()).collect();
        let shares = Shares::concat(&shares);
        if shares.len() != typed.shape.elements() {
            let row: usize = axes.iter().skip(1).product();
            return Err(Failure::from(Problem::Rows {
                name: input.to_owned(),
                found: shares.len() / row.max(1),
                sort: typed.to_string(),
            }));
        }
        Ok(InputShare {
            shares,
            submission: submissions.join(" "),
        })
    }

    /// Checks that shares of outputs have a place, and keys a client.
    fn check_outputs(&self, program: &Computation) -> Result<()> {
        let outputs = program.outputs();
        let clients = || outputs.iter().flat_map(OutputPort::clients);
        if let (None, Some((place, port, client))) =
            (&self.keep_shares, first_for_a_client(outputs))
        {
            let (name, client) = (name(place, port.name.as_ref()), client.to_string());
            return Err(Problem::NotKept { name, client }.into());
        }
        let strange = |flag: &&ClientKeyFlag| clients().all(|client| client.name() != flag.client);
        match self.client_key.iter().find(strange) {
            Some(flag) => {
                let client = flag.client.clone();
                Err(Problem::NoSuchClient { client }.into())
            }
            None => Ok(()),
        }
    }

    /// Leaves this party's shares of outputs for clients, a file for each output and client. `run` is the same at all
    /// parties, and of this run alone.
    ///
    /// # Errors
    /// [`Failure`]: files that cannot be written.
    pub fn leave(
        &self,
        asked: Asked<'_>,
        (me, server): (Party, &str),
        outputs: &Outputs,
        run: [u8; 32],
        quiet: bool,
    ) -> Result<()> {
        let Some(directory) = &self.keep_shares else {
            return Ok(());
        };
        let ports = asked.program.outputs().iter().enumerate();
        for ((place, port), share) in ports.zip(outputs.shares()) {
            let Some(share) = share else { continue };
            for client in port.clients() {
                let output = name(place, port.name.as_ref());
                let named = Named {
                    job: self.job.as_deref().unwrap_or(asked.name).to_owned(),
                    name: output.clone(),
                    client: client.name().to_owned(),
                    element_type: port.tensor_type.element.to_string(),
                    shape: port.tensor_type.shape.axes().to_vec(),
                };
                let servers = asked.program.parties();
                let failed = |fault| Problem::Output {
                    name: output.clone(),
                    fault: Box::new(fault),
                };
                let file = ShareFile::of_output(named, share.clone(), me, servers, run);
                let file = file.map_err(failed)?;
                let key = self
                    .client_key
                    .iter()
                    .find(|flag| flag.client == client.name());
                let key = key.map(|flag| &flag.key);
                let path = directory.join(format!("{output}.{}.{server}.share", client.name()));
                fs::create_dir_all(directory)
                    .map_err(Failure::file("make the directory", directory))?;
                write(&path, &file, key)?;
                if !quiet {
                    let how = match key {
                        Some(_) => "sealed for it",
                        None => {
                            "in the clear: whoever has the shares of all parties has the output; --client-key seals it"
                        }
                    };
                    say(format_args!(
                        "share of output {output} for {client}, {how}: {}",
                        path.display()
                    ));
                }
            }
        }
        Ok(())
    }
}

fn first_for_a_client(
    outputs: &[OutputPort],
) -> Option<(usize, &OutputPort, &madrigal_program::Client)> {
    let mut ports = outputs.iter().enumerate();
    ports.find_map(|(place, port)| Some((place, port, port.clients().next()?)))
}

fn write(path: &Path, file: &ShareFile, key: Option<&PublicSealingKey>) -> Result<()> {
    let written = Pending::new(path, &|to| {
        let written = file.write(to, key);
        written.map_err(|fault| match fault {
            ShareFault::File(error) => error.into(),
            other => io::Error::other(other),
        })
    });
    let failed = || Failure::file("write the share", path);
    written.map_err(failed())?.finish().map_err(failed())
}
