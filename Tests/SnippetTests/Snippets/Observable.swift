// Every product beside what the toolchain has: none of their names hides a module or a type that these use.
import CipherDB
import Dispatch
import Distributed
import FMDBCompat
import Foundation
import Observation
import Rekeying
import Synchronization

@Observable final class Model {
    var notes: [String] = []
    @ObservationIgnored var queue: DatabaseQueue?
    let count = Mutex(0)
}

distributed actor Worker {
    typealias ActorSystem = LocalTestingDistributedActorSystem
    distributed func work() -> String { "done" }
}

func use(_ model: Model, _ queue: DatabaseQueue) {
    withObservationTracking {
        _ = model.notes
    } onChange: {
        DispatchQueue.main.async { print(Date(), UUID(), Data()) }
    }
    let registrar = Observation.ObservationRegistrar()
    let notes: ValueObservation<[String]> = queue.observe { database in
        try database.fetchAll(String.self, "SELECT text FROM notes")
    }
    print(registrar, notes, Synchronization.Atomic(1).load(ordering: .relaxed), Swift.Result<Int, Never>.success(1))
}
