//! Link arguments of the shared library.

fn main() {
    // The library holds the cells, so it must stay loaded when the last library that needs it is
    // unloaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Programs look it up by this name, and not by its path at link time.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtbaa_witness.so");
    // The library calls its own functions even if the program defines functions of the same names.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
}
