// SPDX-License-Identifier: Apache-2.0
/*
 * The program for power models, on a workstation or a server: the table of its commands.
 */
#include "base/macro.h"
#include "kepler-model/export.h"
#include "kepler-model/repo.h"
#include "model-server/estimate.h"
#include "model-server/serve.h"
#include "modelling/collect.h"
#include "modelling/plot.h"
#include "modelling/rows/extract.h"
#include "modelling/rows/isolate.h"
#include "modelling/train.h"
#include "modelling/validate.h"
#include "options/program.h"
#include "workbench/bench.h"
#include "workbench/bench_options.h"
#include "workbench/stress.h"

#ifdef KEPLER_TRAINERS /* -Dtrainers=true */
#include "trainers/offline_trainer.h"
#include "trainers/online_trainer.h"
#include "trainers/train_request.h"
#endif

static const struct command commands[] = {
	{ .name = "bench",
	  .run = bench_main,
	  .summary = "train models of this machine, from stress test to report",
	  .operands = "[FOLDER]",
	  .what = "Runs stress, collect, extract, isolate, train and plot in turn. All files go to "
		  "FOLDER; phases\nwhose files exist are skipped. Options:",
	  .options = &bench_options },
	{ .name = "stress",
	  .run = stress_main,
	  .summary = "run a series of loads on this machine",
	  .what = "Runs each stress-ng load with each number of processes at each maximum "
		  "frequency, and logs the times. Frequencies are restored in any case.",
	  .options = &stress_command_options },
	{ .name = "collect",
	  .run = collect_main,
	  .summary = "collect series of exporters from Prometheus",
	  .operands = "FILE",
	  .what = "Queries Prometheus for all points of Kepler's metrics in a period, and writes "
		  "them to FILE. An interrupted run continues when it is repeated.",
	  .options = &collect_command_options },
	{ "extract", extract_main, "turn collected series into rows", .operands = "FILE",
	  .what = "Turns the series of an exporter into rows: for each step, the power of the node "
		  "and the activity of its workloads.",
	  .options = &extract_command_options },
	{ .name = "isolate",
	  .run = isolate_main,
	  .summary = "subtract idle or background power from rows",
	  .operands = "FILE",
	  .what = "Subtracts idle or background power from rows, or from series, which are "
		  "extracted first.",
	  .options = &isolate_command_options },
	{ "train-from-data", train_from_data_main, "train a model on rows", .operands = "CSV...",
	  .what = "Trains a model on rows, such as those written by extract. Each trainer is "
		  "judged on held-out\nrows; the one with the smallest errors is trained again on "
		  "all rows.\nWithout --output, only the errors are printed. Options:",
	  .options = &training_options },
	{ "train", train_main, "train a model for each feature group in the rows",
	  .operands = "CSV...",
	  .what = "Works like train-from-data for each feature group in the rows, and writes the "
		  "models to a\nfolder as SOURCE_TYPE_GROUP.json. Options:",
	  .options = &training_options },
	{ "validate", validate_main, "show the errors of a model on rows", .operands = "MODEL CSV",
	  .what = "Prints the errors of the model's predictions on rows, which should not be rows "
		  "that it was\ntrained on, and how many of them are within its bound. MODEL can "
		  "be a pipeline (a folder or a zip archive):\nall its models are judged then. "
		  "Options:",
	  .options = &validate_options },
	{ "compare", compare_main, "compare the errors of several models on the same rows",
	  .operands = "MODEL... CSV", .what = "Works like validate for several models. Options:",
	  .options = &validate_options },
	{ "plot", plot_main, "draw a model's errors and curves as an HTML page",
	  .operands = "MODEL CSV",
	  .what = "Writes an HTML page that shows a model on samples: measured and predicted "
		  "power, residuals,\npower by load, and the importance of features. The page is "
		  "self-contained. For a pipeline (a folder\nor a zip archive), it shows the model "
		  "with the lowest error.",
	  .options = &plot_options },
	{ "export", export_main, "put trained models into a repository", .operands = "MODEL...",
	  .what = "Adds trained models to a repository with the layout of upstream's model-db, if "
		  "they are good enough.\nModels that can be expressed as Kepler weights can also "
		  "be read by older Kepler versions. MODEL can be\na pipeline (a folder or a zip "
		  "archive): all its models are exported then.",
	  .options = &export_options },
	{ "repo", repo_main, "list, verify, choose and publish models", .more = repo_usage,
	  .operands = "list|verify|best DIR | publish DIR OUT",
	  .what = "Lists the models of a repository with the layout of upstream's model-db, "
		  "verifies them,\nchooses the best ones for a machine, or copies those that are "
		  "good enough.",
	  .options = &repo_options, .words = "list verify best publish" },
	{ "serve", serve_main, "serve the models of a repository over HTTP", .operands = "DIR",
	  .what = "Serves the models of a repository to Kepler and to estimators, through the API "
		  "of upstream's model\nserver and through a second one (docs/model-server.md). "
		  "Changes of the repository are detected.",
	  .options = &serve_options },
#ifdef KEPLER_TRAINERS
	{ .name = "offline-trainer",
	  .run = offline_trainer_main,
	  .summary = "train models on request, over HTTP",
	  .what = "Answers POST /train like upstream's offline trainer: trains a zipped pipeline "
		  "of models from the\nseries of an exporter (docs/model-server.md). Clients need "
		  "a token. Options:",
	  .options = &offline_trainer_options },
	{ .name = "online-trainer",
	  .run = online_trainer_main,
	  .summary = "train models continuously from Prometheus",
	  .operands = "DIR",
	  .what = "Learns from new points in Prometheus for each type of machine, and adds a model "
		  "to the repository\nDIR when it is better than the one in use "
		  "(docs/model-server.md). Options:",
	  .options = &online_options },
	{ "train-request", train_request_main,
	  "train a pipeline from a saved offline-trainer "
	  "request",
	  .operands = "FILE",
	  .what = "Processes a request to the offline trainer from a file, or from standard input "
		  "for -. Options:",
	  .options = &train_request_options },
#endif
	{ "estimate", estimate_main, "answer power estimates on a Unix socket", .operands = "DIR",
	  .what = "Answers Kepler's requests for estimates with the models of a repository, using "
		  "the protocol of\nupstream's estimator (docs/model-server.md).",
	  .options = &estimate_options },
};

static const struct program kepler_model = {
	.name = "kepler-model",
	.about = "Power models: estimate a machine's power from its activity.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};

int main(int argc, char **argv)
{
	return program_main(&kepler_model, argc, argv);
}
