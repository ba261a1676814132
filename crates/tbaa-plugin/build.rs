//! Compiles the C++ source of this crate's LLVM plugin for feature `link`.

fn main() {
    println!("cargo:rerun-if-changed=src/plugin.cpp");
    println!("cargo:rerun-if-changed=include/tbaa-plugin.h");
    #[cfg(feature = "link")]
    link();
}

#[cfg(feature = "link")]
fn link() {
    use std::env;
    use std::process::Command;

    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    let config = env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".to_owned());
    let flags = match Command::new(&config).arg("--cppflags").output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        _ => panic!(
            "cannot run {config}: install LLVM 22 with its headers (on Debian `apt-get install \
             llvm-22-dev`), or set LLVM_CONFIG to an llvm-config of that version"
        ),
    };
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").include("include").file("src/plugin.cpp");
    build.define("TBAA_PLUGIN_STATIC", None).warnings(false);
    for flag in flags.split_whitespace().chain(["-fno-rtti", "-fno-exceptions"]) {
        build.flag(flag);
    }
    build.compile("tbaa_plugin");
}
