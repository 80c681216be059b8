// SPDX-License-Identifier: Apache-2.0
#include "config/replay_options.h"

#include <string.h>

#include "base/macro.h"
#include "options/option_set.h"
#include "record/record_encode.h"

bool replay_options_has(const char *name)
{
	static const char *const begins[] = { "idle.", "attribution.", "gpu.idle" };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

static void tell(const struct option *option, const void *part, struct strbuf *out)
{
	size_t count = option_is_list(option) ? option_list_count(option, part) : 1;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (size_t item = 0; item < count; item++) {
		strbuf_reset(&text);
		option_format(option, part, item, &text);
		if (strbuf_error(&text) == 0)
			record_encode_pair(out, RECORD_OPTION, option->name,
					   text.data ? text.data : "");
	}
}

void replay_options_tell(const struct config *config, struct strbuf *out)
{
	for (size_t i = 0; i < option_count(&config_options); i++) {
		const struct option *option = option_at(&config_options, i);

		if (replay_options_has(option->name))
			tell(option, option_part_of(&config_options, i, &config->options), out);
	}
}
