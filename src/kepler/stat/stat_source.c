// SPDX-License-Identifier: Apache-2.0
#include "kepler/stat/stat_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "engine/session.h"
#include "host/proc.h"
#include "stat/process_trees.h"
#include "stat/tree_page.h"

#define NO_TREE (-1)

struct stat_source {
	const struct config *config;
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
				"descendants of the command can be followed with BPF only: %s",
				info.why_not_bpf);
	}
	(void)session_run_interval(session); /* the baseline; its state is in the reading */
	return 0;
}

int stat_source_open(const struct config *config, bool may_measure, struct stat_source **ret,
		     struct diag *diag)
{
	struct stat_source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return diag_set(diag, -ENOMEM, "out of memory");
	source->config = config;
	source->tree = NO_TREE;
	source->session = (struct session)SESSION_INIT;
	r = may_measure ? open_session(source, diag)
			: diag_set(diag, -EPERM, "kepler stat needs root: sudo kepler stat");
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
	(void)session_close(&source->session, 0);
	process_trees_free(source->trees);
	free(source);
}

int stat_source_begin(struct stat_source *source, struct diag *diag)
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

void stat_source_end(struct stat_source *source)
{
	if (source->tree != NO_TREE)
		process_trees_end(source->trees, (uint32_t)source->tree);
	source->tree = NO_TREE;
}

void stat_source_measure(struct stat_source *source)
{
	(void)session_run_interval(&source->session); /* its state is in the reading */
}

static int make_page(const struct stat_source *source, struct strbuf *out)
{
	const struct books *books = interval_engine_books(source->session.engine);

	return tree_page(source->trees, (uint32_t)source->tree, ledger_layout(books->ledger), false,
			 out);
}

int stat_source_read(struct stat_source *source, struct stat_reading *ret, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	int r;

	stat_source_measure(source);
	r = make_page(source, &page);
	if (r < 0)
		return diag_set(diag, r, "no reading: %s", strerrordesc_np(-r));
	return stat_reading_parse(page.data, page.len, ret, diag);
}

int stat_source_fd(const struct stat_source *source)
{
	return activity_fd(source->session.sources.activity);
}

void stat_source_drain(struct stat_source *source)
{
	activity_drain(source->session.sources.activity);
}
