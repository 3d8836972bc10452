//! Costs of a HyCC program, before it runs.

use madrigal_app::explain::{Operation, operations, operations_table, origin, slowest};
use madrigal_circuit::hycc::Gate;
use madrigal_core::time::Rates;
use madrigal_core::{Party, Phase};
use madrigal_engine::Plan;
use madrigal_hycc::Loaded;
use serde::Serialize;

use super::{hybrid, options, plan, read};
use crate::args::{ComputationFlags, Explain};
use crate::commands::costs::{Counts, costs_table};
use crate::exit::Result;
use crate::figures::{print, print_json};
use crate::numbers::{count, counted, seconds, table};
use crate::rates;
use crate::reach::Network;

/// One module, as JSON has it.
#[derive(Debug, Serialize)]
pub struct ModuleFigures {
    /// Name of the module.
    name: String,
    /// File of the module.
    file: String,
    /// Sharings of its words and bits, as in `A+Y2`; that of words alone if it has no bits.
    protocols: String,
    /// Gates.
    gates: usize,
    /// ANDs and ORs among them.
    and: usize,
    /// Products of words.
    mul: usize,
    /// Calls of other modules.
    calls: usize,
}

/// The answer, as JSON has it.
#[derive(Serialize)]
struct Explanation {
    /// The bundle, or the module.
    program: String,
    /// Number of parties.
    parties: usize,
    /// Runs side by side.
    lanes: usize,
    /// Modules of the program.
    modules: Vec<ModuleFigures>,
    /// Origin of the correlations.
    correlations: String,
    /// Network, as given.
    network: String,
    /// Threads that each party is taken to compute with.
    threads: usize,
    /// Order of setup and online.
    phases: String,
    /// Cost of each party.
    costs: Vec<PartyCost>,
    /// Time of the slowest party by an estimate; `null` if no network is named.
    total_seconds: Option<f64>,
    /// Operations, each at the party that it costs most.
    operations: Vec<Operation>,
}

#[derive(Serialize)]
struct PartyCost {
    /// Number of the party.
    party: usize,
    /// Cost of setup.
    setup: Counts,
    /// Cost of the online phase.
    online: Counts,
    /// Memory that the party keeps at most.
    memory_bytes: usize,
}

/// The modules and what they are computed in.
pub fn modules(work: &ComputationFlags, loaded: &Loaded, parties: usize) -> Vec<ModuleFigures> {
    let options = options(work);
    let of = |(module, sharing): (&madrigal_circuit::hycc::Module, _)| {
        let gates = module.gates();
        let of = |kind: fn(&Gate) -> bool| gates.iter().filter(|gate| kind(gate)).count();
        let (words, bits) = (options.words, options.sharing(sharing, parties));
        let protocols = match (module.has_words(), module.has_bits()) {
            (true, true) => format!("{words}+{bits}"),
            (true, false) => words.to_string(),
            _ => bits.to_string(),
        };
        ModuleFigures {
            name: module.name().into(),
            file: module.file().into(),
            protocols,
            gates: gates.len(),
            and: of(|gate| matches!(gate, Gate::And(..) | Gate::Or(..))),
            mul: of(|gate| matches!(gate, Gate::Mul(..))),
            calls: module.calls().len(),
        }
    };
    loaded.linked.modules().map(of).collect()
}

pub fn explain(args: &Explain) -> Result<()> {
    let network = Network::parse(&args.network)?;
    let mut work = args.work.clone();
    let here = args.among.here().then(|| args.among.parties());
    work.how.settle(&args.network, here);
    let loaded = read(&work)?;
    let runs = usize::try_from(work.lanes.unwrap_or(1)).unwrap_or(usize::MAX);
    let hybrid = hybrid(&work, &loaded, args.among.parties(), runs)?;
    let plan = plan(&work, &hybrid, None, work.how.own_threads())?;
    let rates: Option<Rates> = match network.profile {
        Some(_) => Some(rates::measure(plan.trial().as_ref())?),
        None => None,
    };
    let link = network.link();
    let surroundings = rates.as_ref().map(|rates| (rates, &link));
    let party = |party: Party| {
        let cost = plan.cost(party);
        PartyCost {
            party: party.index(),
            setup: cost.phase(Phase::Setup).into(),
            online: cost.phase(Phase::Online).into(),
            memory_bytes: plan.memory(party),
        }
    };
    let explanation = Explanation {
        program: loaded.path.display().to_string(),
        parties: args.among.parties(),
        lanes: hybrid.runs(),
        modules: modules(&work, &loaded, args.among.parties()),
        correlations: origin(&plan),
        network: args.network.clone(),
        threads: plan.spec().threads,
        phases: plan.phases().to_string(),
        costs: Party::all(args.among.parties()).map(party).collect(),
        total_seconds: surroundings.map(|(rates, link)| slowest(&plan, rates, link)),
        operations: operations(&plan, surroundings),
    };
    match args.json {
        true => print_json(&explanation),
        false => print(explanation.text(&hybrid, &plan).as_bytes()),
    }
}

impl Explanation {
    fn text(&self, hybrid: &madrigal_hycc::Hybrid, plan: &Plan) -> String {
        let mut modules = table(&["module", "file", "in", "gates", "AND, OR", "MUL", "calls"]);
        for module in &self.modules {
            let file = module.file.rsplit('/').next().unwrap_or(&module.file);
            modules.add_row([
                module.name.clone(),
                file.to_owned(),
                module.protocols.clone(),
                count(module.gates as u64),
                count(module.and as u64),
                count(module.mul as u64),
                count(module.calls as u64),
            ]);
        }
        let costs = self.costs.iter().map(|party| {
            let phases = [&party.setup, &party.online].map(|counts| (counts, Vec::new()));
            (party.party, party.memory_bytes, phases)
        });
        let costs = costs_table(costs, &[]);
        let mut ports = String::new();
        for input in hybrid.inputs() {
            let owner = input.owner;
            ports += &format!("  {}: {}, of party {owner}\n", input.name, input.ty);
        }
        ports += "Outputs:\n";
        for output in hybrid.outputs() {
            ports += &format!("  {}: {}\n", output.name, output.ty);
        }
        let time = match self.total_seconds {
            Some(total) => format!(
                "\nOver the network `{}` it takes about {}, if every party has a machine like this one.\n",
                self.network,
                seconds(total)
            ),
            None => String::new(),
        };
        format!(
            "{}: {} parties of {} each, {}, phases {}, correlations {}, {}.\n{modules}\n\nInputs:\n{ports}\n{costs}\n\n{}\n\n\
             Rounds, bytes, messages and blocks are exact. What an operation sends in setup is what its\n\
             correlations would take if they were made by themselves, without base OTs. Gates that do not wait\n\
             for each other are one operation, whichever modules they stand in.\n{time}",
            self.program,
            self.parties,
            counted(self.threads as u64, "thread"),
            counted(self.lanes as u64, "run"),
            self.phases,
            self.correlations,
            counted(plan.parts().len() as u64, "part"),
            operations_table(&self.operations, true),
        )
    }
}
