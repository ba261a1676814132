struct vec { float *data; long len; };
void clear(struct vec *v) { for (long i = 0; i < v->len; i++) v->data[i] = 0; }
long wide(TYPE *p) { return *p; }
