extension Unicode.Scalar {
    /// Whether it changes how the text around it is displayed, or is not seen: control characters, separators of lines and paragraphs, and
    /// format characters, such as those that change the direction of writing (Unicode Standard Annex 9).
    package var changesDisplay: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // But for the joiners of emoji and of some scripts.
        case .format: ![0x200c, 0x200d].contains(value)
        default: properties.isBidiControl
        }
    }
}
