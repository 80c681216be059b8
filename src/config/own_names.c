// SPDX-License-Identifier: Apache-2.0
#include "config/own_names.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"

#define NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

void own_names_each(const struct config *config, void (*add)(void *userdata, const char *name),
		    void *userdata)
{
	static const char *const variables[] = { "KEPLER_NODE_NAME", "NODE_NAME", "POD_NAME" };
	char host[HOST_NAME_MAX + 1] = "";

	(void)gethostname(host, sizeof(host)); /* none is empty */
	add(userdata, host);
	add(userdata, config->kube.node_name ? config->kube.node_name : "");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *name = getenv(variables[i]);

		add(userdata, name ? name : "");
	}
}

static void add_host(void *userdata, const char *name)
{
	http_own_names_add_host(userdata, name);
}

void own_names_collect(const struct config *config, struct http_own_names *ret)
{
	const char *given = getenv("POD_NAMESPACE");
	char text[HTTP_NAMESPACE_MAX + 2];

	own_names_each(config, add_host, ret);
	if (!given && read_file_at(AT_FDCWD, NAMESPACE_FILE, text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = '\0';
		given = text;
	}
	http_own_names_set_namespace(ret, given ? given : "");
}
