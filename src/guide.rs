//! The guides: the pages of the repository's `docs` folder, sorted by the reader's question.
//!
//! * New to TBAA: a [tutorial]; [what TBAA is](tbaa); [the three rules](rules) by which
//!   two accesses may alias; [the RFC](rfc) about unions; [questions] and answers.
//! * A slow module: what [blocks] a load; what tags are [worth]; [pictures]; [symptoms].
//! * A wrong program: [bisecting](bisect) tags; run-time [checks](witness); [bugs of LLVM](llvm).
//! * Checking modules: what is [verified](verify) and [linted](lints); [names](naming) of accesses;
//!   LLVM's [types](mod@types), [linking] and [whole programs](whole_program).
//! * A JIT: [Ravi](ravi) as an example; [declarations](declare) and [Rust types][derived]; tags
//!   [through inkwell](embed_inkwell), [from C](embed_c) and [with Cranelift](embed_cranelift);
//!   alias answers as [bits](masks).
//! * A front end: [how others tag](front_ends); [tags](tag) for a module that has none; printing
//!   [text](mod@text); [specs]; [lowering] for stock LLVM.
//! * The library: [architecture]; [performance]; [limits].
//!
#![cfg_attr(feature = "derive", doc = "[derived]: mod@derive")]
#![cfg_attr(not(feature = "derive"), doc = "[derived]: declare")]

/// Declares a module for each page. A page defines the targets of links such as `[rules]` as files.
/// The `doc` lines before the page define the same targets as modules, and prevail.
macro_rules! pages {
    ($($(#[$attribute:meta])* $page:ident $file:literal)*) => {$(
        $(#[$attribute])*
        #[doc = "[rules]: crate::guide::rules\n[specs]: crate::guide::specs"]
        #[doc = "[declare]: crate::guide::declare\n[verify]: crate::guide::verify\n[lowering]: crate::guide::lowering"]
        #[doc = "[performance]: crate::guide::performance\n[architecture]: crate::guide::architecture\n[bisect]: crate::guide::bisect\n\n"]
        #[doc = include_str!(concat!("../docs/", $file, ".md"))]
        pub mod $page {}
    )*};
}

pages! {
    tutorial "tutorial"
    tbaa "tbaa"
    rules "rules"
    rfc "rfc"
    questions "questions"
    blocks "blocks"
    worth "worth"
    pictures "pictures"
    symptoms "symptoms"
    bisect "bisect"
    witness "witness"
    llvm "llvm"
    verify "verify"
    lints "lints"
    naming "naming"
    types "types"
    linking "linking"
    whole_program "whole-program"
    ravi "ravi"
    declare "declare"
    #[cfg(feature = "derive")]
    derive "derive"
    embed_inkwell "embed-inkwell"
    embed_c "embed-c"
    masks "masks"
    embed_cranelift "embed-cranelift"
    front_ends "front-ends"
    tag "tag"
    specs "specs"
    text "text"
    lowering "lowering"
    architecture "architecture"
    performance "performance"
    limits "limits"
}
