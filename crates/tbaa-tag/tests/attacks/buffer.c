// An object in an array of bytes that is a member, accessed also by bytes and by a plain pointer.
// right:
// wrong: --elements
struct Buffer { long used; char bytes[24]; };
struct Point { int x, y; };
int printf(const char *, ...);
static int *plain(void *at) { return at; }
static __attribute__((noinline)) int f(struct Buffer *b, struct Point *p, int i) {
    p->x = 1;
    b->bytes[i] = 2;
    int first = p->x;
    float *bits = (float *)plain(&p->y);
    int *y = plain(&p->y);
    *y = 3;
    *bits = 1;
    return first * 100 + *y % 100 + b->bytes[i];
}
int main(int n, char **arguments) {
    struct Buffer b = {0};
    printf("%d\n", f(&b, (struct Point *)b.bytes, n - 1));
}
