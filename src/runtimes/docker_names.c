// SPDX-License-Identifier: Apache-2.0
/*
 * Docker has the same facts in two places: in the answer of its API ("Id", "Names" with the slash
 * of the former link names, "Labels") and in config.v2.json below its data directory ("ID", "Name",
 * "Config"). Kubernetes marks Docker's containers by labels, which are more exact than the name
 * that is made from them. But Docker merges the LABELs of an image into a container's labels, and
 * an image's author may write anything: so labels count only if the container's name, which the
 * kubelet chooses, agrees.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "runtimes/json_text.h"
#include "runtimes/names.h"
#include "runtimes/state_dir.h"

struct reading {
	names_fn *fn;
	void *userdata;
	uint64_t *bad;
};

/* "/web" → "web"; "/other/alias" is a link and not a name. */
static const char *own_name(const char *name)
{
	const char *bare = *name == '/' ? name + 1 : name;

	return strchr(bare, '/') ? "" : bare;
}

static const char *own_name_of(const json_t *names)
{
	const char *found = "";

	for (size_t i = 0; i < json_array_size(names) && *found == '\0'; i++) {
		const char *name = json_string_value(json_array_get(names, i));

		found = name ? own_name(name) : "";
	}
	return found;
}

/* "k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT": no name in Kubernetes has an underscore. */
static bool name_says(const char *name, const char *const *words, size_t count)
{
	static const char prefix[] = "k8s_";

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	name += strlen(prefix);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(words[i]);

		if (len == 0 || strncmp(name, words[i], len) != 0 || name[len] != '_')
			return false;
		name += len + 1;
	}
	return true;
}

static void read_labels(const json_t *labels, struct owner_names *names)
{
	const char *const words[] = { json_text(labels, "io.kubernetes.container.name"),
				      json_text(labels, "io.kubernetes.pod.name"),
				      json_text(labels, "io.kubernetes.pod.namespace"),
				      json_text(labels, "io.kubernetes.pod.uid") };

	if (!name_says(names->text[LABEL_CONTAINER_NAME], words, ARRAY_SIZE(words)))
		return;
	names->text[LABEL_CONTAINER_NAME] = words[0];
	names->text[LABEL_POD_NAME] = words[1];
	names->text[LABEL_NAMESPACE] = words[2];
	names->text[LABEL_POD_ID] = words[3];
}

static int list_element(void *userdata, const json_t *element)
{
	const struct reading *reading = userdata;
	struct container_names names = {
		.names.text[LABEL_CONTAINER_ID] = json_text(element, "Id"),
		.names.text[LABEL_CONTAINER_NAME] = own_name_of(json_object_get(element, "Names")),
	};

	if (!container_id_is_valid(names.names.text[LABEL_CONTAINER_ID])) {
		++*reading->bad;
		return 0;
	}
	read_labels(json_object_get(element, "Labels"), &names.names);
	return reading->fn(reading->userdata, &names);
}

int docker_list_names(const char *text, size_t len, uint64_t *bad, names_fn *fn, void *userdata)
{
	struct reading reading = { fn, userdata, bad };

	return json_each_element(text, len, list_element, &reading);
}

int docker_config_names(const char *text, size_t len, names_fn *fn, void *userdata)
{
	json_t *state CLEANUP(json_cleanup) = json_read_object(text, len);
	const json_t *config = json_object_get(state, "Config");
	struct container_names names = {
		.names.text[LABEL_CONTAINER_ID] = json_text(state, "ID"),
		.names.text[LABEL_CONTAINER_NAME] = own_name(json_text(state, "Name")),
	};

	if (!container_id_is_valid(names.names.text[LABEL_CONTAINER_ID]))
		return -EBADMSG;
	read_labels(json_object_get(config, "Labels"), &names.names);
	return fn(userdata, &names);
}
