#include <leat/actor/io/stream.hpp>

#include <leat/actor/io/blocking.hpp>

#include <vector>

namespace leat::actor {
namespace {

using Side = Polled::Side;

template <class Made>
Result<std::pair<Stream, Stream>> both(Result<std::pair<os::Descriptor, os::Descriptor>> ends,
                                       Made made) {
  if (!ends) return std::move(ends).error();
  Result<Stream> first = made(std::move(ends->first));
  if (!first) return std::move(first).error();
  Result<Stream> second = made(std::move(ends->second));
  if (!second) return std::move(second).error();
  return std::pair(std::move(*first), std::move(*second));
}

}  // namespace

Result<Stream> Stream::adopt(os::Descriptor descriptor) {
  Result<Polled> polled = Polled::adopt(std::move(descriptor));
  if (!polled) return std::move(polled).error();
  return Stream(std::move(*polled));
}

Result<Stream> Stream::connect(const Address& to, Nanos deadline) {
  Result<os::Descriptor> socket = os::begin_connect(to);
  if (!socket) return std::move(socket).error();
  Result<Polled> polled = Polled::adopt(std::move(*socket));
  if (!polled) return std::move(polled).error();
  const Transfer connected = polled->until_done(
      Side::write, deadline, [&] { return os::connect_outcome(polled->number()); });
  if (connected.ok()) return Stream(std::move(*polled));
  return Error{"socket: asked to connect to " + to.text() + "; found \"" +
               os::error_text(connected.error) + "\"; start whoever listens there first"};
}

Result<Stream> Stream::connect(const std::string& host, std::uint16_t port, Nanos deadline) {
  if (Result<Address> numbers = Address::parse(host, port)) return connect(*numbers, deadline);
  Result<std::vector<Address>> found = blocking([&] { return os::look_up(host, port); });
  if (!found) return std::move(found).error();
  Result<Stream> stream = Error{"socket: asked to connect to \"" + host +
                                "\"; found no address; look at the machine's resolver"};
  for (const Address& address : *found) {
    stream = connect(address, deadline);
    if (stream) break;
  }
  return stream;
}

Result<Stream> Stream::connect_path(const std::string& path, Nanos deadline) {
  Result<Address> address = Address::path(path);
  if (!address) return std::move(address).error();
  return connect(*address, deadline);
}

Transfer Stream::read(std::span<std::byte> into, Nanos deadline) {
  return polled_.until_done(Side::read, deadline,
                            [&] { return os::try_read(polled_.number(), into); });
}

Transfer Stream::read_all(std::span<std::byte> into, Nanos deadline) {
  std::size_t count = 0;
  while (count < into.size()) {
    const Transfer got = read(into.subspan(count), deadline);
    count += got.count;
    if (!got.ok()) return {count, got.error};
    if (got.count == 0) break;
  }
  return {count, 0};
}

Transfer Stream::write(std::span<const std::byte> bytes, Nanos deadline) {
  return polled_.until_done(Side::write, deadline,
                            [&] { return os::try_write(polled_.number(), bytes); });
}

Transfer Stream::write_all(std::span<const std::byte> bytes, Nanos deadline) {
  std::size_t count = 0;
  while (count < bytes.size()) {
    const Transfer put = write(bytes.subspan(count), deadline);
    count += put.count;
    if (!put.ok()) return {count, put.error};
  }
  return {count, 0};
}

Result<std::pair<Stream, Stream>> stream_pair() {
  return both(os::make_stream_pair(), &Stream::adopt);
}
Result<std::pair<Stream, Stream>> pipe_pair() { return both(os::make_pipe(), &Stream::adopt); }

Result<Listener> Listener::open(const Address& address) {
  Result<os::Descriptor> socket = os::listen_at(address, kBacklog);
  if (!socket) return std::move(socket).error();
  Result<Polled> polled = Polled::adopt(std::move(*socket));
  if (!polled) return std::move(polled).error();
  return Listener(std::move(*polled));
}
Result<Listener> Listener::open(const std::string& address, std::uint16_t port) {
  Result<Address> where = Address::parse(address, port);
  if (!where) return std::move(where).error();
  return open(*where);
}
Result<Listener> Listener::open_path(const std::string& path) {
  Result<Address> where = Address::path(path);
  if (!where) return std::move(where).error();
  return open(*where);
}

Result<Stream> Listener::accept(Nanos deadline) {
  os::Descriptor peer;
  const Transfer came = polled_.until_done(Side::read, deadline,
                                           [&] { return os::try_accept(polled_.number(), peer); });
  if (came.ok()) return Stream::adopt(std::move(peer));
  return Error{"socket: asked for a connection at " + address().text() + "; found \"" +
               os::error_text(came.error) + "\"; " +
               (came.out_of_descriptors() ? "close some descriptors, or raise the limit (ulimit -n)"
                                          : "call again")};
}

Result<Datagrams> Datagrams::open(const Address& address) {
  Result<os::Descriptor> socket = os::bind_datagrams(address);
  if (!socket) return std::move(socket).error();
  Result<Polled> polled = Polled::adopt(std::move(*socket));
  if (!polled) return std::move(polled).error();
  return Datagrams(std::move(*polled));
}
Result<Datagrams> Datagrams::open(const std::string& address, std::uint16_t port) {
  Result<Address> where = Address::parse(address, port);
  if (!where) return std::move(where).error();
  return open(*where);
}

Transfer Datagrams::send_to(std::span<const std::byte> bytes, const Address& to, Nanos deadline) {
  return polled_.until_done(Side::write, deadline,
                            [&] { return os::try_send_to(polled_.number(), bytes, to); });
}
Transfer Datagrams::receive_from(std::span<std::byte> into, Address& from, Nanos deadline) {
  return polled_.until_done(Side::read, deadline,
                            [&] { return os::try_receive_from(polled_.number(), into, from); });
}

}  // namespace leat::actor
