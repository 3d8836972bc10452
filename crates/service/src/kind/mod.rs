//! A kind of jobs: a program that was read and checked, with what it asks of submissions and gives to whom.

mod fault;
mod plans;
mod ports;

use std::sync::Arc;

use madrigal_app::over::Over;
use madrigal_app::ways::{MatricesArg, Ways};
use madrigal_core::{Party, domains};
use madrigal_engine::Sort;
use madrigal_program::lower::Mix;
use madrigal_program::{Computation, Exposed, Planned, Privacy};
use madrigal_program_file::{Limits, ProgramFile};
use sha2::{Digest as _, Sha256};

pub use self::fault::{KindError, KindFault};
pub(crate) use self::plans::Prepared;
use self::plans::{Of, Plans};
pub use self::ports::{HeldInput, KindInput, KindOutput, Receivers, Source};
use self::ports::{Ports, holders};
use crate::config::KindConfig;
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
    plans: Plans,
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
            let mut ports = Ports::default();
            ports.take_held_inputs(kind.mix(&one), &role, &one, &two)?;
            kind.take(ports);
            kind.privacy = Err(Exposed {
                output: "a load".to_owned(),
                why: "it opens nothing, and spends nothing".to_owned(),
            });
            // The share that was sent, as bytes and as shares, and the pieces that wait for the disk.
            kind.shares_memory = 3 * kind.bytes_read(1)[0];
            kind.memory = kind.shares_memory;
            return kind.within(memory, 0);
        }
        let mut ports = Ports::default();
        let ways = (&kind.config, kind.mix(&one));
        let submitter = ports.take_inputs(ways, &one, &two)?;
        ports.take_outputs(&kind.config, &one, &two, &submitter)?;
        kind.take(ports);
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

    fn take(&mut self, ports: Ports) {
        let Ports {
            inputs,
            held,
            sources,
            outputs,
        } = ports;
        (self.inputs, self.held) = (inputs, held);
        (self.sources, self.outputs) = (sources, outputs);
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

    /// The program of a batch of this many submissions, planned for this many threads of each server, and for correlations that are stored already or made in
    /// the job. To plan what is not at hand takes a while.
    pub(crate) fn prepared(
        &self,
        submissions: usize,
        threads: usize,
        stored: bool,
    ) -> Result<Arc<Prepared>, KindFault> {
        let of = Of {
            submissions,
            threads,
            stored,
        };
        if let Some(prepared) = self.plans.find(of) {
            return Ok(prepared);
        }
        let program = self.bound(submissions)?;
        let planned = self.planned_from(&program, threads, stored)?;
        let prepared = Arc::new(Prepared { program, planned });
        self.plans.keep(of, &prepared);
        Ok(prepared)
    }

    /// Kinds that hold inputs for this one, in the order of their names.
    pub fn holders(&self) -> Vec<&str> {
        holders(&self.config)
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
        // Held shares stay in memory between jobs, beside each job's own copy.
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
    // Kinds that hold nothing have the digest that they always had, too. A kind's holders are added when all kinds are there.
    if let Some(role) = &config.holds {
        put(b"holds");
        put(role.as_bytes());
    }
    hash.finalize().into()
}
