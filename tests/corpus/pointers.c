/* Pointers to scalars, pointers, structs, functions; lists and trees. */

typedef int (*compare)(const void *, const void *);

struct node {
  struct node *left, *right;
  struct node **owner;
  void *payload;
  int key;
};

struct list {
  struct list *next;
  const char *name;
  int *counts;
  float **rows;
};

struct table {
  compare order;
  void (*visit)(struct node *, void *);
  struct node *root;
  struct list lists[2];
  int (*hashes[3])(const char *);
};

struct opaque;

struct handles {
  struct opaque *first;
  struct opaque **all;
  void **slots;
  int *(*maker)(int **);
};

void swap(int **a, int **b) {
  int *t = *a;
  *a = *b;
  *b = t;
}

int chase(int ***p, float **f, char **s) {
  **f = 1;
  **s = 'c';
  *s = 0;
  *f = 0;
  return ***p;
}

struct node *insert(struct table *t, struct node *n) {
  struct node **at = &t->root;
  while (*at) {
    if (t->order((*at)->payload, n->payload) < 0)
      at = &(*at)->left;
    else
      at = &(*at)->right;
  }
  *at = n;
  n->owner = at;
  n->left = n->right = 0;
  return n;
}

int walk(struct table *t, struct node *n, void *context) {
  if (!n)
    return 0;
  int sum = walk(t, n->left, context) + n->key;
  t->visit(n, context);
  return sum + walk(t, n->right, context);
}

int names(struct table *t, int which) {
  int sum = 0;
  for (struct list *l = t->lists[which].next; l; l = l->next) {
    sum += t->hashes[which](l->name);
    l->counts[0]++;
    l->rows[1][2] += 1;
    l->rows[0] = l->rows[1];
  }
  t->lists[0].name = "done";
  return sum;
}

int *handle(struct handles *h, int **spare, struct opaque *o, const void **v) {
  h->first = o;
  h->all[1] = h->first;
  h->slots[0] = h->all;
  *v = h->slots[1];
  *spare = h->maker(spare);
  return *spare;
}

void set(int *restrict a, long *restrict b, int *const *c, volatile int *d) {
  *a = (int)*b;
  **c = *d;
  *d = *a;
}
