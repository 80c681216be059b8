// SPDX-License-Identifier: Apache-2.0
/*
 * A configuration file of any bytes: an answer, and if it is taken, config_show() gives one of the
 * same values.
 */
#include <stdint.h>

#include "base/macro.h"
#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show_and_load(const struct config *config)
{
	size_t count = option_count(&config_options);
	struct strbuf text = STRBUF_INIT;
	struct config again;
	struct diag diag = { 0 };

	config_show(config, &text);
	if (strbuf_error(&text) < 0 ||
	    config_load_text("shown", text.data, text.len, &again, &diag) < 0)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (!option_is_same(&config_options, i, &config->options, &again.options))
			abort();
	}
	config_release(&again);
	strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config;
	struct diag diag = { 0 };

	if (config_load_text("fuzz", (const char *)data, size, &config, &diag) == 0) {
		show_and_load(&config);
		config_release(&config);
	} else if (!diag.text[0]) {
		abort(); /* refused, and nothing said */
	}
	return 0;
}
