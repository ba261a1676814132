//! The support that the tests of all packages share.

#![allow(missing_docs, clippy::missing_panics_doc)]

pub mod cases;
pub mod damage;
pub mod dumps;
pub mod engines;
pub mod fuzz;
pub mod generate;
pub mod hostile;
pub mod llvm;
pub mod lowered;
pub mod lua;
pub mod naive;
pub mod process;
pub mod programs;
pub mod random;
pub mod respell;
mod rng;
pub mod shrink;
pub mod small;
pub mod soak;
pub mod universe;

pub use rng::Rng;
use tbaa::parts::TagParts;
use tbaa::{Graph, TagId};

/// The repository's folder.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns the files in a folder that have one of `extensions` (all if that is empty), sorted.
pub fn files(folder: &str, extensions: &[&str]) -> Vec<std::path::PathBuf> {
    let folder = std::path::Path::new(ROOT).join(folder);
    let all =
        std::fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut files: Vec<_> = all.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        extensions.is_empty() || extension.is_some_and(|extension| extensions.contains(&extension))
    });
    files.sort();
    files
}

/// Returns the types that a RON text declares. The text has the form of a spec's `declare`.
pub fn declared(text: &str) -> tbaa::declare::Declarations {
    use ron::extensions::Extensions;
    let options = ron::Options::default();
    let options = options.with_default_extension(Extensions::UNWRAP_VARIANT_NEWTYPES);
    options.from_str::<tbaa::spec::DeclareDecl>(text).unwrap().declare().unwrap()
}

/// Returns a tag as text: base type, access type, offset, size if any, and `const` if immutable.
pub fn show_tag(graph: &Graph, tag: TagId) -> String {
    let size = TagParts::size_number(graph, graph.tag_node(tag));
    let tag = graph.tag(tag).unwrap();
    let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or(b"!")).into_owned();
    let size = size.map_or(String::new(), |size| format!(" {size}"));
    let constant = if tag.immutable { " const" } else { "" };
    format!("{} {} {}{size}{constant}", name(tag.base), name(tag.access), tag.offset)
}

/// Returns the number in an environment variable, or `default` if the variable is not set.
pub fn setting(name: &str, default: usize) -> usize {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")),
        Err(_) => default,
    }
}

/// The guides and the README, whose examples are tests.
#[cfg(doctest)]
mod guides {
    macro_rules! pages {
        ($($page:ident $file:literal)*) => {$(
            #[doc = include_str!(concat!("../../", $file, ".md"))]
            mod $page {}
        )*};
    }

    pages! {
        readme "README"
        architecture "docs/architecture"
        bisect "docs/bisect"
        blocks "docs/blocks"
        declare "docs/declare"
        derive "docs/derive"
        embed_c "docs/embed-c"
        limits "docs/limits"
        linking "docs/linking"
        lints "docs/lints"
        llvm "docs/llvm"
        lowering "docs/lowering"
        naming "docs/naming"
        performance "docs/performance"
        pictures "docs/pictures"
        questions "docs/questions"
        rfc "docs/rfc"
        rules "docs/rules"
        specs "docs/specs"
        tbaa "docs/tbaa"
        tutorial "docs/tutorial"
        types "docs/types"
        verify "docs/verify"
        whole_program "docs/whole-program"
        worth "docs/worth"
        witness "docs/witness"
    }
}
