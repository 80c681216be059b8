// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/repo.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "modelling/machine_file.h"
#include "modelling/model_command.h"
#include "modelling/sample_file.h"
#include "options/program.h"
#include "repository/archive.h"
#include "repository/choice.h"
#include "repository/entry_filter.h"
#include "repository/model_json.h"
#include "repository/model_report.h"
#include "repository/published_copy.h"

const char repo_usage[] =
	"  repo list DIR        list the models with their errors\n  repo verify DIR      read "
	"each file and report problems\n  repo publish DIR OUT copy models that are good enough to "
	"OUT\n  repo best DIR        choose the best model for a machine, by output and group\n";

struct repo_config {
	struct settings settings;
	char *source, *group, *trainer, *filter, *machine;
	int output; /* enum model_output, or -1 */
	bool json;
};

static const struct option_choice outputs[] = {
	{ "any", -1 }, { "AbsPower", MODEL_ABS_POWER }, { "DynPower", MODEL_DYN_POWER }, { NULL }
};

#define OWN(member) .offset = offsetof(struct repo_config, member)

static const struct option own_rows[] = {
	TEXT_FLAG("energy-source", OWN(source), "", "NAME",
		  "Only models for this energy source, such as rapl-sysfs or acpi."),
	{ "output-type", NULL, OPTION_ENUM, OWN(output), .choices = outputs, .default_text = "any",
	  .metavar = "TYPE", .only_flag = true,
	  .help = "Only models with this output. AbsPower includes idle power, DynPower does "
		  "not." },
	TEXT_FLAG("feature-group", OWN(group), "", "NAME",
		  "Only models of this feature group, such as BPFOnly."),
	TEXT_FLAG("trainer", OWN(trainer), "", "NAME",
		  "Only models of this trainer, such as XgboostFitTrainer."),
	TEXT_FLAG("filter", OWN(filter), "", "FILTER",
		  "Only models that satisfy ATTRIBUTE:VALUE;…. Errors such as mae, mape and "
		  "package_mae must be at most VALUE; other attributes (node_type, processor, "
		  "cores) must be equal."),
	TEXT_FLAG("machine-spec", OWN(machine), "", "FILE",
		  "The machine to choose a model for: a JSON object with processor, cores, chips, "
		  "memory and frequency. Default: this machine."),
	SWITCH_FLAG("json", OWN(json), "Print JSON."),
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set repo_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct repo_config),
};

/* ---- list ---- */

/* The selection by the options; @machine may be NULL. */
static struct choice_request request_of(const struct repo_config *config,
					const struct machine_spec *machine)
{
	struct choice_request request = {
		.source = config->source,
		.group = config->group,
		.trainer = config->trainer,
		.pipeline = "",
		.node_type = -1,
		.no_pickles = true,
		.filter = config->filter,
	};

	if (config->output >= 0)
		request.output = (enum model_output)config->output;
	if (machine)
		request.machine = *machine;
	return request;
}

static void add_number(struct strbuf *out, double number)
{
	if (isfinite(number))
		strbuf_addf(out, "%9.2f", number);
	else
		strbuf_addf(out, "%9s", "-");
}

static const char *forms_of(const struct model_entry *entry)
{
	if (model_entry_is_pickled(entry))
		return "pickle";
	if (entry->weights_are_bad)
		return entry->files & FILE_ARCHIVE ? "bad, archive" : "bad";
	if (!(entry->files & FILE_WEIGHTS))
		return "archive";
	return entry->files & FILE_ARCHIVE ? "weights, archive" : "weights";
}

static void add_line(const struct repository *repository, const struct model_entry *entry,
		     struct strbuf *out)
{
	strbuf_addf(out, "%-18s %-11s %-9s %-19s %-40s ",
		    repository->pipelines[entry->pipeline].name, entry->source,
		    model_output_name(entry->output), entry->group, entry->name);
	add_number(out, entry->mae_w);
	add_number(out, entry->mape_percent);
	strbuf_addf(out, "  %-17s %s\n", forms_of(entry), entry->machine.processor);
}

static int list(const struct repo_config *config, const struct repository *repository,
		struct strbuf *out, struct diag *diag)
{
	CLEANUP(model_json_release) json_t *reports = json_object();
	const struct choice_request request = request_of(config, NULL);
	json_t *models = json_array();
	struct entry_filter filter;

	(void)json_object_set_new(reports, "models", models);
	if (entry_filter_parse(config->filter, &filter, diag) < 0)
		return -EINVAL;
	if (!config->json)
		strbuf_addf(out, "%-18s %-11s %-9s %-19s %-40s %9s%9s  %-17s %s\n", "PIPELINE",
			    "SOURCE", "OUTPUT", "GROUP", "MODEL", "MAE W", "MAPE %", "FORM",
			    "PROCESSOR");
	for (size_t i = 0; i < repository->entry_count; i++) {
		const struct model_entry *entry = &repository->entries[i];

		if (!choice_lists(&request, config->output < 0, repository, entry) ||
		    !entry_filter_passes(&filter, entry))
			continue;
		if (config->json)
			(void)json_array_append_new(models, model_report(repository, entry));
		else
			add_line(repository, entry, out);
	}
	if (config->json)
		(void)model_json_dump(reports, out); /* out notes a failure */
	return 0;
}

/* ---- verify ---- */

struct verdict {
	size_t files, bad, pickled;
	struct strbuf *out;
};

static void add_fault(struct verdict *verdict, const struct repository *repository,
		      const struct model_entry *entry, const char *fault)
{
	char path[REPOSITORY_PATH_MAX] = "";

	(void)repository_path(repository, entry, FILE_ARCHIVE, path, sizeof(path));
	strbuf_addf(verdict->out, "bad     %s: %s\n", path, fault);
	verdict->bad++;
}

static int verify_archive(const char *name, const char *bytes, size_t len, struct diag *diag)
{
	CLEANUP(archive_cleanup) struct archive *archive = NULL;
	int r = archive_open(name, bytes, len, &archive, diag);

	for (size_t i = 0; r == 0 && i < archive_count(archive); i++) {
		CLEANUP_FREE char *text = NULL;
		size_t text_len;

		r = archive_read(archive, i, &text, &text_len, diag);
	}
	if (r == 0 && archive_find(archive, "metadata.json") == SIZE_MAX)
		r = diag_set(diag, -EINVAL, "has no metadata.json");
	return r;
}

static void verify_file(struct verdict *verdict, const struct repository *repository,
			const struct model_entry *entry)
{
	CLEANUP_FREE char *bytes = NULL;
	struct diag diag = { "" };
	size_t len = 0;
	int r = repository_read(repository, entry, FILE_ARCHIVE, &bytes, &len, &diag);

	if (r == 0)
		r = verify_archive(entry->name, bytes, len, &diag);
	if (r < 0)
		add_fault(verdict, repository, entry, diag.text);
}

/* Weights were checked when the repository was read; bad ones are among its problems. */
static int verify(const struct repository *repository, struct strbuf *out)
{
	struct verdict verdict = { .out = out };

	for (size_t i = 0; i < repository->entry_count; i++) {
		const struct model_entry *entry = &repository->entries[i];

		verdict.files += entry->files & FILE_WEIGHTS ? 1 : 0;
		verdict.files += entry->files & FILE_ARCHIVE ? 1 : 0;
		if (entry->files & FILE_ARCHIVE)
			verify_file(&verdict, repository, entry);
		verdict.pickled += model_entry_is_pickled(entry);
	}
	for (size_t i = 0; i < repository->problem_count && i < REPOSITORY_PROBLEMS_MAX; i++)
		strbuf_addf(out, "bad     %s\n", repository->problems[i]);
	strbuf_addf(out, "%zu models in %zu pipelines, %zu files: %zu bad\n",
		    repository->entry_count, repository->pipeline_count, verdict.files,
		    verdict.bad + repository->problem_count);
	if (verdict.pickled)
		strbuf_addf(
			out,
			"%zu models are pickles of Python. They are listed and served to clients "
			"that ask for an archive, but nothing here loads them, because loading a "
			"pickle runs the code in it. Train them again with kepler-model, or use "
			"a model of the same machine with weights or XGBoost trees.\n",
			verdict.pickled);
	return verdict.bad || repository->problem_count ? -EINVAL : 0;
}

/* ---- best ---- */

static void add_choice(const struct repository *repository, const struct choice *choice,
		       struct strbuf *out)
{
	add_line(repository, choice->entry, out);
	strbuf_addf(out, "  match %s, looseness %.0f %%, uncertainty %.2f, core ratio %.2f",
		    model_match_name(choice->match), choice->looseness * 100, choice->uncertainty,
		    choice->core_ratio);
	if (isfinite(choice->expected_error))
		strbuf_addf(out, ", expected error %.0f %%", choice->expected_error * 100);
	strbuf_add_char(out, '\n');
}

static json_t *choice_object(const struct repository *repository, const struct choice *choice)
{
	json_t *object = json_object();

	(void)json_object_set_new(object, "model", model_report(repository, choice->entry));
	(void)json_object_set_new(object, "match", choice_report(choice));
	return object;
}

/* The best one of each source, output and group that the repository has. */
static bool is_first_of_its_kind(const struct repository *repository, size_t i)
{
	const struct model_entry *entry = &repository->entries[i];

	for (size_t j = 0; j < i; j++)
		if (repository->entries[j].output == entry->output &&
		    strcmp(repository->entries[j].group, entry->group) == 0 &&
		    strcmp(choice_source(repository->entries[j].source),
			   choice_source(entry->source)) == 0)
			return false;
	return true;
}

static int best(const struct repo_config *config, const struct repository *repository,
		const struct machine_spec *machine, struct strbuf *out, struct diag *diag)
{
	CLEANUP(model_json_release) json_t *reports = json_object();
	struct choice_request listed = request_of(config, NULL);
	struct choice_request request = request_of(config, machine);
	json_t *models = json_array();
	size_t found = 0;

	listed.trainer = ""; /* a kind's first model may have another one */
	(void)json_object_set_new(reports, "best", models);
	for (size_t i = 0; i < repository->entry_count; i++) {
		const struct model_entry *kind = &repository->entries[i];
		struct choice choice;
		int r;

		if (!is_first_of_its_kind(repository, i) ||
		    !choice_lists(&listed, config->output < 0, repository, kind))
			continue;
		request.source = kind->source;
		request.output = kind->output;
		request.group = kind->group;
		r = choice_make(repository, &request, &choice, diag);
		if (r == -EINVAL)
			return r;
		if (r < 0)
			continue;
		found++;
		if (config->json)
			(void)json_array_append_new(models, choice_object(repository, &choice));
		else
			add_choice(repository, &choice, out);
	}
	if (config->json)
		(void)model_json_dump(reports, out); /* out notes a failure */
	return found ? 0 : diag_set(diag, -ENOENT, "no model fits");
}

/* ---- publish ---- */

static int publish(const struct repository *repository, const char *folder, struct strbuf *out,
		   struct diag *diag)
{
	struct published_copy copy = { 0 };
	int r = published_copy_write(repository, folder, &copy, diag);

	if (r == 0)
		strbuf_addf(out,
			    "%zu models in %s; %zu left out: unknown errors, more than 10 W and "
			    "20 %% off, or bad weights\n",
			    copy.models, folder, copy.left_out);
	return r;
}

/* ---- the command ---- */

static bool is_known(const char *command)
{
	static const char *const commands[] = { "list", "verify", "best", "publish" };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(command, commands[i]) == 0)
			return true;
	return false;
}

static int answer(const struct repo_config *config, const struct operands *operands,
		  struct strbuf *out, struct diag *diag)
{
	const char *command = operands->words[0], *root = operands->words[1];
	bool publishes = strcmp(command, "publish") == 0;
	CLEANUP(repository_cleanup) struct repository *repository = NULL;
	struct machine_spec machine;
	int r;

	if (!is_known(command))
		return diag_set(diag, -EINVAL,
				"repo: must be list, verify, best or publish, not \"%.40s\"",
				command);
	if (publishes && operands->count != 3)
		return diag_set(diag, -EINVAL,
				"repo publish: needs a folder for the copy: kepler-model repo "
				"publish DIR OUT");
	if (!publishes && operands->count != 2)
		return diag_set(diag, -EINVAL, "repo %s: takes one folder, not %zu", command,
				operands->count - 1);
	r = repository_open(root, &repository, diag);
	if (r < 0)
		return r;
	if (publishes)
		return publish(repository, operands->words[2], out, diag);
	if (strcmp(command, "list") == 0)
		return list(config, repository, out, diag);
	if (strcmp(command, "verify") == 0)
		return verify(repository, out);
	r = machine_file_read(config->machine, &machine, diag);
	return r < 0 ? r : best(config, repository, &machine, out, diag);
}

static int run(void *config, const struct operands *operands, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	int r = answer(config, operands, &out, diag);

	return out.len && output_write("-", &out, r < 0 ? NULL : diag) < 0 ? -EIO : r;
}

int repo_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.set = &repo_options, .min = 2, .max = 3, .run = run
	};

	return model_command_run(&command, argc, argv, environ_);
}
