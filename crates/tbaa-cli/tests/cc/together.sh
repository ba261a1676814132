# Where LLVM sees two accesses together is decided by the modules that they were compiled in, not by the files that
# their lines are said to be of.
. "$HERE/common"
# needs TEXT COMMAND...: the only report of the program that this compiles says what LLVM needs.
needs() {
  local text=$1; shift
  quiet $cc -O1 "$@" -o program
  TBAA_WITNESS=json=needs.json ends 66 ./program
  grep -q "\"needs\": \"$text" needs.json || { cat needs.json >&2; return 1; }
}
head='void *malloc(unsigned long); '
needs "in two modules, .* -flto" main.c put.c
# Generated code says that its lines are of other files.
cat > generated.c << END
$head
#line 1 "grammar.y"
static void put(float *p) { *p = 1; }
#line 7 "scanner.l"
int main(void) { void *p = malloc(4); put(p); return *(int *)p == 0; }
END
needs "in one module: " generated.c
cat > one.c << END
$head
#line 1 "grammar.y"
int main(void) { float *p = malloc(4); *p = 1;
#line 7 "scanner.l"
return *(int *)p == 0; }
END
needs "in one function" one.c
# Two modules that say that they are one file.
sed '1i #line 1 "all.c"' main.c > said_main.c
sed '1i #line 1 "all.c"' put.c > said_put.c
needs "in two modules" said_main.c said_put.c
# A function of a header is in each module that has it, whichever copy runs; one of the same name in another file is not.
echo 'static inline void set(void *p) { *(float *)p = 1; }' > set.h
printf '#include "set.h"\nvoid run(void *p) { set(p); }\n' > with.c
printf '%s\n#include "set.h"\nvoid run(void *); int main(int n, char **v) { void *p = malloc(4); run(n > 5 ? v : p); if (n > 4) set(p); return *(int *)p == 0; }\n' "$head" > both.c
needs "in one module: " both.c with.c
needs "in one module: " with.c both.c
sed '2c static void set(void *p) { *(short *)p = 2; }' both.c > other.c
needs "in two modules" other.c with.c
# The same where the second access is the header's.
echo 'static inline int get(void *p) { return *(int *)p; }' > get.h
printf '#include "get.h"\nint run(void *p) { return get(p); }\n' > with.c
printf '%s\n#include "get.h"\nint run(void *); int main(int n, char **v) { float *p = malloc(4); *p = 1; return (n > 4 ? get(p) : run(p)) == 0; }\n' "$head" > both.c
needs "in one module: " both.c with.c
