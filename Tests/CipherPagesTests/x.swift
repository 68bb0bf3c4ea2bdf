enum StubCipherPagesTests {}
