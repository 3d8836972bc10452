//! A kind of jobs: a program that was read and checked, with what it asks of submissions and gives to whom.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use madrigal_app::over::Over;
use madrigal_app::ways::{MatricesArg, Ways};
use madrigal_core::{Party, domains};
use madrigal_engine::{Element, Sharing, Sort};
use madrigal_program::lower::{ExecuteError, Mix};
use madrigal_program::{Client, Computation, Exposed, Planned, Privacy};
use madrigal_program_file::{BindError, Limits, ProgramFile, ReadError};
use sha2::{Digest as _, Sha256};

use crate::config::{KindConfig, Submitters};
use crate::held::{HeldInput, Source, open_shape};
use crate::plans::Plans;
use crate::unit::AheadUnit;

/// Memory of a share file beside its shares, in bytes: its header, and what the allocator rounds up.
const FILE_BYTES: u64 = 1024;

/// A kind of jobs.
#[derive(Debug)]
pub struct Kind {
    /// The kind, as the service's file has it.
    pub config: KindConfig,
    /// Digest of all that the servers must have in common.
    pub digest: [u8; 32],
    /// Inputs of one submission.
    pub inputs: Vec<KindInput>,
    /// Inputs that other kinds hold, in the program's order; none in most kinds.
    pub held: Vec<HeldInput>,
    /// Where a job takes each input of the program from, in the program's order.
    pub sources: Vec<Source>,
    /// Outputs of a batch.
    pub outputs: Vec<KindOutput>,
    /// Privacy of each submission in what is told of one batch, or why it has none.
    pub privacy: Result<Privacy, Exposed>,
    /// Memory that a job of the largest batch takes here, in bytes: by the plan, and for the shares that submissions bring.
    pub memory: u64,
    /// The part of it that shares take before the plan's values are made of them.
    pub shares_memory: u64,
    /// Unit of the correlations that are kept ready, where the file asks for some.
    pub ahead: Option<AheadUnit>,
    bytes: Vec<u8>,
    threads: usize,
    pub(crate) plans: Plans,
}

/// An input, as one submission brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindInput {
    /// Name.
    pub name: String,
    /// The type of the elements, in words that clients and servers agree on.
    pub element_type: String,
    /// Lengths of the axes. The first one is 1 where a batch has a row for each submission.
    pub shape: Vec<usize>,
    /// Sharing and element of the shares.
    pub form: (Sharing, Element),
}

/// An output of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindOutput {
    /// Name.
    pub name: String,
    /// The type of the elements, in words.
    pub element_type: String,
    /// Lengths of the axes, of what one receiver gets; nothing for those that depend on the batch.
    pub shape: Vec<Option<usize>>,
    /// Whoever gets it.
    pub to: Receivers,
}

/// Whoever gets an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receivers {
    /// Each submitter a row of its own.
    OwnRow,
    /// All submitters the same.
    Submitters,
    /// These clients.
    Named(BTreeSet<String>),
}

/// Reason why a kind cannot be done.
#[derive(Debug, thiserror::Error)]
#[error("kind `{kind}`, {}: {fault}", program.display())]
pub struct KindError {
    /// The kind.
    pub kind: String,
    /// The program's file.
    pub program: PathBuf,
    /// Fault of the kind.
    pub fault: Box<KindFault>,
}

/// Fault of a kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KindFault {
    /// The program's file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The program does not take these lengths.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// There is no plan for the program.
    #[error("no plan for {submissions} submissions: {source}")]
    Plan {
        /// Size of the batch.
        submissions: usize,
        /// Reason.
        source: ExecuteError,
    },
    /// The program is for another number of servers.
    #[error("it is for {got} parties, and there are {servers} servers")]
    Servers {
        /// Parties of the program.
        got: usize,
        /// Number of servers.
        servers: usize,
    },
    /// The program does not fit what a service does.
    #[error("{0}")]
    Unfit(String),
    /// A job of the largest batch takes more memory than it may.
    #[error(
        "a job of {submissions} submissions takes {needs} bytes of memory ({plan} by its plan, {shares} for the shares that clients bring, which are there before it), and may take {allowed}: allow more (`memory`), or make batches smaller (`most`)"
    )]
    Memory {
        /// Size of the largest batch.
        submissions: usize,
        /// Memory that it takes.
        needs: u64,
        /// Memory that the plan says.
        plan: u64,
        /// Memory of the shares that are read, and put together for the plan.
        shares: u64,
        /// Memory that is allowed.
        allowed: u64,
    },
}

impl Kind {
    /// Reads the program of a kind for this many servers, plans its largest batch on `threads` threads of each, and checks it.
    ///
    /// # Errors
    /// [`KindError`].
    pub fn load(
        config: KindConfig,
        servers: usize,
        threads: usize,
        memory: u64,
    ) -> Result<Self, KindError> {
        let (kind, program) = (config.name.clone(), config.program.clone());
        Self::try_load(config, servers, threads, memory).map_err(|fault| KindError {
            kind,
            program,
            fault: Box::new(fault),
        })
    }

    fn try_load(
        config: KindConfig,
        servers: usize,
        threads: usize,
        memory: u64,
    ) -> Result<Self, KindFault> {
        let limits = Limits::default();
        let bytes = ProgramFile::open(&config.program, &limits)?.to_bytes();
        let mut kind = Self {
            privacy: Ok(Privacy::default()),
            digest: digest(&config, &bytes),
            inputs: Vec::new(),
            held: Vec::new(),
            sources: Vec::new(),
            outputs: Vec::new(),
            memory: 0,
            shares_memory: 0,
            ahead: None,
            bytes,
            threads,
            plans: Plans::default(),
            config,
        };
        let (one, two) = match (&kind.config.dimension, &kind.config.holds) {
            // A holding kind leaves the dimension of batches open, which it has no part in.
            (Some(_), _) | (_, Some(_)) => (kind.bound(1)?, kind.bound(2)?),
            (None, None) => (kind.bound(1)?, kind.bound(1)?),
        };
        if one.parties() != servers {
            let got = one.parties();
            return Err(KindFault::Servers { got, servers });
        }
        if !one.requirements().is_empty() {
            return Err(KindFault::Unfit(
                "it requires something of its inputs, and one client's value that does not meet that would end the jobs of all: leave such values out by a condition instead".to_owned(),
            ));
        }
        if let Some(role) = kind.config.holds.clone() {
            kind.take_held_inputs(&role, &one, &two)?;
            kind.privacy = Err(Exposed {
                output: "a load".to_owned(),
                why: "it opens nothing, and spends nothing".to_owned(),
            });
            // The share that was sent, as bytes and as shares, and the pieces that wait for the disk.
            kind.shares_memory = 3 * kind.bytes_read(1)[0];
            kind.memory = kind.shares_memory;
            return kind.within(memory, 0);
        }
        let submitter = kind.take_inputs(&one, &two)?;
        kind.take_outputs(&one, &two, &submitter)?;
        let most = kind.config.most;
        let whole = kind.bound(most)?;
        // One submission is a row where batches have some; else all of it is one person's.
        kind.privacy = match kind.config.dimension {
            Some(_) => whole.privacy(),
            None => Err(Exposed {
                output: "the program".to_owned(),
                why: "a batch has one submission".to_owned(),
            }),
        };
        let planned = kind.planned(&whole, threads)?;
        let of = |planned: &Planned| {
            let of = |party| planned.plan.memory(party) as u64;
            Party::all(servers).map(of).max().unwrap_or(0)
        };
        let mut plan = of(&planned);
        if let Some(ahead) = kind.config.ahead {
            let unit = AheadUnit::of(ahead, &kind.ahead_plan(threads)?);
            kind.ahead = Some(unit.map_err(KindFault::Unfit)?);
            plan = plan.max(of(&kind.planned_from(&whole, threads, true)?));
        }
        let [files, together] = kind.bytes_read(most);
        kind.shares_memory = files + together;
        // The share files go before the plan takes its memory; what is put together of them stays until the plan's values are made.
        kind.memory = plan.max(files) + together;
        kind.within(memory, plan)
    }

    /// The kind, if its job takes no more memory than it may; `plan` is the part of it by the plan.
    fn within(self, memory: u64, plan: u64) -> Result<Self, KindFault> {
        let allowed = self.config.memory.unwrap_or(memory).min(memory);
        match self.memory <= allowed {
            true => Ok(self),
            false => Err(KindFault::Memory {
                submissions: self.config.most,
                needs: self.memory,
                plan,
                shares: self.shares_memory,
                allowed,
            }),
        }
    }

    /// Sharings of the kind's values.
    pub fn mix(&self, program: &Computation) -> Mix {
        self.config.mix.unwrap_or_else(|| program.mix())
    }

    /// The program for a batch of this many submissions.
    ///
    /// # Errors
    /// [`KindFault`]: lengths that the program does not take.
    pub fn bound(&self, submissions: usize) -> Result<Computation, KindFault> {
        // A file bounds what all that is bound of it takes, so each batch has its own.
        let file = ProgramFile::read(&self.bytes, &Limits::default())?;
        let lengths = self.config.lengths.iter();
        let mut lengths: Vec<(&str, usize)> = lengths.map(|(name, &of)| (&**name, of)).collect();
        if let Some(dimension) = &self.config.dimension {
            lengths.push((dimension, submissions));
        }
        if self.config.holds.is_some() {
            let given = |name: &String| self.config.lengths.contains_key(name);
            let open = file.dimensions().iter().filter(|name| !given(name));
            lengths.extend(open.map(|name| (&**name, submissions)));
        }
        Ok(file.bind(&lengths)?)
    }

    /// The program's file, as it was read.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The plan of a batch's program.
    ///
    /// # Errors
    /// [`KindFault::Plan`].
    pub fn planned(&self, program: &Computation, threads: usize) -> Result<Planned, KindFault> {
        self.planned_from(program, threads, false)
    }

    /// The plan of a batch's program, whose correlations are `stored` already, or made in the job.
    ///
    /// # Errors
    /// [`KindFault::Plan`].
    pub fn planned_from(
        &self,
        program: &Computation,
        threads: usize,
        stored: bool,
    ) -> Result<Planned, KindFault> {
        let over = Over::default();
        let ways = Ways {
            over: &over,
            threads,
            matrices: MatricesArg::Auto,
            stored,
            asked: &[],
        };
        let planned = ways.plan(program, self.mix(program), None);
        planned.map_err(|source| KindFault::Plan {
            submissions: self.config.most,
            source,
        })
    }

    /// The plan that a unit of correlations kept ready is made for; of the largest batch, where none is kept.
    ///
    /// # Errors
    /// [`KindFault`]: a mix whose correlations cannot be kept.
    pub fn ahead_plan(&self, threads: usize) -> Result<Planned, KindFault> {
        let submissions = self.config.ahead.map(|ahead| ahead.submissions);
        let program = self.bound(submissions.unwrap_or(self.config.most))?;
        let planned = self.planned_from(&program, threads, true);
        planned.map_err(|fault| match fault {
            KindFault::Plan { source, .. } => KindFault::Unfit(format!(
                "correlations cannot be kept ready (`ahead`) in {}: {source}",
                self.mix(&program)
            )),
            other => other,
        })
    }

    /// Threads that plans were checked for.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Memory of a batch's share files, and of what is put together of them and of held inputs, in bytes.
    fn bytes_read(&self, submissions: usize) -> [u64; 2] {
        let bytes = |input: &KindInput, rows: usize| {
            let elements = input.shape.iter().product::<usize>().saturating_mul(rows);
            Sort::new(input.form.0, input.form.1, elements).bytes() as u64
        };
        let rows = submissions as u64;
        let one = |input| rows * (bytes(input, 1) + FILE_BYTES);
        let files = self.inputs.iter().map(one).sum();
        let together = self.inputs.iter().map(|input| bytes(input, submissions));
        // What is held stays in memory between jobs, as each job's own copy does in one.
        let held = self.held.iter().map(|held| 2 * bytes(&held.input, 1));
        [files, together.sum::<u64>() + held.sum::<u64>()]
    }

    /// The most bytes that a submission's share may have, header and all, at one server.
    pub fn most_bytes(&self) -> u64 {
        let of = |input: &KindInput| {
            let elements: usize = input.shape.iter().product();
            // A part of bits is at most a byte for each eight of a plane; two parts, and salts, in R.
            let part = input.form.1.bits() as u64 * (elements as u64).div_ceil(8);
            2 * (part + 64)
        };
        self.inputs.iter().map(of).sum::<u64>() + 1024
    }

    fn take_inputs(&mut self, one: &Computation, two: &Computation) -> Result<Client, KindFault> {
        let mix = self.mix(one);
        let mut submitter: Option<Client> = None;
        for (place, (port, other)) in one.inputs().iter().zip(two.inputs()).enumerate() {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            let Some(client) = port.owner.client() else {
                let owner = &port.owner;
                return Err(KindFault::Unfit(format!(
                    "input `{name}` is of {owner}, and a service computes on what clients bring: make it a client's"
                )));
            };
            let shape = port.tensor_type.shape.axes();
            let input = KindInput {
                name: name.clone(),
                element_type: port.tensor_type.element.to_string(),
                shape: shape.to_vec(),
                form: mix.kept_form(port.tensor_type.element),
            };
            if let Some(holder) = self.config.held.get(client.name()).cloned() {
                if shape != other.tensor_type.shape.axes() {
                    return Err(open_shape(&name));
                }
                self.take_held_input(&holder, input);
                continue;
            }
            if let Some(first) = submitter.as_ref().filter(|first| *first != client) {
                return Err(KindFault::Unfit(format!(
                    "inputs are of {first} and of {client}: all inputs of a kind are of one client, who stands for each submitter, but for those that another kind holds (`held`)"
                )));
            }
            submitter = Some(client.clone());
            if self.config.dimension.is_some() && !rows(shape, other.tensor_type.shape.axes()) {
                let dimension = self.config.dimension.clone().unwrap_or_default();
                return Err(KindFault::Unfit(format!(
                    "the first axis of input `{name}` is not `{dimension}`: each submission brings one row, and what is the same for all batches another kind holds (`held`)"
                )));
            }
            self.sources.push(Source::Submissions(self.inputs.len()));
            self.inputs.push(input);
        }
        let mut roles = self.config.held.iter();
        let unused = roles.find(|(_, holder)| self.held.iter().all(|held| held.holder != **holder));
        if let Some((role, _)) = unused {
            return Err(KindFault::Unfit(format!(
                "`held` names `{role}`, and the program has no input of that client"
            )));
        }
        submitter.ok_or_else(|| KindFault::Unfit("it has no inputs".to_owned()))
    }

    fn take_outputs(
        &mut self,
        one: &Computation,
        two: &Computation,
        submitter: &Client,
    ) -> Result<(), KindFault> {
        for (place, (port, other)) in one.outputs().iter().zip(two.outputs()).enumerate() {
            let name = port.name.clone().unwrap_or_else(|| place.to_string());
            if let Some(party) = port.parties().first() {
                return Err(KindFault::Unfit(format!(
                    "output `{name}` is opened to {party}, and servers learn nothing: open it to a client"
                )));
            }
            let shape = port.tensor_type.shape.axes();
            let others = other.tensor_type.shape.axes();
            for client in port.clients() {
                let to = match client == submitter {
                    true if rows(shape, others) => Receivers::OwnRow,
                    true => Receivers::Submitters,
                    false => {
                        let role = client.name();
                        let named = self.config.receive.get(role);
                        let named = named.ok_or_else(|| {
                            KindFault::Unfit(format!(
                                "output `{name}` is for `{role}`: say in the service's file who that is, as in receive = {{ {role} = [\"alice\"] }}"
                            ))
                        })?;
                        Receivers::Named(named.clone())
                    }
                };
                let own = to == Receivers::OwnRow;
                let axes = shape.iter().zip(others);
                let axis = |(&one, &two): (&usize, &usize)| (own || one == two).then_some(one);
                self.outputs.push(KindOutput {
                    name: name.clone(),
                    element_type: port.tensor_type.element.to_string(),
                    shape: axes.map(axis).collect(),
                    to,
                });
            }
        }
        let own = |output: &KindOutput| !matches!(output.to, Receivers::Named(_));
        if self.config.submit == Submitters::Anyone && self.outputs.iter().any(own) {
            return Err(KindFault::Unfit(
                "it has outputs for those who submit, and anyone may: a server that poses as such a client could have them from the others. Name the clients that may submit (`submit`)".to_owned(),
            ));
        }
        match self.outputs.is_empty() {
            true => Err(KindFault::Unfit("it has no outputs".to_owned())),
            false => Ok(()),
        }
    }
}

/// Whether an axis is the number of submissions: it is 1 in the one shape and 2 in the other, and no other axis differs.
fn rows(one: &[usize], two: &[usize]) -> bool {
    match (one, two) {
        ([1, one @ ..], [2, two @ ..]) => one == two,
        _ => false,
    }
}

/// Digest of all that the servers must have in common. Each part says how long it is, so none can be read in two ways.
fn digest(config: &KindConfig, program: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(domains::SERVICE_KIND);
    let mut put = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    put(config.name.as_bytes());
    put(program);
    put(&(config.lengths.len() as u64).to_le_bytes());
    for (name, length) in &config.lengths {
        put(name.as_bytes());
        put(&(*length as u64).to_le_bytes());
    }
    put(config.dimension.as_deref().unwrap_or_default().as_bytes());
    put(config
        .mix
        .map(|mix| mix.to_string())
        .unwrap_or_default()
        .as_bytes());
    put(&(config.receive.len() as u64).to_le_bytes());
    for (role, names) in &config.receive {
        put(role.as_bytes());
        put(&(names.len() as u64).to_le_bytes());
        names.iter().for_each(|name| put(name.as_bytes()));
    }
    // Kinds that wait for nobody have the digest that they always had.
    if !config.waits_for.is_empty() {
        put(b"waits for");
        let names = config.waits_for.iter();
        names.for_each(|name| put(name.as_bytes()));
    }
    // The same holds for those that hold nothing. What a kind uses is added when all kinds are there.
    if let Some(role) = &config.holds {
        put(b"holds");
        put(role.as_bytes());
    }
    hash.finalize().into()
}

impl fmt::Display for Receivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnRow => write!(f, "each submitter, its own row"),
            Self::Submitters => write!(f, "all submitters"),
            Self::Named(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                write!(f, "{}", names.join(", "))
            }
        }
    }
}
