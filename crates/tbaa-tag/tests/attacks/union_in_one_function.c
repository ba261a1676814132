// The same, where one function uses one pointer as both members: it shows that they overlap.
// right:
struct Int { int value; };
struct Float { float value; };
union Any { struct Int i; struct Float f; };
int printf(const char *, ...);
static __attribute__((noinline)) int f(union Any *a, union Any *b) {
    a->i.value = 0;
    a->f.value = 0;
    b->f.value = 2;
    int bits = a->i.value;
    b->f.value = 1;
    return bits == a->i.value;
}
int main(void) {
    union Any any = {{0}};
    printf("%d\n", f(&any, &any));
}
