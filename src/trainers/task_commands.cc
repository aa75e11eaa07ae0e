#include "trainers/task_commands.h"

#include <string>
#include <utility>
#include <vector>

#include "cli/program/command_spec.h"
#include "trainers/train_options.h"

namespace outlast::trainers {

TaskDefaults imagenet_defaults() {
  return {.task = "imagenet",
          .epochs = "20",
          .batch_size = "256",
          .learning_rate = "0.01",
          .momentum = "0.9",
          .weight_decay = "1e-4",
          .schedule = "step:7:0.1",
          .data_help =
              "A folder or an object-store URL with train/CLASS/* and val/CLASS/* "
              "pictures, cifar10:FOLDER, or synthetic",
          .reads_pictures = true};
}

TaskDefaults horses_defaults() {
  return {.task = "horses",
          .epochs = "70",
          .batch_size = "32",
          .learning_rate = "0.001",
          .optimizer = "adam",
          .data_help =
              "A folder or an object-store URL with train/CLASS/* and validation/CLASS/* "
              "pictures, or synthetic",
          .reads_pictures = true};
}

TaskDefaults bert_defaults() {
  return {.task = "bert",
          .epochs = "3",
          .batch_size = "8",
          .learning_rate = "5e-5",
          .optimizer = "adamw",
          .optimizers = {"adamw"},
          .weight_decay = "0.01",
          .schedule = "linear+warmup:100",
          .data_help =
              "A folder with train.csv and test.csv: text and label, or label, title and "
              "description; or synthetic"};
}

namespace {

cli::OptionSpec decode_ahead_option() {
  return {.name = "decode-ahead",
          .value_name = "N",
          .help =
              "Batches that other threads read while one is learnt from; 0: none. The result "
              "is the same",
          .default_value = "2",
          .number = true};
}

std::vector<cli::OptionSpec> bert_options() {
  std::vector<cli::OptionSpec> options = {
      {.name = "size",
       .value_name = "SIZE",
       .help = "How large the model is: tiny, mini, small, medium, base; base unless given, and "
               "tiny for texts that are made up",
       .words = {"tiny", "mini", "small", "medium", "base"}},
      {.name = "vocab",
       .value_name = "FILE",
       .help = "The WordPiece vocabulary, a token in each line; vocab.txt in the folder of --data "
               "unless given",
       .completes = cli::Completes::kFiles},
      {.name = "max-length",
       .value_name = "N",
       .help = "Tokens that are read of a text, at most 512; a shorter text costs less",
       .default_value = "512",
       .number = true},
      {.name = "input",
       .value_name = "FILE",
       .help = "With --mode predict: texts, one in each line, instead of those in test.csv",
       .completes = cli::Completes::kFiles},
  };
  for (cli::OptionSpec& shared : train_option_specs(bert_defaults())) {
    options.push_back(std::move(shared));
  }
  return options;
}

}  // namespace

cli::CommandSpec imagenet_command() {
  std::vector<cli::OptionSpec> own = {
      {.name = "arch",
       .value_name = "NAME",
       .help = "The network; the last two are small ones for pictures of 32 pixels",
       .words = {"resnet18", "resnet50", "resnet20", "resnet56"},
       .default_value = "resnet18"},
      {.name = "image-size",
       .value_name = "PIXELS",
       .help = "Side of the pictures that the network sees; 224, or 32 for the small ones, unless "
               "given",
       .number = true},
      {.name = "freeze", .help = "Train the last layer only"},
      {.name = "unfreeze-epoch",
       .value_name = "N",
       .help = "Train the last layer only for N epochs, then all",
       .number = true},
      decode_ahead_option(),
  };
  for (cli::OptionSpec& shared : train_option_specs(imagenet_defaults())) {
    own.push_back(std::move(shared));
  }
  return {.path = {"imagenet"},
          .group = "Tasks",
          .summary = "Train a ResNet on a folder of pictures for each class",
          .description = {"Trains ResNet-18 or ResNet-50 from new weights, or from torchvision's "
                          "(--weights), whose last layer is made new if the data has another "
                          "number of classes. Pictures for training are cut out at random and "
                          "mirrored; those for evaluation are cut out of the middle.",
                          "The result is the same, bit for bit, however often training was "
                          "interrupted, as long as the number of threads and the machine's kind "
                          "of processor stay the same."},
          .options = std::move(own),
          .examples = {{.command = "outlast-train imagenet --data pictures --weights resnet18.pth "
                                   "--freeze",
                        .does = "Teaches a trained network new classes"}}};
}

cli::CommandSpec horses_command() {
  std::vector<cli::OptionSpec> own = {
      {.name = "image-size",
       .value_name = "PIXELS",
       .help = "Side of the pictures that the network sees",
       .default_value = std::to_string(kHorseSide),
       .number = true},
      decode_ahead_option(),
  };
  for (cli::OptionSpec& shared : train_option_specs(horses_defaults())) {
    own.push_back(std::move(shared));
  }
  return {.path = {"horses"},
          .group = "Tasks",
          .summary = "Train a MobileNetV3 to tell horses from humans",
          .description = {"Trains MobileNetV3-Small from new weights. Every five epochs the model "
                          "is written into the job folder, as Models.EPOCH-LOSS.safetensors; "
                          "log.txt there says when training began and went on.",
                          "The result is the same, bit for bit, however often training was "
                          "interrupted, as long as the number of threads and the machine's kind "
                          "of processor stay the same."},
          .options = std::move(own),
          .examples = {{.command = "outlast-train horses --data horses-or-humans",
                        .does = "Trains for 70 epochs"}}};
}

cli::CommandSpec bert_command() {
  return {
      .path = {"bert"},
      .group = "Tasks",
      .summary = "Put texts into classes, by a BERT",
      .description =
          {"Trains a BERT encoder with a linear head on texts with a class each. --weights begins "
           "with what others have trained: a file of Hugging Face's transformers, of the same "
           "--size and with the same vocabulary. The head is new if the file has none.",
           "With --mode predict each text becomes a line: its number, the class that is likeliest, "
           "and its probability. Classes are called by the lines of class.txt beside the data, if "
           "there is one."},
      .options = bert_options(),
      .examples = {{.command = "outlast-train bert --data ag_news --weights bert.safetensors",
                    .does = "Fine-tunes a pretrained BERT for three epochs"},
                   {.command = "outlast-train bert --learning-rate 5e-4",
                    .does = "Trains a small one from the beginning, on texts that are made up"}}};
}

}  // namespace outlast::trainers
