void plain(int **p) { *(float *)(*p + 3) = 0; }
