// SPDX-License-Identifier: Apache-2.0
/*
 * The environment: KEPLER_WEB_LISTEN_ADDRESS and so on. An unknown variable is a warning, not
 * an error: a cluster puts variables of its own into every container, among them
 * KEPLER_SERVICE_HOST and KEPLER_PORT_… for a service that is called kepler, which say nothing to
 * us and are passed over in silence.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "kepler/config_options.h"

#define PREFIX       "KEPLER_"
#define VARIABLE_MAX 80
#define WARNINGS_MAX 2048 /* bytes; an environment can be hostile */

static bool is_foreign(const char *name)
{
	return strcmp(name, "KEPLER_NODE_NAME") == 0 || /* read by identity, not an option */
	       strncmp(name, "KEPLER_SERVICE_", 15) == 0 || strcmp(name, "KEPLER_PORT") == 0 ||
	       strncmp(name, "KEPLER_PORT_", 12) == 0;
}

static size_t find_variable(const char *name)
{
	size_t count;
	const struct config_option *options = config_options(&count);

	for (size_t i = 0; i < count; i++) {
		char variable[VARIABLE_MAX];

		option_environment_name(&options[i], variable, sizeof(variable));
		if (strcmp(variable, name) == 0)
			return i;
	}
	return OPTION_NONE;
}

static int warn_unknown(struct config *config, const char *name)
{
	char shown[VARIABLE_MAX];
	size_t len = config->warnings ? strlen(config->warnings) : 0;
	char *more;

	if (len > WARNINGS_MAX)
		return 0;
	if (asprintf(&more, "%s%s%s: unknown environment variable, ignored",
		     len ? config->warnings : "", len ? "\n" : "",
		     config_printable(shown, sizeof(shown), name)) < 0)
		return -ENOMEM;
	free(config->warnings);
	config->warnings = more;
	return 0;
}

static int read_variable(struct config *config, const char *name, const char *value,
			 struct diag *diag)
{
	struct diag why = { 0 };
	size_t index = find_variable(name);
	int r;

	if (index == OPTION_NONE)
		return is_foreign(name) ? 0 : warn_unknown(config, name);
	r = option_set_all_from(index, config, ORIGIN_ENVIRONMENT, value, &why);
	return r < 0 ? diag_set(diag, r, "%s: %s", name, why.text) : 0;
}

int config_read_environment(struct config *config, char *const *environ_, struct diag *diag)
{
	for (; environ_ && *environ_; environ_++) {
		const char *equals = strchr(*environ_, '=');
		CLEANUP_FREE char *name = NULL;
		int r;

		if (!equals || strncmp(*environ_, PREFIX, strlen(PREFIX)) != 0)
			continue;
		name = strndup(*environ_, (size_t)(equals - *environ_));
		r = name ? read_variable(config, name, equals + 1, diag) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}
