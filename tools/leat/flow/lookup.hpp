// What      An operator that looks its records up in a table made of another stream: a join whose
//           table is complete before the first record is answered.
// Protocol  The table is a value with `add(record)`, `seal()`, and `answer(record, session)`, which
//           gives what follows from the record. Records that come early wait in their edge.
// Limits    The table's stream must end; a table that changed with time would be another operator.
#pragma once

#include <leat/dataflow.hpp>

#include <string>
#include <utility>

namespace leat::tool::flow {

/// `stream | lookup<R>(table_stream, table_pact, pact, name, table)`: a stream of `R`.
template <class R, class TableStream, class TablePact, class Pact, class Table>
[[nodiscard]] auto lookup(TableStream table_stream, TablePact table_pact, Pact pact,
                          std::string name, Table table) {
  return dataflow::binary_frontier<R>(
      std::move(table_stream), std::move(pact), std::move(table_pact), std::move(name),
      [table = std::move(table)](auto, const auto&) mutable {
        return [table = std::move(table), sealed = false](auto& records, auto& rows,
                                                          auto& output) mutable {
          rows.for_each([&](auto& message) {
            for (const auto& row : message.records()) table.add(row);
          });
          if (!sealed) {
            if (!rows.frontier().empty()) return;
            table.seal();
            sealed = true;
          }
          records.for_each([&](auto& message) {
            auto session = output.session(message);
            for (const auto& record : message.records()) table.answer(record, session);
          });
        };
      });
}

}  // namespace leat::tool::flow
