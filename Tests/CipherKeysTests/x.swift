enum StubCipherKeysTests {}
