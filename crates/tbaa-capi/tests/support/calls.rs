//! Calls functions of the C interface in an order that input bytes choose.
//!
//! The calls keep the header's contract: pointers are NULL or valid, and nothing is used after it
//! is freed. Numbers, names and order are arbitrary.

#![allow(unreachable_pub, reason = "the fuzzer's own crate uses it too")]

use std::ptr::{null, null_mut};

use tbaa_capi as _;

#[repr(C)]
#[derive(Clone, Copy)]
struct Str {
    data: *const u8,
    len: usize,
}

impl Str {
    fn of(bytes: &[u8]) -> Str {
        Str { data: bytes.as_ptr(), len: bytes.len() }
    }
}

#[repr(C)]
struct Options {
    target: Str,
    root: Str,
    policy: u32,
    rule: u32,
    cplusplus: bool,
}

#[repr(C)]
struct Field {
    node: u32,
    offset: u64,
    size: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MemoryAccess {
    tag: u32,
    kind: u32,
    size: u64,
}

enum Context {}
enum Oracle {}

unsafe extern "C" {
    fn tbaa_context_new(options: *const Options, context: *mut *mut Context) -> u32;
    fn tbaa_context_free(context: *mut Context);
    fn tbaa_context_oracle(context: *const Context) -> *const Oracle;
    fn tbaa_context_snapshot(context: *mut Context, rule: u32, made: *mut *const Oracle) -> u32;
    fn tbaa_oracle_retain(oracle: *const Oracle) -> *const Oracle;
    fn tbaa_oracle_release(oracle: *const Oracle);
    fn tbaa_tag_of(context: *mut Context, path: Str, tag: *mut u32) -> u32;
    fn tbaa_size_of(context: *mut Context, text: Str, size: *mut u64) -> u32;
    fn tbaa_declare_enum(context: *mut Context, name: Str, integer: Str) -> u32;
    fn tbaa_declare_alias(context: *mut Context, name: Str, text: Str) -> u32;
    fn tbaa_build_root(context: *mut Context, name: Str, root: *mut u32) -> u32;
    fn tbaa_build_scalar_type(context: *mut Context, name: Str, up: u32, node: *mut u32) -> u32;
    fn tbaa_build_struct_type(
        context: *mut Context,
        name: Str,
        fields: *const Field,
        count: usize,
        node: *mut u32,
    ) -> u32;
    fn tbaa_build_struct_tag(
        context: *mut Context,
        base: u32,
        access: u32,
        offset: u64,
        immutable: bool,
        tag: *mut u32,
    ) -> u32;
    fn tbaa_build_merged_tag(context: *mut Context, a: u32, b: u32, merged: *mut u32) -> u32;
    fn tbaa_may_alias(oracle: *const Oracle, a: u32, b: u32) -> bool;
    fn tbaa_may_conflict(oracle: *const Oracle, a: MemoryAccess, b: MemoryAccess) -> u32;
    fn tbaa_is_constant(oracle: *const Oracle, tag: u32) -> bool;
    fn tbaa_tag_count(oracle: *const Oracle) -> u32;
}

/// The input bytes, followed by any number of zeros.
struct Input<'d>(&'d [u8]);

impl<'d> Input<'d> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn number(&mut self) -> u64 {
        match self.byte() {
            byte @ ..240 => byte.into(),
            _ => u64::from_le_bytes([(); 8].map(|()| self.byte())),
        }
    }

    /// Returns a meaningful text, or arbitrary bytes.
    fn text(&mut self) -> &'d [u8] {
        const TEXTS: [&[u8]; 12] = [
            b"*int", b"*double", b"A", b"B.x", b"immutable *long", b"int [3][4]", b"unsigned char",
            b"void *", b"struct A *", b"*char", b"", b"E",
        ];
        let at = usize::from(self.byte());
        if let Some(text) = TEXTS.get(at / 8) {
            return text;
        }
        let (text, rest) = self.0.split_at(at.min(self.0.len()) / 4);
        self.0 = rest;
        text
    }

    fn name(&mut self) -> Str {
        Str::of(self.text())
    }
}

/// Makes a context, and runs the calls that the bytes choose.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let options = Options {
        target: Str::of(if input.byte() < 200 { b"x86-64" } else { input.text() }),
        root: Str::of(if input.byte() < 128 { b"" } else { b"R" }),
        policy: (input.byte() % 4).into(),
        rule: (input.byte() % 5).into(),
        cplusplus: input.byte() % 4 == 0,
    };
    let mut context = null_mut();
    // SAFETY: the pointers are valid.
    if unsafe { tbaa_context_new(&options, &mut context) } != 0 {
        return;
    }
    let mut snapshots: Vec<*const Oracle> = Vec::new();
    while !input.0.is_empty() {
        call(context, &mut input, &mut snapshots);
    }
    // SAFETY: made above, and freed once. Snapshots outlive their context.
    unsafe {
        tbaa_context_free(context);
        for oracle in snapshots {
            assert!(tbaa_may_alias(oracle, 0, 1));
            tbaa_oracle_release(oracle);
        }
    }
}

fn call(context: *mut Context, input: &mut Input<'_>, snapshots: &mut Vec<*const Oracle>) {
    let which = input.byte() % 18;
    let (mut id, mut wide) = (0_u32, 0_u64);
    let [a, b] = [(); 2].map(|()| input.number() as u32);
    // SAFETY: the context lives, texts are those of `input`, results have places.
    unsafe {
        let oracle = tbaa_context_oracle(context);
        let status = match which {
            0..=2 => tbaa_tag_of(context, input.name(), &mut id),
            3 => tbaa_size_of(context, input.name(), &mut wide),
            4 => tbaa_declare_enum(context, input.name(), input.name()),
            5 => tbaa_declare_alias(context, input.name(), input.name()),
            6 => tbaa_build_root(context, input.name(), &mut id),
            7 => tbaa_build_scalar_type(context, input.name(), a, &mut id),
            8 => {
                let fields: Vec<Field> = (0..input.byte() % 5)
                    .map(|_| Field { node: input.number() as u32, offset: input.number(), size: 0 })
                    .collect();
                let data = if fields.is_empty() { null() } else { fields.as_ptr() };
                tbaa_build_struct_type(context, input.name(), data, fields.len(), &mut id)
            }
            9 | 10 => {
                let (offset, immutable) = (input.number(), input.byte().is_multiple_of(2));
                tbaa_build_struct_tag(context, a, b, offset, immutable, &mut id)
            }
            11 => tbaa_build_merged_tag(context, a, b, &mut id),
            12 | 13 => {
                let mut made = null();
                let status = tbaa_context_snapshot(context, (input.byte() % 5).into(), &mut made);
                if status == 0 {
                    tbaa_oracle_release(tbaa_oracle_retain(made));
                    snapshots.push(made);
                }
                status
            }
            // A call fails if its context or the pointer to its result is NULL.
            14 => tbaa_tag_of(null_mut(), input.name(), &mut id).max(1),
            15 => tbaa_tag_of(context, input.name(), null_mut()),
            _ => 0,
        };
        if status != 0 && which < 12 {
            assert_eq!((id, wide), (0, 0), "nothing is written where a call fails");
        }
        let count = tbaa_tag_count(oracle);
        let may = tbaa_may_alias(oracle, a, b);
        assert_eq!(may, tbaa_may_alias(oracle, b, a));
        let known = |tag: u32| (1..=count).contains(&tag);
        assert!(may || known(a) && known(b), "an unknown tag may alias everything");
        let access = |tag, input: &mut Input<'_>| MemoryAccess {
            tag,
            kind: (input.byte() % 5).into(),
            size: input.number(),
        };
        let (x, y) = (access(a, input), access(b, input));
        let _ = (tbaa_may_conflict(oracle, x, y), tbaa_is_constant(oracle, a));
        for &old in &*snapshots {
            let _ = tbaa_may_alias(old, a, b);
        }
    }
}
