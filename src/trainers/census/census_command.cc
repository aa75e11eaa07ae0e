#include "trainers/census/census_command.h"

#include <fmt/core.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/program/command_line.h"
#include "cli/program/command_spec.h"
#include "cli/program/exit_code.h"
#include "cli/program/terminal.h"
#include "sys/world.h"
#include "trainers/census/adult.h"
#include "trainers/census/boosting.h"
#include "trainers/census/census_encoding.h"
#include "trainers/census/census_model.h"
#include "trainers/census/census_options.h"
#include "trainers/census/cross_validation.h"
#include "trainers/census/fit_job.h"
#include "trainers/census/search_job.h"
#include "trainers/census/search_results.h"
#include "trainers/census/search_space.h"
#include "trainers/data/place_file.h"
#include "trainers/data_place.h"
#include "trainers/free_processors.h"
#include "trainers/job_folder.h"
#include "trainers/learner.h"
#include "trainers/train_options.h"

namespace outlast::trainers {
namespace {

constexpr std::string_view kSynthetic = "synthetic";
constexpr SyntheticCensus kMadeUp = {.seed = 1, .rows = 4000};

Result<std::string> local_census(const CensusOptions& options, cli::Context& context) {
  return find_data({.place = options.data, .dataset = "adult", .may_download = options.download},
                   context);
}

Result<CensusData> load_census(const CensusOptions& options, cli::Context& context) {
  if (options.data == kSynthetic) {
    if (!options.download) return synthetic_census(kMadeUp);
    return Error(ErrorCode::kInvalidArgument,
                 "--download needs --data FOLDER, where the data is to go");
  }
  OUTLAST_TRY_ASSIGN(const std::string path, local_census(options, context));
  OUTLAST_TRY_ASSIGN(CensusData data, read_census(context.world.files, path));
  data.from = options.data;
  return data;
}

Result<CensusTable> load_census_test(const CensusOptions& options, cli::Context& context) {
  if (options.data == kSynthetic) return synthetic_census(kMadeUp).test;
  OUTLAST_TRY_ASSIGN(const std::string path, local_census(options, context));
  return read_census_test(context.world.files, path);
}

struct Chosen {
  Configuration configuration = {};
  std::optional<double> cross_validated = {};
};

// Writes the model, judges it by people that it has not seen, and says all that.
Result<void> finish_census(Booster& booster, const CensusEncoding& encoding,
                           const CensusTable& test, const Chosen& chosen,
                           const CensusOptions& options, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(const std::string bytes,
                     census_model_bytes(booster, encoding, options.model_path));
  OUTLAST_TRY(write_place(context.world, options.model_path, bytes));
  OUTLAST_TRY_ASSIGN(const Evaluation evaluation, evaluate_census(booster, test));
  const std::string digest = sha256(as_bytes(bytes)).hex().substr(0, 16);
  const Configuration& one = chosen.configuration;
  const cli::Terminal& terminal = context.terminal;
  if (terminal.json()) {
    Json json = {{"test_accuracy", evaluation.accuracy()},
                 {"test_loss", evaluation.loss},
                 {"learning_rate", one.boosting().learning_rate},
                 {"depth", one.depth},
                 {"min_leaf", one.min_leaf},
                 {"trees", one.trees},
                 {"model", options.model_path},
                 {"result", digest}};
    if (chosen.cross_validated) {
      json["min_split"] = one.min_split;
      json["cross_validated_accuracy"] = *chosen.cross_validated;
    }
    terminal.print_json(json);
    return {};
  }
  if (chosen.cross_validated) {
    terminal.print(fmt::format("best parameters: {}\ncross-validated accuracy {:.4f}\n",
                               to_string(one), *chosen.cross_validated));
  }
  terminal.print(fmt::format("test accuracy {:.4f}, test loss {:.4f}\nmodel {}\nresult {}\n",
                             evaluation.accuracy(), evaluation.loss, options.model_path, digest));
  return {};
}

Result<cli::ExitCode> train_by_search(const CensusData& data, const CensusOptions& options,
                                      JobFolder& folder, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(
      const CrossValidation validation,
      CrossValidation::prepare(data.train, {.seed = options.seed, .folds = options.folds}));
  std::vector<std::size_t> people;
  people.reserve(validation.folds());
  for (std::size_t fold = 0; fold < validation.folds(); ++fold) {
    people.push_back(validation.people(fold));
  }
  SearchResults results({.seed = options.seed,
                         .configurations = options.search.value_or(0),
                         .people = std::move(people)});
  const auto finish = [&]() -> Result<void> {
    // There is at least one configuration, and all are judged.
    const std::size_t best = results.best().value_or(0);
    const Chosen chosen{.configuration = results.configurations()[best],
                        .cross_validated = results.accuracy(best)};
    OUTLAST_TRY_ASSIGN(const CensusLesson lesson, CensusLesson::make(data.train));
    OUTLAST_TRY_ASSIGN(Booster booster, fit_census(lesson, chosen.configuration));
    return finish_census(booster, lesson.encoding, data.test, chosen, options, context);
  };
  return search(results,
                {.validation = validation,
                 .folder = folder,
                 .hyper_parameters = hyper_parameters(options),
                 .data_from = data.from,
                 .threads = options.threads,
                 .finish = finish},
                context);
}

Result<cli::ExitCode> train_one(const CensusData& data, const CensusOptions& options,
                                JobFolder& folder, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(const CensusLesson lesson, CensusLesson::make(data.train));
  OUTLAST_TRY_ASSIGN(const CensusExam exam, CensusExam::make(lesson.encoding, data.test));
  const auto finish = [&](Booster& booster) {
    return finish_census(booster, lesson.encoding, data.test,
                         {.configuration = options.configuration}, options, context);
  };
  return fit({.lesson = lesson,
              .exam = exam,
              .data_from = data.from,
              .configuration = options.configuration,
              .folder = folder,
              .hyper_parameters = hyper_parameters(options),
              .checkpoint_steps = options.checkpoint_steps,
              .eval_steps = options.eval_steps,
              .finish = finish},
             context);
}

Result<cli::ExitCode> evaluate_model(const CensusOptions& options, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(const Booster booster, read_census_model(context.world, options.model_path));
  OUTLAST_TRY_ASSIGN(const CensusTable test, load_census_test(options, context));
  OUTLAST_TRY_ASSIGN(const Evaluation evaluation,
                     evaluate_census(booster, test).while_doing("use " + options.model_path));
  if (context.terminal.json()) {
    context.terminal.print_json(Json{{"model", options.model_path},
                                     {"test_accuracy", evaluation.accuracy()},
                                     {"test_loss", evaluation.loss},
                                     {"examples", evaluation.examples}});
  } else {
    context.terminal.print(fmt::format("test accuracy {:.4f}, test loss {:.4f} ({} people)\n",
                                       evaluation.accuracy(), evaluation.loss,
                                       evaluation.examples));
  }
  return cli::ExitCode::kOk;
}

Result<cli::ExitCode> predict_people(const CensusOptions& options, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(const Booster booster, read_census_model(context.world, options.model_path));
  OUTLAST_TRY_ASSIGN(const CensusTable test, load_census_test(options, context));
  OUTLAST_TRY_ASSIGN(const std::vector<float> margins,
                     census_margins(booster, test).while_doing("use " + options.model_path));
  const auto label = [](bool earns_more) { return earns_more ? ">50K" : "<=50K"; };
  for (std::size_t row = 0; row < margins.size(); ++row) {
    const double probability = 1 / (1 + std::exp(-std::abs(static_cast<double>(margins[row]))));
    const char* const said = label(margins[row] > 0);
    const char* const truth = label(test.earns_more[row] != 0);
    if (context.terminal.json()) {
      context.terminal.print(canonical_json(Json{{"example", std::to_string(row + 1)},
                                                 {"label", said},
                                                 {"probability", probability},
                                                 {"truth", truth}}) +
                             "\n");
    } else {
      context.terminal.print(
          fmt::format("{}\t{}\t{:.4f}\t{}\n", row + 1, said, probability, truth));
    }
    OUTLAST_TRY(context.world.console.out_status());
  }
  return cli::ExitCode::kOk;
}

Result<cli::ExitCode> run_census(const cli::Invocation& invocation, cli::Context& context) {
  OUTLAST_TRY_ASSIGN(const CensusOptions options,
                     read_census_options(invocation, free_processors(context.world)));
  if (options.mode == Mode::kEvaluate) return evaluate_model(options, context);
  if (options.mode == Mode::kPredict) return predict_people(options, context);
  OUTLAST_TRY_ASSIGN(JobFolder folder, JobFolder::open(options.job_dir, context.world));
  OUTLAST_TRY_ASSIGN(const CensusData data, load_census(options, context));
  context.terminal.note(fmt::format("training on {}: {} people, {} to test", data.from,
                                    data.train.rows(), data.test.rows()));
  OUTLAST_TRY_ASSIGN(const cli::ExitCode code, options.search
                                                   ? train_by_search(data, options, folder, context)
                                                   : train_one(data, options, folder, context));
  OUTLAST_TRY(folder.publish());
  return code;
}

}  // namespace

cli::CommandSpec census_command() {
  return {
      .path = {"census"},
      .group = "Tasks",
      .summary = "Predict who earns more than 50,000, by boosted trees on the census income data",
      .description =
          {"Trains XGBoost on the people of adult.data and judges the model by those of "
           "adult.test. "
           "With --search it first tries random configurations (learning rate 0.01 to 0.19, depth "
           "3 to 7, min split 2 to 6, min leaf 1 to 3, trees 80 to 200) by cross-validation, on "
           "all processors, and trains the best. The search grows the trees in code of its own, "
           "which "
           "is faster and keeps no model; the one that is kept is XGBoost's.",
           "A search is saved after every configuration, a training without one after every "
           "--checkpoint-steps trees. Whatever is interrupted goes on when it is started again "
           "with the same options, and ends with the same model, byte for byte.",
           "Min split is drawn because the search that this one stands for had it. It has no "
           "effect: XGBoost parts no node of fewer than 8 people here."},
      .options = census_option_specs(),
      .examples = {{.command = "outlast-train census --data adult --download --search 300",
                    .does = "Fetch the data into ./adult and search"},
                   {.command = "outlast-train census --data adult --learning-rate 0.1 --depth 5 "
                               "--trees 150",
                    .does = "Train one configuration"},
                   {.command = "outlast-train census --data adult --mode evaluate",
                    .does = "Judge the model in ./outlast-census"}},
      .run = run_census,
  };
}

}  // namespace outlast::trainers
