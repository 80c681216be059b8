// SPDX-License-Identifier: Apache-2.0
/* The end of remote write while its threads hang: in the first call of theirs, start_thread(). */
#include "export/remote-write/remote_write.h"

#include <errno.h>
#include <pthread.h>

#include "base/thread.h"
#include "export/exporter.h"
#include "export/page_cache.h"
#include "export/push_options.h"
#include "export/scrape_pace.h"
#include "export/send/send_board.h"
#include "snapshot/snapshot.h"
#include "tests/unit/unit.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void wait_at_gate(void)
{
	(void)pthread_mutex_lock(&gate);
	(void)pthread_mutex_unlock(&gate);
}

/* Time is injected: a thread that has not ended never will. */
static bool is_joined;
static pthread_t joined;

int __wrap_thread_join_within(pthread_t thread, uint64_t patience_ns);
int __wrap_pthread_join(pthread_t thread, void **ret);

int __wrap_thread_join_within(pthread_t thread, uint64_t patience_ns)
{
	assert_true(patience_ns > 0 && patience_ns <= 10 * NSEC_PER_SEC);
	is_joined = true;
	joined = thread;
	return -ETIMEDOUT;
}

int __wrap_pthread_join(pthread_t thread, void **ret)
{
	(void)thread;
	(void)ret;
	fail_msg("a thread is waited for without a limit");
	return 0;
}

int __real_pthread_join(pthread_t thread, void **ret);

static char url[] = "http://127.0.0.1:9/api/v1/write", none[] = "";

/* Its thread may still use it, so that it stays. */
static void *exporter;

static void a_thread_that_hangs_is_left_behind(void **state)
{
	static struct push_options push = {
		.remote_write = { .urls = { url },
				  .url_count = 1,
				  .interval_ns = NSEC_PER_SEC,
				  .queue_dir = none,
				  .queue_age_ns = NSEC_PER_SEC,
				  .target = { .user = none,
					      .password_file = none,
					      .token_file = none,
					      .ca_file = none,
					      .client_cert_file = none,
					      .client_key_file = none,
					      .proxy_url = none,
					      .timeout_ns = NSEC_PER_SEC } },
	};
	static const struct page_options pages = { .schema = SCHEMA_CLASSIC };
	static struct send_board board;
	static struct scrape_pace pace;
	struct exporter_program program = {
		.pace = &pace,
		.sends = &board,
		.push = &push,
		.pages = &pages,
		.start_thread = wait_at_gate,
	};
	struct diag diag = { "" };

	assert_int_equal(snapshot_holder_new(&program.holder), 0);
	scrape_pace_init(&pace, 1);
	(void)pthread_mutex_lock(&gate);
	assert_int_equal(remote_write_exporter.start(&program, &exporter, &diag), 0);
	assert_non_null(exporter);
	remote_write_exporter.stop(exporter);
	assert_true(is_joined);
	(void)pthread_mutex_unlock(&gate);
	/* It ends by itself, and finds all that it uses. */
	assert_int_equal(__real_pthread_join(joined, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_thread_that_hangs_is_left_behind) };

	return unit_run(tests);
}
