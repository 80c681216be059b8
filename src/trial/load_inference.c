// SPDX-License-Identifier: Apache-2.0
/*
 * A stage that is ended, or the end of its pipe, ends the stages next to it: the first one that
 * reads or writes in vain is over.
 */
#include "trial/load_inference.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial/load_worker.h"

#define PIPELINES_MAX 64
#define PIXELS        4096U /* of a frame: 64 × 64 */
#define BLOCK         8U
#define HIDDEN        256U
#define CLASSES       16U

struct stage {
	pid_t pid;
	size_t index; /* in load_kind.stages */
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Returns false at the end of the pipe, or when the stage is over. */
static bool transfer(int fd, void *data, size_t len, bool is_write)
{
	char *at = data;

	while (len > 0 && !load_worker_is_over()) {
		ssize_t n = is_write ? write(fd, at, len) : read(fd, at, len);

		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return len == 0;
}

/* The waves of the discrete cosine transform of eight values (ITU-T T.81, A.3.3). */
static void fill_waves(float waves[BLOCK][BLOCK])
{
	for (unsigned u = 0; u < BLOCK; u++)
		for (unsigned x = 0; x < BLOCK; x++)
			waves[u][x] = (float)(cos((2 * x + 1) * u * M_PI / (2 * BLOCK)) *
					      (u == 0 ? sqrt(0.125) : 0.5));
}

/* A block of pixels from its coefficients: the inverse transform of columns, then of rows. */
static void decode_block(float waves[BLOCK][BLOCK], float coefficients[BLOCK][BLOCK], float *pixels)
{
	float columns[BLOCK][BLOCK];

	for (unsigned y = 0; y < BLOCK; y++)
		for (unsigned u = 0; u < BLOCK; u++) {
			columns[y][u] = 0;
			for (unsigned v = 0; v < BLOCK; v++)
				columns[y][u] += waves[v][y] * coefficients[v][u];
		}
	for (unsigned y = 0; y < BLOCK; y++)
		for (unsigned x = 0; x < BLOCK; x++) {
			pixels[y * BLOCK + x] = 0;
			for (unsigned u = 0; u < BLOCK; u++)
				pixels[y * BLOCK + x] += waves[u][x] * columns[y][u];
		}
}

static void decode(int out)
{
	static float frame[PIXELS], waves[BLOCK][BLOCK], coefficients[BLOCK][BLOCK];
	uint64_t random = 88172645463325252ULL;

	fill_waves(waves);
	do {
		for (unsigned at = 0; at < PIXELS; at += BLOCK * BLOCK) {
			uint64_t bits = next_random(&random);

			coefficients[bits & 7][bits >> 3 & 7] = (float)(bits >> 6 & 255) / 255.0F;
			decode_block(waves, coefficients, &frame[at]);
		}
	} while (transfer(out, frame, sizeof(frame), true));
}

static void fill_weights(float *weights, size_t count)
{
	uint64_t random = 362436069ULL;

	for (size_t i = 0; i < count; i++)
		weights[i] = (float)(next_random(&random) & 1023) / 1024.0F - 0.5F;
}

static void apply_layer(const float *weights, const float *in, size_t inputs, float *out,
			size_t outputs)
{
	for (size_t i = 0; i < outputs; i++) {
		float sum = 0;

		for (size_t k = 0; k < inputs; k++)
			sum += weights[i * inputs + k] * in[k];
		out[i] = sum > 0 ? sum : 0;
	}
}

static void infer(int in, int out)
{
	static float first[HIDDEN * PIXELS], second[CLASSES * HIDDEN];
	static float frame[PIXELS], hidden[HIDDEN], scores[CLASSES];

	fill_weights(first, HIDDEN * PIXELS);
	fill_weights(second, CLASSES * HIDDEN);
	while (transfer(in, frame, sizeof(frame), false)) {
		apply_layer(first, frame, PIXELS, hidden, HIDDEN);
		apply_layer(second, hidden, HIDDEN, scores, CLASSES);
		if (!transfer(out, scores, sizeof(scores), true))
			return;
	}
}

/* The class with the highest probability, by softmax; what is found is of no interest. */
static void classify(int in, struct load_work *work)
{
	volatile size_t found = 0;
	float scores[CLASSES];

	while (transfer(in, scores, sizeof(scores), false)) {
		double sum = 0, most = 0;

		for (size_t i = 0; i < CLASSES; i++)
			sum += exp((double)scores[i] - (double)scores[0]);
		for (size_t i = 0; i < CLASSES; i++) {
			double probability = exp((double)scores[i] - (double)scores[0]) / sum;

			if (probability > most) {
				most = probability;
				found = i;
			}
		}
		atomic_fetch_add_explicit(&work->units, 1, memory_order_relaxed);
	}
	(void)found;
}

/* @in and @out are the stage's own ends of pipes; @other is an end that belongs to the next one. */
static bool start_stage(struct load_work *work, size_t index, int in, int out, int other,
			struct stage *ret)
{
	pid_t worker = getpid(), pid = fork();

	if (pid != 0) {
		*ret = (struct stage){ pid, index };
		return pid > 0;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)prctl(PR_SET_NAME, load_inference.stages[index]);
	(void)signal(SIGPIPE, SIG_IGN);
	if (other >= 0)
		(void)close(other);
	if (getppid() != worker)
		_exit(0);
	if (index == 0)
		decode(out);
	else if (index == 1)
		infer(in, out);
	else
		classify(in, work);
	_exit(0);
}

/* Returns the number of stages that run. */
static size_t start_pipeline(struct load_work *work, struct stage *ret)
{
	int in = -1, ends[2];
	size_t count;

	for (count = 0; count < LOAD_STAGES; count++) {
		bool is_last = count + 1 == LOAD_STAGES;

		ends[0] = ends[1] = -1;
		if (!is_last && pipe2(ends, O_CLOEXEC) < 0)
			break;
		bool is_running = start_stage(work, count, in, ends[1], ends[0], &ret[count]);
		if (in >= 0)
			(void)close(in);
		if (ends[1] >= 0)
			(void)close(ends[1]);
		in = ends[0];
		if (!is_running)
			break;
	}
	if (in >= 0)
		(void)close(in);
	return count;
}

static void end_stage(struct load_work *work, const struct stage *stage)
{
	struct rusage usage;
	pid_t ended;

	do
		ended = wait4(stage->pid, NULL, 0, &usage);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return;
	uint64_t us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	atomic_fetch_add_explicit(&work->stage_cpu_us[stage->index], us, memory_order_relaxed);
}

static void run_inference(const struct load_worker *worker)
{
	struct stage stages[PIPELINES_MAX * LOAD_STAGES];
	size_t pipelines = (size_t)fmin(worker->cpus, PIPELINES_MAX), count = 0;

	for (size_t i = 0; i < pipelines; i++)
		count += start_pipeline(worker->work, &stages[count]);
	while (!load_worker_is_over())
		load_worker_sleep_until(UINT64_MAX);
	for (size_t i = 0; i < count; i++)
		(void)kill(stages[i].pid, SIGTERM);
	for (size_t i = 0; i < count; i++)
		end_stage(worker->work, &stages[i]);
}

const struct load_kind load_inference = {
	.name = "inference",
	.unit = "frames",
	.stages = { "kv-decode", "kv-infer", "kv-classify" },
	.is_workers_only = true,
	.is_one_worker = true,
	.duty = 1,
	.run = run_inference,
};
