package main

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/limits"
)

func TestTheStackWarnsOfAnOldCopy(t *testing.T) {
	var said strings.Builder
	l := &local{engines: engine.Shared(t), out: &said}
	client := l.engines.DynamoDBClient()
	tables := dynamo.Named(tablePrefix)
	if err := dynamo.CreateTables(t.Context(), client, tables); err != nil {
		t.Fatal(err)
	}
	l.warnOfOldCopy(t.Context())
	for _, age := range []time.Duration{limits.CopyAge - time.Hour, limits.CopyAge + time.Hour} {
		if said.Len() > 0 {
			t.Errorf("it warns too soon: %s", said.String())
		}
		if err := dynamo.New(client, tables).Copies.Record(t.Context(), time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		l.warnOfOldCopy(t.Context())
	}
	if !strings.Contains(said.String(), "run scripts/backup") {
		t.Errorf("it says %q", said.String())
	}
}
