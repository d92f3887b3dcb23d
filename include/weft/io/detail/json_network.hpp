// SPDX-License-Identifier: BSL-1.0
/// Networks of switches and cables, and hierarchies of enclosures, in JSON.
#pragma once

#include "weft/io/detail/json_document.hpp"
#include "weft/platform/links.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::io::detail {

inline link link_from_json(const json_value& value) {
  link l;
  if (value.has("latency")) {
    l.latency = value.at("latency").number();
  }
  if (value.has("bandwidth")) {
    l.bandwidth = value.at("bandwidth").number(true);
  }
  if (value.has("joules_per_byte")) {
    l.joules_per_byte = value.at("joules_per_byte").number();
  }
  return l;
}

/// The keys of a link, into an object.
inline void add_link_json(nlohmann::ordered_json& entry, const link& l) {
  if (l.latency != 0) {
    entry["latency"] = json_number(l.latency);
  }
  if (std::isfinite(l.bandwidth)) {
    entry["bandwidth"] = json_number(l.bandwidth);
  }
  if (l.joules_per_byte != 0) {
    entry["joules_per_byte"] = json_number(l.joules_per_byte);
  }
}

/// Ends of links by name or number, devices before switches. A name is a switch's if one has it.
class node_names {
public:
  explicit node_names(const std::vector<std::string>& devices) : count_{devices.size()} {
    for (const device_id d : ids(devices.size())) {
      if (const auto [at, added] = nodes_.try_emplace(devices[d], d); !added) {
        at->second = none; // several devices
      }
    }
  }
  /// False if another switch has the name.
  bool add_switch(const std::string& name, std::uint32_t node) {
    ++count_;
    return name.empty() || (switches_.try_emplace(name, node).second);
  }
  std::uint32_t operator()(const json_value& value) const {
    if (!value.is_string()) {
      return static_cast<std::uint32_t>(value.whole(0, count_ - 1));
    }
    const auto name = value.text();
    if (const auto at = switches_.find(name); at != switches_.end()) {
      return at->second;
    }
    const auto at = nodes_.find(name);
    if (name.empty() || at == nodes_.end()) {
      value.fail("there is no device or switch called " + in_quotes(name));
    }
    if (at->second == none) {
      value.fail("several devices are called " + in_quotes(name) + "; write the number of the one that is meant");
    }
    return at->second;
  }
  /// What is written for a node: its name, if that is enough to find it, else its number.
  nlohmann::ordered_json written(std::uint32_t node, const std::string& name) const {
    if (!name.empty()) {
      const auto s = switches_.find(name);
      const auto d = nodes_.find(name);
      if (s != switches_.end() ? s->second == node : d != nodes_.end() && d->second == node) {
        return name;
      }
    }
    return node;
  }

private:
  std::size_t count_;
  std::unordered_map<std::string, std::uint32_t> nodes_; // devices
  std::unordered_map<std::string, std::uint32_t> switches_;
};

/// Runs what a builder checks; what it finds is an error of that value.
template <class F>
auto at_value(const json_value& value, const F& f) {
  try {
    return f();
  } catch (const value_error& e) {
    value.fail(std::string{e.what()}.substr(e.where.size() + 2));
  }
}

/// A network of switches and links between them and devices of these names. At most `most` switches.
inline interconnect network_from_json(const json_value& network, const std::vector<std::string>& devices,
                                      std::size_t most) {
  network.object({"switches", "links", "routes", "spread", "through_devices"});
  const auto flag = [&](const char* key) { return network.has(key) && network.at(key).boolean(); };
  interconnect_builder b{devices.size(), {.through_devices = flag("through_devices"), .spread = flag("spread")}};
  node_names names{devices};
  if (const auto switches = network.find("switches")) {
    if (switches->is_number()) {
      for (auto count = switches->whole(0, most); count > 0; --count) {
        names.add_switch("", b.add_switch());
      }
    } else {
      switches->array("a number of switches or a list of their names");
      switches->expect(switches->size() <= most, ("at most " + std::to_string(most) + " switches").c_str());
      for (const json_value& name : *switches) {
        if (!names.add_switch(name.text(), b.add_switch(name.text()))) {
          name.fail("two switches are called " + in_quotes(name.text()));
        }
      }
    }
  }
  const auto links = network.at("links");
  links.array("a list of links");
  for (const json_value& entry : links) {
    entry.object({"between", "from", "to", "latency", "bandwidth", "joules_per_byte"});
    const link l = link_from_json(entry);
    if (const auto between = entry.find("between")) {
      between->array("a list of two ends");
      between->expect(between->size() == 2, "a list of two ends");
      if (entry.has("from") || entry.has("to")) {
        entry.fail("'between' means both directions, 'from' and 'to' only one; write either");
      }
      const auto one = names((*between)[0]);
      const auto other = names((*between)[1]);
      at_value(entry, [&] { return b.join(one, other, l); });
    } else if (entry.has("from") || entry.has("to")) {
      const auto from = names(entry.at("from"));
      const auto to = names(entry.at("to"));
      at_value(entry, [&] { return b.add_link(from, to, l); });
    } else {
      b.add_link(l);
    }
  }
  if (const auto routes = network.find("routes")) {
    routes->array("a list of routes");
    for (const json_value& route : *routes) {
      route.object({"from", "to", "over"});
      const auto from = route.at("from");
      const auto to = route.at("to");
      const auto over = route.at("over");
      over.array("a list of the numbers of links");
      std::vector<link_id> taken;
      for (const json_value& l : over) {
        taken.push_back(static_cast<link_id>(l.whole(0, none - 1)));
      }
      at_value(route, [&, a = names(from), c = names(to)] { b.set_route(a, c, std::move(taken)); });
    }
  }
  return at_value(network, [&] { return std::move(b).build(); });
}

template <class Name>
void write_network(std::ostream& out, const interconnect& net, const Name& device_name) {
  const auto n = net.num_devices();
  const auto entry_on = [&](const char* before, const nlohmann::ordered_json& entry) {
    out << before << one_line(entry);
  };
  std::vector<std::string> devices;
  for (const device_id d : ids(n)) {
    devices.emplace_back(device_name(d));
  }
  node_names names{devices};
  auto switches = nlohmann::ordered_json::array();
  bool named = false;
  for (std::size_t s = 0; s < net.num_switches(); ++s) {
    const std::string name{net.switch_name(s)};
    names.add_switch(name, static_cast<std::uint32_t>(n + s));
    named = named || !name.empty();
    switches.push_back(name);
  }
  const auto node = [&](std::uint32_t v) {
    return names.written(v, v < n ? devices[v] : std::string{net.switch_name(v - n)});
  };
  out << "{\"network\": {";
  const char* before = "\n      \"switches\": ";
  if (!switches.empty()) {
    entry_on(before, named ? switches : nlohmann::ordered_json(net.num_switches()));
    before = ",\n      ";
  } else {
    before = "\n      ";
  }
  out << before << "\"links\": [";
  before = "\n        ";
  for (link_id l = 0; l < net.num_links(); ++l) {
    auto entry = nlohmann::ordered_json::object();
    const auto [from, to] = net.ends(l);
    if (from != none) {
      if (l + 1 < net.num_links() && net.ends(l + 1) == link_ends{to, from} && net.link_at(l + 1) == net.link_at(l)) {
        entry["between"] = {node(from), node(to)};
        ++l; // the way back
      } else {
        entry["from"] = node(from);
        entry["to"] = node(to);
      }
    }
    add_link_json(entry, net.link_at(l));
    entry_on(before, entry);
    before = ",\n        ";
  }
  out << "\n      ]";
  before = ",\n      \"routes\": [\n        ";
  bool given = false;
  for (const device_id from : ids(n)) {
    for (const device_id to : ids(n)) {
      if (net.is_given(from, to)) {
        auto over = nlohmann::ordered_json::array();
        net.visit_route(from, to, [&](link_id l) { over.push_back(l); });
        entry_on(before, {{"from", node(from)}, {"to", node(to)}, {"over", std::move(over)}});
        before = ",\n        ";
        given = true;
      }
    }
  }
  out << (given ? "\n      ]" : "") << (net.routing().spread ? ",\n      \"spread\": true" : "")
      << (net.routing().through_devices ? ",\n      \"through_devices\": true" : "") << "\n  }}";
}

/// The hierarchy whose ports these links are, if they are.
inline std::optional<hierarchical_links> hierarchy_of(const interconnect& net) {
  const auto n = net.num_devices();
  const auto first_of = [&](device_id to) {
    link_id first = none;
    net.visit_route(0, to, [&](link_id l) { first = first == none ? l : first; });
    return first;
  };
  std::vector<link> levels{net(0, 1)};
  std::vector<std::size_t> sizes;
  std::size_t span = 1;
  for (device_id d = 2; d < n; ++d) { // how far device 0's ports lead
    if (first_of(d) != first_of(d - 1)) {
      if (d % span != 0) {
        return std::nullopt;
      }
      sizes.push_back(d / span);
      levels.push_back(net(0, d));
      span = d;
    }
  }
  hierarchical_links made{std::move(levels), sizes, n};
  bool same = made.num_links() == net.num_links();
  for (link_id l = 0; same && l < net.num_links(); ++l) {
    same = net.ends(l) == link_ends{} && made.link_at(l) == net.link_at(l);
  }
  for (device_id from = 0; same && from < n; ++from) {
    for (device_id to = 0; same && to < n; ++to) {
      std::vector<link_id> a;
      std::vector<link_id> b;
      net.visit_route(from, to, [&](link_id l) { a.push_back(l); });
      made.visit_route(from, to, [&](link_id l) { b.push_back(l); });
      same = a == b;
    }
  }
  return same ? std::optional{std::move(made)} : std::nullopt;
}

inline void write_levels(std::ostream& out, const hierarchical_links& links) {
  out << "{\"levels\": [";
  for (std::size_t k = 0; k < links.levels().size(); ++k) {
    auto level = nlohmann::ordered_json::object();
    add_link_json(level, links.levels()[k]);
    if (k + 1 < links.levels().size()) {
      level["size"] = links.size(k);
    }
    out << (k == 0 ? "\n      " : ",\n      ") << one_line(level);
  }
  out << "\n  ]}";
}

} // namespace weft::io::detail
