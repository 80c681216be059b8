// SPDX-License-Identifier: Apache-2.0
#include "trainers/online_page.h"

#include <math.h>

#include "base/macro.h"

const char *const online_task_names[TASK_COUNT] = { "none", "search", "collect", "extract",
						    "train" };

static void head(struct strbuf *out, const char *name, const char *type, const char *help)
{
	strbuf_addf(out, "# HELP kepler_model_%s %s\n# TYPE kepler_model_%s %s\n", name, help, name,
		    type);
}

static void print_learners(const struct online *online, struct strbuf *out)
{
	static const struct {
		const char *name, *type, *help;
	} families[] = {
		{ "online_rows_total", "counter", "Rows accepted, by type of machine." },
		{ "online_rows_left_out_total", "counter", "Rows with a missing measurement." },
		{ "online_rows_kept", "gauge", "Rows of the sample that models are trained on." },
		{ "online_blocks_held_out", "gauge", "Blocks that judge models." },
		{ "drift_ratio", "gauge",
		  "Error of the model in use in the newest block, to its stated error." },
		{ "drift_alarm", "gauge", "1 if the model in use no longer fits, otherwise 0." },
	};

	for (size_t f = 0; f < ARRAY_SIZE(families); f++) {
		head(out, families[f].name, families[f].type, families[f].help);
		for (size_t i = 0; i < online->models.count; i++) {
			const struct learner *l = online->models.learners[i];
			const double values[] = { (double)l->taken,
						  (double)l->left_out,
						  (double)reservoir_count(&l->reservoir),
						  (double)l->held_count,
						  l->drift.ratio,
						  l->has_current ? l->drift.alarm : (double)NAN };

			if (!isnan(values[f])) /* an unknown value has no series */
				strbuf_addf(out, "kepler_model_%s{machine=\"%s\"} %.15g\n",
					    families[f].name, l->name, values[f]);
		}
	}
}

static void print_tasks(const struct online *online, struct strbuf *out)
{
	head(out, "online_tasks_total", "counter",
	     "Collections, extractions and trainings, by result.");
	for (int t = TASK_COLLECT; t < TASK_COUNT; t++)
		strbuf_addf(
			out,
			"kepler_model_online_tasks_total{task=\"%s\",result=\"success\"} %llu\n"
			"kepler_model_online_tasks_total{task=\"%s\",result=\"failure\"} %llu\n",
			online_task_names[t], (unsigned long long)online->done[t],
			online_task_names[t], (unsigned long long)online->failed[t]);
	head(out, "online_task_seconds_total", "counter", "Time that they took.");
	for (int t = TASK_COLLECT; t < TASK_COUNT; t++)
		strbuf_addf(out, "kepler_model_online_task_seconds_total{task=\"%s\"} %.6g\n",
			    online_task_names[t], online->seconds[t]);
	head(out, "online_models_total", "counter", "Trained models, by result.");
	strbuf_addf(out,
		    "kepler_model_online_models_total{result=\"published\"} %llu\n"
		    "kepler_model_online_models_total{result=\"not_better\"} %llu\n"
		    "kepler_model_online_models_total{result=\"failed\"} %llu\n",
		    (unsigned long long)online->models.published,
		    (unsigned long long)online->models.kept,
		    (unsigned long long)online->models.failed);
}

void online_page_print(const struct online *online, struct strbuf *out)
{
	head(out, "online_up", "gauge",
	     "1 if the last query to Prometheus succeeded, otherwise "
	     "0.");
	strbuf_addf(out, "kepler_model_online_up %d\n", online->is_up);
	head(out, "online_cycles_total", "counter", "Times that new points were collected.");
	strbuf_addf(out, "kepler_model_online_cycles_total %llu\n",
		    (unsigned long long)online->cycles);
	head(out, "online_unknown_nodes_total", "counter",
	     "Nodes in collections that are not in --machines, or beyond the limit.");
	strbuf_addf(out, "kepler_model_online_unknown_nodes_total %llu\n",
		    (unsigned long long)online->unknown_nodes +
			    (unsigned long long)online->search.found.left_out);
	if (online->until_s > 0) {
		head(out, "online_until_timestamp_seconds", "gauge",
		     "Time up to which points were collected.");
		strbuf_addf(out, "kepler_model_online_until_timestamp_seconds %.3f\n",
			    online->until_s);
	}
	head(out, "drift_alarms_total", "counter", "Times that an alarm of drift has begun.");
	strbuf_addf(out, "kepler_model_drift_alarms_total %.15g\n", online->alarms);
	print_tasks(online, out);
	print_learners(online, out);
}
