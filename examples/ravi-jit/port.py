#!/usr/bin/env python3
"""Ports a checkout of Ravi's branch `llvm` (05f36535) to LLVM 14, and lets it take its tags from libtbaa.

    port.py CHECKOUT

edits the sources in place, by patterns, and copies the adapter beside them. A pattern that is not found as
often as it should be is an error: then the checkout is another one, or was ported before."""
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Where Ravi attaches a node, and the place that is accessed there: by the node, or by the function around it.
PLACE_OF_NODE = {
    "CallInfoT": "L_ci",  # the type, where a tag belongs
    "CallInfo_funcT": "ci_func",
    "CallInfo_func_LClosureT": "value_gc",
    "CallInfo_savedpcT": "ci_savedpc",
    "CallInfo_topT": "ci_top",
    "LClosure_pT": "cl_p",
    "Proto_codeT": "p_code",
    "Proto_kT": "p_k",
    "Proto_sizepT": "p_sizep",
    "RaviArray_dataT": "array_data",
    "RaviArray_lenT": "array_len",
    "TValue_hT": "value_gc",
    "TValue_nT": "value_n",
    "TValue_ttT": "value_tt",
    "Table_array": "t_array",
    "Table_flags": "t_flags",
    "Table_hmask": "t_hmask",
    "Table_lsizenode": "t_lsizenode",
    "Table_metatable": "t_metatable",
    "Table_node": "t_node",
    "Table_sizearray": "t_sizearray",
    "UpVal_vT": "uv_v",
    "luaState_ciT": "L_ci",
    "luaState_ci_baseT": "ci_base",
    "luaState_topT": "L_top",
    "pdoubleT": "element_n",
    "pintT": "local_int",
    "plonglongT": "element_i",
}
PLACE_IN = {
    ("emit_assign", "TValue_nT"): "value",
    ("emit_load_local_n", "plonglongT"): "local",
    ("emit_load_pupval", "ppointerT"): "cl_upvals",
    ("emit_load_reg_b", "TValue_nT"): "value_b",
    ("emit_load_reg_i", "TValue_nT"): "value_i",
    ("emit_store_local_n", "plonglongT"): "local",
    ("emit_store_reg_b", "TValue_nT"): "value_b",
    ("emit_store_reg_i", "TValue_nT"): "value_i",
    ("emit_table_get_keytype", "TValue_ttT"): "key_tt",
    ("emit_table_get_strkey", "ppointerT"): "key_gc",
}
DEAD = {"emit_ci_is_Lua", "emit_is_jit_call", "emit_load_ravi_arraytype"}  # under #if 0, or in comments
SITES = 50


class Source:
    """A file whose text is changed by patterns."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text()

    def edit(self, pattern, replacement, times=1):
        self.text, found = re.subn(pattern, replacement, self.text, flags=re.M)
        if found != times:
            sys.exit(f"{self.path}: {pattern!r} is there {found} times, not {times}: is this 05f36535, unchanged?")

    def save(self):
        self.path.write_text(self.text)


def to_llvm_14(ravi):
    header = Source(ravi / "include/ravi_llvm.h")
    header.edit(r'^#include "llvm/ExecutionEngine/Orc/(?:LambdaResolver|Legacy)\.h"\n', "", 2)
    header.edit(r"^(#include <vector>)\n", r"\1\n#include <ravi_llvm14.h>\n")
    header.save()
    for path in [ravi / "include/ravi_llvmcodegen.h", *sorted((ravi / "src").glob("ravi_llvm*.cpp"))]:
        source = Source(path)
        source.text = source.text.replace("llvm::IRBuilder<>", "ravi::Builder")
        source.save()
    jit = Source(ravi / "src/ravi_llvmjit.cpp")
    jit.edit(r"\bTM->Options\.PrintMachineCode = \d", "(void)0", 3)
    jit.edit(r"(make_unique<llvm::orc::ExecutionSession>\()\)",
             r"\1llvm::cantFail(llvm::orc::SelfExecutorProcessControl::Create()))")
    jit.edit(r"ES->createJITDylib\((.*)\);$", r"llvm::cantFail(ES->createJITDylib(\1));")
    jit.save()
    cmake = Source(ravi / "CMakeLists.txt")
    cmake.edit(r"^(target_link_libraries\(\$\{LIBRAVI_NAME\} .*)\$\{LLVM_LIBS\}", r"\1LLVM")  # as Debian has it
    cmake.save()


def to_tbaa(ravi):
    sites = 0

    def tag(match):
        nonlocal sites
        access, node = match.groups()
        function = re.findall(r"RaviCodeGenerator::(\w+)\(", match.string[:match.start()])[-1]
        if function in DEAD:
            return match.group()
        place = PLACE_IN.get((function, node)) or PLACE_OF_NODE[node]
        sites += 1
        return f"def->types->tags.tag({access}, def->types->tbaa_{node}, P_{place});"

    for path in sorted((ravi / "src").glob("ravi_llvm*.cpp")):
        source = Source(path)
        source.text = re.sub(r"([\w>-]+)->setMetadata\(\s*llvm::LLVMContext::MD_tbaa,\s*def->types->tbaa_(\w+)\);",
                             tag, source.text)
        source.save()
    if sites != SITES:
        sys.exit(f"{sites} sites, not {SITES}")
    header = Source(ravi / "include/ravi_llvmcodegen.h")
    header.edit(r"^(\s*)(llvm::MDBuilder mdbuilder;)$", r"\1\2\n\1Tbaa tags;")
    header.edit(r"^(#include .ravi_llvm\.h.)$", r"\1\n#include <ravi_tbaa.h>")
    header.save()
    types = Source(ravi / "src/ravi_llvmtypes.cpp")
    types.edit(r"\bmdbuilder\(context\)", "mdbuilder(context), tags(context)")
    types.save()
    generator = Source(ravi / "src/ravi_llvmcodegen.cpp")
    generator.edit(r"^(bool RaviCodeGenerator::compile\([^)]*\) \{)$", r"\1\n  Timed timed(Timed::Generate);")
    generator.save()
    jit = Source(ravi / "src/ravi_llvmjit.cpp")
    jit.edit(r"^(int raviV_compile(?:_n)?\([^)]*\) \{)$", r"\1\n  ravi::Timed timed(ravi::Timed::Compile);", 2)
    jit.edit(r"^(\s*)(auto M = TSM\.getModuleUnlocked\(\);)$", r"\1\2\n\1types_->tags.generated(*M);")
    jit.edit(r"^(\s*)(MPM->run\(\*M\);)$", r"\1\2\n\1types_->tags.optimized(*M);")
    jit.save()
    cmake = Source(ravi / "CMakeLists.txt")
    cmake.edit(r"\bsrc/ravi_llvmrest\.cpp", r"\g<0> src/ravi_tbaa.cpp")
    cmake.edit(r"^(\s*)(find_package\(LLVM REQUIRED.*)$",
               r"\1\2\n\1find_package(tbaa REQUIRED)\n\1set(TBAA_LIBS tbaa::static)")
    cmake.edit(r"^(target_link_libraries\(\$\{LIBRAVI_NAME\} )", r"\1${TBAA_LIBS} ")
    cmake.save()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    ravi = pathlib.Path(sys.argv[1])
    to_llvm_14(ravi)
    to_tbaa(ravi)
    for name in ["ravi_llvm14.h", "ravi_tbaa.h"]:
        shutil.copy(HERE / name, ravi / "include")
    shutil.copy(HERE / "ravi_tbaa.cpp", ravi / "src")


main()
