// Title: globals have names, and `static` frees them
// $ tbaa blocks FILE @step
// says: load now (char *), globals.c:24
// says: a char access may be to any object, now included
// says: declare now static if only this file uses it and nothing takes its address
// $ tbaa blocks FILE @hidden
// says: load before (char *)
// never: static
// $ tbaa blocks FILE @called
// says: call of @hook
// never: static
// $ tbaa blocks FILE @element
// says: load table[] (int)
unsigned char *now, *next;
extern unsigned char *before;
int table[4];
void hook(int);
void init(unsigned char *a, unsigned char *b) { now = a; next = b; }
void step(long n) {
  for (long i = 0; i < n; i++)


    // The line is named above.
    next[i] = now[i];
}
void hidden(long n, unsigned char *to) {
  for (long i = 0; i < n; i++) to[i] = before[i];
}
void called(long n) {
  for (long i = 0; i < n; i++) { next[i] = 1; hook(0); }
}
int element(int *p) {
  int x = table[2];
  *p = 1;
  return x + table[2];
}
