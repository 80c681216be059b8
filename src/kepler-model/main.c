// SPDX-License-Identifier: Apache-2.0
/*
 * Power models, on a workstation or a server: its commands, each a function in a file of its own.
 */
#include "base/macro.h"
#include "kepler-model/collect.h"
#include "kepler-model/extract.h"
#include "kepler-model/plot.h"
#include "kepler-model/estimate.h"
#include "kepler-model/repo.h"
#include "kepler-model/serve.h"
#include "kepler-model/isolate.h"
#include "kepler-model/stress.h"
#include "options/program.h"

static const struct command commands[] = {
	{ .name = "collect",
	  .run = collect_main,
	  .synopsis = "collect FILE [OPTION]...",
	  .summary = "series of exporters from a Prometheus",
	  .operands = "FILE",
	  .what = "Asks a Prometheus for all points of Kepler's metrics in some time, and writes "
		  "them to FILE. A run that was broken off is continued when it is run again.",
	  .options = &collect_command_options },
	{ .name = "query",
	  .run = collect_main,
	  .synopsis = "query [OPTION]...",
	  .summary = "the same, by the name that the model server has for it",
	  .operands = "[FILE]",
	  .what = "The same as collect.",
	  .options = &collect_command_options },
	{ "extract", extract_main, "extract FILE", "samples from series that were collected",
	  .operands = "FILE",
	  .what = "Turns the series of an exporter into rows: power of the node beside what ran, "
		  "step by step.",
	  .options = &extract_command_options },
	{ "plot", plot_main, "plot MODEL CSV", "a model's errors and curves as a page",
	  .operands = "MODEL CSV",
	  .what = "Writes a page of HTML that shows a model on samples: measured beside predicted "
		  "power, residuals,\n"
		  "power by load, and which features matter. The page needs nothing else.",
	  .options = &plot_options },
	{ "estimate", estimate_main, "estimate DIR", "answer estimates of power on a unix socket",
	  .operands = "DIR",
	  .what = "Answers Kepler's requests for estimates by the protocol of upstream's "
		  "estimator, "
		  "with the models\n"
		  "of a repository (docs/model-server.md).",
	  .options = &estimate_options },
	{ "repo", repo_main, "repo COMMAND DIR", "a repository of models:", .more = repo_usage,
	  .operands = "list|verify|best DIR",
	  .what = "Lists the models of a repository, which has the layout of upstream's model-db, "
		  "reads them\n"
		  "to say what is wrong, or chooses the best ones for a machine.",
	  .options = &repo_options },
	{ "serve", serve_main, "serve DIR", "serve the models of a repository over HTTP",
	  .operands = "DIR",
	  .what = "Serves the models of a repository to Kepler and to estimators, by the API of "
		  "upstream's model\n"
		  "server and by a second one (docs/model-server.md). A change of the repository "
		  "is noticed.",
	  .options = &serve_options },
	{ .name = "isolate",
	  .run = isolate_main,
	  .synopsis = "isolate FILE [OPTION]...",
	  .summary = "rows without what the machine draws anyway",
	  .operands = "FILE",
	  .what = "Takes idle power, or that of the background, off the power of rows, or of "
		  "series that are extracted for that.",
	  .options = &isolate_command_options },
	{ .name = "stress",
	  .run = stress_main,
	  .synopsis = "stress [OPTION]...",
	  .summary = "loads for a machine, one after the other",
	  .what = "Runs each load of stress-ng with each number of processes at each highest "
		  "frequency, and notes when. Frequencies are restored, however it ends.",
	  .options = &stress_command_options },
};

static const struct program kepler_model = {
	.name = "kepler-model",
	.about = "Power models: how many watts a machine draws, from what it does.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};

int main(int argc, char **argv)
{
	return program_main(&kepler_model, argc, argv);
}
