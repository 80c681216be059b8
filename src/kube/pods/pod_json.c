// SPDX-License-Identifier: Apache-2.0
/*
 * Statuses name containers by id; requests and limits are in the spec under the container's name.
 * Both are joined here, one kind at a time.
 */
#include "kube/pods/pod_json.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "energy/owner_names.h"
#include "kube/quantity.h"

#define UID_MAX       63
#define NAME_MAX_K8S  253
#define ID_MAX        OWNER_NAME_MAX /* a longer one would be cut, and could equal another */
#define ID_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static const struct {
	const char *statuses, *specs;
} kinds[] = {
	{ "containerStatuses", "containers" },
	{ "initContainerStatuses", "initContainers" },
	{ "ephemeralContainerStatuses", "ephemeralContainers" },
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool fits(const char *text, size_t max)
{
	size_t len = strlen(text);

	return len > 0 && len <= max;
}

/* "containerd://ID" → "ID", NULL for another form. */
static const char *bare_id(const char *id)
{
	const char *scheme = strstr(id, "://");

	if (scheme)
		id = scheme + 3;
	return fits(id, ID_MAX) && strspn(id, ID_CHARACTERS) == strlen(id) ? id : NULL;
}

/* The id in @status; NULL: none yet, or an invalid one, which is counted. */
static const char *read_id(struct pod *pod, const json_t *status)
{
	const char *text = text_of(status, "containerID");
	const char *id = bare_id(text);

	if (*text && !id)
		pod->skipped++;
	return id;
}

/* k8s.io/api/core/v1, PodQOSClass; other values count as unknown. */
static const char *qos_class(const json_t *status)
{
	static const char *const classes[] = { "Guaranteed", "Burstable", "BestEffort" };
	const char *said = text_of(status, "qosClass");

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (strcmp(classes[i], said) == 0)
			return classes[i];
	}
	return "";
}

static const json_t *find_spec(const json_t *specs, const char *name)
{
	const json_t *spec;
	size_t i;

	json_array_foreach(specs, i, spec)
	{
		if (i == POD_STATUSES_MAX)
			break;
		if (strcmp(text_of(spec, "name"), name) == 0)
			return spec;
	}
	return NULL;
}

static uint32_t read_millicpu(const json_t *amounts)
{
	uint64_t value;

	if (quantity_parse_milli(text_of(amounts, "cpu"), &value) < 0)
		return 0;
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void read_resources(const json_t *spec, struct container_names *names)
{
	const json_t *resources = json_object_get(spec, "resources");
	const json_t *requests = json_object_get(resources, "requests");
	const json_t *limits = json_object_get(resources, "limits");

	names->cpu_request_milli = read_millicpu(requests);
	names->cpu_limit_milli = read_millicpu(limits);
}

static int add(struct pod *pod, const struct container_names *names, const char *id)
{
	if (ARRAY_RESERVE(pod->containers, pod->size, pod->count + 1) < 0)
		return -ENOMEM;
	pod->containers[pod->count] = *names;
	pod->containers[pod->count++].names.text[LABEL_CONTAINER_ID] = id;
	return 0;
}

static int read_status(struct pod *pod, const json_t *status, const json_t *specs,
		       struct container_names names)
{
	const json_t *last = json_object_get(json_object_get(status, "lastState"), "terminated");
	const char *id = read_id(pod, status);
	const char *last_id = read_id(pod, last);
	const json_t *spec = find_spec(specs, text_of(status, "name"));
	int r = 0;

	names.names.text[LABEL_CONTAINER_NAME] = text_of(status, "name");
	read_resources(spec, &names);
	if (id)
		r = add(pod, &names, id);
	if (r == 0 && last_id && (!id || strcmp(id, last_id) != 0))
		r = add(pod, &names, last_id);
	return r;
}

static int read_containers(struct pod *pod, const json_t *object,
			   const struct container_names *common)
{
	const json_t *all_statuses = json_object_get(object, "status");
	const json_t *all_specs = json_object_get(object, "spec");

	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		const json_t *statuses = json_object_get(all_statuses, kinds[kind].statuses);
		const json_t *specs = json_object_get(all_specs, kinds[kind].specs), *status;
		size_t i;

		json_array_foreach(statuses, i, status)
		{
			int r;

			if (i == POD_STATUSES_MAX) {
				pod->skipped += json_array_size(statuses) - i;
				break;
			}
			r = read_status(pod, status, specs, *common);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* The pod itself, as long as its status names no container that has an id. */
static int add_pod_alone(struct pod *pod, const struct container_names *common)
{
	strbuf_addf(&pod->alone, DIRECTORY_POD_PREFIX "%s", common->names.text[LABEL_POD_ID]);
	return strbuf_error(&pod->alone) < 0 ? -ENOMEM : add(pod, common, pod->alone.data);
}

void pod_release(struct pod *pod)
{
	strbuf_release(&pod->alone);
	free(pod->containers);
	free(pod->workload.name);
	free(pod->labels);
}

int pod_json_read(const json_t *object, const struct pod_labels *labels, struct pod *ret)
{
	const json_t *metadata = json_object_get(object, "metadata");
	const char *static_uid = pod_static_uid(object);
	CLEANUP(pod_release) struct pod pod = { .uid = text_of(metadata, "uid") };
	struct container_names common = {
		.names.text = {
			[LABEL_POD_NAME] = text_of(metadata, "name"),
			[LABEL_NAMESPACE] = text_of(metadata, "namespace"),
			[LABEL_POD_ID] = static_uid ? static_uid : pod.uid,
			[LABEL_QOS_CLASS] = qos_class(json_object_get(object, "status")),
		},
	};
	const char **text = common.names.text;
	int r;

	if (!fits(pod.uid, UID_MAX) || !fits(text[LABEL_POD_NAME], NAME_MAX_K8S) ||
	    !fits(text[LABEL_NAMESPACE], NAME_MAX_K8S))
		return -EINVAL;
	r = pod_workload_read(object, &pod.workload);
	if (r < 0)
		return r;
	pod.labels = malloc(sizeof(*pod.labels));
	if (!pod.labels)
		return -ENOMEM;
	pod_labels_read(labels, metadata, pod.labels);
	text[LABEL_WORKLOAD] = pod.workload.name;
	text[LABEL_WORKLOAD_TYPE] = pod.workload.type;
	common.names.extra = pod.labels->items;
	common.names.extra_count = pod.labels->count;
	r = read_containers(&pod, object, &common);
	if (r == 0 && pod.count == 0)
		r = add_pod_alone(&pod, &common);
	if (r < 0)
		return r;
	*ret = pod;
	pod = (struct pod){ 0 };
	return 0;
}
