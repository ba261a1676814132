//! The guides, which are the repository's `docs` folder.
//!
//! A [tutorial]; [what TBAA is](tbaa), and how to read an answer; [the three rules](rules), and [the RFC](rfc) that they come from;
//! what is [verified](verify) and [linted](lints); where [LLVM gets it wrong](llvm); [questions] and answers;
//! [names](naming) for accesses, and what [blocks] a load; [pictures]; [lowering], for stock LLVM, and
//! [bisecting](bisect) what it breaks; [checks](witness) at run time; [declarations](declare) and
//! [Rust types][derived]; in ten minutes [from C](embed_c) and [with Cranelift](embed_cranelift) (with
//! inkwell: the front page of `tbaa-inkwell`); the answers as [bits](masks); [specs]; LLVM's [types](mod@types), [linking] and
//! [whole programs](whole_program); [limits]; [performance]; [architecture].
//!
#![cfg_attr(feature = "derive", doc = "[derived]: mod@derive")]
#![cfg_attr(not(feature = "derive"), doc = "[derived]: declare")]

/// One page for each file. A link to another page is a reference, `[rules]`:
/// the file says where that is among the files, and the line in front of it,
/// which comes first, where it is here.
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
    naming "naming"
    blocks "blocks"
    pictures "pictures"
    lowering "lowering"
    bisect "bisect"
    witness "witness"
    declare "declare"
    #[cfg(feature = "derive")]
    derive "derive"
    embed_c "embed-c"
    embed_cranelift "embed-cranelift"
    masks "masks"
    specs "specs"
    types "types"
    linking "linking"
    whole_program "whole-program"
    verify "verify"
    lints "lints"
    llvm "llvm"
    questions "questions"
    limits "limits"
    performance "performance"
    architecture "architecture"
}
