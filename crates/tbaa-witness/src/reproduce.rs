//! Writes a program with two accesses that contradict each other.

use tbaa::parts::write_two;
use tbaa::{Graph, TagId};

/// The size in bytes to which larger accesses are cut in the program.
const MAX_BYTES: u64 = 256;

/// A tag, a size in bytes, the words after the opcode, and the words at the instruction's end.
type RepeatedAccess = (TagId, u64, [&'static str; 2]);

/// Returns a program that writes memory with one tag and reads it with another.
///
/// Without optimisation the program ends with status 0. If LLVM answers `NoAlias` for the tags,
/// `opt -O2` replaces the read by a value from before the write, and the status is 1.
///
/// # Panics
///
/// If the tags do not belong to `graph`.
pub(crate) fn reproduce(graph: &Graph, write: RepeatedAccess, read: RepeatedAccess) -> String {
    let bytes = |size: u64| size.clamp(1, MAX_BYTES);
    let (written, seen) = (bytes(write.1) * 8, bytes(read.1) * 8);
    let memory = bytes(write.1.max(read.1));
    // Both tags may be the same node. Then the two accesses do not contradict each other.
    let (to, from) = (graph.tag_node(write.0), graph.tag_node(read.0));
    let nodes = write_two(graph, to, from);
    let ([stored, store_end], [loaded, load_end]) = (write.2, read.2);
    // LLVM requires atomic accesses to be aligned to their size.
    let align = |bytes: u64, end: &str| if end.is_empty() { 1 } else { bytes };
    let (to, from) = (align(bytes(write.1), store_end), align(bytes(read.1), load_end));
    format!(
        "\
; A write and a read of the same bytes. This ends with 0, and with 1 where LLVM
; takes what was read before the write for what is read after it:
;   opt -O2 THIS | lli; echo $?
; Which tags it needs says
;   tbaa bisect THIS --recipe run

@memory = global [{memory} x i8] zeroinitializer, align 16

define i32 @f(ptr %p, ptr %q) noinline {{
  %before = load {loaded}i{seen}, ptr %q{load_end}, align {from}, !tbaa !1
  store {stored}i{written} -1, ptr %p{store_end}, align {to}, !tbaa !0
  %after = load {loaded}i{seen}, ptr %q{load_end}, align {from}, !tbaa !1
  %stale = icmp eq i{seen} %before, %after
  %status = zext i1 %stale to i32
  ret i32 %status
}}

define i32 @main() {{
  %status = call i32 @f(ptr @memory, ptr @memory)
  ret i32 %status
}}

{nodes}"
    )
}
