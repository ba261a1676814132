//! Checks that the public interface of each crate in `CRATES` equals the list in `CRATE.txt`, so
//! that a review shows what a release breaks. Items that are `doc(hidden)` come last.
//!
//! `TBAA_API=overwrite cargo test -p tbaa-api` writes the files. rustdoc's JSON is not stable, and
//! `public-api` reads the format of one Rust version. With another toolchain the test prints a note
//! and is skipped, or fails if `TBAA_API` is set (as in `TBAA_API=require`).

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use public_api::PublicApi;

const CRATES: [&str; 10] = [
    "tbaa", "tbaa-lex", "tbaa-types", "tbaa-ir", "tbaa-check", "tbaa-lower", "tbaa-instrument",
    "tbaa-tag", "tbaa-cranelift", "tbaa-plugin",
];

/// The lines that contain one of these texts are left out: methods that an `impl` line implies, and
/// traits that the compiler adds automatically.
const IMPLIED: [&str; 15] = [
    "::clone(&self)",
    "::fmt(&self",
    "::eq(&self",
    "::cmp(&self",
    "::partial_cmp(&self",
    "::hash<",
    "::serialize<",
    "::deserialize<",
    "::assert_fields_are_eq(&self)",
    "core::clone::TrivialClone for ",
    "core::marker::Freeze for ",
    "core::marker::StructuralPartialEq for ",
    "core::marker::UnsafeUnpin for ",
    "core::marker::Unpin for ",
    "core::panic::unwind_safe::",
];

/// The line between the public items and the hidden ones.
const HIDDEN: &str = "\nHidden: for the project's other crates, and no promise.\n\n";

/// Returns a crate's interface with all features, one item a line.
fn interface(of: &str) -> Result<String, String> {
    let public = items(of, &[])?;
    let all = items(of, &["--document-hidden-items"])?;
    let mut seen: HashSet<&str> = public.lines().collect();
    let hidden = all.lines().filter(|line| seen.insert(line));
    // Hidden items are indented, so an item that becomes hidden shows up as a change.
    let hidden: String = hidden.map(|line| format!("    {line}\n")).collect();
    Ok(if hidden.is_empty() { public } else { public + HIDDEN + &hidden })
}

fn items(of: &str, flags: &[&str]) -> Result<String, String> {
    // A separate target folder: the flags for JSON would cause rebuilds in the usual one.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("api");
    let output = Command::new(env!("CARGO"))
        .args(["rustdoc", "--quiet", "--offline", "--lib", "-p", of, "--all-features"])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .args(flags)
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTDOCFLAGS")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let api = public_api::Builder::from_rustdoc_json(
        target.join(format!("doc/{}.json", of.replace('-', "_"))),
    )
    .omit_blanket_impls(true)
    .build();
    let api: PublicApi = api.map_err(|error| error.to_string())?;
    let lines = api.items().map(|item| format!("{item}\n"));
    Ok(lines.filter(|line| !IMPLIED.iter().any(|part| line.contains(part))).collect())
}

/// Returns the items that a crate's interface has lost or gained, compared with the crate's file.
fn changes(of: &str, wish: &str) -> Result<String, String> {
    let ours = interface(of)?;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{of}.txt"));
    if wish == "overwrite" {
        std::fs::write(&file, &ours).unwrap();
    }
    let theirs = std::fs::read_to_string(&file).unwrap_or_default();
    let [old, new] = [&theirs, &ours].map(|text| text.lines().collect::<HashSet<_>>());
    let gone = theirs.lines().filter(|line| !new.contains(line)).map(|line| format!("- {line}\n"));
    let added = ours.lines().filter(|line| !old.contains(line)).map(|line| format!("+ {line}\n"));
    Ok(gone.chain(added).collect())
}

#[test]
fn the_interface_is_as_written_down() {
    let wish = std::env::var("TBAA_API").unwrap_or_default();
    let mut found = String::new();
    for of in CRATES {
        match changes(of, &wish) {
            Ok(changes) => found.push_str(&changes),
            Err(why) if wish.is_empty() => {
                eprintln!("skipped, for this toolchain cannot say what {of} offers: {why}");
            }
            Err(why) => panic!("{why}"),
        }
    }
    let how = "TBAA_API=overwrite writes the files in tests/api";
    assert!(found.is_empty(), "the interface has changed; {how}\n{found}");
}
