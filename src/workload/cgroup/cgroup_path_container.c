// SPDX-License-Identifier: Apache-2.0
/*
 * With systemd a container is a scope, RUNTIME-ID.scope; with the cgroupfs driver a directory, bare
 * digits or RUNTIME-ID. runc's name for systemd, SLICE:RUNTIME:ID, exists as a directory where the
 * two drivers were mixed up. An id has 64 lower-case digits: a name with more, fewer or another
 * prefix ("crio-conmon-ID") is not a container. Other runtimes have ids of their own form.
 */
#include "workload/cgroup/cgroup_path_container.h"

#include "base/macro.h"

#define BUILD_ID_LEN 25 /* BuildKit's: base 36 */

static const struct {
	const char *prefix, *runtime;
} runtimes[] = {
	{ "docker", "docker" },
	{ "cri-containerd", "containerd" },
	{ "containerd", "containerd" },
	{ "nerdctl", "containerd" },
	{ "crio", "cri-o" },
	{ "libpod", "podman" },
	{ "libpod-payload", "podman" },
};

/* The runtime of bare digits, by their directory. */
static const struct {
	const char *parent, *runtime;
} directories[] = {
	{ "docker", "docker" },      { "actions_job", "docker" },
	{ "moby", "docker" },        { "containerd", "containerd" },
	{ "default", "containerd" }, { "k8s.io", "containerd" },
	{ "crio", "cri-o" },
};

static bool is_container_id(struct part part)
{
	return part_is_hex(part, CONTAINER_ID_LEN);
}

static const char *runtime_of_prefix(struct part prefix)
{
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (part_is(prefix, runtimes[i].prefix))
			return runtimes[i].runtime;
	return NULL;
}

/* "PREFIX-ID": the id is the end. */
static bool by_prefix(struct part name, struct cgroup_container *ret)
{
	struct part prefix = name, id;
	const char *runtime;

	if (name.len < CONTAINER_ID_LEN + 2)
		return false;
	prefix.len -= CONTAINER_ID_LEN + 1;
	id = (struct part){ name.text + prefix.len + 1, CONTAINER_ID_LEN };
	runtime = name.text[prefix.len] == '-' ? runtime_of_prefix(prefix) : NULL;
	if (!runtime || !is_container_id(id))
		return false;
	*ret = (struct cgroup_container){ .runtime = runtime, .space = "", .id = id };
	return true;
}

/* "SLICE:PREFIX:ID" */
static bool by_colons(struct part part, struct cgroup_container *ret)
{
	struct part slice, prefix, id;
	const char *runtime;

	if (!part_split(part, ':', &slice, &id) || !part_split(id, ':', &prefix, &id))
		return false;
	runtime = runtime_of_prefix(prefix);
	if (!runtime || !is_container_id(id))
		return false;
	*ret = (struct cgroup_container){ runtime, "", id, slice };
	return true;
}

bool cgroup_container_by_name(struct part part, struct cgroup_container *ret)
{
	struct part name = part;

	(void)part_between(part, "", ".scope", &name);
	if (by_prefix(name, ret) || by_colons(part, ret))
		return true;
	*ret = (struct cgroup_container){ .space = "" };
	if (part_between(name, "buildkit-", "", &ret->id) && part_is_alnum(ret->id, BUILD_ID_LEN)) {
		ret->runtime = "buildkit";
		ret->space = "buildkit/";
		return true;
	}
	if (part_between(part, "kata_", "", &ret->id) && is_container_id(ret->id)) {
		ret->runtime = "kata";
		return true;
	}
	if (part_between(part, "lxc.payload.", "", &ret->id)) {
		ret->runtime = "lxc";
		ret->space = "lxc/";
		return true;
	}
	return false;
}

/* "nspawn": machine.slice holds the machines registered with systemd-machined. */
static bool by_machine(struct part part, struct cgroup_container *ret)
{
	static const char *const libvirt = "machine-lxc\\x2d";
	struct part number;

	if (part_starts(part, "machine-qemu\\x2d") || part_starts(part, "machine-ch\\x2d"))
		return false; /* libvirt's machines */
	if (part_between(part, libvirt, ".scope", &ret->id)) {
		if (part_split(ret->id, '\\', &number, &ret->id) && part_is_decimal(number))
			(void)part_between(ret->id, "x2d", "", &ret->id);
		else
			(void)part_between(part, libvirt, ".scope", &ret->id);
		ret->runtime = "libvirt-lxc";
		ret->space = "libvirt-lxc/";
		return ret->id.len > 0;
	}
	ret->runtime = "nspawn";
	ret->space = "nspawn/";
	return part_between(part, "systemd-nspawn@", ".service", &ret->id) ||
	       part_between(part, "machine-", ".scope", &ret->id);
}

/*
 * Garden's handles have any form, usually 8-4-4-4-4 digits, with a suffix for the checks of a
 * container. "good" and "bad" are directories of its own.
 */
static bool is_garden_id(struct part part, struct part parent)
{
	struct part head, rest;

	if (part_is(parent, "garden"))
		return !part_is(part, "good") && !part_is(part, "bad") && !part_is(part, "init");
	return (part_is(parent, "good") || part_is(parent, "bad")) &&
	       part_split(part, '-', &head, &rest) && part_is_hex(head, 8);
}

/* Nomad's own drivers: ALLOCATION.TASK.scope in the slice "share" or "reserve". */
static bool is_nomad_task(struct part part, struct part parent, struct part *ret)
{
	struct part allocation, task;

	return (part_is(parent, "share.slice") || part_is(parent, "reserve.slice")) &&
	       part_between(part, "", ".scope", ret) && part_split(*ret, '.', &allocation, &task) &&
	       part_is_uuid(allocation, '-');
}

/* Names instead of 64 digits, each in a directory of its runtime. */
static bool by_runtime_directory(struct part part, struct part parent, struct cgroup_container *ret)
{
	static const struct {
		const char *parent, *runtime, *space;
		bool uuid;
	} known[] = {
		{ "lxc", "lxc", "lxc/", false },
		{ "lxc.payload", "lxc", "lxc/", false },
		{ "mesos", "mesos", "mesos/", true },
	};

	ret->id = part;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!part_is(parent, known[i].parent))
			continue;
		ret->runtime = known[i].runtime;
		ret->space = known[i].space;
		return !known[i].uuid || part_is_uuid(part, '-');
	}
	if (is_garden_id(part, parent)) {
		ret->runtime = "garden";
		ret->space = "garden/";
		return true;
	}
	if (is_nomad_task(part, parent, &ret->id)) {
		ret->runtime = "nomad";
		ret->space = "nomad/";
		return true;
	}
	ret->id = part;
	ret->runtime = "buildkit";
	ret->space = "buildkit/";
	return part_is(parent, "buildkit") && part_is_alnum(part, BUILD_ID_LEN);
}

static const char *runtime_of_directory(struct part parent, bool in_pod)
{
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (part_is(parent, directories[i].parent))
			return directories[i].runtime;
	return in_pod ? "kubernetes" : "";
}

bool cgroup_container_by_place(struct part part, struct part parent, bool in_pod,
			       struct cgroup_container *ret)
{
	*ret = (struct cgroup_container){ .space = "" };
	if (part_is(parent, "libpod_parent"))
		return false; /* bare digits are a pod of Podman's, its containers say libpod- */
	if (is_container_id(part)) {
		ret->id = part;
		ret->runtime = runtime_of_directory(parent, in_pod);
		return true;
	}
	if (part_is(parent, "machine.slice"))
		return by_machine(part, ret);
	if (part_is(parent, "machine") && part_between(part, "lxc-", ".libvirt-lxc", &ret->id)) {
		struct part number, name;

		if (part_split(ret->id, '-', &number, &name) && part_is_decimal(number))
			ret->id = name;
		ret->runtime = "libvirt-lxc";
		ret->space = "libvirt-lxc/";
		return ret->id.len > 0;
	}
	return by_runtime_directory(part, parent, ret);
}
