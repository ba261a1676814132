"""Summaries and findings of many modules, by Dask: `python summaries.py OUT.json MODULE...`

Each module is read by one worker, which sends back its summary and what `lint` finds. Summaries
are merged as a tree. Any tree gives the same file: merging is commutative and associative, and a
part that is merged twice, because a worker was lost, changes nothing.

`DASK_SCHEDULER` names a scheduler; without it two local processes do the work.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dask.distributed import Client, LocalCluster

TBAA = os.environ.get("TBAA", "tbaa")


def tbaa(*arguments):
    done = subprocess.run([TBAA, *arguments], capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: something was found
        raise RuntimeError(done.stderr)
    return done.stdout


def read(module):
    found = json.loads(tbaa("lint", "--format", "json", module))
    return tbaa("link", "--format", "summary", module), found


def merge(*summaries):
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{number}.json") for number in range(len(summaries))]
        for file, summary in zip(files, summaries):
            file.write_text(summary)
        return tbaa("link", "--format", "summary", *map(str, files))


def main(out, *modules):
    scheduler = os.environ.get("DASK_SCHEDULER")
    cluster = scheduler or LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        parts = client.map(read, modules)
        layer = client.map(lambda part: part[0], parts)
        findings = client.map(lambda part: part[1], parts)
        while len(layer) > 1:
            layer = [client.submit(merge, *layer[at : at + 8]) for at in range(0, len(layer), 8)]
        Path(out).write_text(layer[0].result())
        for found in findings:
            for finding in found.result():
                print(f"{finding['file']}:{finding['line']}: {finding['code']}: {finding['message']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
