//! LLVM's passes ask the relation of a module's classes.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::passes::PassBuilderOptions;

use crate::support::machine;

const MODULE: &str = r#"
define i32 @f(ptr %p, ptr %q) {
  %a = load i32, ptr %p, !alias.scope !4
  store i32 7, ptr %q, !alias.scope !5
  %b = load i32, ptr %p, !alias.scope !4
  %c = add i32 %a, %b
  ret i32 %c
}
!tbaa.relations = !{!0}
!0 = !{!"tbaa:F", !"0", !"1"}
!1 = !{!"tbaa:F"}
!2 = !{!"tbaa:F:0", !1}
!3 = !{!"tbaa:F:1", !1}
!4 = !{!2}
!5 = !{!3}
"#;

#[test]
fn the_relation_is_asked() {
    let context = Context::create();
    let read = || {
        let text = MemoryBuffer::create_from_memory_range_copy(MODULE.as_bytes(), "f");
        context.create_module_from_ir(text).unwrap()
    };
    let loads = |module: &inkwell::module::Module<'_>| {
        module.print_to_string().to_string().matches(" = load ").count()
    };
    let machine = machine();
    let plain = read();
    plain.run_passes("default<O2>", &machine, PassBuilderOptions::create()).unwrap();
    assert_eq!(loads(&plain), 2, "LLVM alone learns nothing");
    let asked = read();
    tbaa_inkwell::run_passes(&asked, "default<O2>", &machine).unwrap();
    assert_eq!(loads(&asked), 1);
    let error = tbaa_inkwell::run_passes(&asked, "no-such-pass", &machine).unwrap_err();
    assert!(error.contains("no-such-pass"), "{error}");
}
