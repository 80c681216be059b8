// SPDX-License-Identifier: Apache-2.0
#include "kepler/stat/stat_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "engine/session.h"
#include "host/proc.h"
#include "net/local_client.h"
#include "stat/process_trees.h"
#include "stat/tree_page.h"

#define NO_TREE        (-1)
#define ASK_LIMIT_NS   (90 * NSEC_PER_SEC) /* an interval of up to a minute */
#define ASK_FIRST_NS   (NSEC_PER_MSEC / 2)
#define ASK_LONGEST_NS (100 * NSEC_PER_MSEC)

struct stat_source {
	const struct config *config;
	struct local_client *client; /* NULL: it measures by itself */
	struct strbuf answer;
	int status; /* of the last answer */
	struct session session;
	struct process_trees *trees;
	int tree; /* NO_TREE: none */
};

static int open_session(struct stat_source *source, struct diag *diag)
{
	struct session *session = &source->session;
	int r = process_trees_new(&source->trees);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	r = session_begin(session, source->config, false, diag);
	if (r == 0)
		r = session_open_processes(session, diag);
	if (r == 0)
		r = session_open_meters(session, diag);
	session->peers.trees = source->trees;
	if (r == 0)
		r = session_open_engine(session, diag);
	if (r < 0)
		return r;
	if (!activity_want_parents(session->sources.activity, true)) {
		struct activity_info info;

		activity_get_info(session->sources.activity, &info);
		return diag_set(diag, -EOPNOTSUPP,
				"descendants of the command can be followed with BPF only, which "
				"is not available: %s; kepler doctor reports what to do",
				info.why_not_bpf);
	}
	(void)session_run_interval(session); /* the baseline; its state is in the reading */
	return 0;
}

int stat_source_open(const struct config *config, bool may_measure, struct stat_source **ret,
		     struct diag *diag)
{
	struct stat_source *source = calloc(1, sizeof(*source));
	struct diag of_exporter = { "" };
	int r;

	if (!source)
		return diag_set(diag, -ENOMEM, "out of memory");
	source->config = config;
	source->tree = NO_TREE;
	source->session = (struct session)SESSION_INIT;
	r = local_client_open(config->local.socket, "kepler-stat", &source->client, &of_exporter);
	if (r < 0 && !may_measure)
		r = local_client_refused(&of_exporter, "stat", diag);
	else if (r < 0)
		r = open_session(source, diag);
	if (r < 0) {
		stat_source_close(source);
		return r;
	}
	*ret = source;
	return 0;
}

void stat_source_close(struct stat_source *source)
{
	if (!source)
		return;
	if (!source->client)
		(void)session_close(&source->session, 0);
	process_trees_free(source->trees);
	local_client_close(source->client);
	strbuf_release(&source->answer);
	free(source);
}

static void pause_ns(uint64_t ns)
{
	const struct timespec wait = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				       .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	(void)nanosleep(&wait, NULL);
}

/* Asks until the exporter's loop has done it, which takes a millisecond or, of a user, a second. */
static int ask(struct stat_source *source, const char *target, struct diag *diag)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ASK_LIMIT_NS, wait_ns = ASK_FIRST_NS;

	for (;;) {
		int r = local_client_get(source->client, target, STAT_ANSWER_MAX, &source->answer,
					 &source->status, diag);

		if ((r < 0 && r != -EAGAIN) || (r == 0 && source->status == 200))
			return r;
		if (clock_ns(CLOCK_MONOTONIC) > until_ns)
			return r < 0 ? r
				     : diag_set(diag, -ETIMEDOUT, "%s: no answer in time",
						source->config->local.socket);
		pause_ns(wait_ns);
		wait_ns = wait_ns < ASK_LONGEST_NS ? wait_ns * 3 / 2 : ASK_LONGEST_NS;
	}
}

static int begin_own(struct stat_source *source, struct diag *diag)
{
	int proc_fd = open(source->config->host.procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct tree_id root = { .pid = (uint32_t)getpid() };
	struct proc_stat stat;
	int r = proc_read_stat(proc_fd, root.pid, &stat);

	if (proc_fd >= 0)
		(void)close(proc_fd);
	if (r < 0)
		return diag_set(diag, r, "%s: this process is not there: %s",
				source->config->host.procfs, strerrordesc_np(-r));
	root.start_ns = proc_start_ns(&stat);
	source->tree = process_trees_begin(source->trees, &root, clock_ns(CLOCK_BOOTTIME));
	return 0;
}

int stat_source_begin(struct stat_source *source, struct diag *diag)
{
	int r = source->client ? ask(source, STAT_PAGE_PATH "?do=begin", diag)
			       : begin_own(source, diag);

	if (r < 0 && source->client && source->status == 404)
		return diag_set(diag, r,
				"the exporter at %s is older than this command and cannot measure "
				"for it",
				source->config->local.socket);
	return r;
}

void stat_source_end(struct stat_source *source)
{
	struct diag diag = { "" };

	/* Where that fails, the tree ends with this process. */
	if (source->client)
		(void)local_client_get(source->client, STAT_PAGE_PATH "?do=end", STAT_ANSWER_MAX,
				       &source->answer, NULL, &diag);
	if (source->tree != NO_TREE)
		process_trees_end(source->trees, (uint32_t)source->tree);
	source->tree = NO_TREE;
}

void stat_source_measure(struct stat_source *source)
{
	if (!source->client)
		(void)session_run_interval(&source->session); /* its state is in the reading */
}

static int make_page(const struct stat_source *source, struct strbuf *out)
{
	const struct books *books = interval_engine_books(source->session.engine);
	struct rates *rates = source->session.rates;
	struct rates_health now;

	if (rates)
		rates_at(rates, (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC), &now);
	return tree_page(source->trees, (uint32_t)source->tree, ledger_layout(books->ledger),
			 rates ? &now.now : NULL, false, out);
}

int stat_source_read(struct stat_source *source, struct stat_reading *ret, struct diag *diag)
{
	int r;

	if (source->client) {
		r = ask(source, STAT_PAGE_PATH "?do=read", diag);
		if (r < 0)
			return r;
	} else {
		stat_source_measure(source);
		strbuf_reset(&source->answer);
		r = make_page(source, &source->answer);
	}
	if (r < 0)
		return diag_set(diag, r, "no reading: %s", strerrordesc_np(-r));
	return stat_reading_parse(source->answer.data, source->answer.len, ret, diag);
}

int stat_source_fd(const struct stat_source *source)
{
	return source->client ? -1 : activity_fd(source->session.sources.activity);
}

void stat_source_drain(struct stat_source *source)
{
	if (!source->client)
		activity_drain(source->session.sources.activity);
}
