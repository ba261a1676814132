//! Finds Lua's C sources, in the crate `lua-src` that cargo has downloaded.

use std::path::{Path, PathBuf};

use crate::process::crate_folder;

/// Returns the files of the Lua library, in a version such as `lua-5.4.9`.
pub fn sources(version: &str) -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = crate_folder("lua-src", here, "--offline").unwrap().join(version);
    let mut sources = crate::files(folder.to_str().unwrap(), &["c"]);
    // These files belong to the programs `lua` and `luac`, not to the library.
    sources.retain(|path| !["lua.c", "luac.c", "print.c"].iter().any(|it| path.ends_with(it)));
    sources
}
