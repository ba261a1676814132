#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **v) {
  void *places[2];
  for (int i = 0; i < 6; i++) {
    void *library = dlopen(v[1 + i % 2], RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 1;
    ((double (*)(int))dlsym(library, "run"))(i);
    places[i % 2] = dlsym(library, "pool");
    dlclose(library);
  }
  /* Both have lain in one place. */
  return places[0] == places[1] ? 0 : 2;
}
