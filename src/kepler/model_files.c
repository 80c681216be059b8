// SPDX-License-Identifier: Apache-2.0
#include "kepler/model_files.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "kepler/model_choice.h"

static void set_measured(const struct model_surroundings *around, bool *is_measured)
{
	for (size_t z = 0; around->meters && z < meter_table_count(around->meters); z++)
		is_measured[meter_table_zone(around->meters, z)->kind] = true;
}

static uint32_t counted_signals(const struct model_surroundings *around)
{
	struct activity_info info;

	activity_get_info(around->activity, &info);
	return (info.counts_switches ? info.signals : 0) | info.io.signals;
}

static int read_file(const char *path, struct trained_model *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_file_alloc(path, MODEL_FILE_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	r = trained_model_parse(ret, path, text, len, diag);
	if (r < 0)
		return r;
	r = trained_model_check(ret, diag);
	if (r < 0)
		trained_model_release(ret);
	return r;
}

static void refuse(const char *path, const struct diag *refused)
{
	log_warn("--model.file=%s is not used: %s", path, refused->text);
}

static void add_files(const struct config *config, const struct host_info *host,
		      struct model_meter *meter, struct diag *chosen, struct diag *refused)
{
	struct trained_model models[CONFIG_MODELS_MAX] = { 0 };
	uint32_t parts[CONFIG_MODELS_MAX];
	size_t count = config->model_file_count;

	for (size_t i = 0; i < count; i++) {
		if (read_file(config->model_files[i], &models[i], refused) < 0) {
			refuse(config->model_files[i], refused);
			models[i] = (struct trained_model){ 0 };
		}
	}
	model_choice_make(models, count, host, meter, parts, chosen);
	for (size_t i = 0; i < count; i++) {
		if (parts[i] && model_meter_add_parts(meter, &models[i], parts[i], refused) < 0)
			refuse(config->model_files[i], refused);
		trained_model_release(&models[i]); /* one that is added is empty here */
	}
}

int model_files_open(const struct config *config, const struct model_surroundings *around,
		     struct model_meter **ret, struct diag *chosen, struct diag *refused)
{
	struct model_meter_options options = {
		.cpus = around->host->cpus,
		.is_vm = around->host->is_vm,
		.signals = counted_signals(around),
	};
	struct model_meter *meter = NULL;
	int r;

	if (config->model_file_count == 0 && !config->model_url[0])
		return 0;
	set_measured(around, options.is_measured);
	r = model_meter_new(&options, &meter);
	if (r < 0)
		return r;
	add_files(config, around->host, meter, chosen, refused);
	if (model_meter_count(meter) == 0 && !config->model_url[0]) {
		model_meter_free(meter);
		meter = NULL;
	}
	*ret = meter;
	return 0;
}
