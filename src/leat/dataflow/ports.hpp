// What      An operator's own ends: input ports, which it takes messages from, and output ports,
//           which it sends records to.
#pragma once

#include <leat/dataflow/input_port.hpp>
#include <leat/dataflow/output_port.hpp>
