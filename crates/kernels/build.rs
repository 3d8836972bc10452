//! Tells the crate whether it is compiled without optimisation: nothing else in cargo does, since
//! `debug_assertions` are on in an optimised crate of a dev build too.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if std::env::var("OPT_LEVEL").as_deref() == Ok("0") {
        println!("cargo::rustc-cfg=unoptimised");
    }
}
