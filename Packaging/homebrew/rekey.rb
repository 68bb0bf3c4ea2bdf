# Scripts/publish.sh fills in the version and the tarball's SHA-256.
class Rekey < Formula
  desc "Change, add, remove and check the encryption of SQLCipher databases"
  homepage "https://github.com/cipherdb/CipherDB"
  url "https://github.com/cipherdb/CipherDB/releases/download/@VERSION@/CipherDB-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "pkgconf" => :build
  depends_on xcode: ["26.0", :build]
  depends_on macos: :ventura
  depends_on "openssl@3"
  depends_on "sqlcipher"

  def install
    ENV["CIPHERDB_HOMEBREW"] = "1"
    system "swift", "build", "--disable-sandbox", "--configuration", "release", "--product", "rekey"
    bin.install ".build/release/rekey"
    generate_completions_from_executable(bin/"rekey", "--generate-completion-script")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rekey --version")
    (testpath/"plain.db").write("SQLite format 3\0")
    assert_match "plaintext", shell_output("#{bin}/rekey inspect plain.db")
  end
end
