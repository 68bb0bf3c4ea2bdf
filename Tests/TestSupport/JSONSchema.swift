import Foundation

/// A JSON Schema, as much of it as Documentation/rekey.schema.json uses. Unlike a reader of the schema it refuses names that stand
/// nowhere in it.
package struct JSONSchema {
    private let root: [String: Any]
    /// What the words of a schema are, other than those that only describe.
    private static let words: Set<String> = [
        "$ref", "anyOf", "const", "enum", "type", "properties", "required", "items", "minimum", "maximum", "minItems",
        "maxItems",
    ]
    private static let descriptions: Set<String> = ["$schema", "$defs", "title", "description"]

    package init(path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        guard let root = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw CocoaError(.fileReadCorruptFile)
        }
        self.root = root
    }

    /// The names of the definitions that the schema's alternatives are.
    package var alternatives: [String] {
        (root["anyOf"] as? [[String: Any]] ?? []).compactMap {
            ($0["$ref"] as? String)?.split(separator: "/").last.map(String.init)
        }
    }

    /// What is wrong with `value` as the definition `name`; empty where it is right.
    package func errors(_ value: Any, as name: String) -> [String] {
        errors(value, ["$ref": "#/$defs/\(name)"], name)
    }

    /// What is wrong with `value`; empty where it is right.
    package func errors(_ value: Any) -> [String] { errors(value, root, "") }

    private func errors(_ value: Any, _ schema: [String: Any], _ place: String) -> [String] {
        var found = schema.keys.filter { !JSONSchema.words.union(JSONSchema.descriptions).contains($0) }
            .map { "\(place): the schema's word \($0) is not known" }
        if let name = schema["$ref"] as? String {
            let definition =
                (root["$defs"] as? [String: Any])?[String(name.dropFirst("#/$defs/".count))] as? [String: Any]
            found += definition.map { errors(value, $0, place) } ?? ["\(place): there is no \(name)"]
        }
        if let any = schema["anyOf"] as? [[String: Any]] {
            let each = any.map { errors(value, $0, place) }
            if !each.contains([]) { found += each.min { $0.count < $1.count } ?? [] }
        }
        if let only = schema["const"], !isSame(only, value) { found.append("\(place): not \(only)") }
        if let some = schema["enum"] as? [Any], !some.contains(where: { isSame($0, value) }) {
            found.append("\(place): \(value) is none of \(some)")
        }
        if let type = schema["type"] as? String, !isType(type, value) {
            found.append("\(place): \(value) is no \(type)")
        }
        if let number = value as? NSNumber {
            if let least = schema["minimum"] as? NSNumber, number.doubleValue < least.doubleValue {
                found.append("\(place): too small")
            }
            if let most = schema["maximum"] as? NSNumber, number.doubleValue > most.doubleValue {
                found.append("\(place): too large")
            }
        }
        if let list = value as? [Any] {
            if let least = schema["minItems"] as? Int, list.count < least { found.append("\(place): too short") }
            if let most = schema["maxItems"] as? Int, list.count > most { found.append("\(place): too long") }
            if let items = schema["items"] as? [String: Any] {
                found += list.flatMap { errors($0, items, place + "[]") }
            }
        }
        if let object = value as? [String: Any], let properties = schema["properties"] as? [String: [String: Any]] {
            found += (schema["required"] as? [String] ?? []).filter { object[$0] == nil }.map {
                "\(place): \($0) is missing"
            }
            for (name, member) in object {
                found +=
                    properties[name].map { errors(member, $0, "\(place).\(name)") } ?? [
                        "\(place): \(name) is not known"
                    ]
            }
        }
        return found
    }

    private func isSame(_ first: Any, _ second: Any) -> Bool {
        if let first = first as? String { return first == second as? String }
        guard isBoolean(first) == isBoolean(second), let first = first as? NSNumber else { return false }
        return first == second as? NSNumber
    }

    private func isBoolean(_ value: Any) -> Bool {
        (value as? NSNumber).map { UInt8(bitPattern: $0.objCType.pointee) == UInt8(ascii: "c") } ?? false
    }

    private func isType(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": isBoolean(value)
        case "number": !isBoolean(value) && value is NSNumber
        case "integer":
            !isBoolean(value) && (value as? NSNumber).map { $0.doubleValue == $0.doubleValue.rounded() } ?? false
        default: false
        }
    }
}
