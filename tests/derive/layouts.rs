//! The layouts of derived declarations equal those of the Rust compiler.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};

use tbaa::Graph;
use tbaa::declare::{Declarations, DeclareError, Policy, Tbaa, TypedPath, path};

use crate::{declared, host, offset};

#[derive(Tbaa)]
#[repr(C, align(32))]
struct Aligned {
    x: u8,
}

#[derive(Tbaa)]
#[repr(C, packed(2))]
struct Packed {
    x: u8,
    y: u64,
    z: Inner,
}

#[derive(Tbaa)]
#[repr(C, packed)]
struct Inner {
    a: u16,
    b: f64,
}

#[derive(Tbaa)]
#[repr(C)]
struct Tuple(u8, (), Pair<f64>, [Aligned; 2]);

#[derive(Tbaa, Clone, Copy)]
#[repr(C)]
struct Pair<T>(u8, T);

#[derive(Tbaa)]
#[repr(C)]
struct Empty {}

#[derive(Tbaa)]
#[repr(C)]
struct Nested<'a, T, const N: usize>
where
    T: Copy,
{
    cell: UnsafeCell<Pair<T>>,
    none: Empty,
    phantom: PhantomData<&'a Vec<T>>,
    slots: [[MaybeUninit<Pair<T>>; N]; 2],
    up: Option<&'a Nested<'a, T, N>>,
}

#[derive(Tbaa, Clone, Copy)]
#[repr(C)]
enum OfC {
    One = 1,
}

#[derive(Tbaa, Clone, Copy)]
#[repr(i16)]
enum Short {
    Less = -1,
}

#[derive(Tbaa)]
#[repr(C)]
union Overlap {
    c: OfC,
    short: Short,
    pair: Pair<u8>,
}

#[test]
fn sizes_and_offsets_are_the_compilers() {
    let Some(_) = host() else { return };
    fn same<T: Tbaa>() {
        let mut types = declared::<T>();
        let id = T::declare(&mut types).unwrap();
        assert_eq!(types.size_of(id), Some(size_of::<T>() as u64), "{}", types.display(id));
        assert_eq!(types.align_of(id), align_of::<T>() as u64, "{}", types.display(id));
    }
    same::<Aligned>();
    same::<Packed>();
    same::<Inner>();
    same::<Tuple>();
    same::<Pair<Pair<u16>>>();
    same::<Nested<'_, u32, 3>>();
    same::<OfC>();
    same::<Short>();
    same::<Overlap>();
    assert_eq!(declared::<Short>().named("Short"), None, "an enum is its integer");

    assert_eq!(offset(path!(Packed.y)), Ok(offset_of!(Packed, y) as u64));
    assert_eq!(offset(path!(Packed.z.b)), Ok(offset_of!(Packed, z.b) as u64));
    assert_eq!(offset(path!(Tuple.2.1)), Ok(offset_of!(Tuple, 2.1) as u64));
    assert_eq!(offset(path!(Tuple.3[1].x)), Ok((offset_of!(Tuple, 3) + 32) as u64));
    type N = Nested<'static, u16, 3>;
    let slot = offset_of!(N, slots) + 4 * size_of::<Pair<u16>>() + offset_of!(Pair<u16>, 1);
    assert_eq!(offset(path!(N.slots[1][1].1)), Ok(slot as u64));
    assert_eq!(offset(path!(N.up->cell.1)), Ok(offset_of!(Pair<u16>, 1) as u64));
}

/// Generic code can name paths too.
fn second<T: Tbaa>() -> TypedPath<Pair<T>, T> {
    path!(Pair<T>.1)
}

#[test]
fn paths_know_both_ends() {
    let Some(_) = host() else { return };
    const UP: TypedPath<Nested<'static, u8, 2>, MaybeUninit<Pair<u8>>> =
        path!(Nested<'static, u8, 2>.up->slots[i][1]);
    assert_eq!(UP.steps(), ".up->slots[*][1]");
    assert_eq!(offset(second::<u64>()), Ok(8));
    let whole: TypedPath<Empty, Empty> = path!(Empty);
    assert_eq!(whole.steps(), "");
}

#[test]
fn members_without_room_are_left_out() {
    let Some(_) = host() else { return };
    let types = declared::<Nested<'_, u32, 2>>();
    let id = types.named("Nested_u32_2").unwrap();
    let names: Vec<&str> = types.members(id).map(|member| member.name).collect();
    assert_eq!(names, ["cell", "slots", "up"]);
    // A member of size 0 is not declared, so no path can name it.
    assert!(offset(path!(Tuple.1)).is_err());
}

#[derive(Tbaa)]
#[repr(C)]
struct Wrong {
    #[tbaa(ty = "int")]
    x: u64,
}

#[test]
fn a_c_type_of_another_size_is_refused() {
    let Some((_, target)) = host() else { return };
    let error: DeclareError = Wrong::declare(&mut Declarations::new(target)).unwrap_err();
    let text = "u64: a size of 8 bytes, but \"int\" has 4: name a C type of the same size";
    assert_eq!(error.to_string(), text);
}

#[derive(Tbaa)]
#[repr(C)]
#[tbaa(char)]
struct Raw {
    x: Cell<u32>,
}

#[derive(Tbaa, Clone, Copy)]
#[repr(transparent)]
#[tbaa(char)]
struct Bits(u32);

#[derive(Tbaa)]
#[repr(C)]
struct Holder {
    raw: Raw,
    bits: Bits,
    #[tbaa(char)]
    foreign: Option<u8>,
    #[tbaa(char)]
    flag: bool,
    plain: u32,
}

/// Accesses to a member alias everything if the member or its type has `#[tbaa(char)]`.
#[test]
fn char_like_members_alias_everything() {
    use tbaa::{AliasResult, AliasRule, Oracle};
    let Some((_, target)) = host() else { return };
    for (policy, rules) in [(Policy::Clang, AliasRule::Llvm), (Policy::Rfc, AliasRule::Union)] {
        let mut graph = Graph::new();
        let mut types = Declarations::new(target.clone()).into_tagged(policy);
        macro_rules! tag {
            ($($path:tt)*) => {
                types.handle(&mut graph, path!($($path)*)).unwrap().place().tag.unwrap()
            };
        }
        let plain = tag!(Holder.plain);
        let others = [
            tag!(Holder.raw.x),
            tag!(Holder.bits),
            tag!(Holder.foreign),
            tag!(Holder.flag),
            tag!(Bits),
        ];
        let pointer = types.tag(&mut graph, "*void *").unwrap();
        let number = types.tag(&mut graph, "*double").unwrap();
        let holder = Holder::declare(types.types_mut()).unwrap();
        if let Some(copy) = types.copy(&mut graph, holder).unwrap() {
            assert_eq!(types.types().size_of(holder), Some(16));
            let entries = graph.copy(copy).unwrap();
            let bytes: u64 = entries.iter().map(|entry| entry.size).sum();
            assert_eq!(bytes, 4 + 4 + 2 + 1 + 4);
        }
        let oracle = Oracle::new(&graph, rules);
        assert_eq!(oracle.alias(plain, number), AliasResult::NoAlias);
        for tag in others {
            for other in [pointer, number] {
                assert_eq!(oracle.alias(tag, other), AliasResult::MayAlias, "{tag:?} {rules:?}");
            }
        }
    }
}

/// A union may point to a struct that contains the union, whichever is declared first.
#[test]
fn a_type_may_point_to_one_that_holds_it() {
    #[derive(Tbaa, Clone, Copy)]
    #[repr(C)]
    union Value {
        table: *mut Table,
        nodes: *const *mut Node,
        number: f64,
    }
    #[derive(Tbaa)]
    #[repr(C)]
    struct Table {
        mark: u8,
        nodes: *mut Node,
        meta: Option<Box<Table>>,
    }
    #[derive(Tbaa)]
    #[repr(C)]
    struct Node {
        next: *mut Node,
        key: Value,
        value: [Value; 2],
    }
    for first in [declared::<Value>, declared::<Table>, declared::<Node>] {
        let mut types = first();
        assert_eq!(types.offset_of("Node.value[1].number"), Ok(offset_of!(Node, value) as u64 + 8));
        assert_eq!(types.offset_of("Table.meta"), Ok(offset_of!(Table, meta) as u64));
        for (name, size) in [
            ("Value", size_of::<Value>()),
            ("Table", size_of::<Table>()),
            ("Node", size_of::<Node>()),
        ] {
            assert_eq!(types.size_of(types.named(name).unwrap()), Some(size as u64), "{name}");
        }
    }
}

/// A pointer to a type that cannot be declared is an error, also at the second attempt.
#[test]
fn what_is_pointed_to_must_be_declared() {
    #[derive(Tbaa)]
    #[repr(C)]
    struct Owner {
        owned: *mut Owned,
    }
    #[derive(Tbaa)]
    #[repr(C)]
    struct Owned {
        #[tbaa(ty = "struct Missing *")]
        missing: u8,
    }
    let (_, target) = host().expect("a target with a preset");
    let mut types = Declarations::new(target);
    for _ in 0..2 {
        let error = Owner::declare(&mut types).unwrap_err();
        assert!(error.to_string().contains("struct Missing *"), "{error}");
    }
}
