// SPDX-License-Identifier: Apache-2.0
#include "host/confidential.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <unistd.h>

#include "base/file.h"

static bool exists(const char *sysfs, const char *name)
{
	char path[PATH_MAX];

	return path_join(path, sizeof(path), sysfs, name) == 0 && access(path, F_OK) == 0;
}

static bool is_one(const char *sysfs, const char *name)
{
	char path[PATH_MAX], text[8];

	return path_join(path, sizeof(path), sysfs, name) == 0 &&
	       read_file_nowait_at(AT_FDCWD, path, text, sizeof(text)) > 0 && text[0] == '1' &&
	       (!text[1] || text[1] == '\n');
}

const char *confidential_kind(bool has_tdx_flag, const char *sysfs)
{
	if (exists(sysfs, "devices/platform/sev-guest"))
		return "SEV-SNP";
	if (has_tdx_flag || exists(sysfs, "class/misc/tdx_guest"))
		return "TDX";
	return is_one(sysfs, "firmware/uv/prot_virt_guest") ? "Secure Execution" : "";
}
