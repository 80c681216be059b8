/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of users, by a file like /etc/passwd (passwd(5)). A directory of users is not asked,
 * because it may hang: users that only it knows have no name here.
 */
#pragma once

#include <stdint.h>

#define USER_NAMES_FILE "/etc/passwd"
#define USER_NAME_SIZE  33

struct user_names;

/* NULL where the file cannot be read, and without memory: no user has a name then. */
struct user_names *user_names_read(const char *path);
/* The name of the user, or NULL. @names may be NULL. */
const char *user_names_find(const struct user_names *names, uint32_t user);
void user_names_free(struct user_names *names); /* NULL is fine */
