# Exceptions and threads stay as they are.
. "$HERE/common"
quiet "$TBAA" c++ -O2 -std=c++17 -pthread "$HERE/threads.cpp" -o program
quiet ./program
