// SPDX-License-Identifier: Apache-2.0
#include "export/exporter.h"

int exporters_start(struct exporters *exporters, const struct exporter_ops *const *table,
		    const struct exporter_program *program, struct diag *diag)
{
	int r = 0;

	for (; r == 0 && *table && exporters->count < EXPORTERS_MAX; table++) {
		struct exporter *exporter = &exporters->list[exporters->count++];

		exporter->ops = *table;
		r = exporter->ops->start(program, &exporter->self, diag);
	}
	return r;
}

void exporters_reconfigure(struct exporters *exporters, struct config *config,
			   const struct page_options *pages)
{
	for (size_t i = 0; i < exporters->count; i++) {
		const struct exporter *exporter = &exporters->list[i];

		if (exporter->self && exporter->ops->reconfigure)
			exporter->ops->reconfigure(exporter->self, config);
		if (exporter->self && exporter->ops->set_pages)
			exporter->ops->set_pages(exporter->self, pages);
	}
}

void exporters_turn(struct exporters *exporters, uint64_t now_ns)
{
	for (size_t i = 0; i < exporters->count; i++) {
		const struct exporter *exporter = &exporters->list[i];

		if (exporter->self && exporter->ops->turn)
			exporter->ops->turn(exporter->self, now_ns);
	}
}

void exporters_stop(struct exporters *exporters)
{
	while (exporters->count > 0) {
		const struct exporter *exporter = &exporters->list[--exporters->count];

		if (exporter->self)
			exporter->ops->stop(exporter->self);
	}
}
