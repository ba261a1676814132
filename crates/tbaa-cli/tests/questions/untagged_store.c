// Title: a store without a tag, and a parameter: restrict separates what no tag does
// $ tbaa blocks FILE @f -- -DR=
// says: so it may write anything
// says: declare parameter m restrict
// loads: -DR= > -DR=restrict
// looped: -DR= > -DR=restrict
typedef struct { unsigned char r, g, b, a; } pixel;
struct image { pixel *p; int w, h; };
void f(struct image *R m, pixel c) {
  for (int i = 0; i < m->w * m->h; i++) m->p[i] = c;
}
