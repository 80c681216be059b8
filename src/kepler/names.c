// SPDX-License-Identifier: Apache-2.0
#include "kepler/names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "kepler/privileges.h"
#include "snapshot/snapshot.h"

/* A container that went is kept for a while: room for as many again, and for pods' sandboxes. */
#define DIRECTORY_FACTOR 4

static const char *text_or_null(const char *text)
{
	return text[0] ? text : NULL;
}

bool names_want_kubernetes(const struct config *config)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");

	if (config->kube_pods == KUBE_PODS_AUTO)
		return config->kube_config[0] || (host && host[0]);
	return config->kube_pods != KUBE_PODS_OFF;
}

static enum kube_source source_of(const struct config *config)
{
	static const enum kube_source sources[] = {
		[KUBE_PODS_AUTO] = KUBE_AUTO,
		[KUBE_PODS_KUBELET] = KUBE_KUBELET,
		[KUBE_PODS_APISERVER] = KUBE_APISERVER,
		[KUBE_PODS_OFF] = KUBE_OFF,
	};

	return sources[config->kube_pods];
}

int names_open(const struct config *config, struct names *ret, struct diag *diag)
{
	struct names names = { 0 };
	int r = directory_new(config->max_containers * DIRECTORY_FACTOR, &names.directory);

	if (r < 0)
		return diag_set(diag, r, "cannot set up the directory of containers: %s",
				strerrordesc_np(-r));
	*ret = names;
	return 0;
}

struct kube_request {
	const struct kube_options *options;
	struct names *names;
	struct diag *diag;
	int result;
};

static void start_kube(void *userdata)
{
	struct kube_request *request = userdata;

	request->result = kube_start(request->options, request->names->directory,
				     &request->names->kube, request->diag);
}

static uint64_t interval_ms(const struct config *config)
{
	return config->monitor_interval_ns / NSEC_PER_MSEC;
}

static int start_kubernetes(const struct config *config, struct names *names, struct diag *diag)
{
	const struct kube_options options = {
		.source = source_of(config),
		.kubeconfig = text_or_null(config->kube_config),
		.context = text_or_null(config->kube_context),
		.node_name = text_or_null(config->kube_node_name),
		.kubelet_url = text_or_null(config->kube_kubelet_url),
		.kubelet_ca_file = text_or_null(config->kube_kubelet_ca_file),
		.pod_labels = text_or_null(config->kube_pod_labels),
		.interval_ms = interval_ms(config),
	};
	struct kube_request request = { &options, names, diag, 0 };
	int r = privileges_call_without(start_kube, &request);

	if (r < 0)
		return diag_set(diag, r, "cannot start a thread: %s", strerrordesc_np(-r));
	return request.result;
}

int names_start(const struct config *config, struct names *names, struct diag *diag)
{
	const struct runtimes_options runtimes = {
		.docker_socket = text_or_null(config->runtimes_docker_socket),
		.podman_socket = text_or_null(config->runtimes_podman_socket),
	};
	int r = 0;

	if (names_want_kubernetes(config))
		r = start_kubernetes(config, names, diag);
	if (r == 0 && config->runtimes_enabled)
		r = runtimes_start(&runtimes, names->directory, &names->runtimes, diag);
	return r;
}

void names_reconfigure(struct names *names, const struct config *config)
{
	if (names->kube)
		kube_set_interval(names->kube, interval_ms(config));
}

void names_tell(struct names *names)
{
	struct kube_stats kube;
	bool is_away;

	if (!names->kube)
		return;
	kube_get_stats(names->kube, &kube);
	is_away = !kube.reachable && kube.last_error[0]; /* else it has not been asked yet */
	if (is_away == names->is_away)
		return;
	names->is_away = is_away;
	if (is_away)
		log_warn("Kubernetes does not tell names: %s; it is asked again, and new "
			 "containers have their ids meanwhile",
			 kube.last_error);
	else
		log_info("Kubernetes tells names again (%s)", kube.source);
}

static void describe_kubernetes(const struct names *names, const struct directory_stats *stats,
				struct snapshot_name_source *ret)
{
	struct kube_stats kube;

	kube_get_stats(names->kube, &kube);
	*ret = (struct snapshot_name_source){
		.source = "kubernetes",
		.up = kube.reachable,
		.requests = kube.requests,
		.failures = kube.failures,
		.bad = kube.bad_pods,
		.containers = stats->containers[DIRECTORY_KUBERNETES],
		.age_s = kube.age_s,
	};
	(void)snprintf(ret->via, sizeof(ret->via), "%s", kube.source);
}

/* Where there is no runtime there is nothing that could be down, unless its socket was named. */
static void describe_runtimes(const struct names *names, const struct directory_stats *stats,
			      struct snapshot_name_source *ret)
{
	struct runtimes_stats runtimes;

	runtimes_get_stats(names->runtimes, &runtimes);
	if (!runtimes.present[0] && !runtimes.sockets_down)
		return;
	*ret = (struct snapshot_name_source){
		.source = "runtimes",
		.up = stats->reachable[DIRECTORY_RUNTIME] && !runtimes.sockets_down,
		.requests = runtimes.scans,
		.failures = runtimes.failures,
		.bad = runtimes.bad,
		.containers = stats->containers[DIRECTORY_RUNTIME],
		.age_s = (double)NAN, /* state files have no last word */
	};
	(void)snprintf(ret->via, sizeof(ret->via), "%.63s", runtimes.present);
}

void names_describe(struct names *names, struct snapshot_self *ret)
{
	struct directory_stats stats;

	directory_get_stats(names->directory, &stats);
	memset(ret->names, 0, sizeof(ret->names));
	if (names->kube)
		describe_kubernetes(names, &stats, &ret->names[DIRECTORY_KUBERNETES]);
	if (names->runtimes)
		describe_runtimes(names, &stats, &ret->names[DIRECTORY_RUNTIME]);
	ret->names_found = stats.found;
	ret->names_unknown = stats.not_found;
	ret->names_refused = stats.refused;
}

void names_close(struct names *names)
{
	kube_stop(names->kube);
	runtimes_stop(names->runtimes);
	directory_free(names->directory);
	*names = (struct names){ 0 };
}

bool names_have_clients(const struct names *names, const struct config *config)
{
	return names->kube || (names->runtimes && (config->runtimes_docker_socket[0] ||
						   config->runtimes_podman_socket[0]));
}
