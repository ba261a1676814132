//! Properties of types: spelling, size, encoding and equality.

use std::fmt::Write as _;

use tbaa::types::{Context, DataLayout, Encoding, Equality, Type, TypeClasses};
use tbaa_ir::types::ReadTypes;
use tbaa_tests::cases;

/// Lists the properties of each type.
fn of_types(context: &Context, types: &[Type]) -> String {
    let layout = DataLayout::default();
    let mut layouts = layout.layouts(context);
    let mut out = String::new();
    for &ty in types {
        let size = layouts.size_in_bits(ty).map_or_else(
            |error| format!("{error:?}"),
            |size| format!("{}{} bits", size.min, if size.scalable { " at least" } else { "" }),
        );
        let encoding = Encoding::of(context, ty).map_or("too long".into(), |of| of.to_string());
        writeln!(out, "{}: {size}, {encoding}", context.definition(ty)).unwrap();
    }
    for (word, equality) in [("equal", Equality::Structural), ("alike", Equality::Unfolding)] {
        let classes = TypeClasses::new(&[context], equality);
        assert!(classes.is_exact());
        for (at, &ty) in types.iter().enumerate() {
            let same = |other: &&Type| classes.same(ty, **other);
            for &other in types[at + 1..].iter().filter(same) {
                let [a, b] = [ty, other].map(|ty| context.display(ty));
                writeln!(out, "{word}: {a}, {b}").unwrap();
            }
        }
    }
    out
}

#[test]
fn types_are_as_written_down() {
    cases::check("types/types.txt", |_, parts| {
        let mut context = Context::new();
        for module in &parts[1..] {
            if let Err(error) = context.read_definitions(module.trim_end().as_bytes()) {
                // The types that stay in the context are not recursive.
                let types: Vec<_> = context.structs().collect();
                _ = of_types(&context, &types);
                return format!("refused: {error}");
            }
        }
        let mut types: Vec<_> = context.structs().collect();
        let mut out = String::new();
        for text in parts[0].lines() {
            match context.parse(text.as_bytes()) {
                Ok(ty) => {
                    let shown = context.display(ty).to_string();
                    assert_eq!(context.parse(shown.as_bytes()), Ok(ty));
                    types.push(ty);
                }
                Err(error) => writeln!(out, "{text} is refused: {error}").unwrap(),
            }
        }
        let mut printed = String::new();
        context.write_definitions(&mut printed).unwrap();
        let mut again = Context::new();
        again.read_definitions(printed.as_bytes()).unwrap();
        let mut twice = String::new();
        again.write_definitions(&mut twice).unwrap();
        assert_eq!(twice, printed);
        of_types(&context, &types) + &out
    });
}
