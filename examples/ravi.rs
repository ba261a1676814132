//! Prints the TBAA metadata of the language Ravi, from `specs/ravi.ron`. Answers a question that
//! Ravi's author asked.
//!
//! Source of the question: the Ravi article "LLVM Type Based Alias Analysis".

use tbaa::spec::Spec;
use tbaa::{Oracle, text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut ravi = Spec::load(include_str!("../specs/ravi.ron"))?;
    print!("{}", text::write(ravi.graph()));

    println!(
        "
Ravi reloads `base`, the first stack slot of a Lua function, before every
opcode. The reload is redundant unless something stored in between may have
changed it. May a store alias the load of `ci->l.base`?
"
    );
    let base = ravi.tag("CallInfo.l.base")?;
    let stores = [
        ("TValue.n", "a number into a stack slot"),
        ("int", "an int through a pointer"),
        ("lua_State.ci", "the pointer to the current call"),
        ("any pointer", "a pointer through a pointer"),
    ];
    for (name, what) in stores {
        let store = ravi.tag(name)?;
        let oracle = Oracle::new(ravi.graph(), tbaa::AliasRule::Llvm);
        println!("  {:<9} store of {what} (tag `{name}`)", oracle.alias(store, base).to_string());
    }
    println!("\nWhere every answer is NoAlias, the optimizer may drop the reload.");
    Ok(())
}
