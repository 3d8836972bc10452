//! Services that `--local` makes: kinds, a program, and clients with tokens.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use madrigal_app::failure::{Failure, Fault, Result, Status};
use madrigal_net::roster::is_name;
use madrigal_program_file::proto::holder::Who;
use madrigal_program_file::{Limits, ProgramFile, ReadError, proto};

use crate::args::DemoArg;
use crate::demo::auction::{AUCTIONEER, BIDDERS};
use crate::demo::inference::{IMAGES, MEMBER, OWNER};
use crate::demo::{self, ANALYST, DIMENSION};

/// The kind of jobs of the statistics.
pub const AGES: &str = "ages";
/// The kind of requests of a key server.
pub const LOGIN: &str = "login";
/// The kind of jobs of the auction.
pub const AUCTION: &str = "auction";
/// The kind of jobs of the inference.
pub const DIGITS: &str = "digits";
/// The kind that holds the weights of the inference.
pub const DIGITS_MODEL: &str = "digits-model";
/// The most images of a batch of the inference.
const MOST_IMAGES: usize = 256;

/// A service that `--local` can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// One of those that this program brings along.
    Demo(DemoArg),
    /// A program of the user's, from a file.
    Program(PathBuf),
}

/// A service, beside servers and clients.
pub(super) struct Served {
    /// Kinds, as the servers' files have them.
    pub(super) kinds: String,
    /// The program, with its file's name.
    pub(super) program: Option<(String, ProgramFile)>,
    /// Clients that have a token.
    pub(super) clients: Vec<String>,
    /// Commands by which clients use it, with `{folder}` where its files are.
    pub(super) how: String,
}

/// A program that `--local` makes no service of.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("{}: {problem}", path.display())]
    Read { path: PathBuf, problem: ReadError },
    #[error("{}: {problem}", path.display())]
    Program { path: PathBuf, problem: String },
}

impl Fault for Unfit {
    fn status(&self) -> Status {
        match self {
            Self::Read { .. } => Status::File,
            Self::Program { .. } => Status::Usage,
        }
    }
}

impl Served {
    pub(super) fn of(shown: &Shown, servers: usize) -> Result<Self> {
        match shown {
            Shown::Demo(demo) => Self::of_demo(*demo, servers),
            Shown::Program(path) => Self::of_program(path, servers),
        }
    }

    fn of_demo(demo: DemoArg, servers: usize) -> Result<Self> {
        // Networks are fastest in replicated sharing, which is for three.
        let mix = match servers {
            3 => "mix = \"R\"\n",
            _ => "",
        };
        let bug = Failure::bug;
        Ok(match demo {
            DemoArg::Statistics => Self {
                kinds: format!(
                    "[[kinds]]\nname = \"{AGES}\"\nprogram = \"ages.madrigal\"\nsubmit = \"anyone\"\n\
                     receive = {{ {ANALYST} = [\"{ANALYST}\"] }}\n\
                     batch = {{ dimension = \"{DIMENSION}\", least = 3, most = 10000, after = \"10s\" }}\n"
                ),
                program: Some((
                    "ages.madrigal".into(),
                    demo::statistics(servers).map_err(bug)?,
                )),
                clients: vec![ANALYST.into()],
                how: format!(
                    "bring a value:   madrigal submit --service {{folder}}/member.toml --job {AGES} --input age=FILE\n\
                     get the results: madrigal submit --service {{folder}}/{ANALYST}.toml --job {AGES} --after 0"
                ),
            },
            DemoArg::Keys => Self {
                kinds: format!(
                    "[[kinds]]\nname = \"{LOGIN}\"\nrequests = \"aes-128\"\nsubmit = \"anyone\"\n"
                ),
                program: None,
                clients: vec![ANALYST.into()],
                how: format!(
                    "ask for blocks under the servers' key with the library madrigal-service-client, kind `{LOGIN}` and {{folder}}/member.toml (docs/KEYSERVER.md)"
                ),
            },
            DemoArg::Auction => Self {
                kinds: format!(
                    "[[kinds]]\nname = \"{AUCTION}\"\nprogram = \"auction.madrigal\"\nsubmit = \"anyone\"\n\
                     receive = {{ {AUCTIONEER} = [\"{AUCTIONEER}\"] }}\n\
                     batch = {{ dimension = \"{BIDDERS}\", least = 3, most = 1000, after = \"10s\" }}\n"
                ),
                program: Some((
                    "auction.madrigal".into(),
                    demo::auction(servers).map_err(bug)?,
                )),
                clients: vec![AUCTIONEER.into()],
                how: format!(
                    "bring a bid:     madrigal submit --service {{folder}}/member.toml --job {AUCTION} --input bid=FILE --input paddle=FILE\n\
                     get the winner:  madrigal submit --service {{folder}}/{AUCTIONEER}.toml --job {AUCTION} --after 0"
                ),
            },
            DemoArg::Inference => Self {
                kinds: format!(
                    "[[kinds]]\nname = \"{DIGITS_MODEL}\"\nprogram = \"digits.madrigal\"\nholds = \"{OWNER}\"\n{mix}submit = [\"{OWNER}\"]\n\n\
                     [[kinds]]\nname = \"{DIGITS}\"\nprogram = \"digits.madrigal\"\nheld = {{ {OWNER} = \"{DIGITS_MODEL}\" }}\n{mix}submit = [\"{MEMBER}\"]\n\
                     batch = {{ dimension = \"{IMAGES}\", least = 1, most = {MOST_IMAGES}, after = \"20 ms\" }}\n"
                ),
                program: Some((
                    "digits.madrigal".into(),
                    demo::inference(servers).map_err(bug)?,
                )),
                clients: vec![OWNER.into(), MEMBER.into()],
                how: format!(
                    "load weights:    madrigal submit --service {{folder}}/{OWNER}.toml --job {DIGITS_MODEL} --input w1=FILE --input b1=FILE --input w2=FILE --input b2=FILE --wait\n\
                     bring an image:  madrigal submit --service {{folder}}/{MEMBER}.toml --job {DIGITS} --input image=FILE --wait"
                ),
            },
        })
    }

    /// A service of a program: whoever brings the dimension's rows submits, other clients load what servers hold, and those who get outputs have tokens.
    fn of_program(path: &Path, servers: usize) -> Result<Self> {
        let read = ProgramFile::open(path, &Limits::default());
        let file = read.map_err(|problem| Unfit::Read {
            path: path.to_owned(),
            problem,
        })?;
        let made = Roles::of(&file, servers).and_then(|roles| {
            let stem = path.file_stem().unwrap_or_default();
            let name = stem.to_string_lossy().into_owned();
            let long = |role: &str| !is_name(&format!("{name}-{role}"));
            if let Some((role, _)) = roles.owners.iter().find(|(role, _)| long(role)) {
                return Err(format!("`{name}-{role}`, a kind that holds inputs, has too long a name: give the file a shorter one"));
            }
            match is_name(&name) {
                true => Ok(roles.served(&name)),
                false => Err(format!(
                    "a kind is named as the file is, and `{name}` is no name: letters, digits, `-`, `_` and `.`"
                )),
            }
        });
        let (kinds, clients, how) = made.map_err(|problem| Unfit::Program {
            path: path.to_owned(),
            problem,
        })?;
        Ok(Self {
            kinds,
            program: Some((PROGRAM.to_owned(), file)),
            clients,
            how,
        })
    }
}

/// The copy of a user's program beside the servers' files.
const PROGRAM: &str = "program.mad";

/// Roles of a program's clients.
struct Roles<'a> {
    /// The dimension of submissions, if there is one.
    dimension: Option<&'a str>,
    /// The client that stands for each submitter, and its inputs.
    submitter: (&'a str, Vec<&'a str>),
    /// Clients that bring inputs once, with these.
    owners: Vec<(&'a str, Vec<&'a str>)>,
    /// Clients that get outputs.
    receivers: BTreeSet<&'a str>,
}

impl<'a> Roles<'a> {
    fn of(file: &'a ProgramFile, servers: usize) -> std::result::Result<Self, String> {
        let message = file.message();
        if message.parties as usize != servers {
            let parties = message.parties;
            return Err(format!(
                "the program is for {parties} parties: give --local {parties}"
            ));
        }
        let dimension = match file.dimensions() {
            [] => None,
            [one] => Some(one.as_str()),
            several => {
                return Err(format!(
                    "the program has the dimensions {}, and --local makes services of programs with one, that of submissions: write the servers' files by hand, with `lengths` for the others",
                    several.join(", ")
                ));
            }
        };
        let mut roles: Vec<(&str, Vec<&str>, bool)> = Vec::new();
        for input in &message.inputs {
            let role = client(input.owner.as_ref()).ok_or_else(|| {
                let name = &input.name;
                format!("input `{name}` is of a party, and a service computes on what clients bring: make it a client's")
            })?;
            let first = input.axes.first().map(|&axis| file.length(axis));
            let rows = dimension.is_some() && first.as_deref() == dimension;
            match roles.iter_mut().find(|(known, ..)| *known == role) {
                Some((_, inputs, has_rows)) => {
                    inputs.push(&input.name);
                    *has_rows |= rows;
                }
                None => roles.push((role, vec![&input.name], rows)),
            }
        }
        let mut submits = match dimension {
            Some(_) => roles.iter().filter(|(.., rows)| *rows).collect::<Vec<_>>(),
            None => roles.iter().collect(),
        };
        let (Some(submitter), true) = (submits.pop(), submits.is_empty()) else {
            return Err("one client has to bring submissions: the one whose inputs have the program's dimension as their first axis, or the only one, where there is no dimension".to_owned());
        };
        let submitter = submitter.0;
        let (mut owners, mut own) = (Vec::new(), Vec::new());
        for (role, inputs, _) in roles {
            match role == submitter {
                true => own = inputs,
                false => owners.push((role, inputs)),
            }
        }
        let to = message.outputs.iter().flat_map(|output| &output.to);
        let receivers: BTreeSet<&str> = to.filter_map(|one| client(Some(one))).collect();
        // Each client has a file of its name beside the servers'.
        let is_taken = |role: &str| {
            let server = role.strip_prefix("server");
            let server = server.is_some_and(|rest| rest.parse::<u8>().is_ok());
            server || role == "parties" || role == "member" && role != submitter
        };
        let mut roles = owners
            .iter()
            .map(|(role, _)| *role)
            .chain(receivers.iter().copied());
        if let Some(role) = roles.find(|role| is_taken(role)) {
            return Err(format!(
                "client `{role}`: --local makes a file of that name for others; give the client another name"
            ));
        }
        Ok(Self {
            dimension,
            submitter: (submitter, own),
            owners,
            receivers,
        })
    }

    /// Kinds as the servers' files have them, clients that have a token, and commands by which they use the service.
    fn served(&self, name: &str) -> (String, Vec<String>, String) {
        let (submitter, inputs) = &self.submitter;
        let gets = self.receivers.contains(submitter);
        let (mut kinds, mut how) = (String::new(), String::new());
        let given = |inputs: &[&str]| {
            let each = inputs.iter().map(|input| format!(" --input {input}=FILE"));
            each.collect::<String>()
        };
        let mut command = |what: &str, client: &str, kind: &str, rest: &str| {
            let what = format!("{what}:");
            let _ = writeln!(
                how,
                "{what:<17}madrigal submit --service {{folder}}/{client}.toml --job {kind}{rest}"
            );
        };
        for (role, inputs) in &self.owners {
            let _ = writeln!(
                kinds,
                "[[kinds]]\nname = \"{name}-{role}\"\nprogram = \"{PROGRAM}\"\nholds = \"{role}\"\nsubmit = [\"{role}\"]\n"
            );
            let rest = format!("{} --wait", given(inputs));
            command("load values", role, &format!("{name}-{role}"), &rest);
        }
        let _ = writeln!(
            kinds,
            "[[kinds]]\nname = \"{name}\"\nprogram = \"{PROGRAM}\""
        );
        let list = |pairs: Vec<String>| pairs.join(", ");
        if !self.owners.is_empty() {
            let held = self.owners.iter();
            let held = held.map(|(role, _)| format!("\"{role}\" = \"{name}-{role}\""));
            let _ = writeln!(kinds, "held = {{ {} }}", list(held.collect()));
        }
        let others = || self.receivers.iter().filter(|role| *role != submitter);
        if others().next().is_some() {
            let receive = others().map(|role| format!("\"{role}\" = [\"{role}\"]"));
            let _ = writeln!(kinds, "receive = {{ {} }}", list(receive.collect()));
        }
        // Whoever gets results has to be known; what many bring goes to others only together with that of some.
        let _ = match gets {
            true => writeln!(kinds, "submit = [\"{submitter}\"]"),
            false => writeln!(kinds, "submit = \"anyone\""),
        };
        if let Some(dimension) = self.dimension {
            let (least, after) = match gets {
                true => (1, "1s"),
                false => (3, "10s"),
            };
            let _ = writeln!(
                kinds,
                "batch = {{ dimension = \"{dimension}\", least = {least}, most = 10000, after = \"{after}\" }}"
            );
        }
        let (file, wait) = match gets {
            true => (*submitter, " --wait"),
            false => ("member", ""),
        };
        let rest = format!("{}{wait}", given(inputs));
        command("bring a value", file, name, &rest);
        for role in others() {
            command("get the results", role, name, " --after 0");
        }
        let clients = self.owners.iter().map(|(role, _)| *role);
        let clients = clients
            .chain(others().copied())
            .chain(gets.then_some(*submitter));
        let clients: BTreeSet<String> = clients.map(str::to_owned).collect();
        let how = how.trim_end().to_owned();
        (kinds, clients.into_iter().collect(), how)
    }
}

fn client(holder: Option<&proto::Holder>) -> Option<&str> {
    match holder?.who.as_ref()? {
        Who::Client(client) => Some(client),
        Who::Party(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use madrigal_program::{Client, Program};

    use super::*;
    use crate::local::make;
    use crate::server::Checked;

    /// A price that an owner loads, and amounts of members: what each pays, and what all pay together. With names of these clients.
    fn prices(owner: &str, member: &str, shop: &str) -> ProgramFile {
        let of = |members: usize| {
            let mut program = Program::new(3);
            let price = program.input_named::<u32>("price", &Client::new(owner), [1]);
            let amount = program.input_named::<u32>("amount", &Client::new(member), [members]);
            let pays = amount * price;
            program.open_named("all", &pays.sum(0), Client::new(shop));
            program.open_named("pays", &pays, Client::new(member));
            ProgramFile::of(&program.finish().unwrap()).unwrap()
        };
        let samples = [2, 3, 5, 11, 23].map(|members| (vec![members], of(members)));
        madrigal_program_file::general(&["members".to_owned()], &samples).unwrap()
    }

    /// Makes a service of the program, and reads what was made.
    fn served(program: &ProgramFile) -> Result<Checked> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.mad");
        program.save(&path).unwrap();
        let shown = Shown::Program(path);
        make(folder.path(), 3, &shown, 1)?;
        Ok(Checked::load(&folder.path().join("server0.toml"))?)
    }

    #[test]
    fn roles_of_a_program_have_kinds_and_tokens() {
        let checked = served(&prices("the.owner", "buyer", "shop")).unwrap();
        let kinds: Vec<&str> = checked
            .kinds
            .iter()
            .map(|kind| &*kind.config.name)
            .collect();
        assert_eq!(kinds, ["prices", "prices-the.owner"]);
        let clients: Vec<&str> = checked.config.clients.keys().map(String::as_str).collect();
        assert_eq!(clients, ["buyer", "shop", "the.owner"]);
        let prices = &checked.kinds[0];
        assert_eq!(prices.holders(), ["prices-the.owner"]);
        assert_eq!(prices.inputs.len(), 1);
        let to: Vec<String> = prices
            .outputs
            .iter()
            .map(|one| one.to.to_string())
            .collect();
        assert_eq!(to, ["shop", "each submitter, its own row"]);
    }

    #[test]
    fn names_of_other_files_are_refused() {
        for name in ["server0", "parties", "member"] {
            let told = served(&prices(name, "buyer", "shop"))
                .unwrap_err()
                .to_string();
            assert!(told.contains(&format!("client `{name}`")), "{told}");
        }
        let long = "o".repeat(60);
        let told = served(&prices(&long, "buyer", "shop")).unwrap_err();
        assert!(told.to_string().contains("too long a name"), "{told}");
    }
}
