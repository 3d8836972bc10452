//! The arrows of a crate: from each file to those whose items it uses.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Block as CodeBlock, Expr, Item, Stmt};

use super::names::{Block, Place};
use super::source::{Named, Source, hands_on, imports, name_of, only_in_tests, plain};

/// Items that one file uses of another, each with the first line that does so.
pub(crate) type Items = BTreeMap<String, usize>;
/// The arrows of a crate, by the file that uses and the one that is used.
pub(crate) type Arrows = BTreeMap<(usize, usize), Items>;

/// Finds all arrows of a crate.
pub(crate) fn arrows(source: &Source) -> Arrows {
    let mut arrows = Arrows::new();
    for (number, module) in source.modules.iter().enumerate() {
        let mut walker = Walker {
            source,
            module: number,
            file: module.file,
            blocks: Vec::new(),
            own: Vec::new(),
            arrows: &mut arrows,
        };
        for item in &module.items {
            walker.visit_item(item);
        }
    }
    arrows
}

struct Walker<'a> {
    source: &'a Source,
    module: usize,
    file: usize,
    /// Blocks around the code, the outermost first.
    blocks: Vec<Block>,
    /// Paths of the types that `Self` stands for.
    own: Vec<Vec<String>>,
    arrows: &'a mut Arrows,
}

impl Walker<'_> {
    fn arrow(&mut self, to: usize, item: &str, line: usize) {
        if to != self.file {
            let items = self.arrows.entry((self.file, to)).or_default();
            let first = items.entry(item.to_owned()).or_insert(line);
            *first = line.min(*first);
        }
    }

    fn path(&mut self, path: &[String], line: usize) {
        for place in self.source.resolve(self.module, &self.blocks, path) {
            self.place(&place, line);
        }
    }

    fn place(&mut self, place: &Place, line: usize) {
        let (files, name) = self.source.files_of(place);
        let of = match place {
            Place::Thing(_, Some(of)) => format!("{name}::{of}"),
            _ => name.clone(),
        };
        for (at, file) in files.into_iter().enumerate() {
            // The type's own file comes first, those with its functions after it.
            self.arrow(file, if at == 0 { &name } else { &of }, line);
        }
    }

    fn import(&mut self, item: &syn::ItemUse) {
        self.import_of(item, false);
    }

    fn import_of(&mut self, item: &syn::ItemUse, of_a_macro: bool) {
        for import in imports(item) {
            if of_a_macro && import.path.first().is_none_or(|first| first != "crate") {
                continue;
            }
            // All names of a module alone are no arrow; those of them that are used are.
            for place in self.source.resolve(self.module, &self.blocks, &import.path) {
                // A front page reads nothing of what it only shows.
                let (files, _) = self.source.files_of(&place);
                let below = |&file: &usize| self.source.below(file, self.file);
                if !hands_on(&item.vis) || !files.iter().all(below) {
                    self.place(&place, import.line);
                }
            }
        }
    }

    /// Finds a macro that is called by its name alone: it is known below its definition, in any file.
    fn bare_macro(&mut self, name: &str, line: usize) {
        let path = [name.to_owned()];
        let places = self.source.resolve(self.module, &self.blocks, &path);
        let things = places.iter().filter(|p| !matches!(p, Place::Module(_)));
        if things.count() > 0 {
            self.path(&path, line);
        } else if let Some(files) = self.source.macros.get(name)
            && files.len() == 1
        {
            for &file in files {
                self.arrow(file, name, line);
            }
        }
    }

    /// Finds paths inside a macro: as expressions or statements where it reads so, else word by word.
    fn tokens(&mut self, tokens: &TokenStream) {
        let list = Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        if let Ok(list) = list.parse2(tokens.clone()) {
            for expression in &list {
                self.visit_expr(expression);
            }
        } else if let Ok(statements) = CodeBlock::parse_within.parse2(tokens.clone()) {
            self.statements(&statements);
        } else {
            self.words(tokens, false);
        }
    }

    /// Finds paths in code that is no Rust yet. Code that a macro makes is read where it is called, but for paths
    /// that begin with `crate`.
    fn words(&mut self, tokens: &TokenStream, of_a_macro: bool) {
        let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let sign = |at: usize, sign: char| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == sign);
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Group(group) => self.words(&group.stream(), of_a_macro),
                TokenTree::Ident(first) if first == "use" => {
                    let end = (at..trees.len()).find(|&end| sign(end, ';'));
                    let end = end.unwrap_or(trees.len() - 1);
                    let item: TokenStream = trees[at..=end].iter().cloned().collect();
                    if let Ok(item) = syn::parse2(item) {
                        self.import_of(&item, of_a_macro);
                        at = end;
                    }
                }
                TokenTree::Ident(first) => {
                    let before = at;
                    let line = first.span().start().line;
                    let mut path = vec![plain(first)];
                    while sign(at + 1, ':')
                        && sign(at + 2, ':')
                        && let Some(TokenTree::Ident(next)) = trees.get(at + 3)
                    {
                        path.push(plain(next));
                        at += 3;
                    }
                    let after_dot = before > 0 && sign(before - 1, '.');
                    let rooted = before > 1 && sign(before - 1, ':') && sign(before - 2, ':');
                    let call = match trees.get(at + 1) {
                        Some(TokenTree::Group(group)) => {
                            group.delimiter() == Delimiter::Parenthesis
                        }
                        _ => false,
                    };
                    let large = path[0].starts_with(|c: char| c.is_ascii_uppercase());
                    let alone = path.len() == 1 && !call && !large;
                    if after_dot || rooted {
                    } else if of_a_macro {
                        if path[0] == "crate" {
                            self.path(&path, line);
                        }
                    } else if path.len() == 1 && sign(at + 1, '!') {
                        self.bare_macro(&path[0], line);
                    } else if !alone {
                        self.path(&path, line);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Names that a macro is given and goes on to with a path of its own.
    fn given(&mut self, tokens: &TokenStream, reaches: &BTreeSet<Vec<String>>) {
        for tree in tokens.clone() {
            match tree {
                TokenTree::Group(group) => self.given(&group.stream(), reaches),
                TokenTree::Ident(ident) => {
                    for reach in reaches {
                        let mut path = reach.clone();
                        path.push(plain(&ident));
                        for place in self.source.resolve(0, &[], &path) {
                            if let Place::Thing(..) = place {
                                self.place(&place, ident.span().start().line);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn statements(&mut self, statements: &[Stmt]) {
        let mut block = Block::new();
        for statement in statements {
            match statement {
                Stmt::Item(Item::Use(item)) => {
                    for import in imports(item) {
                        if let Some(name) = import.name {
                            block.entry(name).or_default().push(Named::Use(import.path));
                        }
                    }
                }
                Stmt::Item(item) => {
                    if let Some(ident) = name_of(item) {
                        block.entry(plain(ident)).or_default().push(Named::Local);
                    }
                }
                _ => {}
            }
        }
        // Imports of a block are read from the block around it.
        for statement in statements {
            if let Stmt::Item(Item::Use(item)) = statement {
                self.import(item);
            }
        }
        self.blocks.push(block);
        for statement in statements {
            if !matches!(statement, Stmt::Item(Item::Use(_))) {
                self.visit_stmt(statement);
            }
        }
        self.blocks.pop();
    }

    /// A function of the type that `Self` stands for.
    fn of_self(&mut self, function: &str, line: usize) {
        if let Some(own) = self.own.last() {
            let mut path = own.clone();
            path.push(function.to_owned());
            self.path(&path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Walker<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if only_in_tests(attributes(item)) {
            return;
        }
        match item {
            // Its items are those of a module of its own.
            Item::Mod(_) => {}
            Item::Use(item) => self.import(item),
            Item::Macro(item) if item.ident.is_some() => self.words(&item.mac.tokens, true),
            item => visit::visit_item(self, item),
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let own = match &*item.self_ty {
            syn::Type::Path(path) => {
                let names = path.path.segments.iter();
                names.map(|segment| plain(&segment.ident)).collect()
            }
            _ => Vec::new(),
        };
        self.own.push(own);
        visit::visit_item_impl(self, item);
        self.own.pop();
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !only_in_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_block(&mut self, block: &'ast CodeBlock) {
        self.statements(&block.stmts);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(call) => &call.attrs,
            _ => &[],
        };
        if !only_in_tests(attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<String> = path.segments.iter().map(|s| plain(&s.ident)).collect();
            let line = path.segments[0].ident.span().start().line;
            match &*names {
                [own, function, ..] if own == "Self" => self.of_self(function, line),
                names => self.path(names, line),
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let Expr::Path(receiver) = &*call.receiver
            && receiver.path.is_ident("self")
        {
            let line = call.method.span().start().line;
            self.of_self(&plain(&call.method), line);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        match call.path.get_ident() {
            Some(name) => self.bare_macro(&plain(name), name.span().start().line),
            None => self.visit_path(&call.path),
        }
        let name = call.path.segments.last().map(|last| plain(&last.ident));
        if let Some(reaches) = name.and_then(|name| self.source.reaches.get(&name)) {
            self.given(&call.tokens, reaches);
        }
        self.tokens(&call.tokens);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.words(&list.tokens, false);
        }
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
