struct a { int n; }; struct b { int n; };
static inline void put(struct b *restrict b, struct a *restrict a) { b->n = a->n; }
int twice(struct a *a, struct b *b, struct b *c) { put(b, a); put(c, a); return a->n; }
