typedef int alias_int __attribute__((may_alias));
typedef float vector __attribute__((vector_size(16)));
typedef enum { OFF, ON } Mode;
struct Scalar { alias_int a; int b; };
struct __attribute__((may_alias)) Whole { int x; };
struct Pointee { alias_int *p; };
struct Other { char *a; int b; };
typedef struct Other alias_other __attribute__((may_alias));
struct Through { alias_other *p; };
struct Plain {
  vector *vectors;
  vector of;
  Mode mode;
  _Bool yes;
  _Atomic(short) atoms[1];
  float _Complex complex;
  const int constant;
  volatile int flag;
  int bits : 3;
  union { int i; float f; } u;
  struct { short s; } deep[3][2];
  int rest[];
};
struct Macro { union { void (*sa_handler)(int); int x; } handler; };
#define sa_handler handler.sa_handler
struct Packed { char c; int i; } __attribute__((packed));
static inline int within(void) { struct Hidden { int x; } h = {0}; return h.x; }
