#include "notice/cloud_sources.h"

#include <fmt/core.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "notice/auto_source.h"
#include "notice/azure_metadata.h"
#include "notice/azure_source.h"
#include "notice/cloud_places.h"
#include "notice/ec2_metadata.h"
#include "notice/ec2_source.h"
#include "notice/gce_metadata.h"
#include "notice/gce_source.h"
#include "notice/notice_source.h"
#include "notice/place_finder.h"
#include "notice/place_source.h"
#include "notice/service_presence.h"
#include "sys/call_context.h"
#include "sys/world.h"

namespace outlast::notice {
namespace {

PlaceSource::Read place_reader(Cloud cloud, sys::World& world) {
  if (cloud == Cloud::kGce) {
    return [service = GceMetadata(world)](const sys::CallContext& ctx) mutable {
      return read_gce_place(service, ctx);
    };
  }
  if (cloud == Cloud::kEc2) {
    return [service = Ec2Metadata(world)](const sys::CallContext& ctx) mutable {
      return read_ec2_place(service, ctx);
    };
  }
  return [service = AzureMetadata(world)](const sys::CallContext& ctx) mutable {
    return read_azure_place(service, ctx);
  };
}

}  // namespace

std::vector<std::unique_ptr<NoticeSource>> sources_of_cloud(Cloud cloud, sys::World& world,
                                                            const Logger& log, Duration grace) {
  std::vector<std::unique_ptr<NoticeSource>> sources;
  if (cloud == Cloud::kGce) {
    const auto presence = std::make_shared<ServicePresence>(log, world.clock, "gce");
    for (const auto key : {GceSource::Key::kPreempted, GceSource::Key::kMaintenance}) {
      sources.push_back(std::make_unique<GceSource>(world, log, presence, key, grace));
    }
  } else if (cloud == Cloud::kEc2) {
    sources.push_back(std::make_unique<Ec2Source>(world, log, grace));
  } else {
    sources.push_back(std::make_unique<AzureSource>(world, log, grace));
  }
  sources.push_back(std::make_unique<PlaceSource>(
      world.clock, read_kubernetes_place(world.environment, world.files),
      place_reader(cloud, world)));
  return sources;
}

Result<std::vector<std::unique_ptr<NoticeSource>>> make_cloud_sources(std::string_view name,
                                                                      sys::World& world,
                                                                      const Logger& log,
                                                                      Duration grace) {
  for (const Cloud cloud : {Cloud::kGce, Cloud::kEc2, Cloud::kAzure}) {
    if (name == to_string(cloud)) return sources_of_cloud(cloud, world, log, grace);
  }
  std::vector<std::unique_ptr<NoticeSource>> sources;
  if (name == "auto") {
    sources.push_back(std::make_unique<AutoSource>(world, log, grace));
  } else if (name == "kubernetes") {
    sources.push_back(std::make_unique<PlaceSource>(
        world.clock, read_kubernetes_place(world.environment, world.files), PlaceSource::Read()));
  } else {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("'{}' is no place that is known: write auto, gce, ec2, azure or "
                             "kubernetes",
                             name));
  }
  return sources;
}

}  // namespace outlast::notice
