//! Values of clients: share files that a party brings, and those that it leaves for clients.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueHint};
use madrigal_clients::{
    Expected, Field, Header, Named, Purpose, Received, ShareFault, ShareFile, ShareFileError,
    gather, read_expected,
};
use madrigal_core::Party;
use madrigal_engine::{Element, Shares, Sharing};
use madrigal_net::sealing::{PublicSealingKey, SealingKey};
use madrigal_program::lower::Mix;
use madrigal_program::{Client, Computation, Holder, InputShare, Inputs};

use crate::client_faults::Problem;
use crate::failure::{Failure, Result};
use crate::progress::say;
use crate::remote::{RemoteParty, sealing_file};
use crate::share_files::{Names, query_file_name, written_to};

/// Flags about clients' inputs and outputs, of one party of several machines.
#[derive(Args, Debug, Default)]
pub struct ClientFlags {
    /// This party's share of a client's input, as `madrigal share` has written it; several files, with commas between
    /// them or the flag again, are rows of several clients, in the order of the clients' names. An input without a name has
    /// its number, from 0 on
    #[arg(long = "shared-input", value_name = "NAME=FILE", value_hint = ValueHint::FilePath)]
    pub shared_inputs: Vec<SharedInputFlag>,

    /// The job that share files are for, as clients named it [default: the name of the program, or of the file with the circuit or model]
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,

    /// Where this party leaves its shares of outputs that are for clients, who put them together with `madrigal combine`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub keep_shares: Option<PathBuf>,

    /// A client's public sealing key: shares of outputs for it are sealed. Without its key they are in the clear, and
    /// whoever has those of all parties has the output
    #[arg(long, value_name = "CLIENT=KEY")]
    pub client_key: Vec<ClientKeyFlag>,

    /// Says that the program is a query, whose clients' shares are for it alone: no flag names them.
    #[arg(skip)]
    pub(crate) is_query: bool,

    /// Directory with this party's shares of a query's inputs, under the names of [`Naming::Query`](crate::share_files::Naming).
    #[arg(skip)]
    pub(crate) directory: Option<PathBuf>,

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

/// Inputs and outputs that share files are for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Name of the job if no flag says otherwise.
    pub job: String,
    /// Number of parties that compute.
    pub parties: usize,
    /// All inputs, in order.
    pub inputs: Vec<AskedInput>,
    /// All outputs, in order.
    pub outputs: Vec<AskedOutput>,
}

/// An input, as files have its shares.
#[derive(Debug, Clone)]
pub struct AskedInput {
    /// Name of the input.
    pub name: String,
    /// Whoever brings it.
    pub owner: Holder,
    /// Text of the elements' type, unless any of the form will do.
    pub element_type: Option<String>,
    /// Lengths of the axes; `None` for a first one of any length.
    pub shape: Vec<Option<usize>>,
    /// Sharing and element of the shares.
    pub form: (Sharing, Element),
    /// Type and shape, in words.
    pub in_words: String,
    /// Way to make shares of this form, where that is not what clients do without thinking.
    pub remedy: Option<&'static str>,
}

/// An output, as files have its shares.
#[derive(Debug, Clone)]
pub struct AskedOutput {
    /// Name of the output.
    pub name: String,
    /// Clients that get it.
    pub clients: Vec<Client>,
    /// Text of the elements' type.
    pub element_type: String,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
}

impl Asked {
    /// Inputs and outputs of a program in a mix.
    pub fn of_program(program: &Computation, mix: Mix, job: &str) -> Self {
        let name = |place: usize, given: Option<&String>| {
            given.cloned().unwrap_or_else(|| place.to_string())
        };
        let inputs = program.inputs().iter().enumerate();
        let inputs = inputs.map(|(place, port)| AskedInput {
            name: name(place, port.name.as_ref()),
            owner: port.owner.clone(),
            element_type: Some(port.tensor_type.element.to_string()),
            shape: port
                .tensor_type
                .shape
                .axes()
                .iter()
                .copied()
                .map(Some)
                .collect(),
            form: mix.kept_form(port.tensor_type.element),
            in_words: port.tensor_type.to_string(),
            remedy: None,
        });
        let outputs = program.outputs().iter().enumerate();
        let outputs = outputs.map(|(place, port)| AskedOutput {
            name: name(place, port.name.as_ref()),
            clients: port.clients().cloned().collect(),
            element_type: port.tensor_type.element.to_string(),
            shape: port.tensor_type.shape.axes().to_vec(),
        });
        Self {
            job: job.to_owned(),
            parties: program.parties(),
            inputs: inputs.collect(),
            outputs: outputs.collect(),
        }
    }
}

/// A server: the party that share files are for.
#[derive(Debug, Clone)]
pub struct Server {
    /// Number of the party.
    pub me: Party,
    /// Name of the party in `parties.toml`.
    pub name: String,
    /// Base name of the files with the party's key, if it has one.
    pub identity: Option<PathBuf>,
}

impl From<&RemoteParty<'_>> for Server {
    fn from(party: &RemoteParty<'_>) -> Self {
        Self {
            me: Party::new(party.me()),
            name: party.name().to_owned(),
            identity: party.identity().map(Path::to_path_buf),
        }
    }
}

impl ClientFlags {
    /// Checks that no flag is given, where nothing of clients is taken.
    ///
    /// # Errors
    /// [`Failure`] if one is.
    pub fn check_unused(&self, by: &'static str) -> Result<()> {
        match self.is_used() {
            false => Ok(()),
            true => Err(Problem::NotFor(by).into()),
        }
    }

    /// Whether shares come in or go out.
    pub fn is_used(&self) -> bool {
        let comes = !self.shared_inputs.is_empty() || self.directory.is_some();
        comes || self.keep_shares.is_some()
    }

    /// Paths of files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let shared = self.shared_inputs.iter().flat_map(|flag| &flag.files);
        shared.chain(&self.sealing_key).map(PathBuf::as_path)
    }

    /// Adds this party's shares of clients' inputs of a program to its own inputs, and checks that shares of outputs have a
    /// place.
    ///
    /// # Errors
    /// [`Failure`]: those of [`shares`](Self::shares), and flags where all parties are here.
    pub fn bring(
        &self,
        asked: &Asked,
        program: &Computation,
        server: Option<&Server>,
        inputs: Inputs,
    ) -> Result<Inputs> {
        self.check_here(server)?;
        let Some(server) = server else {
            return Ok(inputs);
        };
        let shares = self.shares(asked, server)?;
        Ok(with_shares(program, inputs, shares))
    }

    /// Does what [`bring`](Self::bring) does for one of several programs, which others of the flags are for.
    ///
    /// # Errors
    /// [`Failure`] in the same cases, but for names that are not there.
    pub(crate) fn bring_to_stage(
        &self,
        asked: &Asked,
        program: &Computation,
        server: Option<&Server>,
        inputs: Inputs,
    ) -> Result<Inputs> {
        let Some(server) = server else {
            return Ok(inputs);
        };
        self.check_kept(asked)?;
        let shares = self.read(asked, server)?;
        Ok(with_shares(program, inputs, shares))
    }

    /// Has shares of a query's inputs come from a directory, and from no other flag.
    ///
    /// # Errors
    /// [`Failure`] if another flag is given.
    pub(crate) fn of_query(&mut self, directory: Option<PathBuf>) -> Result<()> {
        let flag = match (&self.job, self.shared_inputs.is_empty()) {
            (Some(_), _) => "--job",
            (None, false) => "--shared-input",
            (None, true) => {
                (self.is_query, self.directory) = (true, directory);
                return Ok(());
            }
        };
        Err(Problem::OfQuery { flag }.into())
    }

    /// Checks that no flag is given where all parties are here.
    ///
    /// # Errors
    /// [`Failure`] if one is.
    pub(crate) fn check_here(&self, server: Option<&Server>) -> Result<()> {
        match server {
            None if self.is_used() => Err(Problem::Local.into()),
            _ => Ok(()),
        }
    }

    /// Flags for inputs and clients that are not among these, as they were given.
    pub(crate) fn unused(
        &self,
        inputs: &BTreeSet<String>,
        clients: &BTreeSet<String>,
    ) -> Vec<String> {
        let inputs = (self.shared_inputs.iter())
            .filter(|flag| !inputs.contains(&flag.name))
            .map(|flag| format!("--shared-input {}", flag.name));
        let clients = (self.client_key.iter())
            .filter(|flag| !clients.contains(&flag.client))
            .map(|flag| format!("--client-key {}", flag.client));
        inputs.chain(clients).collect()
    }

    /// Reads this party's share of each client's input; `None` for inputs of parties. Checks that shares of outputs have a
    /// place.
    ///
    /// # Errors
    /// [`Failure`]: flags for inputs and outputs that are not there, shares that are missing, and files that are not what
    /// is asked for.
    pub fn shares(&self, asked: &Asked, server: &Server) -> Result<Vec<Option<InputShare>>> {
        self.check_kept(asked)?;
        self.check_keys(asked)?;
        for flag in &self.shared_inputs {
            if asked.inputs.iter().all(|input| input.name != flag.name) {
                let known = asked.inputs.iter().map(|input| input.name.as_str());
                return Err(Failure::from(Problem::Unknown {
                    name: flag.name.clone(),
                    known: known.collect::<Vec<_>>().join(", "),
                }));
            }
        }
        self.read(asked, server)
    }

    /// Reads this party's share of each client's input.
    fn read(&self, asked: &Asked, server: &Server) -> Result<Vec<Option<InputShare>>> {
        let mut key = None;
        // Submissions of clients whose inputs were made together, by the first file of each.
        let mut together: BTreeMap<String, (Header, PathBuf)> = BTreeMap::new();
        let mut of = |(place, input): (usize, &AskedInput)| {
            let flags = self.shared_inputs.iter();
            let mut flags = flags.filter(|flag| flag.name == input.name);
            let Some(client) = input.owner.client() else {
                let (name, owner) = (input.name.clone(), input.owner.clone());
                return match flags.next() {
                    Some(_) => Err(Problem::OfParty { name, owner }.into()),
                    None => Ok(None),
                };
            };
            let own = query_file_name(&asked.job, place, client.name(), &server.name);
            let own = self.directory.as_ref().map(|folder| folder.join(own));
            let mut files: Vec<&PathBuf> = flags.flat_map(|flag| &flag.files).collect();
            files.extend(&own);
            if let Some(file) = own.as_ref().filter(|file| !file.exists()) {
                return Err(Failure::from(Problem::NotThere {
                    file: file.clone(),
                    name: input.name.clone(),
                    owner: input.owner.clone(),
                    job: asked.job.clone(),
                }));
            }
            if files.is_empty() && self.is_query {
                let (name, owner) = (input.name.clone(), input.owner.clone());
                return Err(Problem::NoShares { name, owner }.into());
            }
            if files.is_empty() {
                return Err(Failure::from(Problem::Missing {
                    name: input.name.clone(),
                    sort: input.in_words.clone(),
                    owner: input.owner.clone(),
                }));
            }
            if key.is_none() {
                key = Some(self.key(server)?);
            }
            let (share, headers) = self.share(asked, input, (server.me, key.as_ref()), &files)?;
            if self.is_query {
                for (header, file) in headers {
                    one_submission(&mut together, header, file)?;
                }
            }
            Ok(Some(share))
        };
        asked.inputs.iter().enumerate().map(&mut of).collect()
    }

    /// The key that opens share files.
    fn key(&self, server: &Server) -> Result<SealingKey> {
        let beside = || server.identity.as_deref().map(sealing_file);
        let path = self.sealing_key.clone().or_else(beside);
        let path = path.ok_or(Problem::NoKey)?;
        Ok(SealingKey::load(&path, Default::default())?)
    }

    /// Name of the job in share files.
    fn job<'a>(&'a self, asked: &'a Asked) -> &'a str {
        self.job.as_deref().unwrap_or(&asked.job)
    }

    /// One input's share, of one client's file or of the rows of several.
    fn share(
        &self,
        asked: &Asked,
        input: &AskedInput,
        (me, key): (Party, Option<&SealingKey>),
        files: &[&PathBuf],
    ) -> Result<(InputShare, Vec<(Header, PathBuf)>)> {
        let rows = files.len() > 1 && !input.shape.is_empty();
        let mut shape = input.shape.clone();
        if rows {
            shape[0] = None;
        }
        let expected = Expected {
            job: Some(self.job(asked).to_owned()),
            name: Some(input.name.clone()),
            element_type: input.element_type.clone(),
            shape: Some(shape),
            form: Some(input.form),
            servers: Some(asked.parties),
            place: Some(me),
            // Rows are of several clients, under names of their own.
            client: (input.owner.client())
                .filter(|_| !rows)
                .map(|client| client.name().to_owned()),
            ..Expected::any(Purpose::Input)
        };
        let received = files.iter().map(|file| {
            let share = read_expected(file, key, &expected);
            let share = share.map_err(|error| self.refused(error, input.remedy))?;
            let file = file.to_path_buf();
            Ok(Received { file, share })
        });
        let received: Vec<Received> = received.collect::<Result<_, Problem>>()?;
        let received = gather(received).map_err(Problem::from)?;
        let headers = received.iter();
        let headers = headers.map(|one| (one.share.header().clone(), one.file.clone()));
        let headers: Vec<(Header, PathBuf)> = headers.collect();
        let submissions = headers.iter().map(|(one, _)| one.submission().to_string());
        let submissions: Vec<String> = submissions.collect();
        let shares: Vec<&Shares> = received.iter().map(|one| one.share.shares()).collect();
        let shares = Shares::concat(&shares);
        let axes = input.shape.iter().copied();
        let elements: Option<usize> = axes.clone().product();
        if elements.is_some_and(|elements| elements != shares.len()) {
            let row: usize = axes.skip(1).flatten().product();
            return Err(Failure::from(Problem::Rows {
                name: input.name.clone(),
                found: shares.len() / row.max(1),
                sort: input.in_words.clone(),
            }));
        }
        let submission = submissions.join(" ");
        Ok((InputShare { shares, submission }, headers))
    }

    /// A file that is refused, with what mends that.
    fn refused(&self, error: ShareFileError, of_form: Option<&'static str>) -> Problem {
        match &*error.fault {
            ShareFault::Other {
                field: Field::Job,
                got,
                expected,
            } if self.is_query => Problem::OtherQuery {
                got: got.clone(),
                expected: expected.clone(),
                value: error.value.unwrap_or_default(),
                file: error.file,
            },
            ShareFault::Other { field, .. } if field.is_of_form() => {
                let remedy = of_form;
                Problem::File { error, remedy }
            }
            _ => error.into(),
        }
    }

    /// Checks that shares of outputs have a place.
    fn check_kept(&self, asked: &Asked) -> Result<()> {
        let mut outputs = asked.outputs.iter();
        let first = outputs.find_map(|output| Some((output, output.clients.first()?)));
        if let (None, Some((output, client))) = (&self.keep_shares, first) {
            let (name, client) = (output.name.clone(), client.to_string());
            return Err(Problem::NotKept { name, client }.into());
        }
        Ok(())
    }

    /// Checks that keys have a client.
    fn check_keys(&self, asked: &Asked) -> Result<()> {
        let clients = || asked.outputs.iter().flat_map(|output| &output.clients);
        let strange = |flag: &&ClientKeyFlag| clients().all(|client| client.name() != flag.client);
        match self.client_key.iter().find(strange) {
            Some(flag) => {
                let client = flag.client.clone();
                Err(Problem::NoSuchClient { client }.into())
            }
            None => Ok(()),
        }
    }

    /// Leaves this party's shares of outputs for clients, which are here in the outputs' order, a file for each output and
    /// client. `run` is the same at all parties, and of this run alone.
    ///
    /// # Errors
    /// [`Failure`]: files that cannot be written.
    pub fn leave<'a>(
        &self,
        asked: &Asked,
        server: &Server,
        shares: impl IntoIterator<Item = Option<&'a Shares>>,
        run: [u8; 32],
        quiet: bool,
    ) -> Result<()> {
        let Some(directory) = &self.keep_shares else {
            return Ok(());
        };
        let mut names = Names::default();
        for (place, (output, share)) in asked.outputs.iter().zip(shares).enumerate() {
            let Some(share) = share else { continue };
            let name = &output.name;
            for client in &output.clients {
                let named = Named {
                    job: self.job(asked).to_owned(),
                    name: name.clone(),
                    client: client.name().to_owned(),
                    element_type: output.element_type.clone(),
                    shape: output.shape.clone(),
                };
                let failed = |fault| Problem::Output {
                    name: name.clone(),
                    fault: Box::new(fault),
                };
                let file =
                    ShareFile::of_output(named, share.clone(), server.me, asked.parties, run);
                let file = file.map_err(failed)?;
                let key = self
                    .client_key
                    .iter()
                    .find(|flag| flag.client == client.name());
                let key = key.map(|flag| &flag.key);
                let own = names.of(place, name, client.name());
                let path = directory.join(own(&server.name));
                fs::create_dir_all(directory)
                    .map_err(Failure::file("make the directory", directory))?;
                let failed = || Failure::file("write the share", &path);
                let written = written_to(&path, &file, key).map_err(failed())?;
                written.finish().map_err(failed())?;
                if !quiet {
                    let how = match key {
                        Some(_) => "sealed for it",
                        None => {
                            "in the clear: whoever has the shares of all parties has the output; --client-key seals it"
                        }
                    };
                    say(format_args!(
                        "share of output {name} for {client}, {how}: {}",
                        path.display()
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Checks that a file is of the submission that its client's other ones are of.
fn one_submission(
    together: &mut BTreeMap<String, (Header, PathBuf)>,
    header: Header,
    file: PathBuf,
) -> Result<(), Problem> {
    let client = header.named().client.clone();
    let (first, other) = together
        .entry(client.clone())
        .or_insert_with(|| (header.clone(), file.clone()));
    match first.nonce() == header.nonce() {
        true => Ok(()),
        false => Err(Problem::Apart {
            value: header.in_words(),
            other: other.clone(),
            client,
            file,
        }),
    }
}

/// Adds shares to a party's own inputs.
fn with_shares(program: &Computation, inputs: Inputs, shares: Vec<Option<InputShare>>) -> Inputs {
    let shares = shares.into_iter().enumerate();
    let shares = shares.filter_map(|(place, share)| Some((place, share?)));
    shares.fold(inputs, |inputs, (place, share)| {
        inputs.with_share_at(program.inputs(), place, share)
    })
}
