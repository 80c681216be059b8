// SPDX-License-Identifier: Apache-2.0
/*
 * A list of pods of any bytes, in parts of any size: cut, pruned, parsed, read. Pods that are read
 * have names and an id; pruning never makes text longer; labels stay whole and within their room.
 */
#include <stdint.h>

#include "base/macro.h"
#include "kube/json_bounded.h"
#include "kube/object_stream.h"
#include "kube/pods/pod_json.h"
#include "kube/pods/pod_labels.h"
#include "kube/pods/pod_prune.h"

#define ITEM_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_container(const struct owner_names *names)
{
	static const enum label_key known[] = { LABEL_CONTAINER_ID, LABEL_POD_NAME, LABEL_POD_ID,
						LABEL_WORKLOAD_TYPE };
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!*names->text[known[i]])
			abort();
	}
	for (size_t i = 0; i < names->extra_count; i++) {
		const struct label *label = &names->extra[i];

		if (strlen(label->value) > POD_LABEL_VALUE_MAX || !*label->value)
			abort();
		len += strlen(label->name) + strlen(label->value) + OWNER_EXTRA_PUNCTUATION;
	}
	if (len > OWNER_EXTRA_BYTES)
		abort();
}

static int take_item(void *userdata, const char *text, size_t len)
{
	const struct pod_labels *labels = userdata;
	char *pruned = malloc(len ? len : 1);
	json_t *object;
	struct pod pod;
	size_t left;

	if (!text || !pruned) {
		free(pruned);
		return 0;
	}
	left = pod_prune(text, len, pruned);
	if (left > len)
		abort();
	object = json_parse_bounded(pruned, left);
	if (pod_json_read(object, labels, &pod) == 0) {
		for (size_t i = 0; i < pod.count; i++)
			check_container(&pod.containers[i].names);
		pod_release(&pod);
	}
	json_decref(object);
	free(pruned);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step = size ? (size_t)data[0] % 64 + 1 : 1;
	struct object_stream stream;
	struct pod_labels labels;
	int r = 0;

	if (pod_labels_parse("app,env,a.b/c", &labels, NULL) < 0)
		abort();
	object_stream_init(&stream, ITEM_MAX, take_item, &labels);
	for (size_t at = 0; r == 0 && at < size; at += step)
		r = object_stream_feed(&stream, (const char *)data + at,
				       size - at < step ? size - at : step);
	if (r == 0)
		r = object_stream_end(&stream);
	if (r == 0)
		json_decref(json_parse_bounded(stream.rest.data, stream.rest.len));
	object_stream_release(&stream);
	pod_labels_release(&labels);
	return 0;
}
