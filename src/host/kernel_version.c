// SPDX-License-Identifier: Apache-2.0
#include "host/kernel_version.h"

#include <stdlib.h>
#include <sys/utsname.h>

struct kernel_version kernel_version_parse(const char *release)
{
	struct kernel_version version = { 0 };
	char *end;

	version.major = (unsigned)strtoul(release, &end, 10);
	if (*end == '.')
		version.minor = (unsigned)strtoul(end + 1, NULL, 10);
	return version;
}

struct kernel_version kernel_version_read(void)
{
	struct utsname kernel;

	(void)uname(&kernel); /* cannot fail */
	return kernel_version_parse(kernel.release);
}

bool kernel_version_is_before(struct kernel_version version, unsigned major, unsigned minor)
{
	return version.major < major || (version.major == major && version.minor < minor);
}
