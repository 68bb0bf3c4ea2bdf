enum StubTS {}
