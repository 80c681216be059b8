// SPDX-License-Identifier: Apache-2.0
#include "trainers/online_trainer.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "model-server/api_metrics.h"
#include "modelling/bench_step.h"
#include "modelling/daemon.h"
#include "modelling/model_command.h"
#include "modelling/times.h"
#include "samples/sample_input.h"
#include "trainers/online_page.h"
#include "trainers/worker.h"
#include "training/forms/candidate.h"

#define TURN_MS        200
#define OVERLAP_STEPS  5            /* that are asked for again, because a step takes two points */
#define RANGE_MAX_S    (6 * 3600.0) /* of one collection */
#define RETRIES_MAX    5            /* of one collection, before it starts again */
#define ROWS_TO_TRAIN  60
#define LINE           "LinearRegressionTrainer" /* is always among the trainers */
#define FILE_BYTES     (4ULL << 30)
#define MEBI           (1ULL << 20)
#define USEC_PER_SEC_F 1e6

static const struct backoff_limits limits_of_backoff = {
	.refused_min_ms = 5000,
	.refused_max_ms = 10000,
	.resume_ms = 1000,
	.retry_ms = 10000,
	.spread_ms = 2000,
	.denied_max_ms = 600000,
};

static double now_s(void)
{
	return (double)clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC;
}

static void path_of(const struct online *online, const char *name, char ret[ONLINE_PATH_MAX])
{
	(void)snprintf(ret, ONLINE_PATH_MAX, "%.900s/%s", online->config->state_dir, name);
}

/* ---- tasks ---- */

/* Starts a worker; a failed start counts as a failure of the task. */
static bool start_task(struct online *online, enum online_task task, struct bench_step *step,
		       uint64_t now_ns)
{
	const struct online_config *config = online->config;
	const struct worker_command command = {
		.words = step->words,
		.in_fd = -1,
		.out_fd = STDERR_FILENO,
		.err_fd = -1,
		.limits = { config->memory_mib * MEBI, config->deadline_ns / NSEC_PER_SEC + 1,
			    FILE_BYTES, config->only_idle },
	};
	struct diag diag = { "out of memory" };

	online->pid = step->is_incomplete ? -ENOMEM : worker_start(&command, &diag);
	bench_step_release(step);
	if (online->pid < 0) {
		online->failed[task]++;
		log_error("%s: %s", online_task_names[task], diag.text);
		return false;
	}
	online->task = task;
	online->task_ns = now_ns;
	online->is_late = false;
	return true;
}

static void wait_for_next(struct online *online, uint64_t now_ns)
{
	online->task = TASK_NONE;
	online->next_ns = now_ns + online->config->interval_ns;
}

/* ---- collecting ---- */

static void add_text(struct bench_step *step, const char *option, const char *value)
{
	if (*value)
		bench_step_add(step, "--%s=%s", option, value);
}

/* Limits times in the future, such as from a state saved before a clock was set back. */
static void limit_clocks(struct online *online, double to_s)
{
	online_clocks_limit(&online->clocks, to_s);
	online->until_s = fmin(online->until_s, to_s);
	for (size_t i = 0; i < online->models.count; i++) {
		struct learner *learner = online->models.learners[i];

		if (learner->until_s > to_s) {
			log_warn("%s: its rows end %.0f s in the future; continuing from now",
				 learner->name, learner->until_s - to_s);
			learner->until_s = to_s;
		}
	}
}

static void begin_collection(struct online *online, uint64_t now_ns)
{
	const struct online_config *config = online->config;
	struct bench_step step = { .count = 0 };
	char path[ONLINE_PATH_MAX];
	int64_t step_us = 0;
	double overlap_s, lag_s = (double)config->interval_ns / NSEC_PER_SEC;

	(void)seconds_parse(config->step, &step_us);
	overlap_s = OVERLAP_STEPS * (double)step_us / USEC_PER_SEC_F;
	online->to_s = now_s();
	limit_clocks(online, online->to_s);
	online->from_s =
		fmax(online_clocks_begin(&online->clocks, lag_s, online->until_s) - overlap_s,
		     online->to_s - (double)config->history_ns / NSEC_PER_SEC);
	online->to_s = fmin(online->to_s, online->from_s + RANGE_MAX_S);
	path_of(online, "collected.json", path);
	(void)unlink(path);
	bench_step_add(&step, "collect");
	bench_step_add(&step, "%s", path);
	bench_step_add(&step, "--start-time=%.3f", online->from_s);
	bench_step_add(&step, "--end-time=%.3f", online->to_s);
	bench_step_add(&step, "--timeout=%llums",
		       (unsigned long long)(config->timeout_ns / NSEC_PER_MSEC));
	add_text(&step, "server", config->server);
	add_text(&step, "step", config->step);
	add_text(&step, "match", config->match);
	add_text(&step, "ca-file", config->ca_file);
	add_text(&step, "token-file", config->token_file);
	add_text(&step, "user", config->user);
	add_text(&step, "password-file", config->password_file);
	if (config->insecure)
		bench_step_add(&step, "--insecure");
	if (!start_task(online, TASK_COLLECT, &step, now_ns))
		wait_for_next(online, now_ns);
}

static void forget_collection(const struct online *online)
{
	static const char *const names[] = { "collected.json", "collected.json.part",
					     "collected.json.progress", "rows.csv" };
	char path[ONLINE_PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		path_of(online, names[i], path);
		(void)unlink(path);
	}
}

/* ---- extracting ---- */

static struct learner *learner_of(const struct online *online, const char *instance)
{
	const struct machine_spec *machine = online_nodes_find(&online->nodes, instance);

	return machine ? online_models_find(&online->models, machine) : NULL;
}

static bool begin_extraction(struct online *online, uint64_t now_ns)
{
	const char *instance = online->search.found.names[online->at];
	struct bench_step step = { .count = 0 };
	char path[ONLINE_PATH_MAX], rows[ONLINE_PATH_MAX];

	path_of(online, "collected.json", path);
	path_of(online, "rows.csv", rows);
	bench_step_add(&step, "extract");
	bench_step_add(&step, "%s", path);
	bench_step_add(&step, "--output=%s", rows);
	bench_step_add(&step, "--feature-group=%s", online->config->group);
	bench_step_add(&step, "--energy-source=%s", online->config->source);
	add_text(&step, "node", instance);
	return start_task(online, TASK_EXTRACT, &step, now_ns);
}

static size_t index_of(const struct online *online, const struct learner *learner)
{
	size_t i = 0;

	while (online->models.learners[i] != learner)
		i++;
	return i;
}

static void take_rows(struct online *online)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	const char *instance = online->search.found.names[online->at];
	struct learner *learner = learner_of(online, instance);
	struct online_clock *clock =
		online_clocks_find(&online->clocks, instance, learner->until_s);
	double *latest_s = &online->latest_s[index_of(online, learner)];
	struct diag diag = { "" };
	char rows[ONLINE_PATH_MAX];
	int r;

	path_of(online, "rows.csv", rows);
	r = sample_input_read(rows, &table, &diag);
	if (r == 0)
		r = learner_take(learner, &table, &clock->until_s, online->to_s, &diag);
	*latest_s = fmax(*latest_s, clock->until_s);
	if (r < 0) {
		online->failed[TASK_EXTRACT]++;
		log_warn("node %s: its rows are left out: %s", instance, diag.text);
	}
}

static void end_cycle(struct online *online, uint64_t now_ns)
{
	for (size_t i = 0; i < online->models.count; i++) {
		struct learner *learner = online->models.learners[i];
		struct diag diag = { "" };
		int r;

		learner->until_s = fmax(learner->until_s, online->latest_s[i]);
		online->until_s = fmax(online->until_s, learner->until_s);
		r = learner_close_block(learner);
		if (learner->alarm_began) {
			learner->alarm_began = false;
			online->alarms++;
			log_warn("%s: the model in use no longer fits: in the newest block its "
				 "error is %.2f times the stated one",
				 learner->name, learner->drift.ratio);
		}
		if (r >= 0)
			r = online_models_save(&online->models, learner, &diag);
		if (r < 0)
			log_error("%s: %s", learner->name,
				  diag.text[0] ? diag.text : "out of memory");
	}
	forget_collection(online);
	online->cycles++;
	online->retries = 0;
	wait_for_next(online, now_ns);
}

/* The next instance that is known, or the end of the cycle. */
static void go_on(struct online *online, uint64_t now_ns)
{
	for (; online->at < online->search.found.count; online->at++) {
		const char *instance = online->search.found.names[online->at];

		if (!learner_of(online, instance)) {
			online->unknown_nodes++;
			log_debug("node %s is not in machines, and left out", instance);
		} else if (begin_extraction(online, now_ns)) {
			return;
		}
	}
	end_cycle(online, now_ns);
}

static void end_collection(struct online *online, uint64_t now_ns)
{
	char path[ONLINE_PATH_MAX];
	struct diag diag = { "" };

	path_of(online, "collected.json", path);
	backoff_succeeded(&online->backoff);
	online->is_up = true;
	online->at = 0;
	memset(online->latest_s, 0, sizeof(online->latest_s));
	online->task = TASK_SEARCH;
	if (online_search_begin(&online->search, path, &diag) < 0) {
		log_error("%s", diag.text);
		end_cycle(online, now_ns);
	}
}

static void end_search(struct online *online, uint64_t now_ns)
{
	if (online_search_end(&online->search) < 0) {
		log_error("%s", online->search.diag.text);
		online->search.found.count = 0;
	}
	go_on(online, now_ns);
}

static void retry_collection(struct online *online, uint64_t now_ns)
{
	const struct backoff_failure failure = { .kind = BACKOFF_FAILED };
	uint64_t delay_ms =
		backoff_failed(&online->backoff, &failure, (uint32_t)(now_ns * 2654435761U));

	online->is_up = false;
	online->task = TASK_NONE;
	online->next_ns = now_ns + delay_ms * NSEC_PER_MSEC;
	/* An incomplete collection is continued with its own times, up to RETRIES_MAX times. */
	if (++online->retries % RETRIES_MAX == 0)
		forget_collection(online);
	log_warn("no points from %s; retrying in %llu s", online->config->server,
		 (unsigned long long)(delay_ms / 1000));
}

/* ---- training ---- */

static bool is_due(const struct online *online, const struct learner *learner)
{
	double retrain_s = (double)online->config->retrain_ns / NSEC_PER_SEC;

	return learner->held_count >= CANDIDATE_BLOCKS_MIN && learner->fresh > 0 &&
	       reservoir_count(&learner->reservoir) >= ROWS_TO_TRAIN &&
	       (learner->drift.alarm || !learner->has_current ||
		now_s() - learner->trained_s >= retrain_s);
}

static int write_rows(const struct learner *learner, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct diag diag = { "out of memory" };
	int r = learner_write_rows(learner, &text);

	if (r == 0) {
		r = write_file_atomic(path, text.data, text.len, 0600);
		(void)diag_set(&diag, r, "%s: cannot be written", path);
	}
	if (r < 0)
		log_error("%s: %s", learner->name, diag.text);
	return r;
}

static void begin_training(struct online *online, struct learner *learner, uint64_t now_ns)
{
	struct bench_step step = { .count = 0 };
	char rows[ONLINE_PATH_MAX], candidate[ONLINE_PATH_MAX];

	online->trained = learner;
	learner->trained_s = now_s();
	online_models_path(&online->models, learner, ".rows.csv", rows);
	online_models_path(&online->models, learner, ".candidate.json", candidate);
	(void)unlink(candidate);
	bench_step_add(&step, "train-from-data");
	bench_step_add(&step, "%s", rows);
	bench_step_add(&step, "--output=%s", candidate);
	bench_step_add(&step, "--feature-group=%s", online->config->group);
	bench_step_add(&step, "--trainers=%s," LINE, online->config->trainers);
	bench_step_add(&step, "--energy-source=%s", online->config->source);
	bench_step_add(&step, "--folds=5");
	if (write_rows(learner, rows) < 0) {
		bench_step_release(&step);
		online->failed[TASK_TRAIN]++;
		return;
	}
	(void)start_task(online, TASK_TRAIN, &step, now_ns);
}

static void end_training(struct online *online, bool fine)
{
	struct learner *learner = online->trained;
	struct diag diag = { "" };
	char path[ONLINE_PATH_MAX];

	online_models_decide(&online->models, learner, fine);
	if (online_models_save(&online->models, learner, &diag) < 0)
		log_error("%s: %s", learner->name, diag.text);
	online_models_path(&online->models, learner, ".rows.csv", path);
	(void)unlink(path);
	online_models_path(&online->models, learner, ".candidate.json", path);
	(void)unlink(path);
	online->task = TASK_NONE;
}

/* ---- a turn ---- */

static void end_task(struct online *online, int status, uint64_t now_ns)
{
	enum online_task task = online->task;
	bool fine = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
	char why[128];

	online->seconds[task] += (double)(now_ns - online->task_ns) / NSEC_PER_SEC;
	online->done[task] += fine;
	online->failed[task] += !fine;
	online->pid = 0;
	if (!fine) {
		worker_describe_end(status, why, sizeof(why));
		log_warn("%s failed: %s%s", online_task_names[task], why,
			 online->is_late ? " at its deadline" : "");
	}
	if (task == TASK_TRAIN) {
		end_training(online, fine);
	} else if (task == TASK_COLLECT && fine) {
		end_collection(online, now_ns);
	} else if (task == TASK_COLLECT) {
		retry_collection(online, now_ns);
	} else {
		if (fine)
			take_rows(online);
		online->at++;
		go_on(online, now_ns);
	}
}

static void turn(struct online *online, uint64_t now_ns)
{
	int status = 0;

	if (online->task == TASK_SEARCH) {
		if (online_search_is_over(&online->search))
			end_search(online, now_ns);
		return;
	}
	if (online->task != TASK_NONE) {
		if (worker_has_ended(online->pid, &status)) {
			end_task(online, status, now_ns);
		} else if (now_ns - online->task_ns >= online->config->deadline_ns) {
			online->is_late = true;
			(void)kill(online->pid, SIGKILL);
		}
		return;
	}
	for (size_t i = 0; i < online->models.count && online->task == TASK_NONE; i++) {
		if (is_due(online, online->models.learners[i]))
			begin_training(online, online->models.learners[i], now_ns);
	}
	if (online->task == TASK_NONE && now_ns >= online->next_ns)
		begin_collection(online, now_ns);
}

/* ---- pages ---- */

static void renew_page(struct online *online)
{
	struct strbuf page = STRBUF_INIT;
	char *old;

	online_page_print(online, &page);
	if (strbuf_error(&page) < 0) {
		strbuf_release(&page);
		return; /* the old one stays */
	}
	(void)pthread_mutex_lock(&online->lock);
	old = online->page;
	online->page = page.data;
	online->page_len = page.len;
	(void)pthread_mutex_unlock(&online->lock);
	free(old);
}

static void handle_metrics(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	struct online *online = userdata;
	struct strbuf copy = STRBUF_INIT;

	(void)request;
	(void)pthread_mutex_lock(&online->lock);
	strbuf_add(&copy, online->page ? online->page : "", online->page_len);
	(void)pthread_mutex_unlock(&online->lock);
	daemon_answer_page(response, 200, API_METRICS_TYPE, &copy);
}

/* ---- life ---- */

static int start(void *userdata, struct diag *diag)
{
	struct online *online = userdata;
	const struct online_config *config = online->config;
	const struct http_route routes[ONLINE_ROUTES] = {
		{ "/metrics", handle_metrics, online, .spare = true },
		{ "/healthz", daemon_handle_healthz, online, .spare = true, .is_open = true },
	};
	const struct http_options options = {
		.routes = online->routes,
		.route_count = ONLINE_ROUTES,
	};
	int r = online_nodes_read(config->machines, &online->nodes, diag);

	if (r == 0)
		r = online_models_load(&online->models, &online->nodes, diag);
	if (r == 0 && access(config->state_dir, W_OK | X_OK) < 0)
		r = diag_set(diag, -errno, "state-dir: %s: cannot be written to: %s",
			     config->state_dir, strerrordesc_np(errno));
	if (r < 0)
		return r;
	for (size_t i = 0; i < online->models.count; i++)
		online->until_s = fmax(online->until_s, online->models.learners[i]->until_s);
	backoff_init(&online->backoff, &limits_of_backoff);
	forget_collection(online);
	memcpy(online->routes, routes, sizeof(routes));
	renew_page(online);
	r = web_options_start(&config->web, &options, &online->server, diag);
	if (r == 0)
		web_options_say_addresses(online->server);
	return r;
}

/* Collects now, and reads the tokens again. */
static void reload(struct online *online, uint64_t now_ns)
{
	struct diag diag = { "" };

	online->next_ns = now_ns;
	if (web_options_reload(&online->config->web, online->server, &diag) < 0)
		log_error("keeping the previous tokens: %s", diag.text);
}

static void take_turn(void *userdata, uint64_t now_ns, bool wants_reload)
{
	if (wants_reload)
		reload(userdata, now_ns);
	turn(userdata, now_ns);
	renew_page(userdata);
}

static void stop(void *userdata)
{
	struct online *online = userdata;

	if (online->pid > 0) {
		(void)kill(online->pid, SIGKILL);
		(void)waitpid(online->pid, NULL, 0);
	}
	(void)online_search_end(&online->search);
	http_server_stop(online->server);
	online_models_release(&online->models);
	free(online->page);
}

static int run(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct online_config *config = userdata;
	const struct daemon daemon = { .security = &config->security,
				       .start = start,
				       .turn = take_turn,
				       .stop = stop,
				       .turn_ms = TURN_MS };
	CLEANUP_FREE struct online *online = calloc(1, sizeof(*online));

	if (!online)
		return diag_set(diag, -ENOMEM, "out of memory");
	online->config = config;
	online->models.config = config;
	online->models.root = operands->words[0];
	(void)pthread_mutex_init(&online->lock, NULL); /* cannot fail with default attributes */
	return daemon_run(&daemon, online, diag);
}

int online_trainer_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.set = &online_options, .min = 1, .max = 1, .run = run
	};

	return model_command_run(&command, argc, argv, environ_);
}
