//! Passes arguments to the linker of the shared library.

fn main() {
    // Instrumented code uses this library's shadow memory, so this library must stay loaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Programs must find the library by this name, not by its path at link time.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtbaa_witness.so");
    // The library calls its own functions even if the program defines functions of the same names.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
}
