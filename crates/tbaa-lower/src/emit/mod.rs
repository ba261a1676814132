//! Creates the metadata nodes of a [`Graph`](tbaa::Graph) elsewhere, for instance in LLVM.
//!
//! A [`Jit`] takes declared types, and returns the nodes to attach to accesses to members such as
//! `P.x`. A program with its own graph and [`Oracle`](tbaa::Oracle) uses [`Emitter`] and [`Plan`].
//!
//! A [`Sink`] creates one node from its operands. An [`Emitter`] makes a sink create the nodes that
//! a tag needs, operands first and each node once, so a growing graph costs only its new nodes.
//! [`Graph`](tbaa::Graph) and [`TextSink`] are sinks; the crate `tbaa-inkwell` has one for LLVM.
//!
//! LLVM rejects some tags, crashes on some, and wrongly answers `NoAlias` for others.
//! [`Emitter::tag`] refuses these tags with a [`TagCheck`]; [`Emitter::node`] does not check.
//!
//! ```
//! use tbaa::Graph;
//! use tbaa_lower::emit::{Emitter, TextSink};
//!
//! let mut graph = Graph::new();
//! let mut b = graph.builder();
//! let root = b.root("R")?;
//! let int = b.scalar_type("int", root)?;
//! let tag = b.struct_tag(int, int, 0)?;
//!
//! let mut emitter = Emitter::new(TextSink::default());
//! assert_eq!(emitter.tag(&graph, tag).unwrap(), 2);
//! assert_eq!(
//!     emitter.sink_mut().take(),
//!     r#"!0 = !{!"R"}
//! !1 = !{!"int", !0, i64 0}
//! !2 = !{!1, !1, i64 0}
//! "#
//! );
//!
//! // The next tag adds one node to those emitted before.
//! let constant = graph.builder().immutable_struct_tag(int, int, 0)?;
//! emitter.tag(&graph, constant).unwrap();
//! assert_eq!(emitter.sink_mut().take(), "!3 = !{!1, !1, i64 0, i64 1}\n");
//! # Ok::<(), tbaa::BuildError>(())
//! ```

mod bisect;
mod check;
mod emitter;
mod jit;
mod plan;
mod recorded;
mod scope_lists;
mod sink;

pub use crate::scopes::{ScopeNames, Scopes};
pub use bisect::{Bisect, BisectError};
pub use check::{Reason, TagCheck, TagCheckError};
pub use emitter::{EmitError, Emitter};
pub use jit::{
    Jit, JitError, JitOptions, MisuseError, TagForm, Tagged, TaggedPlace, Tagging, Typed,
};
#[cfg(feature = "serde")]
pub use jit::{SaveError, SavedJit};
pub use plan::{Attachments, Lowered, Plan, Planned};
pub use recorded::{Recorded, Recorder};
pub use sink::{Sink, SinkOperand, Storage, TextSink};
