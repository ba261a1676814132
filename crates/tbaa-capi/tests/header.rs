//! `include/tbaa.h` must equal cbindgen's output for the sources.

use std::fs;
use std::path::Path;

#[test]
fn header_is_up_to_date() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(home.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_crate(home).with_config(config).generate();
    let mut made = Vec::new();
    bindings.unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let file = home.join("include/tbaa.h");
    if std::env::var_os("TBAA_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    // `assert_eq` would print both files.
    let differs = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "include/tbaa.h is not what the sources say, from line {} on: look at what \
         `TBAA_BLESS=1 cargo test -p tbaa-capi --test header` changes, and commit it",
        differs.map_or(kept.lines().count().min(made.lines().count()), |line| line) + 1
    );
}
