// SPDX-License-Identifier: Apache-2.0
/*
 * Power models, on a workstation or a server: its commands, each a function in a file of its own.
 */
#include "base/macro.h"
#include "kepler-model/bench.h"
#include "kepler-model/bench_options.h"
#include "kepler-model/builtin.h"
#include "kepler-model/collect.h"
#include "kepler-model/estimate.h"
#include "kepler-model/export.h"
#include "kepler-model/extract.h"
#include "kepler-model/isolate.h"
#include "kepler-model/offline_trainer.h"
#include "kepler-model/online_trainer.h"
#include "kepler-model/plot.h"
#include "kepler-model/repo.h"
#include "kepler-model/serve.h"
#include "kepler-model/stress.h"
#include "kepler-model/train.h"
#include "kepler-model/train_request.h"
#include "kepler-model/validate.h"
#include "options/program.h"

static const struct command commands[] = {
	{ .name = "bench",
	  .run = bench_main,
	  .summary = "models of this machine, from stress to a report",
	  .operands = "[FOLDER]",
	  .what = "Runs stress, collect, extract, isolate, train and plot one after the other. All "
		  "files go to\n"
		  "FOLDER; what is there already is not made again. Options:",
	  .options = &bench_options },
	{ .name = "stress",
	  .run = stress_main,
	  .summary = "loads for a machine, one after the other",
	  .what = "Runs each load of stress-ng with each number of processes at each highest "
		  "frequency, and notes when. Frequencies are restored, however it ends.",
	  .options = &stress_command_options },
	{ .name = "collect",
	  .run = collect_main,
	  .summary = "series of exporters from a Prometheus",
	  .operands = "FILE",
	  .what = "Asks a Prometheus for all points of Kepler's metrics in some time, and writes "
		  "them to FILE. A run that was broken off is continued when it is run again.",
	  .options = &collect_command_options },
	{ .name = "query",
	  .run = collect_main,
	  .summary = "the same, by the name that the model server has for it",
	  .operands = "[FILE]",
	  .what = "The same as collect.",
	  .options = &collect_command_options },
	{ "extract", extract_main, "samples from series that were collected", .operands = "FILE",
	  .what = "Turns the series of an exporter into rows: power of the node beside what ran, "
		  "step by step.",
	  .options = &extract_command_options },
	{ .name = "isolate",
	  .run = isolate_main,
	  .summary = "rows without what the machine draws anyway",
	  .operands = "FILE",
	  .what = "Takes idle power, or that of the background, off the power of rows, or of "
		  "series that are extracted for that.",
	  .options = &isolate_command_options },
	{ "train-from-data", train_from_data_main, "a model from rows", .operands = "CSV...",
	  .what = "Trains a model on rows, such as extract writes them. Each way to train is "
		  "judged by rows\n"
		  "that it has not seen; the one with the smallest errors makes the model, from "
		  "all rows.\n"
		  "Without --output it prints the errors alone. Options:",
	  .options = &training_options },
	{ "train", train_main, "a model for each group of features that the rows have",
	  .operands = "CSV...",
	  .what = "Does as train-from-data does for each group of features that the rows have, "
		  "and writes the\n"
		  "models as SOURCE_TYPE_GROUP.json to a folder. Options:",
	  .options = &training_options },
	{ .name = "train-builtin",
	  .run = train_builtin_main,
	  .summary = "the models that are built into Kepler, as C",
	  .operands = "platform SPECPOWER.csv|components FOLDER",
	  .what = "Makes a model that is built into Kepler, prints its errors of machines that "
		  "it has not seen,\n"
		  "and writes its weights as C. platform: from a table of SPECpower_ssj2008 "
		  "results. components:\n"
		  "from the folders ec2 and nx12 of RAPL readings. Options:",
	  .options = &builtin_options,
	  .words = "platform components" },
	{ "validate", validate_main, "errors of a model on rows",
	  .operands = "MODEL CSV | --input=SERIES",
	  .what = "Prints how far the model's predictions are off on rows, which it should not "
		  "have been trained\n"
		  "on, and how many of them lie within its bound. MODEL may be a pipeline, as a "
		  "folder "
		  "or a zip archive:\n"
		  "then all its models are judged. Options:",
	  .options = &validate_options },
	{ "compare", compare_main, "errors of several models on the same rows",
	  .operands = "MODEL... CSV", .what = "Does as validate does for several models. Options:",
	  .options = &validate_options },
	{ "plot", plot_main, "a model's errors and curves as a page", .operands = "MODEL CSV",
	  .what = "Writes a page of HTML that shows a model on samples: measured beside predicted "
		  "power, residuals,\n"
		  "power by load, and which features matter. The page needs nothing else. Of a "
		  "pipeline, "
		  "as a folder\n"
		  "or a zip archive, it shows the model with the least error.",
	  .options = &plot_options },
	{ "export", export_main, "put trained models into a repository", .operands = "MODEL...",
	  .what = "Puts trained models into a repository in the layout of upstream's model-db, if "
		  "they are good enough.\n"
		  "Models that Kepler's own weights can express are also readable for old Keplers. "
		  "MODEL may be a\n"
		  "pipeline, as a folder or a zip archive: then all its models are exported.",
	  .options = &export_options },
	{ "repo", repo_main, "list, verify, choose and publish models", .more = repo_usage,
	  .operands = "list|verify|best DIR | publish DIR OUT",
	  .what = "Lists the models of a repository, which has the layout of upstream's model-db, "
		  "reads them\n"
		  "to say what is wrong, chooses the best ones for a machine, or copies the good "
		  "ones.",
	  .options = &repo_options, .words = "list verify best publish" },
	{ "serve", serve_main, "serve the models of a repository over HTTP", .operands = "DIR",
	  .what = "Serves the models of a repository to Kepler and to estimators, by the API of "
		  "upstream's model\n"
		  "server and by a second one (docs/model-server.md). A change of the repository "
		  "is noticed.",
	  .options = &serve_options },
	{ .name = "offline-trainer",
	  .run = offline_trainer_main,
	  .summary = "train models on request, over HTTP",
	  .what = "Answers POST /train, as upstream's offline trainer does: series of an exporter "
		  "become a zipped\n"
		  "pipeline of models (docs/model-server.md). Clients need a token. Options:",
	  .options = &offline_trainer_options },
	{ .name = "online-trainer",
	  .run = online_trainer_main,
	  .summary = "train models again and again, from a Prometheus",
	  .operands = "DIR",
	  .what = "Learns from new points of a Prometheus, by type of machine, and puts a model "
		  "into the repository\n"
		  "DIR when it is better than the one in use (docs/model-server.md). Options:",
	  .options = &online_options },
	{ "train-request", train_request_main, "a pipeline from a request to the offline trainer",
	  .operands = "FILE",
	  .what = "Does with a file, or for - with standard input, what the offline trainer does "
		  "with a request. Options:",
	  .options = &train_request_options },
	{ "estimate", estimate_main, "answer estimates of power on a unix socket",
	  .operands = "DIR",
	  .what = "Answers Kepler's requests for estimates by the protocol of upstream's "
		  "estimator, "
		  "with the models\n"
		  "of a repository (docs/model-server.md).",
	  .options = &estimate_options },
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
