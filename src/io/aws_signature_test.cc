// The examples that Amazon publishes for its storage, and those of the standards below it.
#include "io/aws_signature.h"

#include <gtest/gtest.h>

#include "io/sha256.h"

namespace kinjo::io {
namespace {

constexpr int64_t kTime = 1369353600;  // 2013-05-24 00:00:00
const AwsKeys kKeys = {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
                       .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                       .session_token = {}};

std::string SignatureOf(const RequestToSign& request, const AwsKeys& keys = kKeys) {
  const NamedTexts headers = SignRequest(request, keys, "us-east-1", "s3", kTime);
  const std::string& last = headers.back().second;
  return last.substr(last.find("Signature=") + 10);
}

RequestToSign Request(std::string method, std::string path, NamedTexts query, NamedTexts headers,
                      std::string_view payload = "") {
  return {std::move(method),  "examplebucket.s3.amazonaws.com",
          std::move(path),    std::move(query),
          std::move(headers), HexOf(Sha256(payload))};
}

TEST(Sha256, Standard) {
  EXPECT_EQ(HexOf(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexOf(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexOf(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HexOf(Sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, KeyedStandard) {
  EXPECT_EQ(HexOf(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HexOf(HmacSha256(std::string(131, '\xaa'),
                             "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(AwsSignature, ReadOfARange) {
  EXPECT_EQ(SignatureOf(Request("GET", "/test.txt", {}, {{"range", "bytes=0-9"}})),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(AwsSignature, Listing) {
  EXPECT_EQ(SignatureOf(Request("GET", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {})),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(AwsSignature, QueryWithoutValue) {
  EXPECT_EQ(SignatureOf(Request("GET", "/", {{"lifecycle", ""}}, {})),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(AwsSignature, WriteOfANameWithSigns) {
  EXPECT_EQ(SignatureOf(Request("PUT", UriEncode("/test$file.text", true), {},
                                {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                 {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                                "Welcome to Amazon S3.")),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(AwsSignature, TokenIsSigned) {
  AwsKeys keys = kKeys;
  keys.session_token = "token";
  const RequestToSign request = Request("GET", "/test.txt", {}, {});
  EXPECT_NE(SignatureOf(request, keys), SignatureOf(request));
  const NamedTexts headers = SignRequest(request, keys, "us-east-1", "s3", kTime);
  EXPECT_NE(headers.back().second.find("x-amz-security-token"), std::string::npos);
}

TEST(AwsSignature, Encoding) {
  EXPECT_EQ(UriEncode("a b/c+d~\xc3\xa4=", true), "a%20b/c%2Bd~%C3%A4%3D");
  EXPECT_EQ(UriEncode("a/b", false), "a%2Fb");
  EXPECT_EQ(QueryText({{"prefix", "b/c"}, {"list-type", "2"}}), "list-type=2&prefix=b%2Fc");
}

}  // namespace
}  // namespace kinjo::io
