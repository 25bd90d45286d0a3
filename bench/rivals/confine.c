/* What a native run may write: what lies below two directories, and /dev/null. Fuzzed arguments name files, and nobody's files
 * may be lost to a measurement. Method: Landlock. Limit: files are still read from everywhere. */

#define _GNU_SOURCE
#include "guard.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Everything that changes files, as the second version of Landlock knows it (Debian 12). */
#define WRITE_FILE LANDLOCK_ACCESS_FS_WRITE_FILE
#define CHANGE                                                                                                              \
    (WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |           \
     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)

static void refuse(const char *what)
{
    perror(what);
    _exit(3);
}

static void allow(int rules, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0 || syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        refuse(path);
    close(rule.parent_fd);
}

void confine(const char *directory, const char *other)
{
    struct landlock_ruleset_attr handled = {.handled_access_fs = CHANGE};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0)
        refuse("cannot confine the program (Landlock)");
    allow(rules, directory, CHANGE);
    allow(rules, other, CHANGE);
    allow(rules, "/dev/null", WRITE_FILE);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_landlock_restrict_self, rules, 0) != 0)
        refuse("cannot confine the program (Landlock)");
    close(rules);
}
