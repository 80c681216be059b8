// SPDX-License-Identifier: Apache-2.0
#include "modelling/machine_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "host/host.h"
#include "repository/model_json.h"
#include "repository/node_type.h"

#define SPEC_MAX  65536 /* bytes of a spec */
#define MHZ_ROUND 100

int machine_file_read(const char *path, struct machine_spec *ret, struct diag *diag)
{
	CLEANUP(model_json_release) json_t *object = NULL;
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r;

	if (!*path) {
		machine_file_discover(ret);
		return 0;
	}
	r = read_file_alloc(path, SPEC_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	object = model_json_parse(path, text, len, diag);
	if (!object)
		return -EINVAL;
	machine_spec_read(object, ret);
	if (machine_spec_is_empty(ret))
		return diag_set(diag, -EINVAL,
				"%s: has none of processor, cores, chips, memory, frequency", path);
	return 0;
}

void machine_file_discover(struct machine_spec *ret)
{
	struct host_info host = { 0 };

	*ret = (struct machine_spec){ 0 };
	if (host_info_read("/proc", "/sys", &host) < 0)
		return;
	for (size_t i = 0; host.cpu_vendor[i] && i + 1 < sizeof(ret->vendor); i++)
		ret->vendor[i] = (char)tolower((unsigned char)host.cpu_vendor[i]);
	processor_name(host.cpu_model, ret->processor, sizeof(ret->processor));
	ret->cores = host.cpus;
	ret->chips = host.sockets;
	ret->memory_gb = (uint32_t)host.memory_gib;
	ret->frequency_mhz = (uint32_t)(lround(host.frequency_ghz * 1000 / MHZ_ROUND) * MHZ_ROUND);
	ret->threads_per_core = host.cores ? host.cpus / host.cores : 0;
}
