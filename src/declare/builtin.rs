//! Declares the predefined types of C or C++ for a target.

use super::Declarations;
use super::declarations::{Decl, DeclKind};
use tbaa_types::Primitive;

impl Declarations {
    /// Declares the predefined types. The first three are `char`, `void` and a function type.
    pub(super) fn add_builtins(&mut self) {
        let names = ["char", "signed char", "unsigned char", "int8_t", "uint8_t"];
        self.builtin("omnipotent char", 1, 1, None, &names);
        for kind in [DeclKind::Void, DeclKind::Function] {
            let _ = self.push(Decl::new(kind, None, 1));
        }
        self.names.insert("void".to_owned(), self.void());
        let target = self.target.clone();
        let (pointer, long) = (target.pointer.0, target.long);
        let align = |size| target.int_align(size);
        let bool = if self.cplusplus { "bool" } else { "_Bool" };
        self.builtin(bool, 1, 1, None, &["_Bool", "bool"]);
        self.builtin("short", 2, align(2), None, &["int16_t", "uint16_t"]);
        self.builtin("int", 4, align(4), None, &["int32_t", "uint32_t"]);
        self.builtin("long", long, align(long), None, &[]);
        self.builtin("long long", 8, align(8), None, &[]);
        if target.int128 {
            self.builtin("__int128", 16, align(16), None, &["__int128_t", "__uint128_t"]);
        }
        let floats = [
            ("_Float16", 2, Primitive::Half),
            ("__fp16", 2, Primitive::Half),
            ("__bf16", 2, Primitive::BFloat),
            ("float", 4, Primitive::Float),
            ("double", 8, Primitive::Double),
        ];
        for (name, size, primitive) in floats {
            self.builtin(name, size, target.align(primitive), Some(primitive), &[]);
        }
        let (primitive, size, align) = target.long_double;
        self.builtin("long double", size, align, Some(primitive), &[]);
        let word = match (pointer, long) {
            (8, 8) => "long",
            (8, _) => "long long",
            _ if target.size_is_long => "long",
            _ => "int",
        };
        let wide = if long == 8 && !target.int64_is_long_long { "long" } else { "long long" };
        let wchar = if target.wchar == 2 { "short" } else { "int" };
        let wides = ["int64_t", "uint64_t"].map(|name| (name, wide));
        let words = ["size_t", "ssize_t", "intptr_t", "uintptr_t", "ptrdiff_t"];
        for (name, of) in wides.into_iter().chain(words.map(|name| (name, word))) {
            self.names.insert(name.to_owned(), self.names[of]);
        }
        let wides = [("wchar_t", wchar), ("char16_t", "short"), ("char32_t", "int")];
        for (name, of) in [("char8_t", "char")].into_iter().chain(wides) {
            if self.cplusplus {
                let Decl { size, align, .. } = *self.decl(self.names[of]);
                self.builtin(name, size.unwrap_or(4), align, None, &[]);
            } else {
                self.names.insert(name.to_owned(), self.names[of]);
            }
        }
    }

    fn builtin(
        &mut self,
        name: &str,
        size: u64,
        align: u64,
        float: Option<Primitive>,
        others: &[&str],
    ) {
        let parent = (!self.decls.is_empty()).then(|| self.char());
        let kind = DeclKind::Scalar { name: name.to_owned(), parent, float };
        // This cannot fail: there is room for the first declarations.
        let Ok(id) = self.push(Decl::new(kind, size, align)) else { return };
        if parent.is_some() {
            self.names.insert(name.to_owned(), id);
        }
        self.names.extend(others.iter().map(|&other| (other.to_owned(), id)));
    }
}
