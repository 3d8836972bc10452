//! The places that paths lead to.

use std::collections::{BTreeSet, HashMap};

use syn::Item;

use super::source::{Named, Source, only_in_tests, plain};

/// Names that a block adds to those of its module.
pub(crate) type Block = HashMap<String, Vec<Named>>;

/// A place that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Module(usize),
    /// A thing, and what the path names of it.
    Thing(usize, Option<String>),
    /// Something that a macro makes in a module, by its name.
    Made(usize, String),
}

/// Names that are being looked up, so that one that leads to itself ends.
type Trail = Vec<(usize, String)>;

impl Source {
    /// Notes where the inherent functions of types are.
    pub(crate) fn note_functions(&mut self) {
        let mut functions: HashMap<_, BTreeSet<usize>> = HashMap::new();
        for (number, module) in self.modules.iter().enumerate() {
            for item in &module.items {
                let Item::Impl(item) = item else { continue };
                if item.trait_.is_some() || only_in_tests(&item.attrs) {
                    continue;
                }
                let syn::Type::Path(path) = &*item.self_ty else {
                    continue;
                };
                let names: Vec<_> = path.path.segments.iter().map(|s| plain(&s.ident)).collect();
                for place in self.resolve(number, &[], &names) {
                    let Place::Thing(thing, _) = place else {
                        continue;
                    };
                    let thing = &self.things[thing];
                    for of in &item.items {
                        let ident = match of {
                            syn::ImplItem::Fn(f) => &f.sig.ident,
                            syn::ImplItem::Const(c) => &c.ident,
                            _ => continue,
                        };
                        let key = (thing.module, thing.name.clone(), plain(ident));
                        functions.entry(key).or_default().insert(module.file);
                    }
                }
            }
        }
        self.functions = functions;
    }

    /// All places that a path in a module can lead to; none if it leads out of the crate.
    pub(crate) fn resolve(&self, module: usize, blocks: &[Block], path: &[String]) -> Vec<Place> {
        self.walk(module, blocks, path, &mut Trail::new())
    }

    fn walk(
        &self,
        from: usize,
        blocks: &[Block],
        path: &[String],
        trail: &mut Trail,
    ) -> Vec<Place> {
        let Some((first, mut rest)) = path.split_first() else {
            return Vec::new();
        };
        let mut places = match &**first {
            "crate" => vec![Place::Module(0)],
            "self" => vec![Place::Module(from)],
            "super" => {
                let mut module = self.modules[from].parent;
                while let Some((next, after)) = rest.split_first()
                    && next == "super"
                {
                    module = module.and_then(|module| self.modules[module].parent);
                    rest = after;
                }
                module.map(Place::Module).into_iter().collect()
            }
            name => {
                let inner = blocks.iter().enumerate().rev();
                let found = inner
                    .filter_map(|(depth, block)| Some((depth, block.get(name)?)))
                    .next();
                match found {
                    Some((depth, named)) => self.stand_for(from, &blocks[..depth], named, trail),
                    None => self.member(from, name, trail).unwrap_or_default(),
                }
            }
        };
        for (at, name) in rest.iter().enumerate() {
            let last = at + 1 == rest.len();
            if places.iter().any(|place| matches!(place, Place::Module(_))) {
                places.retain(|place| matches!(place, Place::Module(_)));
            }
            let mut next = Vec::new();
            for place in places {
                match place {
                    Place::Module(module) => match self.member(module, name, trail) {
                        Some(found) => next.extend(found),
                        None => next.push(Place::Made(module, name.clone())),
                    },
                    Place::Thing(thing, None) => next.push(Place::Thing(thing, Some(name.clone()))),
                    place => next.push(place),
                }
            }
            places = next;
            if last {
                break;
            }
        }
        places
    }

    /// Gives all that a name in a module stands for; none if the module has no such name.
    fn member(&self, module: usize, name: &str, trail: &mut Trail) -> Option<Vec<Place>> {
        let key = (module, name.to_owned());
        if trail.contains(&key) {
            return None;
        }
        trail.push(key);
        let named = self.modules[module].names.get(name);
        let found = match named {
            Some(named) => Some(self.stand_for(module, &[], named, trail)),
            None => self.by_glob(module, name, trail),
        };
        trail.pop();
        found
    }

    fn by_glob(&self, module: usize, name: &str, trail: &mut Trail) -> Option<Vec<Place>> {
        let mut found = Vec::new();
        for path in &self.modules[module].globs {
            for place in self.walk(module, &[], path, trail) {
                match place {
                    Place::Module(other) => {
                        found.extend(self.member(other, name, trail).unwrap_or_default());
                    }
                    Place::Thing(thing, _) if self.things[thing].variants.contains(name) => {
                        found.push(Place::Thing(thing, Some(name.to_owned())));
                    }
                    _ => {}
                }
            }
        }
        (!found.is_empty()).then_some(found)
    }

    fn stand_for(
        &self,
        module: usize,
        blocks: &[Block],
        named: &[Named],
        trail: &mut Trail,
    ) -> Vec<Place> {
        let mut places = Vec::new();
        for named in named {
            match named {
                Named::Module(module) => places.push(Place::Module(*module)),
                Named::Thing(thing) => places.push(Place::Thing(*thing, None)),
                Named::Use(path) => places.extend(self.walk(module, blocks, path, trail)),
                Named::Local => {}
            }
        }
        places
    }

    /// The files that a place is written in, and its name: a module alone is in none.
    pub(crate) fn files_of(&self, place: &Place) -> (Vec<usize>, String) {
        match place {
            Place::Module(_) => (Vec::new(), String::new()),
            Place::Thing(thing, of) => {
                let thing = &self.things[*thing];
                let mut files = vec![thing.file];
                if let Some(of) = of {
                    let key = (thing.module, thing.name.clone(), of.clone());
                    files.extend(self.functions.get(&key).into_iter().flatten());
                }
                (files, thing.name.clone())
            }
            Place::Made(module, name) => (vec![self.modules[*module].file], name.clone()),
        }
    }
}
