"""A module of llvmlite with tags: `python tag.py`, where `tbaa` is on PATH or in $TBAA.

The front end makes typed getelementptrs, and knows nothing of TBAA. One call before the passes gives its
accesses tags. It prints how many loads LLVM leaves without and with them.
"""

import os
import subprocess

import llvmlite.binding as llvm
import llvmlite.ir as ir

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
MACHINE = llvm.Target.from_default_triple().create_target_machine()


def front_end():
    """fill(v, data): for every i, data of v at i becomes 1.0; v has its length and its data."""
    module = ir.Module("vectors")
    module.triple = MACHINE.triple
    module.data_layout = str(MACHINE.target_data)  # without it nobody knows where members stand
    pointer, number, i64 = ir.PointerType(), ir.DoubleType(), ir.IntType(64)
    vector = module.context.get_identified_type("Vector")
    vector.set_body(i64, pointer)
    box = module.context.get_identified_type("Box")
    box.set_body(pointer, number)
    fill = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer, pointer]), "fill")
    v, to = fill.args
    entry, head, body, end = (fill.append_basic_block(name) for name in ("entry", "head", "body", "end"))
    zero = ir.Constant(ir.IntType(32), 0)

    def member(builder, ty, base, index):
        place = [zero, ir.Constant(ir.IntType(32), index)]
        return builder.gep(base, place, inbounds=True, source_etype=ty)

    ir.IRBuilder(entry).branch(head)
    builder = ir.IRBuilder(head)
    i = builder.phi(i64)
    i.add_incoming(ir.Constant(i64, 0), entry)
    length = builder.load(member(builder, vector, v, 0), typ=i64)
    builder.cbranch(builder.icmp_signed("<", i, length), body, end)
    builder = ir.IRBuilder(body)
    builder.store(ir.Constant(number, 1), member(builder, box, to, 1))
    data = builder.load(member(builder, vector, v, 1), typ=pointer)
    builder.store(data, member(builder, box, to, 0))
    i.add_incoming(builder.add(i, ir.Constant(i64, 1)), body)
    builder.branch(head)
    ir.IRBuilder(end).ret_void()
    return module


def tagged(text):
    command = [os.environ.get("TBAA", "tbaa"), "tag", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def loads_in_loop(text):
    module = llvm.parse_assembly(text)
    module.verify()
    passes = llvm.create_pass_builder(MACHINE, llvm.create_pipeline_tuning_options(2))
    passes.getModulePassManager().run(module, passes)
    found = 0
    for block in module.get_function("fill").blocks:
        instructions = list(block.instructions)
        repeats = f"%{block.name}" in str(instructions[-1])
        found += sum(it.opcode == "load" for it in instructions) if repeats else 0
    return found


if __name__ == "__main__":
    plain = str(front_end())
    print("loads in the loop:", loads_in_loop(plain), "without tags,", loads_in_loop(tagged(plain)), "with")
