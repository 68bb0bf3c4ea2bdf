#if Tracing
    internal import Tracing
#endif

/// One execution of a statement that is reported: from its first step to its end, the program's work between rows included.
struct StatementExecution {
    let stopwatch = Stopwatch()
    #if Tracing
        let span: any Span
    #endif

    /// The statement failed. Only the code is reported: SQLite's message may quote a value.
    func failed(_ code: ResultCode) {
        #if Tracing
            span.setStatus(SpanStatus(code: .error))
            span.attributes["db.response.status_code"] = "\(code.rawValue)"
        #endif
    }
}
