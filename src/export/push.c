// SPDX-License-Identifier: Apache-2.0
#include "export/push.h"

#include "export/file/file_exporter.h"
#include "export/guests/guests_exporter.h"
#include "export/otlp/otlp_exporter.h"
#include "export/remote-write/remote_write.h"

const struct exporter_ops *const push_exporters[] = { &file_exporter, &guests_exporter,
						      &otlp_exporter, &remote_write_exporter,
						      NULL };

const struct option_section *push_options_at(size_t index)
{
	return push_exporters[index] ? &push_exporters[index]->options : NULL;
}

unsigned push_needs(const struct push_options *options)
{
	unsigned needs = 0;

	for (size_t i = 0; push_exporters[i]; i++) {
		const struct exporter_ops *ops = push_exporters[i];

		if (!ops->is_wanted(options))
			continue;
		needs |= ops->needs | (ops->more_needs ? ops->more_needs(options) : 0);
	}
	return needs;
}

/* The @index-th path of all exporters; each has its own by @get. */
static const char *path_at(const struct push_options *options, size_t index,
			   const char *(*get)(const struct exporter_ops *ops,
					      const struct push_options *options, size_t own))
{
	for (size_t i = 0; push_exporters[i]; i++) {
		const char *path;

		for (size_t own = 0; (path = get(push_exporters[i], options, own)); own++) {
			if (index-- == 0)
				return push_exporters[i]->is_wanted(options) ? path : "";
		}
	}
	return NULL;
}

static const char *own_folder(const struct exporter_ops *ops, const struct push_options *options,
			      size_t own)
{
	return ops->folder ? ops->folder(options, own) : NULL;
}

static const char *own_file(const struct exporter_ops *ops, const struct push_options *options,
			    size_t own)
{
	return ops->file ? ops->file(options, own) : NULL;
}

const char *push_folder_at(const struct push_options *options, size_t index)
{
	return path_at(options, index, own_folder);
}

const char *push_file_at(const struct push_options *options, size_t index)
{
	return path_at(options, index, own_file);
}
