/* 4 MB of XML, parsed three times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "expat.h"

static long elements, bytes;
static void start(void *data, const char *name, const char **attributes) {
  elements++;
  for (; *attributes; attributes++) bytes += (long)strlen(*attributes);
}
static void end(void *data, const char *name) { bytes += name[0]; }
static void text(void *data, const char *at, int length) { bytes += length; }

int main(void) {
  char *document = malloc(5 << 20), *at = document;
  at += sprintf(at, "<?xml version='1.0'?><all>");
  for (int i = 0; at < document + (4 << 20); i++)
    at += sprintf(at, "<item id='%d' kind=\"k%d\">text %d &amp; more<sub a='%x'/></item>\n", i, i % 7, i * 31, i);
  at += sprintf(at, "</all>");
  for (int round = 0; round < 3; round++) {
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetElementHandler(parser, start, end);
    XML_SetCharacterDataHandler(parser, text);
    if (XML_Parse(parser, document, (int)(at - document), 1) != XML_STATUS_OK) return 1;
    XML_ParserFree(parser);
  }
  printf("%ld %ld\n", elements, bytes);
  return 0;
}
