"""Joins over an object store: the same bytes as from local files, whatever lies there."""

import json

import lance
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

JOIN = ["--on", "vec", "-k", "5", "--threads", "2"]


def report_of(done):
    return json.loads(done.stderr.strip().splitlines()[-1])


@pytest.mark.parametrize("flags", [
    ["--nprobes", "3", "--refine-factor", "4", "--right-select", "id,name"],
    ["--index", "never"],
    ["--where", "id > 1000 AND name LIKE 'row 1%'", "--nprobes", "8"],
], ids=["index", "exact", "filter"])  # fmt: skip
@pytest.mark.parametrize("output", ["out.parquet", "out.arrow", "out.csv"])
def test_same_bytes_as_from_local_files(run, stored, sides, tmp_path, flags, output):
    run("join", "--left", sides / "left.parquet", "--right", sides / "right.lance",
        "-o", tmp_path / output, *JOIN, *flags)  # fmt: skip
    far = run("join", "--left", stored.uri("in/left.parquet"), "--right",
              stored.uri("in/right.lance"), "-o", stored.uri(f"out/{output}"), "--json",
              "--progress", "none", *JOIN, *flags)  # fmt: skip
    assert stored.get(f"out/{output}") == (tmp_path / output).read_bytes()
    report = report_of(far)
    assert report["requests"] > 0
    assert report["bytes_read"] > 0


def test_left_sides_of_every_format(run, stored, sides, tmp_path):
    table = pq.read_table(sides / "left.parquet").select(["id", "vec"])
    with pa.ipc.new_file(tmp_path / "left.arrow", table.schema) as file:
        file.write_table(table)
    with open(tmp_path / "left.jsonl", "w") as file:
        for row in table.to_pylist():
            file.write(json.dumps(row) + "\n")
    lance.write_dataset(table, tmp_path / "left.lance")
    pq.write_table(table.slice(0, 120), tmp_path / "a.parquet")
    pq.write_table(table.slice(120), tmp_path / "b.parquet")
    for name in ("left.arrow", "left.jsonl"):
        stored.put(f"in/{name}", tmp_path / name)
    for name in ("a.parquet", "b.parquet"):
        stored.put(f"in/folder/{name}", tmp_path / name)
    stored.upload_folder(tmp_path / "left.lance", "in/left.lance")
    answers = []
    lefts = ["in/left.arrow", "in/left.jsonl", "in/left.lance", "in/folder", "in/fold*/*.parquet"]
    for left in lefts:
        run("join", "--left", stored.uri(left), "--right", stored.uri("in/right.lance"),
            "--left-select", "id", "-o", tmp_path / "out.csv", *JOIN)  # fmt: skip
        answers.append((tmp_path / "out.csv").read_bytes())
    assert len(set(answers)) == 1
    assert len(answers[0].splitlines()) == 1 + 300 * 5


def test_right_side_of_files(run, stored, sides, tmp_path):
    right = lance.dataset(sides / "right.lance").to_table()
    pq.write_table(right, tmp_path / "right.parquet")
    stored.put("in/right.parquet", tmp_path / "right.parquet")
    for place in (tmp_path / "right.parquet", stored.uri("in/right.parquet")):
        run("join", "--left", sides / "left.parquet", "--right", place,
            "-o", tmp_path / f"{str(place)[:2] == 's3'}.csv", *JOIN)  # fmt: skip
    assert (tmp_path / "True.csv").read_bytes() == (tmp_path / "False.csv").read_bytes()


def test_info_and_search(run, stored, sides):
    def shown(place):
        info = json.loads(run("info", place, "--fragments", "--json").stdout)
        found = run("search", place, "--query", "[" + ",".join(["0.25"] * 16) + "]", "-k", "3")
        return {key: value for key, value in info.items() if key != "uri"}, found.stdout

    assert shown(stored.uri("in/right.lance")) == shown(sides / "right.lance")


def test_every_request_is_signed(run, stored, proxy):
    proxy.credentials = ("AKIDKINJO", "kinjo/secret+key")
    run("join", "--left", stored.uri("in/left.parquet"), "--right", stored.uri("in/right.lance"),
        "-o", stored.uri("out/a b+c=d~ä.parquet"), *JOIN, endpoint=proxy.address)  # fmt: skip
    assert len(proxy.requests) > 10
    assert proxy.wrong_signatures == []
    token = {"AWS_SESSION_TOKEN": "a token"}
    proxy.credentials += ("a token",)
    run("info", stored.uri("in/right.lance"), endpoint=proxy.address, more=token)
    assert proxy.wrong_signatures == []


def test_options_instead_of_the_environment(kinjo, bucket, stored):
    environment = {name: value for name, value in bucket.environment().items()
                   if not name.startswith("AWS_")}  # fmt: skip
    options = ["--storage-option", f"endpoint={bucket.server}", "--storage-option",
               "allow_http=true", "--storage-option", "aws_access_key_id=a", "--storage-option",
               "secret_access_key=b"]  # fmt: skip
    kinjo("info", stored.uri("in/right.lance"), *options, env=environment)


def test_nothing_signed_for_what_everybody_may_read(run, stored, proxy):
    keyless = {"AWS_ACCESS_KEY_ID": "", "AWS_SKIP_SIGNATURE": "true"}
    proxy.credentials = ("", "")
    # The server lets nobody read without a key, so that is as far as this goes.
    done = run("info", stored.uri("in/right.lance"), endpoint=proxy.address, more=keyless,
               exit_code=1)  # fmt: skip
    assert "403; aws_skip_signature is true" in done.stderr
    assert {authorization for _, _, authorization in proxy.wrong_signatures} == {None}


def test_a_profile_names_the_keys(run, stored, proxy, tmp_path):
    path = tmp_path / "credentials"
    path.write_text("[default]\naws_access_key_id = no\naws_secret_access_key = no\n"
                    "[work]\n# of work\naws_access_key_id=AKIDKINJO\n"
                    "aws_secret_access_key = kinjo/secret+key\n")  # fmt: skip
    proxy.credentials = ("AKIDKINJO", "kinjo/secret+key")
    more = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "work",
            "AWS_SHARED_CREDENTIALS_FILE": str(path)}  # fmt: skip
    run("info", stored.uri("in/right.lance"), endpoint=proxy.address, more=more)
    assert proxy.requests and proxy.wrong_signatures == []


@pytest.mark.parametrize("uri, code, words", [
    ("s3://{bucket}/nothing.lance", 1, ["no dataset at s3://", "nothing.lance"]),
    ("s3://no-such-bucket-here/a.lance", 1, ["no-such-bucket-here", "NoSuchBucket"]),
    ("s3:///a.lance", 1, ["no bucket"]),
    ("ftp://host/a.lance", 1, ["ftp://"]),
])  # fmt: skip
def test_what_is_not_there(run, bucket, uri, code, words):
    done = run("info", uri.format(bucket=bucket.name), exit_code=code)
    for word in words:
        assert word in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("option, words", [
    ("colour=red", ["'colour'", "aws_region"]),
    ("request_timeout=soon", ["request_timeout is 'soon'", "30s"]),
    ("allow_http=perhaps", ["allow_http is 'perhaps'"]),
    ("endpoint=localhost:9000", ["aws_endpoint is 'localhost:9000'", "https://"]),
    ("client_max_retries=1000", ["client_max_retries is '1000'", "100"]),
    ("region", ["--storage-option", "'='"]),
])  # fmt: skip
def test_wrong_options(run, bucket, option, words):
    done = run("info", bucket.uri("a.lance"), "--storage-option", option, exit_code=2)
    for word in words:
        assert word in done.stderr, done.stderr


def test_plain_http_must_be_allowed(run, bucket):
    done = run("info", bucket.uri("a.lance"), more={"AWS_ALLOW_HTTP": ""}, exit_code=1)
    assert "allow_http" in done.stderr


def test_no_keys(run, bucket):
    more = {"AWS_ACCESS_KEY_ID": "", "AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nowhere"}
    done = run("info", bucket.uri("a.lance"), more=more, exit_code=1)
    assert "AWS_ACCESS_KEY_ID" in done.stderr
