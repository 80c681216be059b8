// SPDX-License-Identifier: Apache-2.0
/*
 * One walk over the components, from the root down, that knows at each step which party may have
 * created the next component: the system, a user's own systemd, the owner of a unit, a container.
 * The innermost container is the owner; the pod is the outermost one, because everything that runs
 * in a pod belongs to it. In a container the walk starts again, as in a root, but keys have the
 * outermost container as a suffix.
 */
#include "workload/cgroup/cgroup_path.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "workload/cgroup/cgroup_path_container.h"
#include "workload/cgroup/cgroup_path_job.h"
#include "workload/cgroup/cgroup_path_unit.h"
#include "workload/cgroup/cgroup_path_vm.h"
#include "workload/owner_key.h"

#define SHORT_ID_LEN 12 /* as Docker shortens an id */
#define OUTER_MAX    36 /* bytes of an outer container's name in a key */

/* The tree that the walk is in. */
enum tree { TREE_SYSTEM, TREE_USERS /* user.slice */, TREE_USER /* one user's own systemd */ };

struct walk {
	const char *root; /* of the machine's systemd; NULL: unknown */
	enum tree tree;
	const char *unit; /* below this unit, whose processes may have made what follows */
	bool in_runtime;  /* that unit is a runtime: it puts containers below itself */
	bool in_kubepods;
	struct part parent, grandparent;
	char pod_uid[POD_UID_MAX]; /* of the pod that we are in, in this container; "" none */
	char user[16];             /* "@1000" in a user's tree of the host */
	char outer[64];            /* "@" and the outermost container */
	uint32_t level, depth;     /* containers and components passed */
	uint32_t pod_depth;        /* of the component with pod_uid */
	struct cgroup_owner *owner;
};

static void set_text(char *buf, size_t size, const char *text)
{
	(void)snprintf(buf, size, "%s", text);
}

static void set_pseudo(struct cgroup_owner *ret, enum owner_kind kind, const char *name)
{
	*ret = (struct cgroup_owner){ .kind = kind, .runtime = "", .hypervisor = "" };
	set_text(ret->id, sizeof(ret->id), name);
	set_text(ret->name, sizeof(ret->name), name);
}

void cgroup_owner_kernel(struct cgroup_owner *ret)
{
	set_pseudo(ret, OWNER_KERNEL, "kernel_processes");
}

void cgroup_owner_system(struct cgroup_owner *ret)
{
	set_pseudo(ret, OWNER_SYSTEM, "system_processes");
}

void cgroup_owner_vm(struct cgroup_owner *ret, const char *hypervisor, const char *id,
		     const char *name)
{
	const struct part none = { 0 }, whole = { id, strlen(id) };

	*ret = (struct cgroup_owner){ OWNER_VM, .runtime = "", .hypervisor = hypervisor };
	owner_key(ret->id, sizeof(ret->id), none, whole, "");
	set_text(ret->name, sizeof(ret->name), name);
}

/* ---- containers and pods ---- */

/* Units that put containers below themselves: where the two cgroup drivers are mixed. */
static bool is_runtime_unit(struct part unit)
{
	static const char *const units[] = {
		"docker.service",      "containerd.service",  "crio.service",
		"podman.service",      "buildkit.service",    "kubelet.service",
		"k3s.service",         "k3s-agent.service",   "k0scontroller.service",
		"k0sworker.service",   "rke2-server.service", "rke2-agent.service",
		"mesos-agent.service", "mesos-slave.service", "garden.service",
		"lxc.service",         "lxd.service",         "incus.service",
	};
	static const char *const families[] = { "snap.docker.", "snap.microk8s.", "snap.lxd.",
						"lxc@" };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (part_is(unit, units[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (part_starts(unit, families[i]))
			return true;
	return false;
}

/* Returns true if a component in a runtime's form can have been made by a runtime. */
static bool is_place(const struct walk *walk, struct part part)
{
	if (walk->level > 0)
		return true; /* its key has the outer container */
	if (walk->tree == TREE_USERS)
		return false;
	if (walk->tree == TREE_USER)
		return true; /* its key has the user */
	/* Podman in a unit, --cgroups=split, as Quadlet's generator has it. */
	return !walk->unit || walk->in_runtime ||
	       (part_starts(part, "libpod-payload-") && walk->parent.text == walk->unit);
}

/* Sets the suffix of the outermost container for the keys of those inside it. */
static void set_outer(struct walk *walk, const struct cgroup_container *container)
{
	int len = (int)container->id.len;

	if (!container->space[0] && len > SHORT_ID_LEN)
		len = SHORT_ID_LEN;
	if (len > OUTER_MAX)
		len = OUTER_MAX;
	(void)snprintf(walk->outer, sizeof(walk->outer), "@%s%.*s%s", container->space, len,
		       container->id.text, walk->user);
}

static void set_pod(struct walk *walk, const char *names_id)
{
	struct cgroup_owner *owner = walk->owner;

	(void)snprintf(owner->pod_id, sizeof(owner->pod_id), "%s%s", walk->pod_uid, walk->user);
	set_text(owner->names_id, sizeof(owner->names_id), names_id);
	owner->is_nested_pod = walk->level > 0;
}

static void set_name(struct cgroup_owner *owner, const struct cgroup_container *container)
{
	if (container->space[0])
		(void)part_unescape(container->id, owner->name, sizeof(owner->name));
	else
		(void)snprintf(owner->name, sizeof(owner->name), "%.*s", SHORT_ID_LEN,
			       container->id.text);
}

static void enter_container(struct walk *walk, const struct cgroup_container *container)
{
	const struct part space = { container->space, strlen(container->space) };
	struct cgroup_owner *owner = walk->owner;

	owner->kind = OWNER_CONTAINER;
	owner->runtime = container->runtime;
	owner->depth = walk->depth;
	owner_key(owner->id, sizeof(owner->id), space, container->id,
		  walk->level > 0 ? walk->outer : walk->user);
	set_name(owner, container);
	if (walk->level == 0)
		set_outer(walk, container);
	else
		owner->is_nested = true;
	if (owner->pod_id[0]) {
		/* in a pod already: that one's container has the names */
	} else if (walk->pod_uid[0] && walk->level > 0) {
		char plain[IDENTITY_NAME_MAX];

		owner_key(plain, sizeof(plain), space, container->id, "");
		set_pod(walk, plain);
	} else if (walk->pod_uid[0]) {
		set_pod(walk, owner->id);
	} else {
		set_text(owner->names_id, sizeof(owner->names_id), walk->level ? "" : owner->id);
	}
	walk->level++;
	walk->in_kubepods = false;
	walk->pod_uid[0] = '\0';
	walk->parent = walk->grandparent = (struct part){ 0 };
}

static bool try_container(struct walk *walk, struct part part)
{
	struct cgroup_container container;

	if (!is_place(walk, part))
		return false;
	if (!cgroup_container_by_name(part, &container) &&
	    !cgroup_container_by_place(part, walk->parent, walk->pod_uid[0], &container))
		return false;
	if (container.slice.len)
		(void)cgroup_pod_find(container.slice, false, walk->pod_uid);
	enter_container(walk, &container);
	return true;
}

static void look_for_pod(struct walk *walk, struct part part)
{
	if (is_place(walk, part) && cgroup_pod_find(part, walk->in_kubepods, walk->pod_uid)) {
		walk->in_kubepods = false;
		walk->pod_depth = walk->depth;
	} else if (cgroup_is_kubepods(part) || part_is(part, "..")) {
		walk->in_kubepods = true; /* "..": seen from a neighbouring container */
	}
}

/* ---- the rest ---- */

static bool try_vm(struct walk *walk, struct part part)
{
	struct cgroup_vm vm;
	char id[VM_NAME_MAX + 32];

	if (!cgroup_vm_find(part, walk->parent, walk->grandparent, &vm))
		return false;
	(void)snprintf(id, sizeof(id), "%s/%s", vm.hypervisor, vm.name);
	cgroup_owner_vm(walk->owner, vm.hypervisor, id, vm.name);
	walk->owner->depth = walk->depth;
	return true;
}

static bool try_job(struct walk *walk, struct part part)
{
	struct cgroup_owner *owner = walk->owner;
	const struct part prefix = { "job_", 4 };
	struct cgroup_job job;

	if (!cgroup_job_find(part, walk->parent, walk->grandparent, &job))
		return false;
	*owner = (struct cgroup_owner){ OWNER_JOB, .runtime = job.scheduler, .hypervisor = "" };
	owner_key(owner->id, sizeof(owner->id), prefix, job.id, "");
	memcpy(owner->name, owner->id, sizeof(owner->name));
	owner->depth = walk->depth;
	return true;
}

static bool is_job_unit(const struct walk *walk, struct part part)
{
	return part.text == walk->unit && cgroup_job_is_unit(part);
}

/* Only the system's tree has VMs and jobs of the host. */
static bool try_system(struct walk *walk, struct part part)
{
	if (walk->level > 0 || walk->tree != TREE_SYSTEM)
		return false;
	if (!walk->unit)
		return try_vm(walk, part) || try_job(walk, part);
	return is_job_unit(walk, walk->parent) || is_job_unit(walk, walk->grandparent)
		       ? try_job(walk, part)
		       : false;
}

/* Which tree the component leads into; only on the host. */
static void note_tree(struct walk *walk, struct part part)
{
	struct part uid;

	if (walk->level > 0 || walk->unit || walk->tree == TREE_USER)
		return;
	if (part_between(part, "user@", ".service", &uid) && part_is_decimal(uid)) {
		walk->tree = TREE_USER;
		(void)snprintf(walk->user, sizeof(walk->user), "@%.*s", (int)uid.len, uid.text);
	} else if (part_ends(part, ".service") || part_ends(part, ".scope")) {
		walk->unit = part.text;
		walk->in_runtime = is_runtime_unit(part);
	} else if (part_is(part, "user.slice") ||
		   (part_starts(part, "user-") && part_ends(part, ".slice"))) {
		walk->tree = TREE_USERS;
	}
}

/* A systemd unit, or processes of a pod outside its containers. */
static void finish(struct walk *walk, const char *path, size_t len)
{
	struct cgroup_owner *owner = walk->owner;
	struct cgroup_unit unit;

	if (walk->level > 0)
		return;
	if (walk->pod_uid[0]) {
		*owner = (struct cgroup_owner){ OWNER_CONTAINER, "kubernetes", "" };
		(void)snprintf(owner->id, sizeof(owner->id), "pod%s%s", walk->pod_uid, walk->user);
		set_text(owner->name, sizeof(owner->name), "pod");
		set_pod(walk, "");
		owner->depth = walk->pod_depth;
	} else if (cgroup_unit_find(walk->root, path, len, &unit)) {
		const struct part scope = { unit.scope, unit.scope ? unit.scope_len + 1 : 0 };
		const struct part name = { unit.unit, unit.unit_len };

		*owner = (struct cgroup_owner){ OWNER_UNIT, "", "" };
		owner_key(owner->id, sizeof(owner->id), scope, name, "");
		(void)snprintf(owner->name, sizeof(owner->name), "%.*s", (int)name.len, name.text);
		owner->depth = (uint32_t)unit.depth;
	}
}

static void find_owner(const char *root, const char *path, const char *end,
		       struct cgroup_owner *ret)
{
	struct walk walk = { .root = root, .owner = ret };
	const char *at = path;
	struct part part;

	cgroup_owner_system(ret);
	while (part_next(&at, end, &part)) {
		walk.depth++;
		look_for_pod(&walk, part);
		if (try_system(&walk, part))
			return;
		if (try_container(&walk, part))
			continue;
		note_tree(&walk, part);
		walk.grandparent = walk.parent;
		walk.parent = part;
	}
	finish(&walk, path, (size_t)(end - path));
}

void cgroup_owner_from_path_below(const char *root, const char *path, size_t len,
				  struct cgroup_owner *ret)
{
	const char *at = path, *end = path + path_without_deleted(path, strnlen(path, len));
	struct part part = { path, 0 };

	find_owner(root, path, end, ret);
	for (uint32_t depth = 0; depth < ret->depth && part_next(&at, end, &part);)
		depth++;
	if (ret->depth > 0) {
		ret->path = path;
		ret->path_len = (size_t)(part.text + part.len - path);
	}
}

void cgroup_owner_from_path(const char *path, size_t len, struct cgroup_owner *ret)
{
	cgroup_owner_from_path_below(NULL, path, len, ret);
}

static int rank_of(const struct cgroup_owner *owner)
{
	if (owner->kind == OWNER_SYSTEM)
		return 0;
	return owner->kind == OWNER_UNIT ? 1 : 2;
}

static bool is_better(const struct cgroup_owner *one, const struct cgroup_owner *other)
{
	int difference = rank_of(one) - rank_of(other);

	return difference > 0 || (difference == 0 && one->depth > other->depth);
}

void cgroup_owner_from_proc_below(const char *root, const char *text, struct cgroup_owner *ret)
{
	struct cgroup_owner owner;

	cgroup_owner_system(ret);
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		const char *path = memchr(line, ':', len);

		path = path ? memchr(path + 1, ':', len - (size_t)(path + 1 - line)) : NULL;
		if (path) {
			cgroup_owner_from_path_below(root, path + 1,
						     (size_t)(line + len - path - 1), &owner);
			if (is_better(&owner, ret))
				*ret = owner;
		}
		line += len + (line[len] == '\n');
	}
	ret->path = NULL; /* its hierarchy is unknown */
}

void cgroup_owner_from_proc(const char *text, struct cgroup_owner *ret)
{
	cgroup_owner_from_proc_below(NULL, text, ret);
}
