"""tools/tidy.py and tools/functions.py: each rule fails on a bad sample and passes a good one."""

from pathlib import Path

import pytest

from tools import functions, sources, tidy

GOOD = "// What this file is.\n#pragma once\n\nint Answer();\n"


def messages(path, text):
    return tidy.check_text(Path(path), text)


def test_good_header():
    assert messages("src/base/answer.h", GOOD) == []


@pytest.mark.parametrize(
    "path, text, part",
    [
        ("src/base/answer.h", GOOD + "// " + "x" * 100 + "\n", "line of 103 characters"),
        ("src/base/answer.h", GOOD + "int x; \n", "white space"),
        ("src/base/answer.h", GOOD + "\tint x;\n", "a tab"),
        ("src/base/answer.h", GOOD + "int x;", "no line break"),
        ("src/base/answer.h", GOOD + "// TO" "DO: more\n", "unfinished work"),
        ("docs/page.md", "See /ro" "ot/data.\n", "absolute path"),
        ("docs/page.md", "From https://py" "pi.org/simple\n", "package registry"),
        ("src/base/answer.h", "#pragma once\n", "no opening comment"),
        ("src/base/answer.h", "// What this file is.\nint x;\n", "no #pragma once"),
        ("src/base/string_utils.h", GOOD, "in a file name"),
        ("tools/helpers.py", '"""What."""\n', "in a file name"),
        ("src/base/answer.h", GOOD + "TEST(A, B) {}\n", "a test outside"),
        ("src/base/answer_test.cc", "int x;\n", "without a test"),
        ("src/join/a.cc", "// What.\nstd::thread worker;\n", "ThreadPool"),
        ("src/join/a.cc", "// What.\nvoid F() { throw 1; }\n", "return a Status"),
        ("src/join/a.cc", '// What.\nvoid F() { std::cerr << ""; }\n', "does not print"),
        ("src/join/a.cc", '// What.\nvoid F() { printf(""); }\n', "does not print"),
        ("src/join/a.cc", "// What.\nvoid F() { exit(1); }\n", "end its process"),
        ("src/CMakeLists.txt", "add_compile_options(-march=native)\n", "no such flag"),
        ("tools/lonely.py", "x = 1\n", "no docstring"),
        ("src/base/answer.h", GOOD + "int x;\n" * 1000, "file of 1004 lines"),
    ],
)
def test_bad_sample(path, text, part):
    found = messages(path, text)
    assert len(found) == 1
    assert part in found[0]


def test_words_in_comments_and_strings_are_not_code():
    text = '// std::thread, throw\nconst char* kText = "throw std::cerr";\n'
    assert messages("src/join/a.cc", text) == []


def test_snprintf_is_allowed():
    assert messages("src/join/a.cc", "// What.\nvoid F() { std::snprintf(b, 1, f); }\n") == []


def test_a_source_opens_with_its_headers_comment():
    assert messages("src/base/error.cc", "int x;\n") == []  # src/base/error.h has it
    assert len(messages("src/base/no_such_pair.cc", "int x;\n")) == 1


def long_function(lines, signature="int F(int x) {"):
    return "// What.\n" + signature + "\n" + "  x += 1;\n" * (lines - 2) + "}\n"


@pytest.mark.parametrize(
    "signature",
    [
        "int F(int x) {",
        "Status Room::F(int x) const {",
        "template <typename T> requires std::is_class_v<T> std::vector<T> F(T x) {",
        "Room::Room(int x) : a_{x}, b_(x) {",
        "auto F(int x) -> decltype(x) {",
        "TEST(Suite, Case) {",
        "struct Pair F(int x) {",
        "bool operator==(const A& a, const B& b) {",
    ],
)
def test_function_length(signature):
    path = Path("src/base/a_test.cc") if signature.startswith("TEST") else Path("src/base/error.cc")
    fits, too_long = long_function(70, signature), long_function(71, signature)
    assert tidy.check_text(path, fits) == []
    found = tidy.check_text(path, too_long)
    assert len(found) == 1
    assert "has 71 lines" in found[0]


def test_python_function_length():
    body = '"""What."""\n\n\ndef f(x):\n' + "    x += 1\n" * 70
    assert ["f has 71 lines" in line for line in messages("tools/long.py", body)] == [True]


def test_functions_are_found_in_their_places():
    code = """
#define OPEN(x) if (x) {
namespace kinjo {
struct Row { int a = 0; int Sum() const { return a; } };
enum class Kind : uint8_t { kA, kB };
constexpr int kTable[] = {1, 2,
                          3};
const std::map<int, int> kMap = MakeMap({{1, 2}});
class Room {
 public:
  Room() : a_{1}, b_{2} {
    Call([] { return 1; });
  }
  int a_{3};
};
void Free(
    int x) {
  for (;;) {
  }
}
}  // namespace kinjo
"""
    found = functions.find(sources.blank(code))
    assert [(f.name, f.begin, f.end) for f in found] == [
        ("Sum", 4, 4),
        ("Room", 11, 13),
        ("Free", 16, 20),
    ]


def test_blank_keeps_line_numbers_and_digit_separators():
    text = 'int a = 1\'000\'000; /* one\ntwo */ char c = \'{\';\nauto s = R"(}\n})"; // {\nint b;\n'
    blanked = sources.blank(text)
    assert blanked.count("\n") == text.count("\n")
    assert "{" not in blanked and "}" not in blanked
    assert "1'000'000" in blanked and "int b;" in blanked


def test_large_files_are_refused(tree):
    tree.write("data/big.txt", "x\n" * (300 * 1024))
    assert ["614400 bytes" in line for line in tidy.check(tree.root)] == [True]


def test_headers_that_serve_tests_alone(tree):
    tree.write("src/join/fixture.h", "// What.\n")
    tree.write("src/join/deeper.h", "// What.\n")
    tree.write("src/join/engine.h", "// What.\n")
    tree.write("src/join/a_test.cc", '#include "join/fixture.h"\n#include "join/engine.h"\n')
    tree.write("src/join/fixture.cc", '#include "join/fixture.h"\n#include "join/deeper.h"\n')
    tree.write("src/join/engine.cc", '#include "join/engine.h"\n')
    tree.write("src/join/other.cc", '#include "join/engine.h"\n')

    def serves(name):
        return tidy.serves_tests(Path("src/join") / name, tree.root)

    assert serves("a_test.cc") and serves("fixture.h") and serves("fixture.cc")
    assert serves("deeper.h")
    assert not serves("engine.h") and not serves("engine.cc") and not serves("other.cc")
