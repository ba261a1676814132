//! Never built: `Cargo.toml` names the crates whose C and C++ sources the benchmarks compile.
