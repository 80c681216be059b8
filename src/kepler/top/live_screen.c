// SPDX-License-Identifier: Apache-2.0
#include "kepler/top/live_screen.h"

#include <stdlib.h>
#include <unistd.h>

#include "service/privileges.h"

#define HOME_AND_CLEAR "\033[H\033[J"

struct screen_job {
	struct offload_job job; /* first: the two are one address */
	int fd;
	struct strbuf text;
};

static void job_run(struct offload_job *base)
{
	struct screen_job *job = (struct screen_job *)base;
	ssize_t n = write(job->fd, job->text.data, job->text.len);

	(void)n; /* a terminal that is gone */
}

static void job_drop(struct offload_job *base)
{
	struct screen_job *job = (struct screen_job *)base;

	strbuf_release(&job->text);
	free(job);
}

/* NULL without memory. */
static struct screen_job *new_job(int fd, const struct strbuf *frame)
{
	struct screen_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	*job = (struct screen_job){
		.job = { .run = job_run, .drop = job_drop },
		.fd = fd,
		.text = STRBUF_INIT,
	};
	strbuf_add_str(&job->text, HOME_AND_CLEAR);
	strbuf_add(&job->text, frame->data, frame->len);
	if (strbuf_error(&job->text) < 0) {
		job_drop(&job->job);
		return NULL;
	}
	return job;
}

/* True if the next frame may begin. */
static bool take_last(struct live_screen *screen)
{
	struct offload_job *last = screen->at_work ? offload_take(screen->jobs) : NULL;

	if (!last)
		return !screen->at_work;
	screen->at_work = NULL;
	job_drop(last);
	return true;
}

static bool has_thread(struct live_screen *screen)
{
	const struct offload_options options = { .max_threads = 1,
						 .start_thread = privileges_drop_thread };

	return screen->jobs || offload_new(&options, &screen->jobs) == 0;
}

bool live_screen_show(struct live_screen *screen, int fd, const struct strbuf *frame)
{
	struct screen_job *job;

	if (!take_last(screen) || !has_thread(screen))
		return false;
	job = new_job(fd, frame);
	if (!job)
		return false;
	if (offload_submit(screen->jobs, &job->job) < 0) {
		job_drop(&job->job);
		return false;
	}
	screen->at_work = job;
	return true;
}

void live_screen_close(struct live_screen *screen, uint64_t deadline_ns)
{
	offload_free(screen->jobs, deadline_ns);
	*screen = (struct live_screen){ 0 };
}
