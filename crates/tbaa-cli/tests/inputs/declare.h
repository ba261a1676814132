enum Kind { SMALL, LARGE };
typedef struct { short x, y; } Point;
typedef union { void *p; long i; } Word;
struct Node {
  struct Node *next;
  enum Kind kind : 3;
  Point at[2];
  Point last;
  Word word;
  int (*visit)(struct Node *, void *);
  double values[];
};
