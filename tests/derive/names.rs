//! Names of types: each instance of a generic type has a name of its own.

use std::ffi::c_void;

use tbaa::declare::{Declarations, Tbaa};

use crate::{declared, host};

#[derive(Tbaa)]
#[repr(C)]
struct Pair<A, B = u8>(A, B);

#[derive(Tbaa)]
#[repr(C)]
#[tbaa(name = "buffer_{N}_of_{T}")]
struct Buffer<T, const N: i8> {
    data: *const T,
}

#[derive(Tbaa)]
#[repr(C)]
#[tbaa(name = "One")]
struct One<T>(T);

#[derive(Tbaa)]
#[repr(C)]
struct r#Type {
    r#fn: u8,
}

fn name<T: Tbaa>() -> String {
    let mut types = declared::<T>();
    let id = T::declare(&mut types).unwrap();
    types.display(id)
}

#[test]
fn generic_types_have_a_name_for_each_use() {
    let Some(_) = host() else { return };
    assert_eq!(name::<Pair<i32>>(), "Pair_i32_u8");
    assert_eq!(name::<Pair<u32, *mut Type>>(), "Pair_u32_mut_Type");
    assert_eq!(name::<Pair<*const c_void, [f32; 2]>>(), "Pair_const_c_void_f32_2");
    assert_eq!(name::<Pair<&'static u8, Pair<u8, i8>>>(), "Pair_ref_u8_Pair_u8_i8");
    assert_eq!(name::<Buffer<Type, -3>>(), "buffer_minus_3_of_Type");
    assert_eq!(name::<Type>(), "Type");
}

/// Two different types with one name are refused: they would be treated as one type.
#[test]
fn two_uses_of_one_name_are_refused() {
    let Some((_, target)) = host() else { return };
    let mut types = Declarations::new(target);
    One::<u8>::declare(&mut types).unwrap();
    One::<u8>::declare(&mut types).unwrap();
    let error = One::<u16>::declare(&mut types).unwrap_err();
    assert_eq!(error.to_string(), "a second type \"One\": rename one");
}
