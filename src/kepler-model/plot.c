// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/plot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "kepler-model/settings.h"
#include "options/layers.h"
#include "options/program.h"
#include "report/html_report.h"

#define SAMPLES_MAX (256U * 1024 * 1024) /* bytes of a file of samples */

struct plot_config {
	struct settings settings;
	char *output;
};

#define OWN(member) .offset = offsetof(struct plot_config, member)

static const struct option own_rows[] = {
	{ "output", NULL, OPTION_STRING, OWN(output), .default_text = "-", .metavar = "FILE",
	  .only_flag = true, .help = "Where the page goes. -: standard output." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set plot_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct plot_config),
};

static int read_text(const char *path, size_t max, char **ret, size_t *len, struct diag *diag)
{
	int r = read_file_alloc(path, max, ret, len);

	if (r == -E2BIG)
		return diag_set(diag, r, "%s: is larger than %zu MiB", path, max >> 20);
	return r < 0 ? diag_set(diag, r, "%s: %s", path, strerror(-r)) : 0;
}

static int read_model(const char *path, struct trained_model *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_text(path, MODEL_FILE_MAX, &text, &len, diag);

	return r < 0 ? r : trained_model_parse(ret, path, text, len, diag);
}

static int read_samples(const char *path, struct sample_table *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_text(path, SAMPLES_MAX, &text, &len, diag);

	return r < 0 ? r : sample_table_parse_csv(ret, path, text, len, diag);
}

/* The power of component "package" is in column "package_power". */
static void find_power(const struct trained_model *model, const struct sample_table *samples,
		       size_t *columns)
{
	for (size_t c = 0; c < model->component_count; c++) {
		char name[MODEL_NAME_MAX + sizeof("_power")];

		(void)snprintf(name, sizeof(name), "%s_power", model->components[c].name);
		columns[c] = sample_table_find(samples, name);
	}
}

static int plot(const char *model_path, const char *samples_path, struct strbuf *out,
		struct diag *diag)
{
	CLEANUP(trained_model_release) struct trained_model model = { .component_count = 0 };
	CLEANUP(sample_table_release) struct sample_table samples = { .rows = 0 };
	size_t power_columns[MODEL_COMPONENTS_MAX];
	int r = read_model(model_path, &model, diag);

	if (r == 0)
		r = read_samples(samples_path, &samples, diag);
	if (r < 0)
		return r;
	find_power(&model, &samples, power_columns);
	return html_report_add(out, &model, &samples, power_columns, diag);
}

static int write_page(const char *path, const struct strbuf *out, struct diag *diag)
{
	int r;

	if (strcmp(path, "-") == 0)
		return settings_print(out);
	r = write_file_atomic(path, out->data, out->len, 0644);
	return r < 0 ? settings_fail((diag_set(diag, r, "%s: %s", path, strerror(-r)), diag))
		     : EXIT_SUCCESS;
}

int plot_main(int argc, char *const *argv, char *const *environ_)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct plot_config config = { 0 };
	struct operands operands;
	struct diag diag = { "" };
	int status = settings_load(&plot_options, argc, argv, environ_, 2, 2, &config.settings,
				   &operands);

	if (status != 0)
		return status;
	if (plot(operands.words[0], operands.words[1], &out, &diag) < 0)
		status = settings_fail(&diag);
	else
		status = write_page(config.output, &out, &diag);
	operands_release(&operands);
	options_release(&plot_options, &config.settings.options);
	return status;
}
