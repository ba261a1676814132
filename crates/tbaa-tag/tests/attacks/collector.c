// A collector zeroes and copies objects by words.
// right:
// wrong: --elements
struct Cell { double weight; struct Cell *next; };
int printf(const char *, ...);
static void zero(unsigned long *words, int count) {
    for (int i = 0; i < count; i++) words[i] = 0;
}
static void copy(unsigned long *to, unsigned long *from, int count) {
    for (int i = 0; i < count; i++) to[i] = from[i];
}
static double weigh(double *weight) { return *weight; }
static __attribute__((noinline)) double f(struct Cell *a, struct Cell *b, int words) {
    double *weight = &a->weight;
    *weight = 1;
    zero((unsigned long *)b, words);
    double zeroed = weigh(weight);
    a->weight = 2;
    unsigned long kept[2];
    copy(kept, (unsigned long *)b, words);
    zero((unsigned long *)b, words);
    copy((unsigned long *)b, kept, words);
    return zeroed + 10 * a->weight;
}
int main(int n, char **arguments) {
    struct Cell cell = {0, &cell};
    printf("%g\n", f(&cell, &cell, n + 1));
}
