// SPDX-License-Identifier: Apache-2.0
/*
 * The thread: asks the kubelet, the API server, or (auto) the first of them that answers; after a
 * fault it waits as described in backoff.h and begins again. Errors that can be detected at once
 * (files, library, options) are reported before the thread starts.
 */
#include "kube/kube.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/thread.h"
#include "kube/kube_account.h"
#include "kube/kube_state.h"
#include "kube/pods/pod_addresses.h"

#define DEFAULT_MAX_POD_BYTES (2U << 20)
#define DEFAULT_MAX_PODS      20000
#define THREAD_STACK_BYTES    (1U << 20)

static int copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

/* "" counts as not set. */
static const char *said(const char *text)
{
	return text && *text ? text : NULL;
}

static const char *from_environment(const char *name)
{
	return said(getenv(name));
}

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

static void set_timing(const struct kube_timing *given, struct kube_timing *timing)
{
	*timing = (struct kube_timing){
		.poll = or_default(given->poll, 15000),
		.demand = or_default(given->demand, 1000),
		.connect = or_default(given->connect, 5000),
		.request = or_default(given->request, 30000),
		.watch_idle = or_default(given->watch_idle, 120000),
		.watch_life = or_default(given->watch_life, 300000),
		.refused_min = or_default(given->refused_min, 2000),
		.refused_max = or_default(given->refused_max, 9000),
		.resume = or_default(given->resume, 1000),
		.retry = or_default(given->retry, 10000),
		.retry_spread = or_default(given->retry_spread, 2000),
		.denied_max = or_default(given->denied_max, 40000),
		.boot_window = or_default(given->boot_window, 300000),
		.boot_spread = or_default(given->boot_spread, 10000),
	};
	if (timing->refused_max < timing->refused_min)
		timing->refused_max = timing->refused_min;
}

static int set_node_name(struct kube *kube, const char *given)
{
	const char *name = given ? given : from_environment("NODE_NAME");
	char host[256] = "";

	if (!name) {
		if (gethostname(host, sizeof(host) - 1) < 0)
			return -errno;
		for (char *c = host; *c; c++) /* as the kubelet does */
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
		name = host;
	}
	return copy_text(name, &kube->node_name);
}

static int set_kubelet_url(struct kube *kube, const char *given)
{
	const char *address = from_environment("NODE_IP");
	bool is_v6 = address && strchr(address, ':');
	char url[300];

	(void)snprintf(url, sizeof(url), "https://%s%.200s%s:10250", is_v6 ? "[" : "",
		       address ? address : "127.0.0.1", is_v6 ? "]" : "");
	return copy_text(given ? given : url, &kube->kubelet_url);
}

static int set_access(struct kube *kube, const struct kube_options *options, struct diag *diag)
{
	struct diag why = { "" };
	int r = kube_account_find(options->kubeconfig, options->context, options->in_cluster_dir,
				  &kube->access, &why);

	if (r == -EDESTADDRREQ && (kube->source == KUBE_KUBELET || said(options->kubelet_url)))
		return 0;
	return r < 0 ? diag_set(diag, r, "%s", why.text) : 0;
}

static int make_clients(struct kube *kube, struct diag *diag)
{
	struct http_client_options options = {
		.ca_file = kube->access.ca_file,
		.client_cert_file = kube->access.client_cert_file,
		.client_key_file = kube->access.client_key_file,
		.user_agent = "kepler",
		.tls_server_name = kube->access.tls_server_name,
		.proxy_url = kube->access.proxy_url,
		.environment_proxy = true,
		.cancel_fd = kube->stop_fd,
	};
	int r = 0;

	if (kube->source != KUBE_KUBELET && kube->access.server)
		r = http_client_new(&options, &kube->apiserver_client, diag);
	/* With auto the kubelet may be sufficient, and each failed request reports its cause. */
	if (r == 0 && kube->source == KUBE_APISERVER && kube->apiserver_client)
		r = http_client_check(kube->apiserver_client, kube->access.server, diag);
	/* The kubelet is not behind a proxy. */
	options.environment_proxy = false;
	options.proxy_url = options.tls_server_name = NULL;
	if (kube->kubelet_ca_file)
		options.ca_file = kube->kubelet_ca_file;
	if (r == 0 && kube->source != KUBE_APISERVER)
		r = http_client_new(&options, &kube->kubelet_client, diag);
	if (r == 0 && !kube->apiserver_client && !kube->kubelet_client)
		r = diag_set(diag, -EDESTADDRREQ,
			     "no API server: KUBERNETES_SERVICE_HOST is not set");
	return r;
}

/* One round of all sources; a second one is only asked when the first did not answer at all. */
static void run_sources(struct kube *kube, struct kube_fault *fault)
{
	*fault = (struct kube_fault){ .failure.kind = BACKOFF_ABSENT };
	if (kube->kubelet_client)
		kubelet_run(kube, fault);
	if (kube->apiserver_client && !fault->stopped && !fault->answered) {
		struct backoff_failure first = fault->failure;

		apiserver_run(kube, fault);
		if (kube->kubelet_client)
			fault->failure = backoff_both(&first, &fault->failure);
	}
}

static void note_unreachable(struct kube *kube)
{
	(void)pthread_mutex_lock(&kube->lock);
	kube->stats.reachable = false;
	kube->stats.source = "";
	(void)pthread_mutex_unlock(&kube->lock);
	directory_set_reachable(kube->directory, DIRECTORY_KUBERNETES, false);
}

static void *thread_main(void *userdata)
{
	struct kube *kube = userdata;
	struct kube_fault fault;

	for (;;) {
		uint64_t wait_ms;

		run_sources(kube, &fault);
		if (fault.stopped)
			return NULL;
		note_unreachable(kube);
		wait_ms = backoff_failed(&kube->backoff, &fault.failure, kube_chance());
		if (kube_wait(kube, wait_ms, false))
			return NULL;
	}
}

static int start_thread(struct kube *kube)
{
	int r = thread_start(&kube->thread, THREAD_STACK_BYTES, thread_main, kube);

	kube->started = r == 0;
	return r;
}

static int prepare(struct kube *kube, const struct kube_options *options, struct diag *diag)
{
	struct pod_digest_key key = { 0 };
	struct backoff_limits limits;
	int r;

	kube->source = options->source;
	kube->max_pod_bytes = or_default(options->max_pod_bytes, DEFAULT_MAX_POD_BYTES);
	kube_set_interval(kube, options->interval_ms);
	set_timing(&options->timing, &kube->timing);
	limits = (struct backoff_limits){
		.refused_min_ms = kube->timing.refused_min,
		.refused_max_ms = kube->timing.refused_max,
		.resume_ms = kube->timing.resume,
		.retry_ms = kube->timing.retry,
		.spread_ms = kube->timing.retry_spread,
		.denied_max_ms = kube->timing.denied_max,
	};
	backoff_init(&kube->backoff, &limits);
	if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return diag_set(diag, -EIO, "no random numbers");
	pod_table_init(&kube->table, kube->directory, &key,
		       options->max_pods ? options->max_pods : DEFAULT_MAX_PODS);
	kube->table.addresses = pod_addresses_ref(options->addresses);
	if (set_node_name(kube, said(options->node_name)) < 0 ||
	    set_kubelet_url(kube, said(options->kubelet_url)) < 0 ||
	    copy_text(said(options->kubelet_ca_file), &kube->kubelet_ca_file) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = pod_labels_parse(options->pod_labels, &kube->labels, diag);
	if (r == 0)
		r = set_access(kube, options, diag);
	if (r < 0)
		return r;
	kube->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	kube->wanted_fd = directory_wanted_fd(kube->directory, DIRECTORY_KUBERNETES);
	if (kube->stop_fd < 0)
		return diag_set(diag, -errno, "no descriptor: %s", strerror(errno));
	return make_clients(kube, diag);
}

int kube_start(const struct kube_options *options, struct directory *directory, struct kube **ret,
	       struct diag *diag)
{
	struct kube *kube;
	int r;

	if (options->source == KUBE_OFF)
		return diag_set(diag, -EINVAL, "Kubernetes is off");
	kube = calloc(1, sizeof(*kube));
	if (!kube)
		return diag_set(diag, -ENOMEM, "out of memory");
	kube->directory = directory;
	kube->stop_fd = -1;
	kube->stats.source = "";
	kube_access_init(&kube->access);
	(void)pthread_mutex_init(&kube->lock, NULL);
	r = prepare(kube, options, diag);
	if (r == 0) {
		/*
		 * Until the first failure: containers that appear before the first list may wait
		 * for it.
		 */
		directory_set_reachable(directory, DIRECTORY_KUBERNETES, true);
		r = start_thread(kube);
		if (r < 0)
			(void)diag_set(diag, r, "no thread: %s", strerror(-r));
	}
	if (r < 0) {
		kube_stop(kube);
		return r;
	}
	*ret = kube;
	return 0;
}

void kube_stop(struct kube *kube)
{
	if (!kube)
		return;
	if (kube->started) {
		(void)eventfd_write(kube->stop_fd, 1);
		(void)pthread_join(kube->thread, NULL);
	}
	http_client_free(kube->apiserver_client);
	http_client_free(kube->kubelet_client);
	pod_addresses_unref(kube->table.addresses);
	pod_table_release(&kube->table);
	pod_labels_release(&kube->labels);
	kube_access_release(&kube->access);
	free(kube->node_name);
	free(kube->kubelet_url);
	free(kube->kubelet_ca_file);
	cleanup_fd(&kube->stop_fd);
	(void)pthread_mutex_destroy(&kube->lock);
	free(kube);
}

void kube_set_interval(struct kube *kube, uint64_t interval_ms)
{
	atomic_store_explicit(&kube->interval_ms, interval_ms, memory_order_relaxed);
}

void kube_get_stats(struct kube *kube, struct kube_stats *ret)
{
	(void)pthread_mutex_lock(&kube->lock);
	*ret = kube->stats;
	ret->age_s = kube->last_word_ns ? (double)(clock_ns(CLOCK_MONOTONIC) - kube->last_word_ns) /
						  (double)NSEC_PER_SEC
					: (double)NAN;
	(void)pthread_mutex_unlock(&kube->lock);
}
