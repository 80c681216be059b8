// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/export.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "modelling/machine_file.h"
#include "modelling/model_command.h"
#include "modelling/model_input.h"
#include "modelling/sample_file.h"
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
	TEXT_FLAG("output", OWN(output), ".", "DIR", "Folder of the repository."),
	TEXT_FLAG("pipeline-name", OWN(pipeline), "kepler", "NAME",
		  "Pipeline in the repository that the models are added to."),
	TEXT_FLAG("publisher", OWN(publisher), "", "NAME",
		  "Publisher named in the pipeline's description."),
	TEXT_FLAG("machine-spec", OWN(machine), "", "FILE",
		  "The machine that the models were trained on, for models that do not name it: a "
		  "JSON object with processor, cores, chips, memory and frequency."),
	SWITCH_FLAG("any-error", OWN(any_error),
		    "Also export models whose error is unknown, or above both 20 % and 10 W."),
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set export_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct export_config),
};

struct exporting {
	const struct export_config *config;
	const char *operand; /* the models that are exported */
	struct machine_spec machine;
	struct strbuf *out; /* lines about the files that were written */
	int status;
};

/* Each model by itself: one that is refused does not keep the others out. */
static int export_model(void *userdata, const char *name, struct trained_model *model,
			struct diag *diag)
{
	struct exporting *exporting = userdata;
	const struct export_config *config = exporting->config;
	const struct publication publication = { config->output, config->pipeline,
						 config->publisher };
	bool is_file = strcmp(name, exporting->operand) == 0;
	char written[PUBLICATION_NAME_MAX * 4];
	struct diag why = { "" };
	int r;

	if (!model->machine.processor[0] && !model->machine.cores)
		model->machine = exporting->machine;
	r = config->any_error ? 0 : publication_judge(model, &why);
	if (r == 0)
		r = publication_add(&publication, model, written, &why);
	if (r == 0) {
		strbuf_addf(exporting->out, "%s\n", written);
		return 0;
	}
	(void)diag_set(diag, r, "%s%s%s: %.400s", exporting->operand, is_file ? "" : ": ",
		       is_file ? "" : name, why.text);
	exporting->status = settings_fail(diag);
	return 0;
}

static int run(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct export_config *config = userdata;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct exporting exporting = { .config = config, .out = &out, .status = EXIT_SUCCESS };

	if (*config->machine && machine_file_read(config->machine, &exporting.machine, diag) < 0)
		return -EINVAL;
	for (size_t i = 0; i < operands->count; i++) {
		struct diag why = { "" };

		exporting.operand = operands->words[i];
		if (model_input_each(exporting.operand, NULL, export_model, &exporting, &why) < 0)
			exporting.status = settings_fail(&why);
	}
	if (out.len && output_write("-", &out, diag) < 0)
		return -EIO;
	return exporting.status;
}

int export_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.name = "export", .set = &export_options, .min = 1, .max = FILES_MAX, .run = run
	};

	return model_command_run(&command, argc, argv, environ_);
}
