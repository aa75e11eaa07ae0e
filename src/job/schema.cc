#include "job/schema.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/yaml.h"
#include "job/fields.h"
#include "job/place.h"

namespace outlast::job {
namespace {

using Shape = ValueType::Shape;

Json schema_of(const ValueType& type);

// A plain scalar that looks like a number or a truth value is one to an editor; where the reader
// takes it as text, the schema must let it pass.
Json text_schema(const ValueType& type) {
  Json types = Json::array({"string"});
  if (type.read("1")) types.push_back("number");
  if (type.read("true")) types.push_back("boolean");
  Json schema = {{"type", types.size() == 1 ? types[0] : types}};
  if (!type.pattern.empty()) schema["pattern"] = type.pattern;
  return schema;
}

Json default_as_json(const YamlNode& node, const ValueType& type) {
  if (type.shape == Shape::kCount) return Json::parse(node.text);
  if (node.kind == YamlNode::Kind::kScalar) return node.text;
  if (node.kind == YamlNode::Kind::kSequence) {
    Json list = Json::array();
    for (const YamlNode& item : node.items) list.push_back(default_as_json(item, *type.item));
    return list;
  }
  Json object = Json::object();
  if (type.record == nullptr) return object;
  for (const Field& field : type.record->fields) {
    const YamlNode* const value = node.find(field.key);
    if (value != nullptr) object[std::string(field.key)] = default_as_json(*value, *field.type);
  }
  return object;
}

Json field_schema(const Field& field) {
  Json schema = schema_of(*field.type);
  schema["description"] = field.doc;
  if (!field.default_yaml.empty()) {
    schema["default"] = default_as_json(read_yaml(field.default_yaml).root, *field.type);
  }
  return schema;
}

// What one cloud requires, and what it does not take.
Json cloud_rule(const Record& record, Cloud cloud) {
  Json required = Json::array();
  Json not_taken = Json::object();
  for (const Field& field : record.fields) {
    if ((field.required_by & cloud_bit(cloud)) != 0) required.push_back(field.key);
    if ((field.taken_by & cloud_bit(cloud)) == 0) not_taken[std::string(field.key)] = false;
  }
  const Json is_cloud = {{"required", {"cloud"}},
                         {"properties", {{"cloud", {{"const", to_string(cloud)}}}}}};
  return {{"if", is_cloud}, {"then", {{"required", required}, {"properties", not_taken}}}};
}

Json record_schema(const Record& record) {
  Json required = Json::array();
  Json properties = Json::object();
  for (const Field& field : record.fields) {
    if (field.required) required.push_back(field.key);
    properties[std::string(field.key)] = field_schema(field);
  }
  Json schema = {{"type", "object"},
                 {"additionalProperties", false},
                 {"required", required},
                 {"properties", properties}};
  if (record.by_cloud) {
    for (std::size_t i = 0; i < kCloudWords.size(); ++i) {
      schema["allOf"].push_back(cloud_rule(record, static_cast<Cloud>(i)));
    }
  }
  return schema;
}

Json schema_of(const ValueType& type) {
  Json schema;
  switch (type.shape) {
    case Shape::kScalar:
      if (type.read == nullptr) return {{"enum", type.words}};
      schema = text_schema(type);
      break;
    case Shape::kCount:
      return {{"type", "integer"}, {"minimum", type.min}, {"maximum", type.max}};
    case Shape::kList:
      schema = {{"type", "array"}, {"items", schema_of(*type.item)}, {"uniqueItems", true}};
      if (!type.may_be_empty) schema["minItems"] = 1;
      return schema;
    case Shape::kMap:
      return {{"type", "object"},
              {"propertyNames", {{"pattern", type.key_pattern}}},
              {"additionalProperties", schema_of(*type.item)}};
    case Shape::kRecord:
      schema = record_schema(*type.record);
      break;
  }
  if (type.words.empty()) return schema;
  return {{"anyOf", {{{"enum", type.words}}, schema}}};
}

}  // namespace

Json json_schema() {
  Json schema = record_schema(job_record());
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "outlast job";
  schema["description"] = "A training job that survives the loss of its machine.";
  return schema;
}

}  // namespace outlast::job
