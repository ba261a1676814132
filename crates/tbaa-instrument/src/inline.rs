//! The part of a check that is compiled into the program.
//!
//! What an access does to the states of its bytes it has most often done before.
//! Each site has a row of such changes in the module, which the runtime fills in:
//! if the row has the state that is found, what it leads to is stored, if it is
//! another; else the runtime is called. `tbaa-witness` says what the numbers
//! here mean, in `shadow.rs` and `states.rs`.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter, Write};

/// The sizes of accesses that are checked so, in bytes.
pub(super) const SIZES: [u64; 4] = [1, 2, 4, 8];

/// The bits of a state's number.
const STATE_BITS: u32 = 21;

/// A site's row, as an operand.
pub(super) fn row(site: u32) -> String {
    format!("ptr getelementptr ([16 x i64], ptr @__tbaa_witness.rows, i64 {site})")
}

/// A check of an access by a word and a size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Check {
    /// `read` or `write`.
    pub(super) word: &'static str,
    pub(super) size: u64,
    /// Whether it is compiled in where the access is. Else the accesses of a module share
    /// it, which takes less code and more time.
    pub(super) inlined: bool,
}

impl Display for Check {
    /// Its name after `@__tbaa_witness.`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Check { word, size, inlined } = self;
        write!(f, "{word}{size}{}", if *inlined { "" } else { ".shared" })
    }
}

/// Writes the functions for some checks. `tag` is what is attached to accesses of
/// the runtime's memory, for they do not alias the program's.
pub(super) fn write(sites: u32, checks: &BTreeSet<Check>, tag: &str, out: &mut String) {
    let _ = write!(
        out,
        "@__tbaa_witness.rows = internal global [{sites} x [16 x i64]] zeroinitializer, align 64\n\
         @__tbaa_witness_leaves = external global [4194304 x ptr]\n\
         @__tbaa_witness_threaded = external global i8\n"
    );
    let bodies: BTreeSet<(&str, u64)> = checks.iter().map(|it| (it.word, it.size)).collect();
    for &(word, size) in &bodies {
        check(word, size, tag, out);
        // What calls it keeps its values where they are. The report's stack goes through it.
        let _ = write!(
            out,
            "define internal preserve_mostcc void @__tbaa_witness.{word}{size}.call(ptr %p, ptr %row) \
             noinline cold nounwind uwtable {{\n  \
             %at = ptrtoint ptr %row to i64\n  \
             %bytes = sub i64 %at, ptrtoint (ptr @__tbaa_witness.rows to i64)\n  \
             %number = lshr exact i64 %bytes, 7\n  \
             %site = trunc i64 %number to i32\n  \
             call void @__tbaa_witness_{word}{size}(ptr %p, i32 %site, ptr @__tbaa_witness.module){tag}\n  \
             ret void\n}}\n"
        );
    }
    for check in checks.iter().filter(|it| !it.inlined) {
        let Check { word, size, .. } = check;
        let _ = write!(
            out,
            "define internal preserve_mostcc void @__tbaa_witness.{check}(ptr %p, ptr %row) \
             noinline nounwind uwtable {{\n  \
             call void @__tbaa_witness.{word}{size}(ptr %p, ptr %row)\n  \
             ret void\n}}\n"
        );
    }
}

/// Writes how the shadow of an address is found: at `call` if the access is not inside its word,
/// at `unmapped` if there is none, at `look` otherwise.
fn find((last, most): (u64, u64), unmapped: &str, tag: &str) -> String {
    format!(
        "  %address = ptrtoint ptr %p to i64
  %offset = and i64 %address, {last}
  %inside = icmp ule i64 %offset, {most}
  br i1 %inside, label %find, label %call
find:
  %slot = lshr i64 %address, 26
  %leaves = getelementptr ptr, ptr @__tbaa_witness_leaves, i64 %slot
  %leaf = load atomic ptr, ptr %leaves unordered, align 8{tag}
  %mapped = icmp ne ptr %leaf, null
  br i1 %mapped, label %look, label %{unmapped}
look:
"
    )
}

fn check(word: &str, size: u64, tag: &str, out: &mut String) {
    let (last, most) = if size == 8 { (7, 0) } else { (3, 4 - size) };
    let _ = write!(
        out,
        "\
define internal void @__tbaa_witness.{word}{size}(ptr %p, ptr %row) alwaysinline nounwind {{
{find}  %granule = {granule}
  %cell = getelementptr i8, ptr %leaf, i64 %granule
  %old = load atomic i32, ptr %cell unordered, align 4{tag}
",
        find = find((last, most), "call", tag),
        // The offset in a granule that is accessed whole is 0.
        granule = if size < 4 { "and i64 %address, -4" } else { "add i64 %address, 0" },
    );
    if size == 8 {
        let _ = write!(
            out,
            "  %next = getelementptr i32, ptr %cell, i64 1
  %other = load atomic i32, ptr %next unordered, align 4{tag}
  %same = icmp eq i32 %old, %other
  br i1 %same, label %alike, label %call
alike:
"
        );
    }
    change(word, size, tag, out);
}

/// The rest, for the state `%old` in `%cell`.
fn change(word: &str, size: u64, tag: &str, out: &mut String) {
    let flags = u32::from(word == "read") << 1 | 1;
    let bits = ((1 << size.min(4)) - 1) << 2;
    if size < 4 {
        let _ = write!(
            out,
            "  %shift = trunc i64 %offset to i32
  %bytes = shl i32 {}, %shift
  %event = or i32 %bytes, {}
",
            bits << STATE_BITS,
            flags << STATE_BITS,
        );
    } else {
        let _ = writeln!(out, "  %event = add i32 {}, 0", (bits | flags) << STATE_BITS);
    }
    let _ = write!(
        out,
        "  %change = add nuw i32 %old, %event
{mixed}  %place = and i32 %mixed, 15
  %wide = zext i32 %place to i64
  %entry = getelementptr i64, ptr %row, i64 %wide
  %both = load atomic i64, ptr %entry unordered, align 8{tag}
  %own = trunc i64 %both to i32
  %known = icmp eq i32 %own, %change
  br i1 %known, label %hit, label %call
hit:
  %upper = lshr i64 %both, 32
  %new = trunc i64 %upper to i32
  %stays = icmp eq i32 %new, %old
  br i1 %stays, label %done, label %changes
changes:
",
        mixed = if size < 4 {
            "  %mixed = add i32 %old, %shift\n"
        } else {
            "  %mixed = add i32 %old, 0\n"
        },
    );
    if size < 4 {
        // Of a granule's other bytes another thread may change the state.
        let _ = write!(
            out,
            "  %threaded = load atomic i8, ptr @__tbaa_witness_threaded unordered, align 1{tag}
  %alone = icmp eq i8 %threaded, 0
  br i1 %alone, label %store, label %call
store:
"
        );
    }
    let _ = writeln!(out, "  store atomic i32 %new, ptr %cell unordered, align 4{tag}");
    if size == 8 {
        let _ = writeln!(out, "  store atomic i32 %new, ptr %next unordered, align 4{tag}");
    }
    let _ = write!(
        out,
        "  br label %done
call:
  call preserve_mostcc void @__tbaa_witness.{word}{size}.call(ptr %p, ptr %row) cold{tag}
  br label %done
done:
  ret void
}}
"
    );
}

/// Writes the function that forgets what is known of so many bytes: most often that is nothing.
pub(super) fn clear(size: u64, tag: &str, out: &mut String) {
    // All of it lies in the word of 8 bytes that it begins in.
    let find = find((7, 8 - size), "done", tag);
    let _ = write!(
        out,
        "\
define internal preserve_mostcc void @__tbaa_witness.clear{size}.shared(ptr %p) noinline nounwind {{
{find}  %word = and i64 %address, -8
  %cells = getelementptr i8, ptr %leaf, i64 %word
  %both = load atomic i64, ptr %cells unordered, align 8{tag}
  %nothing = icmp eq i64 %both, 0
  br i1 %nothing, label %done, label %call
call:
  call preserve_mostcc void @__tbaa_witness.clear{size}.call(ptr %p) cold{tag}
  br label %done
done:
  ret void
}}
define internal preserve_mostcc void @__tbaa_witness.clear{size}.call(ptr %p) noinline cold nounwind {{
  call void @__tbaa_witness_clear(ptr %p, i64 {size}){tag}
  ret void
}}
"
    );
}

/// What stands before the code of a function that has checks; who calls a function
/// by its address looks for it there.
pub(super) const CHECKED: u64 = 0x7462_6161_5749_544e;

/// Writes the function that tells of a call with so many pointers, if the callee has no
/// checks of its own. Of a function that begins a page the page before may not be there.
pub(super) fn out(pointers: usize, tag: &str, out: &mut String) {
    let list: String = (0..pointers).map(|at| format!(", ptr %p{at}, i64 %s{at}")).collect();
    let _ = write!(
        out,
        "\
define internal void @__tbaa_witness.out{pointers}(ptr %f{list}) noinline nounwind {{
  %address = ptrtoint ptr %f to i64
  %page = and i64 %address, 4088
  %inside = icmp ne i64 %page, 0
  br i1 %inside, label %look, label %call
look:
  %before = getelementptr i8, ptr %f, i64 -8
  %mark = load i64, ptr %before, align 1{tag}
  %checked = icmp eq i64 %mark, {CHECKED}
  br i1 %checked, label %done, label %call
call:
"
    );
    for at in 0..pointers {
        let _ =
            writeln!(out, "  call void @__tbaa_witness_out(ptr %f, ptr %p{at}, i64 %s{at}){tag}");
    }
    out.push_str("  br label %done\ndone:\n  ret void\n}\n");
}
