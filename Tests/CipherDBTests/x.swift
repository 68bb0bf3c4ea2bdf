enum StubCipherDBTests {}
