//! Declarations written as a spec and read again.

use tbaa::declare::{Policy, Target};
use tbaa::spec::{Spec, write_declarations};

use tbaa_tests::Rng;
use tbaa_tests::generate::{Program, Taste};

#[test]
fn a_written_spec_has_the_same_layout() {
    for name in Target::names() {
        let target = Target::by_name(name).unwrap();
        let taste =
            Taste { int128: target.pointer_size() == 8, odd: true, elements: 4, members: 6 };
        let program = Program::new(5, 200, taste);
        let mut types = program.declare(target).unwrap();
        let records: Vec<_> = types.records().collect();
        let text = write_declarations("again", &types, &records, name, Policy::Clang);
        let built = Spec::load(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let mut again = built.tagged().unwrap().types().clone();
        for (record, _) in program.names() {
            let [ours, theirs] = [&types, &again].map(|types| {
                let id = types.named(record).unwrap();
                let members: Vec<_> =
                    types.members(id).map(|m| (m.name, m.offset, m.bits)).collect();
                (types.size_of(id), types.align_of(id), members)
            });
            assert_eq!(ours, theirs, "{name}: {record}");
        }
        for access in program.accesses(&mut Rng(5)) {
            let offsets = [&mut types, &mut again].map(|types| types.offset_of(&access.path));
            assert_eq!(offsets[0], offsets[1], "{name}: {}", access.path);
        }
    }
}
