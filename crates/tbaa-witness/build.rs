//! How the shared library is linked.

fn main() {
    // It holds the program's cells, so it stays when the last library that needs it is unloaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Programs name it, and not the place where it was when they were linked.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtbaa_witness.so");
    // It calls its own functions, also where the program has others of their names.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
}
