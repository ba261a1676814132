/* A document, parsed, copied, changed and printed, and its items deleted and used again. */
#include <stdio.h>
#include <stdlib.h>
#include "cJSON.h"

int main(void) {
  long printed = 0;
  for (int round = 0; round < 3; round++) {
    cJSON *all = cJSON_CreateArray();
    for (int i = 0; i < 1000; i++) {
      cJSON *item = cJSON_CreateObject();
      cJSON_AddNumberToObject(item, "number", i * 1.5);
      cJSON_AddStringToObject(item, "name", i % 3 ? "a" : "bc");
      cJSON_AddItemToArray(all, item);
    }
    char *text = cJSON_PrintUnformatted(all);
    cJSON *parsed = cJSON_Parse(text), *copy = cJSON_Duplicate(parsed, 1);
    char *again = cJSON_Print(copy);
    for (char *at = again; *at; at++) printed = printed * 31 % 1000003 + *at;
    cJSON_Delete(all);
    cJSON_Delete(parsed);
    cJSON_Delete(copy);
    free(text);
    free(again);
  }
  printf("%ld\n", printed);
  return 0;
}
