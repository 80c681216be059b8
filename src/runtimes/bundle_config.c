// SPDX-License-Identifier: Apache-2.0
/*
 * config.json of an OCI bundle is the runtime's input for runc, so it exists before the first
 * process runs. It shows for which program the container was made:
 *
 *   containerd's CRI   io.kubernetes.cri.{container-type,container-name,sandbox-name,
 *                      sandbox-namespace,sandbox-uid} (uid since containerd 1.6)
 *   CRI-O              io.kubernetes.{container.name,pod.name,pod.namespace,pod.uid},
 *                      io.kubernetes.cri-o.ContainerType
 *   nerdctl            nerdctl/name (labels are repeated as annotations)
 *
 * Each key is read only from its own runtime: CRI-O repeats a pod's annotations in its bundles,
 * nerdctl an image's LABELs, and either could contain the keys of another runtime. A pod is
 * accepted only if the cgroup that the bundle requests, which neither author chooses, is in it.
 *
 * The container that only holds a pod's namespaces is named POD, as the first of these runtimes
 * did. linux.resources.cpu is the size: quota ÷ period is always a limit; shares are a request only
 * where Kubernetes set them (1,024 for one CPU).
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "runtimes/json_text.h"
#include "runtimes/names.h"
#include "workload/cgroup/cgroup_path.h"

#define SHARES_OF_ONE_CPU 1024
/* The value that Kubernetes writes for a container that requests no CPU. */
#define SHARES_OF_NONE 2
#define MILLICPU_MAX   100000000

static uint32_t millicpu(json_int_t part, json_int_t whole)
{
	if (part <= 0 || whole <= 0 || part > (json_int_t)MILLICPU_MAX * whole / 1000)
		return 0;
	return (uint32_t)(part * 1000 / whole);
}

static json_int_t integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key)); /* 0 when there is none */
}

static void read_size(const json_t *config, struct container_names *names)
{
	const json_t *resources = json_object_get(json_object_get(config, "linux"), "resources");
	const json_t *cpu = json_object_get(resources, "cpu");
	json_int_t period = integer(cpu, "period"), shares = integer(cpu, "shares");
	const char *pod = names->names.text[LABEL_POD_NAME];

	if (period > 0 && period <= 1000000) /* the kernel's limit, µs */
		names->cpu_limit_milli = millicpu(integer(cpu, "quota"), period);
	if (pod && *pod && shares > SHARES_OF_NONE)
		names->cpu_request_milli = millicpu(shares, SHARES_OF_ONE_CPU);
}

/* The keys of a runtime for each fact; NULL: none. */
struct keys {
	const char *name, *other_name, *pod, *space, *uid, *type;
};

static const char *text_at(const json_t *notes, const char *key)
{
	return key ? json_text(notes, key) : "";
}

/* Returns true if the cgroup that the bundle requests is in that pod. */
static bool lies_in_pod(const json_t *config, const char *uid)
{
	const char *path = json_text(json_object_get(config, "linux"), "cgroupsPath");
	struct cgroup_owner owner;

	cgroup_owner_from_path(path, strlen(path), &owner);
	return owner.pod_id[0] != '\0' && strcmp(owner.pod_id, uid) == 0;
}

static void read_annotations(const json_t *config, const struct keys *keys,
			     struct container_names *names)
{
	const json_t *notes = json_object_get(config, "annotations");
	const char *uid = text_at(notes, keys->uid), *name = text_at(notes, keys->name);
	const char **text = names->names.text;

	text[LABEL_CONTAINER_NAME] = *name ? name : text_at(notes, keys->other_name);
	if (strcmp(text_at(notes, keys->type), "sandbox") == 0)
		text[LABEL_CONTAINER_NAME] = "POD";
	if (!lies_in_pod(config, uid))
		return;
	text[LABEL_POD_ID] = uid;
	text[LABEL_POD_NAME] = text_at(notes, keys->pod);
	text[LABEL_NAMESPACE] = text_at(notes, keys->space);
}

static int read_bundle(const char *text, size_t len, const char *id, const struct keys *keys,
		       names_fn *fn, void *userdata)
{
	json_t *config CLEANUP(json_cleanup) = json_read_object(text, len);
	struct container_names names = { .names.text = { [LABEL_CONTAINER_ID] = id } };

	if (!config || !json_is_string(json_object_get(config, "ociVersion")))
		return -EBADMSG;
	read_annotations(config, keys, &names);
	read_size(config, &names);
	return fn(userdata, &names);
}

int containerd_bundle_names(const char *text, size_t len, const char *id, names_fn *fn,
			    void *userdata)
{
	static const struct keys keys = {
		.name = "io.kubernetes.cri.container-name",
		.other_name = "nerdctl/name",
		.pod = "io.kubernetes.cri.sandbox-name",
		.space = "io.kubernetes.cri.sandbox-namespace",
		.uid = "io.kubernetes.cri.sandbox-uid",
		.type = "io.kubernetes.cri.container-type",
	};

	return read_bundle(text, len, id, &keys, fn, userdata);
}

int crio_bundle_names(const char *text, size_t len, const char *id, names_fn *fn, void *userdata)
{
	static const struct keys keys = {
		.name = "io.kubernetes.container.name",
		.pod = "io.kubernetes.pod.name",
		.space = "io.kubernetes.pod.namespace",
		.uid = "io.kubernetes.pod.uid",
		.type = "io.kubernetes.cri-o.ContainerType",
	};

	return read_bundle(text, len, id, &keys, fn, userdata);
}
