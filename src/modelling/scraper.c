// SPDX-License-Identifier: Apache-2.0
/*
 * Each point is an item of its own in the file: nothing of a page is held until the next one. A
 * page that does not come is a gap, which the extraction bridges or leaves out.
 */
#include "modelling/scraper.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "net/http_client.h"
#include "samples/exposition.h"

#define CONNECT_MS 5000
#define TIMEOUT_MS 30000
#define PATH_SIZE  4096
/* How often the exporter reads its meters, in s. */
#define INTERVAL_METRIC "kepler_exporter_interval_seconds"
#define USEC_PER_SEC    1000000

struct scraping {
	const struct scraper_options *options;
	struct http_client *http;
	char *token, *password; /* "": none */
	struct strbuf page, out;
	FILE *file;
	char part[PATH_SIZE];
	bool has_items, is_taken; /* the series that is read */
	bool is_interval;         /* the series is INTERVAL_METRIC */
	double interval_s;        /* 0: not on the page */
	uint64_t failures;
};

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct scraping *scraping = userdata;
	struct strbuf *out = &scraping->out;
	struct metric_kind kind;

	metric_kind_find(labels, scraping->options->level, &kind);
	scraping->is_taken = kind.subject != METRIC_IGNORED;
	scraping->is_interval = strcmp(series_label(labels, "__name__"), INTERVAL_METRIC) == 0;
	if (!scraping->is_taken)
		return 0;
	strbuf_add_str(out, scraping->has_items ? ",\n" : "\n");
	series_write_labels(labels, out);
	scraping->has_items = true;
	return 0;
}

static int take_point(void *userdata, const struct series_point *point)
{
	struct scraping *scraping = userdata;

	if (scraping->is_interval)
		scraping->interval_s = point->value;
	if (!scraping->is_taken)
		return 0;
	strbuf_addf(&scraping->out, ",\"values\":[[%lld.%06d,\"",
		    (long long)(point->time_us / USEC_PER_SEC),
		    (int)(point->time_us % USEC_PER_SEC));
	strbuf_add_json(&scraping->out, point->text);
	strbuf_add_str(&scraping->out, "\"]]}");
	return 0;
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct scraping *scraping = userdata;

	strbuf_add(&scraping->page, bytes, len);
	return strbuf_error(&scraping->page);
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static int fetch(struct scraping *scraping, struct diag *diag)
{
	const char *user = or_null(scraping->options->user);
	const struct http_request_options request = {
		.url = scraping->options->url,
		.bearer_token = or_null(scraping->token),
		.user = user,
		.password = user ? scraping->password : NULL,
		.accept = "text/plain;version=0.0.4",
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = TIMEOUT_MS,
		.max_bytes = SCRAPER_PAGE_MAX,
	};
	struct http_reply reply;
	int r;

	strbuf_reset(&scraping->page);
	r = http_client_get(scraping->http, &request, take_body, scraping, &reply, diag);
	if (r == 0 && (reply.status == 401 || reply.status == 403))
		return diag_set(diag, -EACCES,
				"refused (%d): check token-file, user and password-file",
				reply.status);
	if (r == 0 && reply.status != 200)
		return diag_set(diag, -EPROTO, "answered %d", reply.status);
	return r;
}

/* A failed write ends the scraper; a missing page does not. */
static int scrape(struct scraping *scraping, struct diag *diag)
{
	const struct series_sink sink = { take_series, take_point, scraping };
	int64_t now_us = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_USEC);
	struct diag why = { "" };
	bool had_items = scraping->has_items;
	int r = fetch(scraping, &why);

	strbuf_reset(&scraping->out);
	if (r == 0)
		r = exposition_read(scraping->page.data, scraping->page.len, now_us, &sink, &why);
	if (r == 0 && strbuf_error(&scraping->out) < 0)
		r = diag_set(&why, -ENOMEM, "out of memory");
	if (r < 0) {
		scraping->has_items = had_items;
		return diag_set(diag, -EAGAIN, "%s: %.200s", scraping->options->url, why.text);
	}
	if (fwrite(scraping->out.data, 1, scraping->out.len, scraping->file) != scraping->out.len ||
	    fflush(scraping->file) != 0)
		return diag_set(diag, -EIO, "%s: cannot be written: %s", scraping->part,
				strerrordesc_np(errno));
	return 0;
}

static int open_scraping(struct scraping *scraping, struct diag *diag)
{
	const struct scraper_options *options = scraping->options;
	const struct http_client_options http = {
		.ca_file = or_null(options->ca_file),
		.user_agent = "kepler-model",
		.environment_proxy = true,
		.cancel_fd = -1,
		.insecure = options->insecure,
	};
	int r = secret_file_read(options->token_file, &scraping->token, diag);

	if (r == 0)
		r = secret_file_read(options->password_file, &scraping->password, diag);
	if (r < 0)
		return r;
	if (snprintf(scraping->part, PATH_SIZE, "%s.part", options->path) >= PATH_SIZE)
		return diag_set(diag, -ENAMETOOLONG, "%.200s…: the name is too long",
				options->path);
	scraping->file = fopen(scraping->part, "we");
	if (!scraping->file || fputs("{\"points\": [", scraping->file) < 0)
		return diag_set(diag, -errno, "%s: cannot be written: %s", scraping->part,
				strerrordesc_np(errno));
	return http_client_new(&http, &scraping->http, diag);
}

static int finish(struct scraping *scraping, struct diag *diag)
{
	if (fputs("\n]}\n", scraping->file) < 0 || fflush(scraping->file) != 0 ||
	    fdatasync(fileno(scraping->file)) < 0 ||
	    rename(scraping->part, scraping->options->path) < 0)
		return diag_set(diag, -EIO, "%s: cannot be written: %s", scraping->part,
				strerrordesc_np(errno));
	return 0;
}

/* Returns true if SIGTERM comes before that time. */
static bool wait_until(uint64_t until_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec left = { .tv_sec = (time_t)(left_ns / NSEC_PER_SEC),
				       .tv_nsec = (long)(left_ns % NSEC_PER_SEC) };
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	return sigtimedwait(&set, NULL, &left) > 0;
}

static void tell_failure(struct scraping *scraping, const struct diag *diag)
{
	if (scraping->failures++ == 0)
		(void)fprintf(stderr, "kepler-model bench: %s; trying again at each step\n",
			      diag->text);
}

/*
 * Where a step is hardly longer than an interval, some steps have the energy of two intervals and
 * others none.
 */
static int check_step(const struct scraping *scraping, struct diag *diag)
{
	double step_s = (double)scraping->options->step_ns / NSEC_PER_SEC;

	if (step_s >= SCRAPER_STEP_INTERVALS * scraping->interval_s)
		return 0;
	return diag_set(diag, -EINVAL,
			"step: %g s is shorter than two of the exporter's intervals of %g s; use "
			"--step=%.0fs or longer, or a shorter --monitor.interval of kepler",
			step_s, scraping->interval_s,
			ceil(SCRAPER_STEP_INTERVALS * scraping->interval_s));
}

/* Until the end is asked for: 0, or -errno with a diagnosis. */
static int scrape_on(struct scraping *scraping, int ready_fd, struct diag *diag)
{
	uint64_t next_ns = clock_ns(CLOCK_MONOTONIC);
	bool ends = false;
	int r = scrape(scraping, diag);

	if (r < 0)
		return r;
	if (!scraping->has_items)
		return diag_set(diag, -ENODATA, "%s: has no metrics of Kepler",
				scraping->options->url);
	r = check_step(scraping, diag);
	if (r < 0)
		return r;
	(void)!write(ready_fd, "", 1);
	while (!ends) {
		next_ns += scraping->options->step_ns;
		ends = wait_until(next_ns);
		r = scrape(scraping, diag);
		if (r == -EAGAIN)
			tell_failure(scraping, diag);
		else if (r < 0)
			return r;
	}
	if (scraping->failures)
		(void)fprintf(stderr, "kepler-model bench: %llu pages did not come\n",
			      (unsigned long long)scraping->failures);
	return finish(scraping, diag);
}

/* In the new process: never returns. */
static void become(const struct scraper_options *options, int ready_fd, pid_t parent)
{
	struct scraping scraping = { .options = options };
	struct diag diag = { "" };
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	r = open_scraping(&scraping, &diag);
	if (r == 0)
		r = scrape_on(&scraping, ready_fd, &diag);
	if (r < 0)
		(void)fprintf(stderr, "kepler-model bench: %s\n", diag.text);
	_exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}

int scraper_start(const struct scraper_options *options, pid_t *ret, struct diag *diag)
{
	pid_t pid, parent = getpid();
	int ready[2];
	char byte;
	ssize_t len;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return diag_set(diag, -errno, "cannot make a pipe: %s", strerrordesc_np(errno));
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)close(ready[0]);
		become(options, ready[1], parent);
	}
	(void)close(ready[1]);
	if (pid < 0) {
		(void)close(ready[0]);
		return diag_set(diag, -EAGAIN, "cannot start a process");
	}
	do {
		len = read(ready[0], &byte, 1);
	} while (len < 0 && errno == EINTR);
	(void)close(ready[0]);
	if (len == 1) {
		*ret = pid;
		return 0;
	}
	(void)waitpid(pid, NULL, 0);
	return diag_set(diag, -EIO, "nothing can be read from the exporter: see above");
}

int scraper_end(pid_t pid)
{
	int status;

	(void)kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return -EIO;
	return 0;
}
