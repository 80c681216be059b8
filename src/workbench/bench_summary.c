// SPDX-License-Identifier: Apache-2.0
#include "workbench/bench_summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "modelling/data_path.h"
#include "modelling/sample_file.h"

#define FLAT_RATIO  0.1
#define SUMMARY_MAX 65536

static void add_number(struct strbuf *out, const char *before, double value, const char *unit)
{
	strbuf_add_str(out, before);
	if (isnan(value))
		strbuf_add_str(out, "unknown");
	else
		strbuf_addf(out, "%.2f %s", value, unit);
}

/* If loads hardly change the power, the error is small and meaningless. */
static bool is_flat(const struct trained_model *model, const struct model_component *component)
{
	return model->output == MODEL_ABS_POWER &&
	       component->maximum_w - component->minimum_w < FLAT_RATIO * component->maximum_w;
}

static void add_component(const char *name, const struct model_component *component,
			  struct strbuf *out)
{
	const struct model_error *error = &component->error;

	strbuf_addf(out, "%s: %s: ", name, component->name);
	add_number(out, "mean error ", error->mae_w, "W");
	add_number(out, ", ", error->mape_percent, "%");
	add_number(out, "; nine of ten predictions are within ", error->bound_w, "W");
	if (error->bound_ratio > 0)
		strbuf_addf(out, " or %.1f %% of the prediction", error->bound_ratio * 100);
	strbuf_addf(out, "; power %.2f to %.2f W; ", component->minimum_w, component->maximum_w);
	if (!error->rows)
		strbuf_add_str(out, "not judged\n");
	else
		strbuf_addf(out, "judged on %llu held-out rows, %s\n",
			    (unsigned long long)error->rows,
			    error->blocked ? "in blocks of time" : "chosen at random");
}

static int add_model(const char *folder, const char *name, struct strbuf *out, struct diag *diag)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	char path[DATA_PATH_SIZE];
	int r = model_file_load(data_path_of(folder, name, path), &model, diag);

	for (size_t i = 0; r == 0 && i < model.component_count; i++) {
		add_component(name, &model.components[i], out);
		if (is_flat(&model, &model.components[i]))
			strbuf_addf(out,
				    "%s: %s: the loads changed its power by less than %.0f %%: the "
				    "model and its error are not meaningful. The machine may have "
				    "been busy before\n",
				    name, model.components[i].name, FLAT_RATIO * 100);
	}
	return r;
}

int bench_summary_write(const char *folder, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	char buf[DATA_PATH_SIZE];
	const char *path = data_path_of(folder, BENCH_SUMMARY_FILE, buf);
	int r = add_model(folder, "AbsPower.json", &text, diag);

	if (r == 0)
		r = add_model(folder, "DynPower.json", &text, diag);
	if (r < 0)
		return r;
	if (strbuf_error(&text) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = write_file_atomic(path, text.data, text.len, 0644);
	return r < 0 ? diag_set(diag, r, "%.200s: cannot be written: %s", path, strerrordesc_np(-r))
		     : 0;
}

int bench_summary_print(const char *folder, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	CLEANUP_FREE char *text = NULL;
	char buf[DATA_PATH_SIZE];
	const char *path = data_path_of(folder, BENCH_SUMMARY_FILE, buf);
	size_t len;
	int r = read_file_alloc(path, SUMMARY_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%.200s: cannot be read: %s", path, strerrordesc_np(-r));
	strbuf_addf(&out, "%sThe models and their pages are in %s\n", text, folder);
	return output_write("-", &out, diag);
}
