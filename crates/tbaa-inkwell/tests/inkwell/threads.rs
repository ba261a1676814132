//! Four threads compile, optimise and run code while another thread adds types.

use std::sync::mpsc;
use std::thread;

use inkwell::context::Context;
use tbaa::declare::{Declarations, Record, Target};
use tbaa_lower::emit::{Jit, TaggedPlace};

use crate::support::{Code, places};

const THREADS: usize = 4;
const TYPES: u64 = 25;

/// Compiles and runs `x->size = 1; y->VALUE = number; return x->size`, where x and y point to one
/// object. Returns the result, and the number of loads that the optimiser leaves.
fn compile(size: &TaggedPlace, value: &TaggedPlace, number: u64) -> (u64, usize) {
    let context = Context::create();
    let code = Code::new(&context, 2);
    for (parameter, place, number) in [(0, size, 1), (1, value, number)] {
        let to = code.address(code.parameter(parameter), place.place().offset);
        code.attach(place, code.store(to, 64, number));
    }
    code.end(code.load_at(size).into());
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
                        // `size` and `sum` do not overlap, so the load disappears.
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
            let paths = ["size", "sum", "link"].map(|member| format!("{name}.{member}"));
            let places = places(&mut jit, paths.each_ref().map(String::as_str));
            senders.iter().for_each(|send| send.send(places.clone()).unwrap());
        }
        drop(senders);
        for worker in workers {
            assert_eq!(worker.join().unwrap() as u64, TYPES);
        }
    });
}
