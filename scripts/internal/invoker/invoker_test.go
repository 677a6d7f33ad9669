package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/functions/assembly"
	"vitrine/scripts/internal/localapi/gateway"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
)

func TestAnAnswerIsPrintedAsHTTP(t *testing.T) {
	nul := strings.Repeat("\x00", 8)
	for name, c := range map[string]struct{ answer, contentType, want, fails string }{
		"an HTTP API's": {
			`{"statusCode":201,"headers":{"B":"2","A":"1"},"cookies":["c=3"],"body":"é"}`, "application/json",
			"201 Created\nA: 1\nB: 2\nSet-Cookie: c=3\n\né", "",
		},
		"a REST API's": {`{"statusCode":200,"multiValueHeaders":{"A":["1","2"]},"body":"AP8=","isBase64Encoded":true}`,
			"application/json", "200 OK\nA: 1, 2\n\n\x00\xff", ""},
		"a streamed one": {`{"statusCode":206,"multiValueHeaders":{"A":["1"]}}` + nul + "b" + nul, gateway.StreamMedia,
			"206 Partial Content\nA: 1\n\nb" + nul, ""},
		"no answer": {"hello", "application/json", "", "not one that API Gateway understands"},
	} {
		var out strings.Builder
		err := show(&out, strings.NewReader(c.answer), c.contentType)
		if out.String() != c.want {
			t.Errorf("%s: %q", name, out.String())
		}
		if c.fails != "" {
			expect.Error(t, err, c.fails)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheCommandLine(t *testing.T) {
	r, err := parse([]string{"-ports", "9700", "content", "e.json", "A=1", "B=x=y"}, io.Discard)
	if err != nil || r.base != 9700 || r.host != "content" || r.event != "e.json" || r.mode != "stream" ||
		strings.Join(r.placeholders, " ") != "${A} 1 ${B} x=y" {
		t.Errorf("%+v, %v, want what the command line says", r, err)
	}
	if r, err := parse([]string{"-mode", "buffered", "content", "e.json"}, io.Discard); err != nil ||
		r.mode != "buffered" {
		t.Errorf("%+v, %v, want the mode buffered", r, err)
	}
	for _, args := range [][]string{{}, {"api"}, {"api", "e.json", "A"}, {"-nonsense"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}

func TestWithoutAStackItSaysWhatToStart(t *testing.T) {
	t.Setenv("DYNAMODB_ENDPOINT", "")
	t.Setenv("S3_ENDPOINT", "")
	event := filepath.Join("..", "..", "..", "events", "api", "healthz.json")
	expect.Error(t, run(t.Context(), []string{"-ports", "1", "api", event}, io.Discard, io.Discard), "start scripts/dev")
}

func TestAnEventIsSentBesideARunningStack(t *testing.T) {
	running := engine.Shared(t)
	t.Setenv(engines.EnvDynamoDB, running.DynamoDB)
	t.Setenv(engines.EnvS3, running.S3)
	data := t.TempDir()
	event := filepath.Join("..", "..", "..", "events", "app", "home.json")
	err := run(t.Context(), []string{"-data", data, "app", event}, io.Discard, io.Discard)
	expect.Error(t, err, "name its data folder")
	if _, err := assembly.LocalRings(filepath.Join(data, "rings.json")); err != nil {
		t.Fatal(err)
	}
	var stdout strings.Builder
	err = run(t.Context(), []string{"-data", data, "app", event}, &stdout, t.Output())
	if err != nil || !strings.HasPrefix(stdout.String(), "200 OK\nCache-Control: ") ||
		!strings.Contains(stdout.String(), "\n\n<!doctype html>") {
		t.Errorf("%q, %v", stdout.String(), err)
	}
}
