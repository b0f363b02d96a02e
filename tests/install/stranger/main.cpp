// What      A program outside this tree that uses the installed library.
#include <leat/base/hash.hpp>
#include <leat/base/histogram.hpp>
#include <leat/leat.hpp>

int main() {
  leat::Histogram histogram;
  histogram.record(leat::fnv1a("mill") % 100);
  return histogram.count() == 1 ? 0 : 1;
}
