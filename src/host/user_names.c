// SPDX-License-Identifier: Apache-2.0
#include "host/user_names.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

#define USERS_MAX 4096 /* further ones have no name here */

struct user_name {
	uint32_t user;
	char name[USER_NAME_SIZE];
};

struct user_names {
	struct user_name *list;
	uint32_t count, room;
};

static int add(struct user_names *names, const struct passwd *entry)
{
	struct user_name *name;

	if (ARRAY_RESERVE(names->list, names->room, names->count + 1) < 0)
		return -1;
	name = &names->list[names->count++];
	name->user = entry->pw_uid;
	(void)snprintf(name->name, sizeof(name->name), "%s", entry->pw_name);
	return 0;
}

struct user_names *user_names_read(const char *path)
{
	struct user_names *names = calloc(1, sizeof(*names));
	FILE *file = names ? fopen(path, "re") : NULL;
	const struct passwd *entry;

	while (file && names->count < USERS_MAX && (entry = fgetpwent(file)) &&
	       add(names, entry) == 0)
		continue;
	if (file)
		(void)fclose(file);
	return names;
}

const char *user_names_find(const struct user_names *names, uint32_t user)
{
	for (uint32_t i = 0; names && i < names->count; i++) {
		if (names->list[i].user == user)
			return names->list[i].name;
	}
	return NULL;
}

void user_names_free(struct user_names *names)
{
	if (!names)
		return;
	free(names->list);
	free(names);
}
