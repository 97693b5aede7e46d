//! Gives the library the name that programs link and open it by. Knows that name alone.

#![allow(missing_docs, reason = "a build script has no interface")]

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
}
