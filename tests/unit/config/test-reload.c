// SPDX-License-Identifier: Apache-2.0
/* The pool is real, times are given: a job that was not taken yet is as good as one that hangs. */
#include "config/reload.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "base/num.h"
#include "tests/unit/unit.h"

struct bench {
	char path[64];
	char flag[80];
	char *argv[2];
	struct option_args args;
	struct offload *pool;
	struct reload reload;
	struct diag diag;
	struct config *config;
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void set_up(struct bench *bench, const char *text)
{
	const struct offload_options options = { .max_threads = 1 };

	*bench = (struct bench){ .path = "/tmp/kepler-reload-XXXXXX" };
	assert_true(mkstemp(bench->path) >= 0);
	write_file(bench->path, text);
	(void)snprintf(bench->flag, sizeof(bench->flag), "--config.file=%s", bench->path);
	bench->argv[0] = bench->flag;
	bench->args = (struct option_args){ .argc = 1, .argv = bench->argv };
	assert_int_equal(offload_new(&options, &bench->pool), 0);
	bench->reload = (struct reload){ .pool = bench->pool, .args = &bench->args };
}

static void tear_down(struct bench *bench)
{
	if (bench->config)
		config_release(bench->config);
	free(bench->config);
	reload_close(&bench->reload);
	offload_free(bench->pool, 10 * NSEC_PER_SEC);
	(void)unlink(bench->path);
}

static enum reload_outcome take(struct bench *bench)
{
	struct pollfd ready = { .fd = offload_fd(bench->pool), .events = POLLIN };
	struct offload_job *job;

	assert_int_equal(poll(&ready, 1, 10000), 1);
	job = offload_take(bench->pool);
	assert_non_null(job);
	return reload_take(&bench->reload, job, &bench->config, &bench->diag);
}

static void a_good_file_is_loaded(void **state)
{
	struct bench bench;

	set_up(&bench, "monitor:\n  interval: 7s\n");
	assert_int_equal(reload_ask(&bench.reload, 0, &bench.diag), RELOAD_BEGUN);
	assert_int_equal(take(&bench), RELOAD_LOADED);
	assert_int_equal(bench.config->monitor.interval_ns, 7 * NSEC_PER_SEC);
	assert_int_equal(reload_turn(&bench.reload, 0, &bench.diag), RELOAD_NOTHING);
	assert_true(reload_due_ns(&bench.reload) == UINT64_MAX);
	tear_down(&bench);
}

static void a_bad_file_is_reported(void **state)
{
	struct strbuf more = STRBUF_INIT;
	struct bench bench;

	set_up(&bench, "monitor:\n  intervall: 7s\n  intreval: 7s\n");
	bench.diag.more = &more;
	assert_int_equal(reload_ask(&bench.reload, 0, &bench.diag), RELOAD_BEGUN);
	assert_int_equal(take(&bench), RELOAD_FAILED);
	assert_non_null(strstr(bench.diag.text, ":2:3: monitor.intervall: unknown key"));
	assert_int_equal(bench.diag.others, 1);
	assert_non_null(strstr(more.data, ":3:3: monitor.intreval: unknown key"));
	strbuf_release(&more);
	assert_null(bench.config);
	tear_down(&bench);
}

static void a_fifo_is_refused_and_hangs_nothing(void **state)
{
	struct bench bench;

	set_up(&bench, "");
	assert_int_equal(unlink(bench.path), 0);
	assert_int_equal(mkfifo(bench.path, 0600), 0);
	assert_int_equal(reload_ask(&bench.reload, 0, &bench.diag), RELOAD_BEGUN);
	assert_int_equal(take(&bench), RELOAD_FAILED);
	assert_non_null(strstr(bench.diag.text, "not a file"));
	tear_down(&bench);
}

static void many_wishes_are_two_readings(void **state)
{
	struct bench bench;

	set_up(&bench, "monitor:\n  interval: 7s\n");
	assert_int_equal(reload_ask(&bench.reload, 0, &bench.diag), RELOAD_BEGUN);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(reload_ask(&bench.reload, 0, &bench.diag), RELOAD_MERGED);
	assert_int_equal(reload_turn(&bench.reload, 0, &bench.diag), RELOAD_NOTHING);
	assert_int_equal(take(&bench), RELOAD_LOADED);
	config_release(bench.config);
	free(TAKE_PTR(bench.config));
	assert_true(reload_due_ns(&bench.reload) == 0);
	assert_int_equal(reload_turn(&bench.reload, 1, &bench.diag), RELOAD_BEGUN);
	assert_int_equal(take(&bench), RELOAD_LOADED);
	assert_int_equal(reload_turn(&bench.reload, 2, &bench.diag), RELOAD_NOTHING);
	tear_down(&bench);
}

static void one_that_takes_too_long_fails_once(void **state)
{
	struct bench bench;

	set_up(&bench, "monitor:\n  interval: 7s\n");
	assert_int_equal(reload_ask(&bench.reload, 100, &bench.diag), RELOAD_BEGUN);
	assert_true(reload_due_ns(&bench.reload) == 100 + RELOAD_LIMIT_NS);
	assert_int_equal(reload_turn(&bench.reload, 99 + RELOAD_LIMIT_NS, &bench.diag),
			 RELOAD_NOTHING);
	assert_int_equal(reload_turn(&bench.reload, 100 + RELOAD_LIMIT_NS, &bench.diag),
			 RELOAD_FAILED);
	assert_int_equal(reload_turn(&bench.reload, 101 + RELOAD_LIMIT_NS, &bench.diag),
			 RELOAD_NOTHING);
	/* Still the one under way: no second thread is spent. */
	assert_int_equal(reload_ask(&bench.reload, 200 + RELOAD_LIMIT_NS, &bench.diag),
			 RELOAD_MERGED);
	/* It comes after all: not used, and what was asked for since is read. */
	assert_int_equal(take(&bench), RELOAD_NOTHING);
	assert_null(bench.config);
	assert_int_equal(reload_turn(&bench.reload, 300 + RELOAD_LIMIT_NS, &bench.diag),
			 RELOAD_BEGUN);
	assert_int_equal(take(&bench), RELOAD_LOADED);
	tear_down(&bench);
}

static void the_first_is_waited_for(void **state)
{
	struct bench bench;
	struct config *config;

	set_up(&bench, "monitor:\n  interval: 7s\n");
	config = reload_first(&bench.args, 60 * NSEC_PER_SEC, &bench.diag);
	assert_non_null(config);
	assert_int_equal(config->monitor.interval_ns, 7 * NSEC_PER_SEC);
	config_release(config);
	free(config);
	write_file(bench.path, "monitor:\n  intervall: 7s\n");
	assert_null(reload_first(&bench.args, 60 * NSEC_PER_SEC, &bench.diag));
	assert_non_null(strstr(bench.diag.text, "monitor.interval"));
	tear_down(&bench);
}

static void without_a_thread_it_fails(void **state)
{
	struct bench bench;

	set_up(&bench, "");
	bench.reload.pool = NULL;
	assert_int_equal(reload_ask(&bench.reload, 0, &bench.diag), RELOAD_FAILED);
	assert_int_equal(reload_turn(&bench.reload, 0, &bench.diag), RELOAD_NOTHING);
	tear_down(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_file_is_loaded),
		cmocka_unit_test(a_bad_file_is_reported),
		cmocka_unit_test(a_fifo_is_refused_and_hangs_nothing),
		cmocka_unit_test(many_wishes_are_two_readings),
		cmocka_unit_test(one_that_takes_too_long_fails_once),
		cmocka_unit_test(the_first_is_waited_for),
		cmocka_unit_test(without_a_thread_it_fails),
	};

	return unit_run(tests);
}
