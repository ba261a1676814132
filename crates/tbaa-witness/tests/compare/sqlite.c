/* Runs the statements of a file, but for the shell's own lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sqlite3.h"

static int print(void *data, int count, char **values, char **names) {
  for (int i = 0; i < count; i++) printf("%s%c", values[i] ? values[i] : "", i + 1 < count ? '|' : '\n');
  return 0;
}

int main(int argc, char **argv) {
  FILE *file = fopen(argv[argc - 1], "r");
  char line[1 << 12], *text = calloc(1, 1 << 20), *message = NULL;
  sqlite3 *database;
  if (!file || sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) || sqlite3_open(":memory:", &database)) return 2;
  while (fgets(line, sizeof line, file))
    if (line[0] != '.') strcat(text, line);
  int status = sqlite3_exec(database, text, print, NULL, &message);
  if (status) puts(message);
  sqlite3_close(database);
  return status != 0;
}
