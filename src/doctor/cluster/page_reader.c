// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/page_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/thread.h"
#include "doctor/cluster/refusals.h"

#define PAGE_THREADS   8
#define PAGE_MS        10000
#define PAGE_BYTES_MAX (32U << 20)
#define ALL_BYTES_MAX  (512U << 20)

struct work {
	const struct api_client *client;
	struct cluster_facts *facts;
	pthread_mutex_t lock; /* of what follows, and of facts' refusals */
	size_t next_node, next_pod;
	size_t bytes;
	bool is_refused;
};

static bool is_over(const struct work *work)
{
	return work->is_refused || work->bytes > ALL_BYTES_MAX ||
	       clock_ns(CLOCK_MONOTONIC) >= work->client->end_ns;
}

/* The next pod that runs, or NULL; the rest is counted when time is over. */
static struct cluster_pod *take_next(struct work *work)
{
	struct cluster_facts *facts = work->facts;

	for (; work->next_node < facts->node_count; work->next_node++, work->next_pod = 0) {
		struct cluster_node *node = &facts->nodes[work->next_node];

		while (work->next_pod < node->pod_count) {
			struct cluster_pod *pod = &node->pods[work->next_pod++];

			if (!pod->runs)
				continue;
			if (!is_over(work))
				return pod;
			facts->pages_too_late += !work->is_refused;
		}
	}
	return NULL;
}

static struct cluster_pod *next_pod(struct work *work)
{
	struct cluster_pod *pod;

	(void)pthread_mutex_lock(&work->lock);
	pod = take_next(work);
	(void)pthread_mutex_unlock(&work->lock);
	return pod;
}

static void take_answer(struct cluster_pod *pod, const struct api_answer *answer, int r)
{
	struct diag diag = { "" };

	pod->state = PAGE_FAILED;
	pod->status = answer->status;
	pod->clock = answer->clock;
	pod->page_date_s = answer->date_s;
	if (answer->is_status) /* the API server's clock, not the node's */
		pod->clock.is_known = false;
	(void)snprintf(pod->error, sizeof(pod->error), "%.159s", answer->error);
	if (r < 0 || answer->status != 200)
		return;
	r = exporter_page_read(answer->body.data ? answer->body.data : "", answer->body.len,
			       &pod->page, &diag);
	if (r == 0)
		pod->state = PAGE_READ;
	else
		(void)snprintf(pod->error, sizeof(pod->error), "%.159s", diag.text);
}

static void read_page(struct work *work, struct api_client *client, struct cluster_pod *pod)
{
	const struct cluster_daemonset *set = &work->facts->daemonsets[pod->daemonset];
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	char path[768];
	int r;

	(void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/%s%s:%lld/proxy/metrics",
		       set->ns, set->is_https ? "https:" : "", pod->name, set->port);
	r = api_request(client, path, NULL, PAGE_MS, PAGE_BYTES_MAX, &answer);
	take_answer(pod, &answer, r);
	(void)pthread_mutex_lock(&work->lock);
	work->bytes += answer.body.len;
	if (answer.status == 403 && answer.is_status && !work->is_refused) {
		const struct cluster_refusal refusal = {
			.resource = "pods", .subresource = "proxy", .verb = "get", .group = ""
		};

		work->is_refused = true;
		refusal_add(work->facts, &refusal, set->ns, &answer);
	}
	(void)pthread_mutex_unlock(&work->lock);
}

static void *thread_main(void *userdata)
{
	struct work *work = userdata;
	struct api_client client;
	struct cluster_pod *pod;
	struct diag diag = { "" };

	if (api_client_open(&client, work->client->access, work->client->end_ns, &diag) == 0) {
		while ((pod = next_pod(work)))
			read_page(work, &client, pod);
	}
	api_client_close(&client);
	return NULL;
}

int page_reader_run(const struct api_client *client, struct cluster_facts *facts)
{
	struct work work = { .client = client, .facts = facts, .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t threads[PAGE_THREADS];
	size_t count = 0;
	int r = 0;

	while (r == 0 && count < PAGE_THREADS && count < facts->node_count) {
		r = thread_start(&threads[count], 0, thread_main, &work);
		count += r == 0;
	}
	for (size_t i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	return count ? 0 : r;
}
