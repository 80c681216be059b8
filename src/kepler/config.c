// SPDX-License-Identifier: Apache-2.0
/* src/options over the program's struct, and the needs of a configuration. */
#include "kepler/config.h"

#include <stdlib.h>

#include "options/render.h"
#include "service/needs.h"

_Static_assert(offsetof(struct config, options) == 0, "as src/options knows it");

bool config_wants_kubernetes(const struct config *config)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");

	if (config->kube.source == KUBE_AUTO)
		return config->kube.kubeconfig[0] || (host && host[0]);
	return config->kube.source != KUBE_OFF;
}

unsigned config_needs(const struct config *config)
{
	unsigned needs = 0;

	if (config->activity.allow_bpf)
		needs |= NEED_BPF | NEED_CGROUP_HANDLE;
	if (config->meter_enabled)
		needs |= NEED_READ_ENERGY;
	if (config->runtimes_enabled || config->options.file[0])
		needs |= NEED_READ_FILES;
	if (config_wants_kubernetes(config))
		needs |= NEED_CLIENTS;
	if (config->runtimes_enabled &&
	    (config->runtimes.docker_socket[0] || config->runtimes.podman_socket[0]))
		needs |= NEED_CLIENTS;
	return needs;
}

int config_load(const struct option_args *args, struct config *ret, struct diag *diag)
{
	return options_load(&config_options, args, &ret->options, diag);
}

int config_load_text(const char *name, const char *text, size_t len, struct config *ret,
		     struct diag *diag)
{
	return options_load_text(&config_options, name, text, len, &ret->options, diag);
}

int config_load_file(const char *path, struct config *ret, struct diag *diag)
{
	return options_load_file(&config_options, path, &ret->options, diag);
}

void config_release(struct config *config)
{
	options_release(&config_options, &config->options);
}

void config_show(const struct config *config, struct strbuf *out)
{
	options_show(&config_options, &config->options, out);
}

void config_unreloadable_changes(const struct config *old, const struct config *fresh, char *buf,
				 size_t size)
{
	options_unreloadable_changes(&config_options, &old->options, &fresh->options, buf, size);
}

void config_keep_unreloadable(struct config *old, struct config *fresh)
{
	options_keep_unreloadable(&config_options, &old->options, &fresh->options);
}
