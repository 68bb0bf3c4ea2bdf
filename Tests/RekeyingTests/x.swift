enum StubRekeyingTests {}
