// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

/// One thing that happens to a network: a command for the kernel and a transition of the model.
enum NetworkOperation: Hashable, Sendable {
    case addInterface(NetworkModel.Kind, name: String, isUp: Bool, isPlugged: Bool)
    case deleteInterface(NetworkModel.Interface)
    case setUp(NetworkModel.Interface, Bool)
    /// Sets the other end up or down.
    case setPlugged(NetworkModel.Interface, Bool)
    case rename(NetworkModel.Interface, String)
    case addAddress(NetworkModel.Address, NetworkModel.Interface)
    case removeAddress(NetworkModel.Address, NetworkModel.Interface)
    case addRoute(NetworkModel.Route)
    case removeRoute(NetworkModel.Route)
    case addRule(NetworkModel.Rule)
    case removeRule(NetworkModel.Rule)
    case noise(Noise)

    /// What must change nothing.
    enum Noise: Hashable, Sendable {
        /// A container's interfaces come and go.
        case container(number: Int)
        /// Host routes to other places, through an interface.
        case unrelatedRoutes(NetworkModel.Interface)
        /// Flags, sizes and names that carry no meaning.
        case attributes(NetworkModel.Interface)
        /// An address is given a new lifetime.
        case renewal(NetworkModel.Address, NetworkModel.Interface)
        /// A neighbour is learned.
        case neighbour(NetworkModel.Interface)
        /// A policy rule for packets that carry a mark, which ours do not.
        case markedRule(priority: Int)
    }

    /// The transition of the model, and what is true in the middle of it.
    func apply(to model: inout NetworkModel, _ between: (NetworkModel) -> Void) {
        switch self {
        case .deleteInterface(let interface):
            // The kernel sets it down first: of a route over several it takes that next hop, and the route only with the
            // interface (`fib_sync_down_dev`, net/ipv4/fib_semantics.c).
            model.setUp(interface.id, false)
            between(model)
        case .setPlugged(_, false):
            // The carrier is gone 0.1 to 0.5 ms before the routes are marked (linkwatch): a lookup in between still leads
            // into the interface, and a backend that is starved delivers what it saw there.
            var unmarked = model
            unmarked.ignoresRoutesWithoutCarrier = false
            self.apply(to: &unmarked)
            between(unmarked)
        default: break
        }
        self.apply(to: &model)
        between(model)
    }

    /// The transition of the model.
    func apply(to model: inout NetworkModel) {
        switch self {
        case .addInterface(let kind, let name, let isUp, let isPlugged):
            model.add(kind, name: name, isUp: isUp, isPlugged: isPlugged)
        case .deleteInterface(let interface): model.delete(interface.id)
        case .setUp(let interface, let isUp): model.setUp(interface.id, isUp)
        case .setPlugged(let interface, let isPlugged): model.setPlugged(interface.id, isPlugged)
        case .rename(let interface, let name): model.rename(interface.id, name)
        case .addAddress(let address, let interface): model.add(address, to: interface.id)
        case .removeAddress(let address, let interface): model.remove(address, from: interface.id)
        case .addRoute(let route): model.routes.append(route)
        case .removeRoute(let route): model.routes.removeAll { $0.collides(with: route) }
        case .addRule(let rule): model.rules.append(rule)
        case .removeRule(let rule): model.rules.removeAll { $0 == rule }
        case .noise: break
        }
    }
}
