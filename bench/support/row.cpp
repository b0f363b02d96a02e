#include "row.hpp"

#include <leat/base/check.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace leat::bench {

namespace {

double median_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Four digits are more than any of these figures is good for; large ones keep all before the point.
std::string number(double value) {
  char text[32];
  const int length =
      std::snprintf(text, sizeof text, std::abs(value) >= 1000 ? "%.0f" : "%.4g", value);
  return {text, static_cast<std::size_t>(length)};
}

std::string value_of(const Param& param) {
  if (const auto* text = std::get_if<std::string>(&param.value)) return *text;
  return std::to_string(std::get<std::int64_t>(param.value));
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  LEAT_CHECK(!values.empty(), "the spread of no values");
  Spread spread;
  spread.runs = values.size();
  spread.median = median_of(values);
  spread.min = values.front();
  spread.max = values.back();
  for (double& value : values) value = std::abs(value - spread.median);
  spread.mad = median_of(values);
  return spread;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string label_of(const std::string& bench, const Params& params) {
  std::string label = bench;
  char before = '/';
  for (const Param& param : params) {
    label += before + param.name + '=' + value_of(param);
    before = ',';
  }
  return label;
}

std::string to_json(const Row& row) {
  std::string params;
  for (const Param& param : row.params) {
    if (!params.empty()) params += ", ";
    const bool is_text = std::holds_alternative<std::string>(param.value);
    params += quoted(param.name) + ": " + (is_text ? quoted(value_of(param)) : value_of(param));
  }
  std::string json =
      "{\"bench\": " + quoted(row.bench) + ", \"params\": {" + params +
      "}, \"metric\": " + quoted(row.metric) + ", \"unit\": " + quoted(row.unit) +
      ", \"median\": " + number(row.spread.median) + ", \"min\": " + number(row.spread.min) +
      ", \"max\": " + number(row.spread.max) + ", \"mad\": " + number(row.spread.mad) +
      ", \"runs\": " + std::to_string(row.spread.runs) +
      ", \"yardsticks\": " + to_json(row.yardsticks) + ", \"machine\": " + to_json(row.machine);
  if (!row.note.empty()) json += ", \"note\": " + quoted(row.note);
  return json + "}";
}

std::string to_json(const Yardsticks& yardsticks) {
  return "{\"spin_barrier_ns\": " + number(yardsticks.spin_barrier_ns) +
         ", \"futex_barrier_ns\": " + number(yardsticks.futex_barrier_ns) +
         ", \"line_bounce_ns\": " + number(yardsticks.line_bounce_ns) + "}";
}

std::string to_json(const Machine& machine) {
  return "{\"cores\": " + std::to_string(machine.cores) + ", \"cpu\": " + quoted(machine.cpu) +
         ", \"governor\": " + quoted(machine.governor) + ", \"kernel\": " + quoted(machine.kernel) +
         ", \"compiler\": " + quoted(machine.compiler) + ", \"commit\": " + quoted(machine.commit) +
         ", \"load\": " + number(machine.load) + "}";
}

}  // namespace leat::bench
