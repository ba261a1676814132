//! The part of a check that is compiled into the program.
//!
//! What an access does to the states of its bytes it has most often done before.
//! Each site has a row of such changes in the module, which the runtime fills in:
//! if the row has the state that is found, what it leads to is stored, if it is
//! another; else the runtime is called. `tbaa-witness` says what the numbers
//! here mean, in `shadow.rs` and `states.rs`.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The sizes of accesses that are checked so, in bytes.
pub(super) const SIZES: [u64; 4] = [1, 2, 4, 8];

/// Writes the functions for some words and sizes. `tag` is what is attached to accesses of
/// the runtime's memory, for they do not alias the program's.
pub(super) fn write(
    sites: u32,
    checks: &BTreeSet<(&'static str, u64)>,
    tag: &str,
    out: &mut String,
) {
    let _ = write!(
        out,
        "@__tbaa_witness.rows = internal global [{sites} x [16 x i64]] zeroinitializer, align 64\n\
         @__tbaa_witness_leaves = external global [4194304 x ptr]\n\
         @__tbaa_witness_threaded = external global i8\n"
    );
    for &(word, size) in checks {
        check(word, size, tag, out);
    }
}

fn check(word: &str, size: u64, tag: &str, out: &mut String) {
    let (last, most) = if size == 8 { (7, 0) } else { (3, 4 - size) };
    let flags = u32::from(word == "read") << 1 | 1;
    let _ = write!(
        out,
        "\
define internal void @__tbaa_witness.{word}{size}(ptr %p, i32 %site) alwaysinline nounwind {{
  %address = ptrtoint ptr %p to i64
  %offset = and i64 %address, {last}
  %inside = icmp ule i64 %offset, {most}
  br i1 %inside, label %find, label %call
find:
  %high = lshr i64 %address, 26
  %slot = and i64 %high, 4194303
  %leaves = getelementptr ptr, ptr @__tbaa_witness_leaves, i64 %slot
  %leaf = load atomic ptr, ptr %leaves unordered, align 8{tag}
  %mapped = icmp ne ptr %leaf, null
  br i1 %mapped, label %look, label %call
look:
  %low = lshr i64 %address, 2
  %granule = and i64 %low, 16777215
  %cell = getelementptr i32, ptr %leaf, i64 %granule
  %old = load atomic i32, ptr %cell unordered, align 4{tag}
"
    );
    if size == 8 {
        let _ = write!(
            out,
            "  %next = getelementptr i32, ptr %cell, i64 1
  %other = load atomic i32, ptr %next unordered, align 4{tag}
  %same = icmp eq i32 %old, %other
  br i1 %same, label %row, label %call
row:
"
        );
    }
    change(word, flags, size, tag, out);
}

/// The rest, for the state `%old` in `%cell`.
fn change(word: &str, flags: u32, size: u64, tag: &str, out: &mut String) {
    let bits = ((1 << size.min(4)) - 1) << 2;
    let _ = write!(
        out,
        "  %shift = trunc i64 %offset to i32
  %bytes = shl i32 {bits}, %shift
  %state = shl i32 %old, 10
  %event = or i32 %bytes, {flags}
  %change = or i32 %state, %event
  %mixed = mul i32 %change, -1640531535
  %place = lshr i32 %mixed, 28
  %entry = getelementptr [16 x i64], ptr @__tbaa_witness.rows, i32 %site, i32 %place
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
"
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
  call void @__tbaa_witness_{word}{size}(ptr %p, i32 %site, ptr @__tbaa_witness.module) cold{tag}
  br label %done
done:
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
