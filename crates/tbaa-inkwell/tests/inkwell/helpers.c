typedef struct TValue {
  union { void *gc; void *p; double n; long long i; int b; } value;
  unsigned short tt;
} TValue;
typedef struct CallInfo { TValue *func; struct { TValue *base; int *savedpc; } l; short nresults; }
  CallInfo;
struct Unknown { float f; int i; };
void set_kind(TValue *v) { v->tt = 3; }
void set_number(TValue *v) { v->value.n = 1; }
void set_other(struct Unknown *u) { u->i = 1; }
void set_base(CallInfo *ci, TValue *v) { ci->l.base = v; }
void set_func(CallInfo *ci, TValue *v) { ci->func = v; }
void copy(CallInfo *to, CallInfo *from) { *to = *from; }
