package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/dynamo"
)

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no folder":            {nil, "name one folder"},
		"two folders":          {[]string{"a", "b"}, "name one folder"},
		"fewer copies than 0":  {[]string{"a", "--keep", "-1"}, "--keep is a number"},
		"a flag that is none":  {[]string{"a", "--nonsense"}, "usage"},
		"a number that is not": {[]string{"--keep", "x", "a"}, "usage"},
	} {
		_, err := parse(c.args, io.Discard)
		t.Run(name, func(t *testing.T) { expect.Error(t, err, c.says) })
	}
	o := expect.Value(parse([]string{"--keep", "3", "to", "--data", "from", "--ports", "9700"}, io.Discard))(t)
	if o.take.Keep != 3 || o.take.To != "to" || o.take.Data != "from" || o.take.Base != 9700 || o.verify {
		t.Errorf("%+v", o)
	}
	if o := expect.Value(parse([]string{"to"}, io.Discard))(t); filepath.Base(o.take.Data) != ".vitrine" {
		t.Errorf("the data is in %s", o.take.Data)
	}
}

// TestTheCommandCopiesAndVerifies copies empty tables of a stack that has stopped.
func TestTheCommandCopiesAndVerifies(t *testing.T) {
	data, to := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	e := expect.Value(engines.Start(context.Background(), engines.Options{Dir: data, Own: true}))(t)
	client := e.DynamoDBClient()
	expect.OK(t, dynamo.CreateTables(t.Context(), client, dynamo.Named("vitrine")), e.Close())
	for _, step := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{to, "--verify"}, 1, "no finished copy"}, {[]string{to, "--data", data}, 0, "done"},
		{[]string{to, "--verify"}, 0, "whole"}, {[]string{"--help"}, 0, "Usage: scripts/backup DIR"},
	} {
		var said bytes.Buffer
		if code := run(t.Context(), step.args, &said, &said); code != step.code || !strings.Contains(said.String(), step.says) {
			t.Errorf("%v: exit %d, it says %s", step.args, code, said.String())
		}
	}
	copied := expect.Value(filepath.Glob(filepath.Join(to, "*Z", "dynamodb.db")))(t)
	if len(copied) != 1 {
		t.Fatalf("there are %v", copied)
	}
	expect.OK(t, os.Truncate(copied[0], 100))
	if code := run(t.Context(), []string{filepath.Dir(copied[0]), "--verify"}, io.Discard, t.Output()); code != 1 {
		t.Errorf("a database that is cut off gives exit %d", code)
	}
}
