//! The public interface, item by item, is what `api.txt` says: what a release breaks
//! is seen in a review.
//!
//! `TBAA_API=overwrite cargo test --test graph api` writes the file. rustdoc's JSON
//! is not stable, and `public-api` reads that of one Rust version: with another
//! toolchain the test says so and is skipped. `TBAA_API=require` fails instead.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use public_api::PublicApi;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/graph/api.txt");

/// Lines that say nothing of their own: methods that the line of their `impl` implies,
/// and traits that the compiler adds and nobody promises.
const IMPLIED: [&str; 13] = [
    "::clone(&self)",
    "::fmt(&self",
    "::eq(&self",
    "::cmp(&self",
    "::partial_cmp(&self",
    "::hash<",
    "::serialize<",
    "::deserialize<",
    "core::marker::Freeze for ",
    "core::marker::StructuralPartialEq for ",
    "core::marker::UnsafeUnpin for ",
    "core::marker::Unpin for ",
    "core::panic::unwind_safe::",
];

/// What the library offers with all features, a line an item.
fn interface() -> Result<String, String> {
    // A folder of its own: the flag that allows JSON would rebuild much of the other.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("api");
    let output = Command::new(env!("CARGO"))
        .args(["rustdoc", "--quiet", "--offline", "--lib", "-p", "tbaa", "--all-features"])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTDOCFLAGS")
        .current_dir(tbaa_tests::ROOT)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let api = public_api::Builder::from_rustdoc_json(target.join("doc/tbaa.json"))
        .omit_blanket_impls(true)
        .build();
    let api: PublicApi = api.map_err(|error| error.to_string())?;
    let lines = api.items().map(|item| format!("{item}\n"));
    Ok(lines.filter(|line| !IMPLIED.iter().any(|part| line.contains(part))).collect())
}

#[test]
fn the_interface_is_as_written_down() {
    let wish = std::env::var("TBAA_API").unwrap_or_default();
    let ours = match interface() {
        Ok(ours) => ours,
        Err(why) if wish.is_empty() => {
            eprintln!("skipped, for this toolchain cannot say what the library offers: {why}");
            return;
        }
        Err(why) => panic!("{why}"),
    };
    if wish == "overwrite" {
        std::fs::write(FILE, &ours).unwrap();
    }
    let theirs = std::fs::read_to_string(FILE).unwrap();
    let [old, new] = [&theirs, &ours].map(|text| text.lines().collect::<HashSet<_>>());
    let gone = theirs.lines().filter(|line| !new.contains(line)).map(|line| format!("- {line}\n"));
    let added = ours.lines().filter(|line| !old.contains(line)).map(|line| format!("+ {line}\n"));
    let changes: String = gone.chain(added).collect();
    assert!(
        changes.is_empty(),
        "the interface has changed; TBAA_API=overwrite writes {FILE}\n{changes}"
    );
}
