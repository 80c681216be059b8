// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/processor/processor_name.h"
#include "model/selection.h"

#define MHZ_ROUND      100
#define CANDIDATES_MAX 8
#define SIZE_NOT_THERE SIZE_MAX

void model_choice_machine(const struct host_info *host, struct machine_spec *ret)
{
	*ret = (struct machine_spec){
		.cores = host->is_vm ? host->vm_host_cpus : host->cpus,
		.chips = host->is_vm ? host->vm_host_sockets : host->sockets,
		.memory_gb = host->is_vm ? 0 : (uint32_t)host->memory_gib,
		.frequency_mhz =
			(uint32_t)lround(host->frequency_ghz * 1000 / MHZ_ROUND) * MHZ_ROUND,
	};
	processor_name(host->cpu_model, ret->processor, sizeof(ret->processor));
}

static size_t find_component(const struct trained_model *model, const char *name)
{
	for (size_t c = 0; c < model->component_count; c++) {
		if (strcmp(model->components[c].name, name) == 0)
			return c;
	}
	return SIZE_NOT_THERE;
}

/* The models that have component @name, and of each which one it is. */
struct field {
	struct model_candidate candidates[CANDIDATES_MAX];
	const char *features[CANDIDATES_MAX][PREDICTOR_FEATURES_MAX];
	size_t model[CANDIDATES_MAX], component[CANDIDATES_MAX];
	size_t count;
};

static void enter(struct field *field, const struct trained_model *model, size_t index,
		  size_t component, enum model_output output)
{
	const struct model_component *part = &model->components[component];
	size_t at = field->count++;

	for (size_t i = 0; i < part->feature_count; i++)
		field->features[at][i] = part->features[i].name;
	field->model[at] = index;
	field->component[at] = component;
	/* The meter decides whether an output can be used here; of those that do none is better. */
	field->candidates[at] = (struct model_candidate){
		.machine = &model->machine,
		.output = output,
		.source = model->source,
		.features = field->features[at],
		.feature_count = part->feature_count,
		.error_ratio = part->error.mape_percent / 100,
		.component = part->name,
	};
}

static void note(const char *component, const struct trained_model *model,
		 const struct model_choice *choice, struct diag *reasons)
{
	size_t len = strlen(reasons->text);

	(void)snprintf(reasons->text + len, sizeof(reasons->text) - len,
		       "%s%s of model \"%.60s\", %.120s", len ? "; " : "", component, model->name,
		       choice->reason);
}

void model_choice_make(const struct trained_model *models, size_t count,
		       const struct host_info *host, const struct zone_source *meter,
		       uint32_t *parts, struct diag *reasons)
{
	const char *names[MODEL_FEATURES_MAX];
	struct machine_spec machine;
	const struct model_request request = {
		.machine = &machine,
		.output = MODEL_ABS_POWER,
		.source = "",
		.features = names,
		.feature_count = model_estimate_features(meter, names),
	};

	reasons->text[0] = '\0';
	model_choice_machine(host, &machine);
	memset(parts, 0, count * sizeof(*parts));
	for (size_t m = 0; m < count; m++) {
		for (size_t c = 0; c < models[m].component_count; c++) {
			const char *name = models[m].components[c].name;
			struct field field = { .count = 0 };
			struct model_choice choice;
			struct diag unused;

			for (size_t i = 0; i < count && i < CANDIDATES_MAX; i++) {
				size_t at = find_component(&models[i], name);

				if (at != SIZE_NOT_THERE)
					enter(&field, &models[i], i, at, request.output);
			}
			if (field.count == 1 || model_select(field.candidates, field.count,
							     &request, &choice, &unused) < 0) {
				parts[m] |= 1U << c;
				continue;
			}
			if (field.model[choice.index] != m)
				continue;
			parts[m] |= 1U << c;
			note(name, &models[m], &choice, reasons);
		}
	}
}
