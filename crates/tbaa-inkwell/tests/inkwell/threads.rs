//! Four threads compile, optimise and run while one adds types.

use std::sync::mpsc;
use std::thread;

use inkwell::context::Context;
use tbaa::declare::{Declarations, Record, Target};
use tbaa_lower::emit::{Jit, TaggedPlace};

use crate::support::{Code, tagger};

const THREADS: usize = 4;
const TYPES: u64 = 25;

/// x->size = 1; y->VALUE = NUMBER; return x->size, where x and y are one object if `VALUE` is
/// `size`. Returns the function's result, and the number of loads left in it.
fn compile(size: &TaggedPlace, value: &TaggedPlace, number: u64) -> (u64, usize) {
    let context = Context::create();
    let tagger = tagger(&context);
    let code = Code::new(&context, 2);
    let store = code.store(code.address(code.parameter(0), size.place().offset), 64, 1);
    tagger.attach(size, store).unwrap();
    let store = code.store(code.address(code.parameter(1), value.place().offset), 64, number);
    tagger.attach(value, store).unwrap();
    let (result, load) = code.load(code.address(code.parameter(0), size.place().offset), 64, "");
    tagger.attach(size, load).unwrap();
    code.end(result);
    code.verify();
    code.optimise();
    (code.run(&mut [0; 16]), code.loads())
}

#[test]
fn threads_compile_while_one_adds() {
    let mut jit = Jit::new(Declarations::new(Target::x86_64()));
    thread::scope(|scope| {
        let (senders, workers): (Vec<_>, Vec<_>) = (0..THREADS)
            .map(|_| {
                let (send, receive) = mpsc::channel::<[TaggedPlace; 3]>();
                let worker = scope.spawn(move || {
                    let run = |(number, [size, sum, other]): (u64, [TaggedPlace; 3])| {
                        assert_eq!(compile(&size, &size, number).0, number);
                        // Bytes 0 to 7 and 8 to 15 of one object; no load is left.
                        assert_eq!(compile(&size, &sum, number), (1, 0));
                        assert_eq!(compile(&size, &other, number).1, 0);
                    };
                    (0..).zip(receive).map(run).count()
                });
                (send, worker)
            })
            .unzip();
        for number in 0..TYPES {
            let name = format!("S{number}");
            let record = Record::structure(&name).field("size", "long").field("sum", "double");
            jit.define(record.field("link", "void *")).unwrap();
            let places = jit.places(&["size", "sum", "link"].map(|it| format!("{name}.{it}")));
            let places: [TaggedPlace; 3] = places.unwrap().try_into().unwrap();
            senders.iter().for_each(|send| send.send(places.clone()).unwrap());
        }
        drop(senders);
        for worker in workers {
            assert_eq!(worker.join().unwrap() as u64, TYPES);
        }
    });
}
