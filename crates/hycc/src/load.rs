//! Programs from folders and files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use madrigal_circuit::Limits;
use madrigal_circuit::hycc::{
    BitSharing, Bundle, BundleError, Flat, LinkError, Linked, Module, ModuleError,
};

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
    /// Its modules.
    pub linked: Linked,
    /// The same without calls.
    pub flat: Flat,
    /// All files that were read.
    pub files: Vec<PathBuf>,
}

/// Why there is no program.
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
        /// What the system says.
        source: io::Error,
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
        /// What does not fit.
        error: LinkError,
    },
    /// A folder with bundles of which none is the usual one.
    #[error("{}: which of {} is the program is not clear; name one", folder.display(), list(.names))]
    Several {
        /// The folder.
        folder: PathBuf,
        /// What is there.
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
/// bundles, all of its modules.
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
    let unreadable = |source| LoadError::Read {
        by: None,
        path: path.to_owned(),
        source,
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
    let text = read(path, None)?;
    let bundle = Bundle::read(&path.display().to_string(), &text)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (mut modules, mut files) = (Vec::new(), vec![path.to_owned()]);
    for entry in &bundle.entries {
        let file = folder.join(&entry.path);
        let bytes = read(&file, Some((path.to_owned(), entry.line)))?;
        modules.push((module(&file, &bytes, limits)?, entry.sharing));
        files.push(file);
    }
    linked(path, modules, files, limits)
}

fn of_modules(path: &Path, files: &[PathBuf], limits: &Limits) -> Result<Loaded, LoadError> {
    let mut modules = Vec::new();
    for file in files {
        let bytes = read(file, None)?;
        let sharing = BitSharing::of_file(&file.display().to_string());
        modules.push((module(file, &bytes, limits)?, sharing));
    }
    linked(path, modules, files.to_vec(), limits)
}

fn linked(
    path: &Path,
    modules: Vec<(Module, BitSharing)>,
    files: Vec<PathBuf>,
    limits: &Limits,
) -> Result<Loaded, LoadError> {
    let wrong = |error| LoadError::Link {
        bundle: path.to_owned(),
        error,
    };
    let linked = Linked::new(modules, limits).map_err(wrong)?;
    let flat = linked.flatten().map_err(wrong)?;
    Ok(Loaded {
        path: path.to_owned(),
        linked,
        flat,
        files,
    })
}

fn module(path: &Path, bytes: &[u8], limits: &Limits) -> Result<Module, ModuleError> {
    Module::read(&path.display().to_string(), bytes, limits)
}

fn read(path: &Path, by: Option<(PathBuf, u64)>) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|source| LoadError::Read {
        by,
        path: path.to_owned(),
        source,
    })
}
