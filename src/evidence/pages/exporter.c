// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/exporter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "evidence/pages/exporter_state.h"

#define CONNECT_MS 2000
/* OpenMetrics 2.0 has the start times of counters; an exporter that lacks it answers with text. */
#define ACCEPT "application/openmetrics-text;version=2.0.0,text/plain;version=0.0.4;q=0.5"

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct exporter_state *state = userdata;

	strbuf_add(&state->page, bytes, len);
	return strbuf_error(&state->page);
}

static int take_scrape(void *userdata, double time_s, char *text, size_t len)
{
	return exporter_take_page(userdata, time_s, time_s, text, len);
}

static int read_prometheus(struct exporter *exporter, double now_s)
{
	struct diag diag = { "" };
	int r = prometheus_source_read(exporter->state->prometheus, now_s, take_scrape, exporter,
				       &diag);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		exporter_fault_note(&exporter->no_page, "%s", diag.text);
	return 0;
}

int exporter_scrape(struct exporter *exporter, double now_s)
{
	if (exporter->state->prometheus)
		return read_prometheus(exporter, now_s);

	struct exporter_state *state = exporter->state;
	const struct http_request_options request = {
		.url = exporter->url,
		.accept = ACCEPT,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = state->options.timeout_ms,
		.max_bytes = EXPORTER_PAGE_MAX,
	};
	struct http_reply reply;
	struct diag diag = { "" };

	strbuf_reset(&state->page);
	uint64_t asked_ns = clock_ns(CLOCK_BOOTTIME);
	int r = http_client_get(state->http, &request, take_body, state, &reply, &diag);
	double came_s =
		now_s + (double)(clock_ns(CLOCK_BOOTTIME) - asked_ns) / (double)NSEC_PER_SEC;
	if (r < 0) {
		exporter_fault_note(&exporter->no_page, "%s", diag.text);
		return 0;
	}
	if (reply.status != 200) {
		exporter_fault_note(&exporter->no_page, "the answer has the status %d",
				    reply.status);
		return 0;
	}
	strbuf_add_char(&state->page, '\0');
	if (strbuf_error(&state->page) < 0)
		return -ENOMEM;
	return exporter_take_page(exporter, now_s, came_s, state->page.data, state->page.len - 1);
}

void exporter_finish(struct exporter *exporter)
{
	if (exporter->pages + exporter->no_page.count == 0)
		exporter_fault_note(&exporter->no_page,
				    "there was no scrape in the time of the run");
	for (size_t i = 0; i < exporter->zone_count; i++)
		for (int level = 0; level < ENERGY_LEVELS; level++) {
			const struct exporter_sum *sum = &exporter->zones[i].sums[level];

			if (sum->series)
				series_finish(sum->series);
			if (sum->mine_series)
				series_finish(sum->mine_series);
		}
	published_bounds_finish(&exporter->bounds);
	gpu_rows_finish(&exporter->gpus);
}

void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	for (size_t i = 0; i < exporter->zone_count; i++)
		for (int level = 0; level < ENERGY_LEVELS; level++) {
			series_free(exporter->zones[i].sums[level].series);
			series_free(exporter->zones[i].sums[level].mine_series);
		}
	published_bounds_release(&exporter->bounds);
	gpu_rows_release(&exporter->gpus);
	if (exporter->state) {
		http_client_free(exporter->state->http);
		prometheus_source_free(exporter->state->prometheus);
		strbuf_release(&exporter->state->page);
		exporter_rows_release(&exporter->state->rows);
		free(exporter->state);
	}
	free(exporter);
}

static void cleanup_exporter(struct exporter **exporter)
{
	exporter_free(*exporter);
}

int exporter_open(const struct exporter_options *options, struct exporter **ret, struct diag *diag)
{
	const struct http_client_options http = { .user_agent = "kepler-validator",
						  .environment_proxy = true,
						  .cancel_fd = -1 };
	CLEANUP(cleanup_exporter) struct exporter *exporter = calloc(1, sizeof(*exporter));
	if (exporter)
		exporter->state = calloc(1, sizeof(*exporter->state));
	if (!exporter || !exporter->state)
		return diag_set(diag, -ENOMEM, "out of memory");
	exporter->state->options = *options;
	exporter->processes.procfs = options->procfs;
	exporter_rows_init(&exporter->state->rows);
	(void)snprintf(exporter->url, sizeof(exporter->url), "%s", options->url);
	int r = options->prometheus ? prometheus_source_open(options->prometheus,
							     &exporter->state->prometheus, diag)
				    : http_client_new(&http, &exporter->state->http, diag);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(exporter);
	return 0;
}
