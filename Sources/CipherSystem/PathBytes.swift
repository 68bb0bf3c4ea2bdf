extension String {
    /// The path or name with these bytes, which need not be UTF-8.
    ///
    /// Names of files are bytes on Linux. A byte that is not part of a character in UTF-8 becomes a character for private use,
    /// U+10FE80 to U+10FEFF, so that no two names become one text; every call that takes a path turns it back.
    ///
    /// ```swift
    /// let path = String(pathBytes: [0x6F, 0x75, 0x74, 0xFF, 0x2E, 0x64, 0x62])
    /// let database = Database(path: path)
    /// ```
    public init(pathBytes bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        if let text = String(utf8: bytes), !text.mayHoldPathBytes {
            self = text
            return
        }
        self = ""
        var rest = bytes[...]
        while let first = rest.first {
            // The shortest run that is a character; there is none longer than four bytes.
            let scalar = (1...4).lazy.compactMap {
                String(utf8: rest.prefix($0))?.unicodeScalars.first
            }
            .first
            if let scalar, !PathByte.range.contains(scalar.value) {
                unicodeScalars.append(scalar)
                rest = rest.dropFirst(UTF8.width(scalar))
            } else {
                unicodeScalars.append(PathByte.scalar(first))
                rest = rest.dropFirst()
            }
        }
    }

    /// The text that these bytes are in UTF-8; nil where they are none. Swift's own needs macOS 15 and iOS 18.
    package init?(utf8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        let areSame = utf8.withContiguousStorageIfAvailable { text in
            bytes.withContiguousStorageIfAvailable {
                text.count == $0.count
                    && (text.isEmpty || Platform.areEqual(UnsafeRawBufferPointer(text), UnsafeRawBufferPointer($0)))
            }
        }
        guard (areSame ?? nil) ?? utf8.elementsEqual(bytes) else { return nil }
    }

    /// Whether its UTF-8 has this byte. Swift's own takes a thousand instructions for a path.
    package func hasByte(_ byte: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { Platform.has(byte, UnsafeRawBufferPointer($0)) } ?? utf8.contains(byte)
    }

    /// The bytes of the path or name, as ``init(pathBytes:)`` took them; of any other text its UTF-8.
    public var pathBytes: [UInt8] {
        guard mayHoldPathBytes else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar in
            PathByte.range.contains(scalar.value) ? [UInt8(scalar.value & 0xFF)] : Array(UTF8.encode(scalar) ?? .init())
        }
    }

    /// ``pathBytes`` for C functions, with a NUL behind them.
    package var pathCharacters: [CChar] { pathBytes.map { CChar(bitPattern: $0) } + [0] }

    /// Calls `body` with ``pathCharacters``, which are not copied where the text has them.
    package func withPathCharacters<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        mayHoldPathBytes ? body(pathCharacters) : withCString(body)
    }

    /// The text for people: bytes that are not UTF-8 as U+FFFD, the replacement character.
    package var withoutPathBytes: String {
        guard mayHoldPathBytes else { return self }
        var text = ""
        text.unicodeScalars.append(
            contentsOf: unicodeScalars.map { PathByte.range.contains($0.value) ? "\u{FFFD}" : $0 }
        )
        return text
    }

    /// All that stands for a byte begins with this one in UTF-8.
    private var mayHoldPathBytes: Bool { hasByte(0xF4) }
}

/// The characters that stand for single bytes.
private enum PathByte {
    static let range: ClosedRange<UInt32> = 0x10FE80...0x10FEFF

    static func scalar(_ byte: UInt8) -> Unicode.Scalar {
        // A byte below 0x80 is a character of its own; the others are within the range, which has no surrogates.
        Unicode.Scalar(0x10FE00 + UInt32(byte)) ?? "\u{FFFD}"
    }
}
