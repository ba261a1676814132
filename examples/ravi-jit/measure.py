#!/usr/bin/env python3
"""Runs Ravi's programs under each kind of tags and prints the tables of docs/ravi.md.

    measure.py CHECKOUT [--rounds N] [--variants A,B,...] [PROGRAM...]

CHECKOUT is a Ravi that port.py has ported and CMake has built in its folder `build`. Each round runs every program
once under each kind. The tables have the fastest of the rounds, for what else the machine does only adds, as ratios to
Ravi's own tags. What a program prints must be the same under all."""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VARIANTS = ["own", "none", "clang", "lowered", "scalars", "best"]
# Name: the file, in Ravi's tests/performance or beside this script, its arguments, and what of its text is replaced:
# sizes that take too long or no time at all, and what prints addresses and times.
PROGRAMS = {
    "nbody": ("nbody.ravi", ["500000"]),
    "fannkuchen.ravi": ("fannkuchen.ravi", ["10"]),
    "fannkuchen": ("fannkuchen.lua", ["9"]),
    "matmul1_ravi": ("matmul1_ravi.lua", ["600"]),
    "matmul1": ("matmul1.lua", ["300"]),
    "mandel1.ravi": ("mandel1.ravi", [], ("4000", "1600"), ("print(t2-t1)", "")),
    "sieve.ravi": ("sieve.ravi", [], ("100000", "4000")),
    "sieve": ("sieve.lua", [], ("100000", "4000")),
    "pisum.ravi": ("pisum.ravi", [], ("ravi.dumplua(pisum)", ""), ("1,500 ", "1,3000 ")),
    "pisum": ("pisum.lua", [], ("1,500 ", "1,3000 ")),
    "nsievebits": ("nsievebits.lua", ["6"]),
    "binarytrees": ("binarytrees.lua", ["13"]),
    "tableaccess": ("tableaccess.lua", [], ("1000000", "5000000")),
    "gaussian2": ("../extra/gaussian2.lua", []),
    "md5": ("md5test.lua", []),
}
UNTIMED = {"gaussian2", "md5"}  # one ends at once, the other runs for a fixed time


def run(ravi, program, variant):
    """Runs a program once: its report, with the processor time in nanoseconds, and what it printed."""
    file, arguments, *replaced = PROGRAMS[program]
    folder = HERE if (HERE / file).is_file() else ravi / "tests/performance"
    text = (folder / file).read_text()
    with tempfile.NamedTemporaryFile() as report, tempfile.NamedTemporaryFile("w", suffix=file[-5:]) as script:
        for old, new in replaced:
            text = text.replace(old, new)
        script.write(text)
        script.flush()
        environment = dict(os.environ, RAVI_TBAA=variant, RAVI_TBAA_REPORT=report.name)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([ravi / "build/ravi", "-e", "ravi.auto(true, 1)", script.name, *arguments], cwd=folder,
                              env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{program}, {variant}: exit status {done.returncode}\n{done.stderr}")
        result = json.loads(report.read())
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    result["run"] = seconds * 1e9 - result["compile"]
    # Programs print how long they took.
    times = re.compile(r"\btime\b|taken|ns/char")
    return result, "\n".join(line for line in done.stdout.splitlines() if not times.search(line))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ravi", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--variants", default=",".join(VARIANTS), type=lambda text: text.split(","))
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    asked = parser.parse_intermixed_args()
    ravi, variants = asked.ravi.resolve(), asked.variants
    if unknown := [name for name in asked.programs if name not in PROGRAMS]:
        sys.exit(f"no program {unknown[0]}: {', '.join(PROGRAMS)}")

    results, printed = {}, {}
    for number in range(asked.rounds):
        for program in asked.programs:
            for variant in variants:
                result, text = run(ravi, program, variant)
                results.setdefault((program, variant), []).append(result)
                if printed.setdefault(program, text) != text:
                    sys.exit(f"{program}: tags `{variant}` change what it prints:\n{printed[program]}\n---\n{text}")
        print(f"round {number + 1} of {asked.rounds}", file=sys.stderr)

    def fastest(program, variant, key):
        return min(result[key] for result in results[program, variant])

    rows = []
    for program in asked.programs:
        row = [program, results[program, variants[0]][0]["emitted"][0]]
        for variant in variants:
            base, loads = results[program, variant][0]["left"]
            row.append(f"{base}/{loads}")
        rows.append(row)
    print("Loads of the stack base left / all loads left:\n")
    table(["", "emitted", *variants], rows)

    others = [variant for variant in variants if variant != "own"]
    if len(others) == len(variants):
        return
    ratios = {variant: [] for variant in others}
    rows = []
    for program in asked.programs:
        own = fastest(program, "own", "run")
        if program in UNTIMED:
            continue
        row = [program, f"{own / 1e9:.2f}"]
        for variant in others:
            ratios[variant].append(fastest(program, variant, "run") / own)
            row.append(f"{ratios[variant][-1]:.2f}")
        rows.append(row)
    means = [f"{statistics.geometric_mean(ratios[variant]):.2f}" for variant in others]
    rows.append(["geometric mean", "", *means])
    print("Processor time without compiling, by that of Ravi's own tags:\n")
    table(["", "own, s", *others], rows)

    def total(variant, key):
        return sum(fastest(program, variant, key) for program in asked.programs)

    rows = []
    for what, key in [("IR generation", "generate"), ("compiling as a whole", "compile")]:
        own = total("own", key)
        rows.append([what, f"{own / 1e6:.1f}"] + [f"{total(variant, key) / own:.2f}" for variant in others])
    print("Compile time, summed over the programs, by that of Ravi's own tags:\n")
    table(["", "own, ms", *others], rows)


main()
