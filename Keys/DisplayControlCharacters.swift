extension Unicode.Scalar {
    /// Whether it changes how the text around it is displayed: control characters, separators of lines and paragraphs, and those
    /// that change the direction of writing (Unicode Standard Annex 9).
    package var changesDisplay: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
