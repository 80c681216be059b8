// SPDX-License-Identifier: Apache-2.0
/*
 * config.json of an OCI bundle is what the runtime handed to runc, so it is there before the first
 * process runs and says who asked for the container:
 *
 *   containerd's CRI   io.kubernetes.cri.{container-type,container-name,image-name,sandbox-name,
 *                      sandbox-namespace,sandbox-uid} (uid since containerd 1.6)
 *   CRI-O              io.kubernetes.{container.name,pod.name,pod.namespace,pod.uid},
 *                      io.kubernetes.cri-o.{ContainerType,ImageName}
 *   nerdctl            nerdctl/name (labels are repeated as annotations)
 *
 * The container that only holds a pod's namespaces is called POD, as it was by the first of these
 * runtimes. linux.resources.cpu is the size: quota ÷ period is a limit whoever set it; shares are a
 * request only where Kubernetes set them (1,024 for one CPU).
 */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "runtimes/json_text.h"
#include "runtimes/names.h"

#define SHARES_OF_ONE_CPU 1024
/* What Kubernetes writes for a container that requests no CPU. */
#define SHARES_OF_NONE 2
#define MILLICPU_MAX   100000000

static const char *first_text(const json_t *object, const char *const *keys, size_t n)
{
	const char *text = "";

	for (size_t i = 0; i < n && *text == '\0'; i++)
		text = json_text(object, keys[i]);
	return text;
}

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
	json_int_t memory = integer(json_object_get(resources, "memory"), "limit");

	if (period > 0 && period <= 1000000) /* the kernel's limit, µs */
		names->cpu_limit_milli = millicpu(integer(cpu, "quota"), period);
	if (*names->pod_name != '\0' && shares > SHARES_OF_NONE)
		names->cpu_request_milli = millicpu(shares, SHARES_OF_ONE_CPU);
	if (memory > 0)
		names->memory_limit_bytes = (uint64_t)memory;
}

static void read_annotations(const json_t *notes, struct container_names *names)
{
	static const char *const name[] = { "io.kubernetes.cri.container-name",
					    "io.kubernetes.container.name", "nerdctl/name" };
	static const char *const image[] = { "io.kubernetes.cri.image-name",
					     "io.kubernetes.cri-o.ImageName" };
	static const char *const pod[] = { "io.kubernetes.cri.sandbox-name",
					   "io.kubernetes.pod.name" };
	static const char *const space[] = { "io.kubernetes.cri.sandbox-namespace",
					     "io.kubernetes.pod.namespace" };
	static const char *const uid[] = { "io.kubernetes.cri.sandbox-uid",
					   "io.kubernetes.pod.uid" };
	static const char *const type[] = { "io.kubernetes.cri.container-type",
					    "io.kubernetes.cri-o.ContainerType" };

	names->container_name = first_text(notes, name, ARRAY_SIZE(name));
	names->image = first_text(notes, image, ARRAY_SIZE(image));
	names->pod_name = first_text(notes, pod, ARRAY_SIZE(pod));
	names->pod_namespace = first_text(notes, space, ARRAY_SIZE(space));
	names->pod_id = first_text(notes, uid, ARRAY_SIZE(uid));
	if (strcmp(first_text(notes, type, ARRAY_SIZE(type)), "sandbox") == 0)
		names->container_name = "POD";
}

int bundle_config_names(const char *text, size_t len, const char *id, names_fn *fn, void *userdata)
{
	json_t *config CLEANUP(json_cleanup) = json_read_object(text, len);
	struct container_names names = { .container_id = id };

	if (!config || !json_is_string(json_object_get(config, "ociVersion")))
		return -EBADMSG;
	read_annotations(json_object_get(config, "annotations"), &names);
	read_size(config, &names);
	return fn(userdata, &names);
}
