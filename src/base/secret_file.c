// SPDX-License-Identifier: Apache-2.0
#include "base/secret_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/*
 * True if @path, with the status @st, is a credential that systemd passes to this service.
 * Credentials are in one flat directory. From systemd 254 on they are owned by root, with an ACL
 * entry for the service's user: stat() then shows the ACL's mask in place of the group's rights,
 * mode 0440, although only root and this user can read the file.
 */
static bool is_credential(const char *path, const struct stat *st)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY"), *slash = strrchr(path, '/');
	struct stat credentials, parent, itself;
	char parent_path[4096];

	if (!dir || *dir != '/' || !slash || (size_t)(slash - path) >= sizeof(parent_path) - 1)
		return false;
	(void)snprintf(parent_path, sizeof(parent_path), "%.*s", (int)(slash - path + 1), path);
	if (stat(dir, &credentials) < 0 || stat(parent_path, &parent) < 0 ||
	    lstat(path, &itself) < 0)
		return false;
	return parent.st_dev == credentials.st_dev && parent.st_ino == credentials.st_ino &&
	       S_ISREG(itself.st_mode) && (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       (st->st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) == 0;
}

int secret_file_check(const char *path, struct diag *diag)
{
	struct stat st;

	if (stat(path, &st) < 0 || (st.st_mode & (S_IRWXG | S_IRWXO)) == 0 ||
	    is_credential(path, &st))
		return 0;
	return diag_set(diag, -EPERM,
			"%s contains a secret and others can read it (mode %04o): chmod 600 %s",
			path, (unsigned)st.st_mode & 07777, path);
}

int secret_file_read(const char *path, char **ret, struct diag *diag)
{
	size_t len;
	int r;

	if (!*path) {
		*ret = strdup("");
		return *ret ? 0 : diag_set(diag, -ENOMEM, "out of memory");
	}
	r = secret_file_check(path, diag);
	if (r < 0)
		return r;
	r = read_file_alloc(path, SECRET_FILE_MAX, ret, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	(*ret)[strcspn(*ret, "\r\n")] = '\0';
	return 0;
}
