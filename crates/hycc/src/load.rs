//! Programs from folders and files.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use madrigal_circuit::Limits;
use madrigal_circuit::hycc::{
    BitSharing, Bundle, BundleError, Flat, LinkError, Linked, Module, ModuleError,
};
use madrigal_core::budget::{Budget, FileError, Spent, read_regular};

/// Bundles that the compiler and its tools write, the one first that is taken where several are there.
/// `all.cmb`, which lists several variants of each module, is no program.
const USUAL: [&str; 5] = [
    "ps_optimized.cmb",
    "yaohybrid.cmb",
    "gmwhybrid.cmb",
    "yaoonly.cmb",
    "gmwonly.cmb",
];

/// A program that was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The bundle, or the module that is a program by itself.
    pub path: PathBuf,
    /// Modules of the bundle.
    pub linked: Linked,
    /// Program without calls, made of the modules.
    pub flat: Flat,
    /// All files that were read.
    pub files: Vec<PathBuf>,
}

/// Reasons why there is no program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file that cannot be read.
    #[error("{}cannot read {}: {source}; check the path and its permissions", named(.by), path.display())]
    Read {
        /// The bundle and the line that name it, if one does.
        by: Option<(PathBuf, u64)>,
        /// The file.
        path: PathBuf,
        /// Error of the operating system, or the kind of the file.
        source: FileError,
    },
    /// A line that leads elsewhere: who runs a program is not who wrote it, and may read what its writer may not.
    #[error(
        "{}, line {line}: {} is not in the bundle's folder or below it; put the module's file there", bundle.display(), path.display()
    )]
    Elsewhere {
        /// The bundle.
        bundle: PathBuf,
        /// Line of the bundle.
        line: u64,
        /// Path that the line leads to.
        path: PathBuf,
    },
    /// Modules that take too much memory together, before any of them is called.
    #[error("{}: with this module the program is too large: {spent}", path.display())]
    Memory {
        /// The module's file.
        path: PathBuf,
        /// Memory that it takes.
        spent: Spent,
    },
    /// A module is none.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// A bundle is none.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Modules that do not fit together.
    #[error("{}: {error}", bundle.display())]
    Link {
        /// The bundle, or the folder.
        bundle: PathBuf,
        /// Error of linking the modules.
        error: LinkError,
    },
    /// A folder with bundles of which none is the usual one.
    #[error("{}: which of {} is the program is not clear; name one", folder.display(), list(.names))]
    Several {
        /// The folder.
        folder: PathBuf,
        /// Names of the modules that are there.
        names: Vec<String>,
    },
    /// A folder without anything.
    #[error("{}: neither a bundle (*.cmb) nor a module (*.circ) is there; give HyCC's output folder", folder.display())]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
}

fn named(by: &Option<(PathBuf, u64)>) -> String {
    match by {
        Some((bundle, line)) => format!("{}, line {line}: ", bundle.display()),
        None => String::new(),
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}

/// Reads a program: from a bundle (`*.cmb`), from one module (`*.circ`), or from a folder. There `bundle`
/// says which one, with or without `.cmb`; without it the compiler's cost-based bundle is taken, else the
/// first of `yaohybrid`, `gmwhybrid`, `yaoonly` and `gmwonly`, else the only one; in a folder without
/// bundles, all of its modules. Regular files alone are read, and of a bundle only those in its folder or below it.
///
/// # Errors
/// [`LoadError`] names the file, and the line or the byte.
pub fn load(path: &Path, bundle: Option<&str>, limits: &Limits) -> Result<Loaded, LoadError> {
    if !path.is_dir() {
        return match path.extension().is_some_and(|end| end == "cmb") {
            true => of_bundle(path, limits),
            false => of_modules(path, &[path.to_owned()], limits),
        };
    }
    if let Some(name) = bundle {
        let exact = path.join(name);
        return match exact.is_file() {
            true => load(&exact, None, limits),
            false => of_bundle(&path.join(format!("{name}.cmb")), limits),
        };
    }
    let unreadable = |source: io::Error| LoadError::Read {
        by: None,
        path: path.to_owned(),
        source: source.into(),
    };
    let mut bundles = Vec::new();
    let mut modules = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        match file.extension().and_then(|end| end.to_str()) {
            Some("cmb") if file.file_name().is_some_and(|name| name != "all.cmb") => {
                bundles.push(file);
            }
            Some("circ") => modules.push(file),
            _ => {}
        }
    }
    bundles.sort();
    modules.sort();
    let usual = USUAL.iter().map(|name| path.join(name));
    let mut usual = usual.filter(|usual| bundles.contains(usual));
    match (usual.next(), &bundles[..], &modules[..]) {
        (Some(bundle), ..) => of_bundle(&bundle, limits),
        (None, [bundle], _) => of_bundle(bundle, limits),
        (None, [], []) => Err(LoadError::Nothing {
            folder: path.to_owned(),
        }),
        (None, [], modules) => of_modules(path, modules, limits),
        (None, bundles, _) => {
            let name =
                |bundle: &PathBuf| bundle.file_name().map(|name| name.to_string_lossy().into());
            Err(LoadError::Several {
                folder: path.to_owned(),
                names: bundles.iter().filter_map(name).collect(),
            })
        }
    }
}

fn of_bundle(path: &Path, limits: &Limits) -> Result<Loaded, LoadError> {
    let mut modules = Modules::new(limits);
    let text = modules.bytes(path, None)?;
    let bundle = Bundle::read(&path.display().to_string(), &text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    modules.files.push(path.to_owned());
    for entry in &bundle.entries {
        let by = Some((path.to_owned(), entry.line));
        let file = within(folder, Path::new(&entry.path), by)?;
        let by = Some((path.to_owned(), entry.line));
        modules.add(&file, by, entry.sharing)?;
    }
    modules.linked(path)
}

fn of_modules(path: &Path, files: &[PathBuf], limits: &Limits) -> Result<Loaded, LoadError> {
    let mut modules = Modules::new(limits);
    for file in files {
        let sharing = BitSharing::of_file(&file.display().to_string());
        modules.add(file, None, sharing)?;
    }
    modules.linked(path)
}

/// A bundle and the line that names a file, if one does.
type By = Option<(PathBuf, u64)>;

/// The file that a line of a bundle names, which is in the bundle's folder or below it, links followed.
fn within(folder: &Path, named: &Path, by: By) -> Result<PathBuf, LoadError> {
    let path = folder.join(named);
    let below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let elsewhere = |by: By| {
        let (bundle, line) = by.unwrap_or_default();
        let path = named.to_owned();
        LoadError::Elsewhere { bundle, line, path }
    };
    if !named.components().all(below) {
        return Err(elsewhere(by));
    }
    let whole = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let found = whole
        .canonicalize()
        .and_then(|whole| Ok(path.canonicalize()?.starts_with(whole)));
    match found {
        Ok(true) => Ok(path),
        Ok(false) => Err(elsewhere(by)),
        Err(error) => Err(LoadError::Read {
            by,
            path,
            source: error.into(),
        }),
    }
}

/// A program's modules while they are read.
struct Modules<'a> {
    limits: &'a Limits,
    /// Budget for files and what they become: a bundle may name one that is large again and again.
    budget: Budget,
    modules: Vec<(Module, BitSharing)>,
    files: Vec<PathBuf>,
}

impl<'a> Modules<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            budget: Budget::new(limits.bytes),
            modules: Vec::new(),
            files: Vec::new(),
        }
    }

    /// A regular file of no more bytes than there may be: a bundle may name devices and pipes, which never end.
    fn bytes(&self, path: &Path, by: By) -> Result<Vec<u8>, LoadError> {
        let read = read_regular(path, self.budget.left());
        let bytes = read.map_err(|source| LoadError::Read {
            by,
            path: path.to_owned(),
            source,
        })?;
        self.take(path, bytes.len() as u64)?;
        Ok(bytes)
    }

    fn take(&self, path: &Path, bytes: u64) -> Result<(), LoadError> {
        self.budget.take(bytes).map_err(|spent| LoadError::Memory {
            path: path.to_owned(),
            spent,
        })
    }

    fn add(&mut self, path: &Path, by: By, sharing: BitSharing) -> Result<(), LoadError> {
        let bytes = self.bytes(path, by)?;
        let module = Module::read(&path.display().to_string(), &bytes, self.limits)?;
        self.take(path, module.bytes())?;
        self.modules.push((module, sharing));
        self.files.push(path.to_owned());
        Ok(())
    }

    fn linked(self, path: &Path) -> Result<Loaded, LoadError> {
        let wrong = |error| LoadError::Link {
            bundle: path.to_owned(),
            error,
        };
        let linked = Linked::new(self.modules, self.limits).map_err(wrong)?;
        let flat = linked.flatten().map_err(wrong)?;
        Ok(Loaded {
            path: path.to_owned(),
            linked,
            flat,
            files: self.files,
        })
    }
}
