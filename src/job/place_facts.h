#pragma once

#include <map>
#include <optional>
#include <string>

namespace outlast::job {

// Where an attempt runs, as the place itself says. What it did not say is empty.
struct PlaceFacts {
  std::string cloud = {};     // "gcp", "aws", "azure", "slurm", "kubernetes"
  std::string region = {};    // "us-central1"
  std::string zone = {};      // "us-central1-a"; of Slurm the partition
  std::string machine = {};   // its type: "n2-standard-8"
  std::string instance = {};  // its id there; of Slurm the job's
  std::string name = {};
  std::optional<bool> spot = {};
  std::string account = {};   // project, account or subscription
  std::string identity = {};  // who it is to the cloud's services: service account, role
  std::map<std::string, std::string> tags = {};

  friend bool operator==(const PlaceFacts&, const PlaceFacts&) = default;
};

// What is known after `found` was found out, too. A job of Slurm's or a pod on a cloud's machine is
// both: the place is the cloud's, with the tags of both.
PlaceFacts merged(const PlaceFacts& known, const PlaceFacts& found);

// For people: "a spot n2-standard-8 of gcp in us-central1-a".
std::string describe(const PlaceFacts& place);

}  // namespace outlast::job
