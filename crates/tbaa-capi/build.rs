//! Names the shared library for the dynamic linker: `libtbaa.so.1` while `TBAA_ABI_VERSION` is 1.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtbaa.so.1");
    }
}
