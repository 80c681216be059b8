// SPDX-License-Identifier: Apache-2.0
#include "export/push.h"

#include "export/guests/guests_exporter.h"

const struct exporter_ops *const push_exporters[] = { &guests_exporter, NULL };

const struct option_section *push_options_at(size_t index)
{
	return push_exporters[index] ? &push_exporters[index]->options : NULL;
}

unsigned push_needs(const struct push_options *options)
{
	unsigned needs = 0;

	for (size_t i = 0; push_exporters[i]; i++) {
		if (push_exporters[i]->is_wanted(options))
			needs |= push_exporters[i]->needs;
	}
	return needs;
}

const char *push_folder_at(const struct push_options *options, size_t index)
{
	for (size_t i = 0; push_exporters[i]; i++) {
		const struct exporter_ops *ops = push_exporters[i];
		const char *folder;

		for (size_t own = 0; ops->folder && (folder = ops->folder(options, own)); own++) {
			if (index-- == 0)
				return ops->is_wanted(options) ? folder : "";
		}
	}
	return NULL;
}
