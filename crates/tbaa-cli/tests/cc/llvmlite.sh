# The example for llvmlite prints what tags buy. Without Python and llvmlite there is nothing to show.
. "$HERE/common"
example="$HERE/../../../../examples/llvmlite/tag.py"
command -v python3 > said || exit 0
python3 -c 'import llvmlite' 2> said || python3 -m pip install -q --target packages llvmlite 2> said || exit 0
PYTHONPATH=packages python3 "$example" > said
grep -x 'loads in the loop: [1-9] without tags, 0 with' said
