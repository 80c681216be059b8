/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How data are sent to a receiver of OTLP: by the options of Kepler, and by the standard variables
 * of the environment for options that are not set.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "export/otlp/otlp_environment.h"
#include "export/otlp/otlp_options.h"

struct otlp_settings {
	struct otlp_environment environment;
	char *url;
	unsigned levels; /* LEVEL_BIT() */
	uint64_t interval_ns;
	bool is_gzip, is_delta;
	struct push_target_options target; /* its texts are of the options or the environment, */
	char *headers[PUSH_HEADERS_MAX];   /* but for these */
	size_t header_count;
};

/* Is anything sent at all? */
bool otlp_is_wanted(const struct otlp_options *options, const char *(*get)(const char *name));
/*
 * @options is borrowed. 0, or -errno with a diagnosis; otlp_settings_release() is due in any case.
 */
int otlp_settings_read(const struct otlp_options *options, const char *(*get)(const char *name),
		       struct otlp_settings *ret, struct diag *diag);
void otlp_settings_release(struct otlp_settings *settings);
/* As option.check of a level. */
int otlp_check_level(const char *text, struct diag *diag);

/*
 * The fields of a Resource that all resources of this machine have in common: attributes of the
 * environment, and after them those of Kepler that are not among them. An attribute that says what
 * a process, a container or a pod is would be of Kepler itself, and is left out. *ret_instance is
 * the machine's service.instance.id, in the size of @size. @host_id may be "". 0 or -ENOMEM.
 */
int otlp_resource_make(const struct otlp_environment *environment, const char *host_name,
		       const char *host_id, struct strbuf *ret, char *ret_instance, size_t size);
