// SPDX-License-Identifier: Apache-2.0
#include "trial/own_container.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"

#define TEXT_MAX   (1024UL * 1024)
#define ID_LEN     64
#define UID_LEN    36
#define HEX_DIGITS "0123456789abcdef"

/* The last id in @text; it ends before a character that is not a digit. */
static void find_id(const char *text, char *ret)
{
	while (*(text += strcspn(text, HEX_DIGITS))) {
		size_t len = strspn(text, HEX_DIGITS);

		if (len == ID_LEN) {
			memcpy(ret, text, ID_LEN);
			ret[ID_LEN] = '\0';
		}
		text += len;
	}
}

/* A UUID behind @before; systemd has "_" instead of "-". False if there is none. */
static bool find_uid(const char *text, const char *before, char *ret)
{
	for (; (text = strstr(text, before)); text++) {
		const char *uid = text + strlen(before);

		if (strspn(uid, HEX_DIGITS "-_") != UID_LEN)
			continue;
		for (size_t i = 0; i < UID_LEN; i++)
			ret[i] = uid[i] == '_' ? '-' : uid[i];
		ret[UID_LEN] = '\0';
		return true;
	}
	return false;
}

/* A file that the runtime has put there; @root is its path in its file system. */
static void take_mount(const char *root, const char *point, struct own_container *ret)
{
	static const char *const points[] = { "/etc/hosts", "/etc/hostname",
					      "/dev/termination-log" };

	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		const char *containers = strstr(root, "containers/");

		if (strcmp(point, points[i]) != 0)
			continue;
		if (!ret->pod_uid[0])
			(void)find_uid(root, "pods/", ret->pod_uid);
		if (containers && !ret->id[0])
			find_id(containers, ret->id);
	}
}

static void look_at_mounts(const char *text, struct own_container *ret)
{
	char root[4096], point[4096];
	bool had_id = ret->id[0] != '\0';

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (sscanf(text, "%*s %*s %*s %4095s %4095s", root, point) == 2)
			take_mount(root, point, ret);
	/* In a pod, these files belong to its sandbox. */
	if (!had_id && ret->pod_uid[0])
		ret->id[0] = '\0';
}

static char *read_own(const char *procfs, const char *name)
{
	char path[4096];
	char *text = NULL;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/self/%s", procfs, name);
	return read_file_alloc(path, TEXT_MAX, &text, &len) < 0 ? NULL : text;
}

static void take_variable(const char *name, char *ret, size_t size)
{
	const char *value = getenv(name);

	if (value && *value)
		(void)snprintf(ret, size, "%s", value);
}

void own_container_find(const char *procfs, struct own_container *ret)
{
	CLEANUP_FREE char *cgroup = read_own(procfs, "cgroup");
	CLEANUP_FREE char *mounts = read_own(procfs, "mountinfo");

	*ret = (struct own_container){ "" };
	if (cgroup) {
		find_id(cgroup, ret->id);
		(void)find_uid(cgroup, "pod", ret->pod_uid);
	}
	if (mounts)
		look_at_mounts(mounts, ret);
	take_variable("POD_UID", ret->pod_uid, sizeof(ret->pod_uid));
	take_variable("POD_NAME", ret->pod_name, sizeof(ret->pod_name));
	take_variable("POD_NAMESPACE", ret->namespace, sizeof(ret->namespace));
}
