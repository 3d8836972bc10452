//! The files and modules of one crate, and the names that each module has.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Item, Meta, UseTree, Visibility};

/// Reads a file by its name, or says that there is none.
pub(crate) type Reader<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A crate as it is written: one program or library.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) files: Vec<File>,
    pub(crate) modules: Vec<Module>,
    /// Types, functions, traits, constants and macros.
    pub(crate) things: Vec<Thing>,
    /// Files with an inherent function of a type; the type by its module and name.
    pub(crate) functions: HashMap<(usize, String, String), BTreeSet<usize>>,
    /// Files that define a macro of this name.
    pub(crate) macros: HashMap<String, BTreeSet<usize>>,
    /// Modules that a macro reaches into for a name that it is given, as `$crate::portable::$kernel`.
    pub(crate) reaches: HashMap<String, BTreeSet<Vec<String>>>,
}

#[derive(Debug)]
pub(crate) struct File {
    /// Path of the file below the package.
    pub(crate) name: String,
    /// The file with the `mod` that names this one.
    pub(crate) parent: Option<usize>,
}

pub(crate) struct Module {
    pub(crate) file: usize,
    pub(crate) parent: Option<usize>,
    pub(crate) names: BTreeMap<String, Vec<Named>>,
    pub(crate) globs: Vec<Vec<String>>,
    pub(crate) items: Vec<Item>,
}

#[derive(Debug)]
pub(crate) struct Thing {
    pub(crate) file: usize,
    pub(crate) module: usize,
    pub(crate) name: String,
    /// Variants, if this is an enum.
    pub(crate) variants: HashSet<String>,
}

/// The meaning of a name in a module or a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Module(usize),
    Thing(usize),
    /// Another path, which a `use` gave this name.
    Use(Vec<String>),
    /// An item of a block, seen nowhere else.
    Local,
}

/// One name that a `use` brings.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// Name that it has here; none of `*`.
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
}

impl Source {
    /// Reads a crate from its first file on.
    ///
    /// # Errors
    /// The name of a file that is missing or is no Rust, with the reason.
    pub(crate) fn read(root: &str, reader: &Reader<'_>) -> Result<Self, String> {
        let mut source = Self::default();
        source.file(root, None, reader)?;
        Ok(source)
    }

    /// Whether one file lies below another in the tree of modules.
    pub(crate) fn below(&self, file: usize, ancestor: usize) -> bool {
        let parents = std::iter::successors(self.files[file].parent, |&f| self.files[f].parent);
        parents.into_iter().any(|parent| parent == ancestor)
    }

    /// Reads a file as a module; the result is its number.
    fn file(
        &mut self,
        name: &str,
        parent: Option<usize>,
        reader: &Reader<'_>,
    ) -> Result<usize, String> {
        let text = reader(name).ok_or_else(|| format!("{name}: there is no such file"))?;
        let tree = syn::parse_file(&text)
            .map_err(|error| format!("{name}:{}: {error}", error.span().start().line))?;
        let file = self.files.len();
        self.files.push(File {
            name: name.to_owned(),
            parent: parent.map(|module| self.modules[module].file),
        });
        let mut macros = Macros::default();
        macros.visit_file(&tree);
        for (name, tokens) in macros.0 {
            let reaches = self.reaches.entry(name.clone()).or_default();
            reached(&tokens, reaches);
            self.macros.entry(name).or_default().insert(file);
        }
        let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
        let stem = last.strip_suffix(".rs").unwrap_or(last);
        let folder = match parent.is_none() || stem == "mod" {
            true => folder.to_owned(),
            false => format!("{folder}/{stem}"),
        };
        self.module(file, parent, tree.items, &folder, reader)
    }

    fn module(
        &mut self,
        file: usize,
        parent: Option<usize>,
        items: Vec<Item>,
        folder: &str,
        reader: &Reader<'_>,
    ) -> Result<usize, String> {
        let number = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            names: BTreeMap::new(),
            globs: Vec::new(),
            items: Vec::new(),
        });
        for item in &items {
            match item {
                Item::Mod(child) if !only_in_tests(&child.attrs) => {
                    let name = plain(&child.ident);
                    let below = format!("{folder}/{name}");
                    let module = match &child.content {
                        Some((_, items)) => {
                            self.module(file, Some(number), items.clone(), &below, reader)?
                        }
                        None => {
                            let flat = format!("{below}.rs");
                            let path = match reader(&flat) {
                                Some(_) => flat,
                                None => format!("{below}/mod.rs"),
                            };
                            self.file(&path, Some(number), reader)?
                        }
                    };
                    self.name(number, name, Named::Module(module));
                }
                Item::Use(item) if !only_in_tests(&item.attrs) => {
                    for import in imports(item) {
                        match import.name {
                            Some(name) => self.name(number, name, Named::Use(import.path)),
                            None => self.modules[number].globs.push(import.path),
                        }
                    }
                }
                item => {
                    if let Some(ident) = name_of(item) {
                        self.thing(number, ident, item);
                    }
                }
            }
        }
        self.modules[number].items = items;
        Ok(number)
    }

    fn name(&mut self, module: usize, name: String, named: Named) {
        let names = &mut self.modules[module].names;
        names.entry(name).or_default().push(named);
    }

    fn thing(&mut self, module: usize, ident: &Ident, item: &Item) {
        let name = plain(ident);
        let (mut variants, mut exported) = (HashSet::new(), false);
        match item {
            Item::Enum(item) => variants.extend(item.variants.iter().map(|v| plain(&v.ident))),
            Item::Macro(item) => {
                exported = item.attrs.iter().any(|a| a.path().is_ident("macro_export"));
            }
            _ => {}
        }
        let number = self.things.len();
        self.things.push(Thing {
            file: self.modules[module].file,
            module,
            name: name.clone(),
            variants,
        });
        if exported && module != 0 {
            self.name(0, name.clone(), Named::Thing(number));
        }
        self.name(module, name, Named::Thing(number));
    }
}

/// Macros by their names, also those inside functions.
#[derive(Default)]
struct Macros(Vec<(String, TokenStream)>);

impl<'ast> Visit<'ast> for Macros {
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let name = item.ident.as_ref().map(plain);
        self.0
            .extend(name.map(|name| (name, item.mac.tokens.clone())));
    }
}

/// Paths of this crate that a macro goes on from with a name that it is given.
fn reached(tokens: &TokenStream, found: &mut BTreeSet<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for tree in tokens.clone() {
        match tree {
            TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
            TokenTree::Punct(sign) if sign.as_char() == '$' && colons == 2 => {
                if path.first().is_some_and(|first| first == "crate") {
                    found.insert(path.clone());
                }
                path.clear();
            }
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    path.clear();
                }
                path.push(plain(&ident));
                colons = 0;
            }
            other => {
                path.clear();
                if let TokenTree::Group(group) = other {
                    reached(&group.stream(), found);
                }
            }
        }
    }
}

/// A name without the mark of a raw one.
pub(crate) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

/// The name that an item defines.
pub(crate) fn name_of(item: &Item) -> Option<&Ident> {
    Some(match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    })
}

/// The names that a `use` brings; none if its path begins outside of all crates.
pub(crate) fn imports(item: &syn::ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        leaves(&item.tree, &mut Vec::new(), &mut found);
    }
    found
}

fn leaves(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<Import>) {
    let mut leaf = |ident: &Ident, name: &Ident| {
        let mut path = path.clone();
        if ident != "self" || path.is_empty() {
            path.push(plain(ident));
        }
        let name = match name == "self" {
            true => path.last().cloned(),
            false => Some(plain(name)),
        };
        let line = ident.span().start().line;
        found.push(Import { path, name, line });
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(plain(&tree.ident));
            leaves(&tree.tree, path, found);
            path.pop();
        }
        UseTree::Name(tree) => leaf(&tree.ident, &tree.ident),
        UseTree::Rename(tree) => leaf(&tree.ident, &tree.rename),
        UseTree::Glob(glob) => found.push(Import {
            path: path.clone(),
            name: None,
            line: glob.star_token.spans[0].start().line,
        }),
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, path, found);
            }
        }
    }
}

/// Whether a `use` gives its names to others.
pub(crate) fn hands_on(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}

/// Whether code is compiled for tests alone.
pub(crate) fn only_in_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if attribute.path().is_ident("test") {
            return true;
        }
        match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => {
                let condition: Option<Meta> = syn::parse2(list.tokens.clone()).ok();
                condition.is_some_and(|condition| holds(&condition) == Some(false))
            }
            _ => false,
        }
    })
}

/// Whether a condition holds where nothing is tested; none if that depends on more.
fn holds(condition: &Meta) -> Option<bool> {
    if condition.path().is_ident("test") {
        return Some(false);
    }
    let Meta::List(list) = condition else {
        return None;
    };
    let parts = list
        .parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated)
        .ok()?;
    let mut parts = parts.iter().map(holds);
    if list.path.is_ident("not") {
        parts.next()?.map(|part| !part)
    } else if list.path.is_ident("all") {
        parts.any(|part| part == Some(false)).then_some(false)
    } else if list.path.is_ident("any") {
        parts.all(|part| part == Some(false)).then_some(false)
    } else {
        None
    }
}
