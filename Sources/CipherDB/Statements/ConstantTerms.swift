/// Finds the parameters of a statement that stand in terms without a column, which are the same for each row.
///
/// A term is what AND and OR join behind WHERE, ON, HAVING and CHECK; one of GROUP BY, ORDER BY, PARTITION BY and RETURNING; or a result
/// column of a SELECT that has a FROM, no INTO before it and no compound. A subquery counts as a column. A name behind AS says that a result which is no
/// more than a parameter is meant.
struct ConstantTerms {
    private enum Clause {
        /// Without terms, such as FROM, SET and VALUES.
        case other
        /// With terms between AND and OR.
        case conditions
        /// With terms between commas.
        case expressions
        /// As those; a SELECT without FROM may have constants.
        case results
        /// Parentheses that are part of a term.
        case part
    }

    /// The statement, or what stands in one pair of parentheses.
    private struct Level {
        var clause: Clause
        /// Whether AND and OR in these parentheses divide them into terms.
        var hasConditions = false
        /// Whether it has terms of its own, and so is no part of the term around it.
        var isDivided = false
        /// Those of the term that is read.
        var parameters: [Int] = []
        var namesColumn = false
        /// Whether some of them stand in parentheses, as those of a function.
        var areNested = false
        var openCases = 0
        var openBetweens = 0
        /// Those of constant result columns before their FROM.
        var results: [Int] = []
        /// As `results`, with a FROM.
        var selected: [Int] = []
        var mayReturnConstants = false
    }

    private var level = Level(clause: .other)
    /// Those around ``level``, the statement first.
    private var outer: [Level] = []
    private var found: [Int] = []
    private var count = 0
    /// The last token, if it was a word, in capital letters.
    private var lastWord = ""
    /// Whether a value ended, so that what follows is an operator.
    private var isBehindValue = false
    /// Whether the last token is the name of a function.
    private var isCall = false

    /// The parameters `?` in constant terms, counted from 0.
    static func parameters(of sql: String) -> [Int] {
        var terms = ConstantTerms()
        var rest = Array(sql.utf8)[...]
        while let byte = rest.first {
            if !SQLScanner.skipSpace(&rest) { terms.take(byte, &rest) }
        }
        terms.endStatement()
        return terms.found
    }

    private mutating func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) {
        if byte.isPartOfWord {
            let word = rest.prefix { $0.isPartOfWord }
            rest = rest.dropFirst(word.count)
            return take(word, before: &rest)
        }
        var wasCall = false
        swap(&wasCall, &isCall)
        let wasCollation = lastWord == "COLLATE"
        lastWord = ""
        SQLScanner.skipToken(&rest)
        switch byte {
        case UInt8(ascii: "?"):
            rest = rest.drop { $0.isPartOfWord }
            level.parameters.append(count)
            count += 1
            isBehindValue = true
        case UInt8(ascii: ":"), UInt8(ascii: "@"):
            rest = rest.drop { $0.isPartOfWord }
            isBehindValue = true
        case UInt8(ascii: "'"): isBehindValue = true
        case UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["): takeColumn(unless: wasCollation)
        case UInt8(ascii: "*") where !isBehindValue: takeColumn()
        case UInt8(ascii: "("): open(isCall: wasCall)
        case UInt8(ascii: ")"): close()
        case UInt8(ascii: ";"): endStatement()
        case UInt8(ascii: ","):
            if level.clause == .expressions || level.clause == .results { endTerm() }
            isBehindValue = false
        default: isBehindValue = false
        }
    }

    private mutating func takeColumn(unless isOther: Bool = false) {
        if !isOther { level.namesColumn = true }
        isBehindValue = true
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>, before rest: inout ArraySlice<UInt8>) {
        let word = String(decoding: bytes, as: UTF8.self).uppercased()
        let last = lastWord
        lastWord = word
        isCall = false
        switch word {
        case "SELECT": begin(.results)
        case "WHERE", "HAVING", "ON", "CHECK": begin(.conditions)
        case "BY" where ["GROUP", "ORDER", "PARTITION"].contains(last): begin(.expressions)
        case "RETURNING": begin(.expressions)
        case "GROUP", "ORDER", "LIMIT", "SET", "VALUES", "JOIN", "USING": begin(.other)
        case "INTO", "UNION", "EXCEPT", "INTERSECT":
            begin(.other)
            level.mayReturnConstants = true
            level.selected = []
        case "FROM" where last != "DISTINCT":
            endTerm()
            if !level.mayReturnConstants { level.selected += level.results }
            begin(.other)
        case "AND", "OR": takeConjunction(word)
        case "BETWEEN":
            level.openBetweens += 1
            isBehindValue = false
        case "CASE":
            level.openCases += 1
            isBehindValue = false
        case "END" where level.openCases > 0 && isBehindValue:
            level.openCases -= 1
            isBehindValue = true
        case "NULL", "TRUE", "FALSE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP": isBehindValue = true
        case "AS" where level.clause == .results && isBehindValue: takeAlias()
        // What may follow it is what could stand in its place.
        case "NOT": break
        case _ where isBehindValue && ["ISNULL", "NOTNULL", "ASC", "DESC"].contains(word): break
        case "EXISTS", "DISTINCT", "FROM", "ALL", "WHEN", "THEN", "ELSE", "IN": isBehindValue = false
        default: takeOther(bytes, last, before: &rest)
        }
    }

    /// A name, a number, or an operator that may be a name.
    private mutating func takeOther(_ bytes: ArraySlice<UInt8>, _ last: String, before rest: inout ArraySlice<UInt8>) {
        // The type of a CAST is no column either.
        if last == "COLLATE" || last == "NULLS" || last == "AS" && level.clause == .part
            || bytes.first.map({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) == true
        {
            isBehindValue = true
        } else if rest.first == UInt8(ascii: "'"), lastWord == "X" {
            SQLScanner.skipToken(&rest)
            isBehindValue = true
        } else if isBehindValue {
            isBehindValue = false
        } else if SQLScanner.withoutSpaceBefore(rest).first == UInt8(ascii: "(") {
            isCall = true
        } else {
            takeColumn()
        }
    }

    /// A name says that a constant is meant. Behind a function, such as sum, it says nothing.
    private mutating func takeAlias() {
        if level.areNested { endTerm() } else { level.parameters = [] }
        isBehindValue = false
    }

    private mutating func takeConjunction(_ word: String) {
        isBehindValue = false
        if word == "AND", level.openBetweens > 0 {
            level.openBetweens -= 1
        } else if level.openCases == 0, level.clause == .conditions || level.clause == .part && level.hasConditions {
            level.isDivided = true
            endTerm()
        }
    }

    private mutating func begin(_ clause: Clause) {
        endTerm()
        level.results = []
        level.clause = clause
        level.isDivided = true
        isBehindValue = false
    }

    private mutating func endTerm() {
        if !level.namesColumn {
            switch level.clause {
            case .conditions, .expressions: found += level.parameters
            case .part where level.isDivided: found += level.parameters
            case .results: level.results += level.parameters
            case .other, .part: break
            }
        }
        level.parameters = []
        level.namesColumn = false
        level.areNested = false
        level.openCases = 0
        level.openBetweens = 0
    }

    private mutating func open(isCall: Bool) {
        var inner = Level(clause: .part)
        inner.hasConditions =
            !isCall && level.openCases == 0
            && (level.clause == .conditions || level.clause == .part && level.hasConditions)
        outer.append(level)
        level = inner
        isBehindValue = false
    }

    private mutating func close() {
        guard let around = outer.popLast() else { return }
        if level.isDivided { endTerm() }
        let inner = level
        found += inner.selected
        level = around
        level.parameters += inner.parameters
        level.areNested = level.areNested || !inner.parameters.isEmpty
        level.namesColumn = level.namesColumn || inner.namesColumn || inner.isDivided
        isBehindValue = true
    }

    private mutating func endStatement() {
        while !outer.isEmpty { close() }
        endTerm()
        found += level.selected
        level = Level(clause: .other)
    }
}

extension UInt8 {
    /// Whether it is part of a name, a keyword or a number.
    fileprivate var isPartOfWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }
}
