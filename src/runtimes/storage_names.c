// SPDX-License-Identifier: Apache-2.0
/*
 * containers/storage keeps a list of all containers of all its users, with a "metadata" string in
 * the format of each user: Podman with JSON that has a name, CRI-O with JSON that has a pod-name.
 */
#include <errno.h>
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

static int list_element(void *userdata, const json_t *element)
{
	const struct reading *reading = userdata;
	const char *metadata = json_text(element, "metadata");
	json_t *about CLEANUP(json_cleanup) = json_read_object(metadata, strlen(metadata));
	const char *name = json_string_value(json_array_get(json_object_get(element, "names"), 0));
	struct container_names names = {
		.names.text[LABEL_CONTAINER_ID] = json_text(element, "id"),
		.names.text[LABEL_CONTAINER_NAME] = json_text(about, "name"),
	};

	if (!container_id_is_valid(names.names.text[LABEL_CONTAINER_ID])) {
		++*reading->bad;
		return 0;
	}
	if (json_object_get(about, "pod-name"))
		return 0;
	/* The list has the name after a rename; metadata has the one of the creation. */
	if (name && *name != '\0')
		names.names.text[LABEL_CONTAINER_NAME] = name;
	return reading->fn(reading->userdata, &names);
}

int storage_list_names(const char *text, size_t len, uint64_t *bad, names_fn *fn, void *userdata)
{
	struct reading reading = { fn, userdata, bad };

	return json_each_element(text, len, list_element, &reading);
}
