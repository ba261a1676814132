int get(int *p) { return *p; }
void set(int *p, int n) { *p = n; }
