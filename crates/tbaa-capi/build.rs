//! Sets the soname of the shared library on Linux to `libtbaa.so.1`; 1 is `TBAA_ABI_VERSION`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtbaa.so.1");
    }
}
