enum StubSecurityTests {}
