// Reads JSON documents, one per line, from standard input and prints each formatted, compact and with an answer about a
// member: a driver for cJSON that goes through parsing, printing, searching and deleting.
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>

static void show(const char *line)
{
    cJSON *document = cJSON_Parse(line);
    if (document == NULL) {
        const char *at = cJSON_GetErrorPtr();
        printf("error at %d\n", at == NULL ? -1 : (int)(at - line));
        return;
    }
    char *formatted = cJSON_Print(document), *compact = cJSON_PrintUnformatted(document);
    printf("%s\n%s\n", formatted, compact);
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(document, "name");
    printf("name: %s\n", cJSON_IsString(name) ? name->valuestring : "none");
    cJSON *copy = cJSON_Duplicate(document, 1);
    printf("equal to its copy: %d\n", cJSON_Compare(document, copy, 1));
    free(formatted);
    free(compact);
    cJSON_Delete(copy);
    cJSON_Delete(document);
}

int main(void)
{
    static char line[4096];
    int documents = 0;

    while (fgets(line, sizeof line, stdin) != NULL) {
        show(line);
        documents++;
    }
    return documents % 100;
}
