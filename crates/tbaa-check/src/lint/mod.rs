//! Reports wrong or suspicious code and metadata.
//!
//! [`lint`] checks a module, [`lint_graph`] a graph without code. Each [`Lint`] has a code, and a
//! section in `docs/lints.md` with an example. In doubt, a lint reports nothing.

mod accesses;
mod chosen;
mod fields;
mod function;
mod kinds;
mod layout;
mod members;
mod names;
mod nodes;
mod reads;
mod report;
mod roots;
mod unions;
mod width;

pub use crate::diagnostic::Lint;
pub use report::Options;

use crate::{Findings, Subject, repair};
use report::Report;
use tbaa::Graph;
use tbaa_ir::Module;

/// Reports what is suspicious in a module, in the order of the text.
///
/// The lints see unused nodes only if the module was read with [`Keep::All`](tbaa_ir::Keep::All).
///
/// ```
/// use tbaa_check::lint;
///
/// // The tag of the load is a type node: LLVM reads it as an access to a new type
/// // that is not the "int" of !0.
/// let text = br#"
/// define i32 @f(ptr %p) {
///   store i32 1, ptr %p, !tbaa !0
///   %v = load i32, ptr %p, !tbaa !1
///   ret i32 %v
/// }
/// !0 = !{!1, !1, i64 0}
/// !1 = !{!"int", !2, i64 0}
/// !2 = !{!"root"}
/// "#;
/// let module = tbaa_ir::read(text)?;
/// let found = lint::lint(&module, &lint::Options::default());
/// assert!(found.iter().any(|it| it.code.to_string() == "TBAA101"));
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
pub fn lint(module: &Module<'_>, options: &Options) -> Findings {
    repair::run(module, |subject| run(subject, options))
}

/// Like [`lint`], for a graph that was not read from a text. Only lints of types and tags apply.
pub fn lint_graph(graph: &Graph, options: &Options) -> Findings {
    run(&Subject::of_graph(graph), options).in_order()
}

fn run(subject: &Subject, options: &Options) -> Findings {
    let mut report = Report::new(options);
    nodes::lint(subject, &mut report);
    names::lint(subject, &mut report);
    nodes::unused(subject, &mut report);
    accesses::lint(subject, &mut report);
    fields::lint(subject, &mut report);
    layout::lint(subject, &mut report);
    width::lint(subject, &mut report);
    kinds::lint(subject, &mut report);
    roots::lint(subject, &mut report);
    unions::lint(subject, &mut report);
    report.found
}
