// SPDX-License-Identifier: Apache-2.0
#include "trainers/trainings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"

#define REASON_MAX 1024 /* bytes at the end of a worker's messages */

void trainings_init(struct trainings *trainings, const struct trainings_limits *limits)
{
	*trainings = (struct trainings){ .lock = PTHREAD_MUTEX_INITIALIZER, .limits = *limits };
	if (trainings->limits.waiting > TRAININGS_MAX / 2)
		trainings->limits.waiting = TRAININGS_MAX / 2;
}

/* ---- slots; all under the lock ---- */

static void close_fds(struct training *training)
{
	int *const fds[] = { &training->in_fd, &training->out_fd, &training->err_fd };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			(void)close(*fds[i]);
		*fds[i] = -1;
	}
}

static void free_slot(struct training *training)
{
	close_fds(training);
	free(training->answer);
	*training = (struct training){
		.state = TRAINING_FREE, .in_fd = -1, .out_fd = -1, .err_fd = -1
	};
}

static size_t count_in(const struct trainings *trainings, enum training_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < TRAININGS_MAX; i++)
		count += trainings->slots[i].state == state;
	return count;
}

static struct training *find_ticket(struct trainings *trainings, uint64_t ticket)
{
	for (size_t i = 0; i < TRAININGS_MAX; i++) {
		if (trainings->slots[i].state != TRAINING_FREE &&
		    trainings->slots[i].ticket == ticket)
			return &trainings->slots[i];
	}
	return NULL;
}

static struct training *first_waiting(struct trainings *trainings)
{
	struct training *first = NULL;

	for (size_t i = 0; i < TRAININGS_MAX; i++) {
		struct training *training = &trainings->slots[i];

		if (training->state == TRAINING_WAITS &&
		    (!first || training->ticket < first->ticket))
			first = training;
	}
	return first;
}

/* ---- ends ---- */

static int write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The end of a file in memory, up to @max bytes, terminated; NULL: no memory, or it is longer. */
static char *read_end(int fd, size_t max, bool must_fit, size_t *ret_len)
{
	struct stat info;
	size_t size, len;
	char *text;
	ssize_t n;

	if (fstat(fd, &info) < 0 || (must_fit && info.st_size > (off_t)max))
		return NULL;
	size = (size_t)info.st_size;
	len = size < max ? size : max;
	text = malloc(len + 1);
	n = text ? pread(fd, text, len, (off_t)(size - len)) : -1;
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	*ret_len = (size_t)n;
	return text;
}

static void finish(struct training *training, int status, char *answer, size_t len)
{
	close_fds(training);
	training->state = TRAINING_DONE;
	training->http_status = status;
	training->answer = answer;
	training->answer_len = answer ? len : 0;
}

static void finish_with_text(struct training *training, int status, const char *text)
{
	char *line = NULL;
	int len = asprintf(&line, "%s\n", text);

	finish(training, status, len < 0 ? NULL : line, len < 0 ? 0 : (size_t)len);
}

/* The last line of the worker's messages, without the program's name. */
static const char *last_line(char *text)
{
	static const char program[] = "kepler-model: ";
	size_t len = strlen(text);
	char *line;

	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	return strncmp(line, program, sizeof(program) - 1) == 0 ? line + sizeof(program) - 1 : line;
}

static void take_end(struct trainings *trainings, struct training *training, int status)
{
	CLEANUP_FREE char *messages = NULL;
	char why[128] = "";
	size_t len = 0;
	char *answer;

	messages = read_end(training->err_fd, REASON_MAX, false, &len);
	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		answer = read_end(training->out_fd, TRAININGS_ANSWER, true, &len);
		trainings->finished++;
		finish(training, answer ? 200 : 503, answer, len);
		log_info("training %llu: made a pipeline of %zu bytes",
			 (unsigned long long)training->ticket, training->answer_len);
		return;
	}
	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE && messages) {
		trainings->refused_requests++;
		finish_with_text(training, 400, last_line(messages));
		log_warn("training %llu: refused: %.300s", (unsigned long long)training->ticket,
			 training->answer ? training->answer : "out of memory");
		return;
	}
	worker_describe_end(status, why, sizeof(why));
	trainings->failed++;
	finish_with_text(training, 503,
			 training->is_late ? "503: the training took longer than train.deadline"
					   : "503: the training failed; the limits of memory and "
					     "time may be too low for it");
	log_error("training %llu: failed: %s%s; its last output: %.200s",
		  (unsigned long long)training->ticket, why,
		  training->is_late ? " at its deadline" : "", messages ? last_line(messages) : "");
}

/* ---- the server's side ---- */

uint64_t trainings_submit(struct trainings *trainings, const void *body, size_t len,
			  uint64_t now_ns, struct diag *diag)
{
	struct training fresh = { .state = TRAINING_WAITS, .out_fd = -1, .err_fd = -1 };
	struct training *slot = NULL;
	uint64_t ticket = 0;

	(void)pthread_mutex_lock(&trainings->lock);
	if (count_in(trainings, TRAINING_WAITS) >= trainings->limits.waiting)
		trainings->too_many++;
	else
		for (size_t i = 0; i < TRAININGS_MAX && !slot; i++)
			slot = trainings->slots[i].state == TRAINING_FREE ? &trainings->slots[i]
									  : NULL;
	if (slot) {
		fresh.in_fd = memfd_create("kepler-train-request", MFD_CLOEXEC);
		if (fresh.in_fd < 0 || write_all(fresh.in_fd, body, len) < 0 ||
		    lseek(fresh.in_fd, 0, SEEK_SET) < 0) {
			close_fds(&fresh);
			(void)diag_set(diag, -ENOMEM, "out of memory");
		} else {
			fresh.ticket = ticket = ++trainings->last_ticket;
			fresh.submitted_ns = fresh.asked_ns = now_ns;
			*slot = fresh;
		}
	}
	(void)pthread_mutex_unlock(&trainings->lock);
	return ticket;
}

int trainings_take(struct trainings *trainings, uint64_t ticket, uint64_t now_ns, char **ret,
		   size_t *ret_len)
{
	struct training *training;
	int status = 503;

	*ret = NULL;
	*ret_len = 0;
	(void)pthread_mutex_lock(&trainings->lock);
	training = find_ticket(trainings, ticket);
	if (training && training->state != TRAINING_DONE) {
		training->asked_ns = now_ns;
		status = 0;
	} else if (training) {
		status = training->http_status;
		*ret_len = training->answer_len;
		*ret = TAKE_PTR(training->answer);
		free_slot(training);
	}
	(void)pthread_mutex_unlock(&trainings->lock);
	return status;
}

/* ---- the main thread's side ---- */

static void start(struct trainings *trainings, struct training *training, uint64_t now_ns)
{
	char command[] = "train-request", input[] = "-", work_dir[FOLDER_PATH_MAX + 16];
	char models[TRAININGS_MODELS_MAX + 16];
	char *const words[] = { command, input, work_dir, models, NULL };
	struct worker_command worker = { .words = words, .limits = trainings->limits.worker };
	struct diag diag = { "" };
	pid_t pid = -1;
	int r;

	r = folder_make(training->folder);
	if (r < 0) {
		training->folder[0] = '\0';
		(void)diag_set(&diag, r, "no folder below $TMPDIR or /tmp: %s",
			       strerrordesc_np(-r));
	} else {
		(void)snprintf(work_dir, sizeof(work_dir), "--work-dir=%s", training->folder);
		(void)snprintf(models, sizeof(models), "--models=%s", trainings->limits.models);
		training->out_fd = memfd_create("kepler-train-answer", MFD_CLOEXEC);
		training->err_fd = memfd_create("kepler-train-messages", MFD_CLOEXEC);
		worker.in_fd = training->in_fd;
		worker.out_fd = training->out_fd;
		worker.err_fd = training->err_fd;
		pid = training->out_fd < 0 || training->err_fd < 0 ? -1
								   : worker_start(&worker, &diag);
	}
	training->started_ns = now_ns;
	if (pid < 0) {
		trainings->failed++;
		log_error("training %llu: %s", (unsigned long long)training->ticket, diag.text);
		if (training->folder[0])
			folder_remove(training->folder);
		finish_with_text(training, 503, "503: the training could not be started");
		return;
	}
	training->pid = pid;
	training->state = TRAINING_RUNS;
	log_info("training %llu: started as process %d", (unsigned long long)training->ticket, pid);
}

static void watch(struct trainings *trainings, struct training *training, uint64_t now_ns)
{
	bool is_late = now_ns - training->submitted_ns >= trainings->limits.deadline_ns;
	int status = 0;

	if (worker_has_ended(training->pid, &status)) {
		trainings->seconds += (double)(now_ns - training->started_ns) / NSEC_PER_SEC;
		training->pid = 0;
		folder_remove(training->folder);
		take_end(trainings, training, status);
		return;
	}
	if (is_late || now_ns - training->asked_ns >= TRAININGS_LOST_NS) {
		training->is_late = is_late;
		(void)kill(training->pid, SIGKILL);
	}
}

static bool is_lost(const struct training *training, uint64_t now_ns)
{
	return (training->state == TRAINING_WAITS || training->state == TRAINING_DONE) &&
	       now_ns - training->asked_ns >= TRAININGS_LOST_NS;
}

void trainings_turn(struct trainings *trainings, uint64_t now_ns)
{
	struct training *next;

	(void)pthread_mutex_lock(&trainings->lock);
	for (size_t i = 0; i < TRAININGS_MAX; i++) {
		struct training *training = &trainings->slots[i];

		if (training->state == TRAINING_RUNS) {
			watch(trainings, training, now_ns);
		} else if (is_lost(training, now_ns)) {
			trainings->lost++;
			free_slot(training);
		} else if (training->state == TRAINING_WAITS &&
			   now_ns - training->submitted_ns >= trainings->limits.deadline_ns) {
			trainings->failed++;
			finish_with_text(training, 503,
					 "503: the training waited longer than train.deadline");
		}
	}
	next = count_in(trainings, TRAINING_RUNS) ? NULL : first_waiting(trainings);
	if (next)
		start(trainings, next, now_ns);
	(void)pthread_mutex_unlock(&trainings->lock);
}

void trainings_release(struct trainings *trainings)
{
	(void)pthread_mutex_lock(&trainings->lock);
	for (size_t i = 0; i < TRAININGS_MAX; i++) {
		struct training *training = &trainings->slots[i];

		if (training->state == TRAINING_FREE)
			continue;
		if (training->state == TRAINING_RUNS) {
			(void)kill(training->pid, SIGKILL);
			(void)waitpid(training->pid, NULL, 0);
			folder_remove(training->folder);
		}
		free_slot(training);
	}
	(void)pthread_mutex_unlock(&trainings->lock);
}

/* ---- metrics ---- */

static void print(struct strbuf *out, const char *name, const char *type, const char *help,
		  double value)
{
	strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name,
		    value);
}

void trainings_print_metrics(struct trainings *trainings, struct strbuf *out)
{
	static const char name[] = "kepler_model_trainer_trainings_total";

	(void)pthread_mutex_lock(&trainings->lock);
	print(out, "kepler_model_trainer_running", "gauge", "Trainings that run.",
	      (double)count_in(trainings, TRAINING_RUNS));
	print(out, "kepler_model_trainer_waiting", "gauge", "Trainings that wait for their turn.",
	      (double)count_in(trainings, TRAINING_WAITS));
	strbuf_addf(out, "# HELP %s Requests to train, by result.\n# TYPE %s counter\n", name,
		    name);
	strbuf_addf(out, "%s{result=\"made\"} %llu\n", name,
		    (unsigned long long)trainings->finished);
	strbuf_addf(out, "%s{result=\"refused\"} %llu\n", name,
		    (unsigned long long)trainings->refused_requests);
	strbuf_addf(out, "%s{result=\"failed\"} %llu\n", name,
		    (unsigned long long)trainings->failed);
	strbuf_addf(out, "%s{result=\"too_many\"} %llu\n", name,
		    (unsigned long long)trainings->too_many);
	strbuf_addf(out, "%s{result=\"given_up\"} %llu\n", name,
		    (unsigned long long)trainings->lost);
	print(out, "kepler_model_trainer_seconds_total", "counter",
	      "Time for which trainings have run.", trainings->seconds);
	(void)pthread_mutex_unlock(&trainings->lock);
}
