// SPDX-License-Identifier: Apache-2.0
#include "kepler/model_files.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"

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

static int add_file(const char *path, struct model_meter *meter, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	struct trained_model model;
	size_t len;
	int r = read_file_alloc(path, MODEL_FILE_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	r = trained_model_parse(&model, path, text, len, diag);
	if (r < 0)
		return r;
	r = trained_model_check(&model, diag);
	if (r < 0) {
		trained_model_release(&model);
		return r;
	}
	return model_meter_add(meter, &model, diag);
}

int model_files_open(const struct config *config, const struct model_surroundings *around,
		     struct model_meter **ret, struct diag *refused)
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
	for (size_t i = 0; i < config->model_file_count; i++) {
		if (add_file(config->model_files[i], meter, refused) < 0)
			log_warn("--model.file=%s is not used: %s", config->model_files[i],
				 refused->text);
	}
	if (model_meter_count(meter) == 0 && !config->model_url[0]) {
		model_meter_free(meter);
		meter = NULL;
	}
	*ret = meter;
	return 0;
}
