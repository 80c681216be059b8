// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/export.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "kepler-model/machine_file.h"
#include "kepler-model/settings.h"
#include "options/layers.h"
#include "repository/publication.h"

#define FILES_MAX 10000

struct export_config {
	struct settings settings;
	char *output, *pipeline, *publisher, *machine;
	bool any_error;
};

#define OWN(member) .offset = offsetof(struct export_config, member)

static const struct option rows[] = {
	{ "output", NULL, OPTION_STRING, OWN(output), .default_text = ".", .metavar = "DIR",
	  .only_flag = true, .help = "The folder of the repository." },
	{ "pipeline-name", NULL, OPTION_STRING, OWN(pipeline), .default_text = "kepler",
	  .metavar = "NAME", .only_flag = true,
	  .help = "The pipeline in it that the models become a part of." },
	{ "publisher", NULL, OPTION_STRING, OWN(publisher), .default_text = "", .metavar = "NAME",
	  .may_be_empty = true, .only_flag = true,
	  .help = "The publisher that the pipeline's description names." },
	{ "machine-spec", NULL, OPTION_STRING, OWN(machine), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true, .only_flag = true,
	  .help = "The machine that the models were trained on, for those that do not say so: a "
		  "JSON object of processor, cores, chips, memory and frequency." },
	{ "any-error", NULL, OPTION_BOOL, OWN(any_error), .default_text = "false",
	  .only_flag = true,
	  .help = "Also export models whose error is unknown, or above 20 % and 10 W." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set export_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct export_config),
};

static int read_model(const char *path, struct trained_model *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = read_file_alloc(path, MODEL_FILE_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	return trained_model_parse(ret, path, text, len, diag);
}

static int export_model(const struct export_config *config, const char *path,
			const struct machine_spec *machine, struct strbuf *out, struct diag *diag)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	const struct publication publication = { config->output, config->pipeline,
						 config->publisher };
	char written[PUBLICATION_NAME_MAX * 4];
	struct diag why = { "" };
	int r = read_model(path, &model, diag);

	if (r < 0)
		return r;
	if (!model.machine.processor[0] && !model.machine.cores)
		model.machine = *machine;
	r = config->any_error ? 0 : publication_judge(&model, &why);
	if (r == 0)
		r = publication_add(&publication, &model, written, &why);
	if (r < 0)
		return diag_set(diag, r, "%s: %s", path, why.text);
	strbuf_addf(out, "%s\n", written);
	return 0;
}

/* Each model by itself: one that is refused does not keep the others out. */
static int export_all(const struct export_config *config, const struct operands *operands,
		      struct strbuf *out)
{
	struct machine_spec machine = { 0 };
	struct diag diag = { "" };
	int status = EXIT_SUCCESS;

	if (*config->machine && machine_file_read(config->machine, &machine, &diag) < 0)
		return settings_fail(&diag);
	for (size_t i = 0; i < operands->count; i++)
		if (export_model(config, operands->words[i], &machine, out, &diag) < 0)
			status = settings_fail(&diag);
	return status;
}

int export_main(int argc, char *const *argv, char *const *environ_)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct export_config config = { 0 };
	struct operands operands;
	int status = settings_load(&export_options, argc, argv, environ_, 1, FILES_MAX,
				   &config.settings, &operands);

	if (status != 0)
		return status;
	status = export_all(&config, &operands, &out);
	if (out.len && settings_print(&out) != EXIT_SUCCESS)
		status = EXIT_FAILURE;
	operands_release(&operands);
	options_release(&export_options, &config.settings.options);
	return status;
}
