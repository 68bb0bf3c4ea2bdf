enum StubRekeyCommandTests {}
