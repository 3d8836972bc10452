use super::*;

/// A crate of files, the first of them its root.
fn source(files: &[(&str, &str)]) -> Source {
    let reader = |name: &str| {
        let file = files.iter().find(|(file, _)| *file == name);
        file.map(|(_, text)| (*text).to_owned())
    };
    let mut source = Source::read(files[0].0, &reader).unwrap();
    source.note_functions();
    source
}

/// All arrows as `from -> to: items`.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    let source = source(files);
    let name = |file: usize| source.files[file].name.trim_start_matches("src/");
    let arrows = arrows(&source);
    let lines = arrows.iter().map(|(&(from, to), items)| {
        let items: Vec<&str> = items.keys().map(String::as_str).collect();
        format!("{} -> {}: {}", name(from), name(to), items.join(" "))
    });
    lines.collect()
}

fn circles_of(files: &[(&str, &str)], allowed: &str) -> Found {
    Found::of("small", source(files), &|file| file == allowed)
}

#[test]
fn uses_in_groups_and_under_other_names_are_arrows() {
    let files = [
        ("src/lib.rs", "mod a; mod b; mod c;"),
        (
            "src/a.rs",
            "use crate::{b::{self, One, Two as Zwei}, c::Three};\nuse std::fmt::Debug;\nfn f() { b::four() }",
        ),
        (
            "src/b.rs",
            "pub struct One; pub struct Two; pub fn four() {}",
        ),
        ("src/c.rs", "pub(super) type Three = super::b::One;"),
    ];
    assert_eq!(
        told(&files),
        [
            "a.rs -> b.rs: One Two four",
            "a.rs -> c.rs: Three",
            "c.rs -> b.rs: One"
        ]
    );
}

#[test]
fn a_name_that_is_shown_leads_to_its_definition() {
    let files = [
        (
            "src/lib.rs",
            "mod a; mod part; pub use part::*; pub use a::A;",
        ),
        (
            "src/a.rs",
            "use crate::Deep;\npub struct A(crate::part::Deep, crate::Other);",
        ),
        (
            "src/part/mod.rs",
            "mod deep; pub use self::deep::{Deep, Other as Another}; pub use deep::Other;",
        ),
        ("src/part/deep.rs", "pub struct Deep; pub struct Other;"),
    ];
    assert_eq!(told(&files), ["a.rs -> part/deep.rs: Deep Other"]);
}

#[test]
fn a_front_page_reads_what_it_uses_itself_and_what_is_not_below_it() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        (
            "src/a/mod.rs",
            "mod c; pub use c::C; pub use crate::b::B;\nfn f(_: C) {}",
        ),
        ("src/a/c.rs", "pub struct C;"),
        ("src/b.rs", "pub struct B;"),
    ];
    assert_eq!(
        told(&files),
        ["a/mod.rs -> a/c.rs: C", "a/mod.rs -> b.rs: B"]
    );
}

#[test]
fn code_in_macros_counts_and_macros_do() {
    let files = [
        ("src/lib.rs", "#[macro_use] mod m; mod a; mod b; mod c;"),
        (
            "src/m.rs",
            "macro_rules! bare { () => { use crate::b::{Two, made}; $crate::b::made() } }\n\
             #[macro_export] macro_rules! known { ($e:expr) => { bare_name($e) } }",
        ),
        (
            "src/a.rs",
            "use crate::b;\nfn f() { assert_eq!(b::one(), 1); odd!(x => b::Two, y.b()); }",
        ),
        (
            "src/b.rs",
            "pub fn made() {} pub fn one() -> u8 { 1 } pub struct Two;",
        ),
        ("src/c.rs", "fn f() { bare!(); crate::known!(1); }"),
    ];
    assert_eq!(
        told(&files),
        [
            "m.rs -> b.rs: Two made",
            "a.rs -> b.rs: Two one",
            "c.rs -> m.rs: bare known"
        ]
    );
}

#[test]
fn names_that_a_macro_goes_on_to_count() {
    let files = [
        ("src/lib.rs", "mod m; mod a; mod low;"),
        (
            "src/m.rs",
            "macro_rules! call { ($l:expr, $f:ident($($e:expr),*)) => { match $l { _ => $crate::low::$f($($e),*) } } }\n\
             pub(crate) use call;",
        ),
        (
            "src/a.rs",
            "use crate::m::call;\npub fn a() { let one = 1; call!(2, f(one)) }",
        ),
        ("src/low/mod.rs", "mod b; pub use b::f;"),
        ("src/low/b.rs", "pub fn f(_: u8) {}"),
    ];
    assert_eq!(told(&files), ["a.rs -> m.rs: call", "a.rs -> low/b.rs: f"]);
}

#[test]
fn code_for_tests_does_not_count() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        (
            "src/a.rs",
            "#[cfg(test)] use crate::b::B;\n#[cfg(all(test, unix))] mod tests { fn f(_: crate::b::B) {} }\n\
             #[cfg(test)] mod absent;\n#[test] fn t() { crate::b::f() }\nimpl A { #[cfg(test)] fn g(_: crate::b::B) {} }\n\
             #[cfg(not(test))] fn h() { crate::b::h() }",
        ),
        ("src/b.rs", "pub struct B; pub fn f() {} pub fn h() {}"),
    ];
    assert_eq!(told(&files), ["a.rs -> b.rs: h"]);
}

#[test]
fn functions_of_a_type_count_where_they_are() {
    let files = [
        ("src/lib.rs", "mod ty;"),
        (
            "src/ty/mod.rs",
            "mod part; pub struct Ty; impl Ty { fn f(&self) { self.near(); self.far() } fn near(&self) {} }\n\
             fn g() { Ty::made() }",
        ),
        (
            "src/ty/part.rs",
            "use super::Ty; impl Ty { pub fn far(&self) {} pub fn made() { Self::inner() } fn inner() {} }",
        ),
    ];
    assert_eq!(
        told(&files),
        [
            "ty/mod.rs -> ty/part.rs: Ty::far Ty::made",
            "ty/part.rs -> ty/mod.rs: Ty"
        ]
    );
}

#[test]
fn blocks_have_names_of_their_own() {
    let files = [
        ("src/lib.rs", "mod a; mod b;"),
        (
            "src/a.rs",
            "mod inner { pub fn one() { super::super::b::two() } }\n\
             fn f() { use crate::b::Kind::*; use inner::one; one(); let x = Left; }\n\
             fn g() { fn two() {} two(); let s: Vec<<u8 as crate::b::Tr>::Of>; }",
        ),
        (
            "src/b.rs",
            "pub enum Kind { Left } pub fn two() {} pub trait Tr {}",
        ),
    ];
    assert_eq!(told(&files), ["a.rs -> b.rs: Kind Tr two"]);
}

#[test]
fn a_circle_is_told_with_its_arrows() {
    let found = circles_of(
        &[
            ("src/lib.rs", "mod a; mod b; mod c;"),
            ("src/a.rs", "pub struct A;\nuse crate::b::B;"),
            ("src/b.rs", "pub struct B(crate::c::C);"),
            ("src/c.rs", "\n\npub struct C(super::a::A, crate::b::B);"),
        ],
        "",
    );
    assert_eq!(
        found.told(),
        "small: 3 files in a circle, 2 short ways around\n    \
         b.rs -> c.rs: C (1)\n    c.rs -> b.rs: B (3)\n\n    \
         a.rs -> b.rs: B (2)\n    b.rs -> c.rs: C (1)\n    c.rs -> a.rs: A (3)\n\n"
    );
}

#[test]
fn a_file_may_be_allowed_a_circle_with_those_below_it_alone() {
    let mut files = [
        ("src/lib.rs", "mod p;"),
        (
            "src/p.rs",
            "mod a; mod b; pub struct P;\nfn f() { a::a(); b::b() }",
        ),
        ("src/p/a.rs", "pub fn a(_: super::P) {}"),
        ("src/p/b.rs", "pub fn b(_: super::P) {}"),
    ];
    assert_eq!(circles_of(&files, "").circles.len(), 1);
    assert!(circles_of(&files, "src/p.rs").circles.is_empty());
    files[2].1 = "pub fn a(_: super::P) { super::b::b() }";
    assert!(circles_of(&files, "src/p.rs").circles.is_empty());
    files[3].1 = "pub fn b(_: super::P) { super::a::a() }";
    assert_eq!(circles_of(&files, "src/p.rs").circles, [[2, 3].into()]);
}

#[test]
fn a_file_that_is_missing_is_told() {
    let reader = |name: &str| (name == "src/lib.rs").then(|| "mod a;".to_owned());
    let error = Source::read("src/lib.rs", &reader).err();
    assert_eq!(
        error.as_deref(),
        Some("src/a/mod.rs: there is no such file")
    );
}
