package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/contract"
)

func TestAWaitForAnExportIsToldBeforeItBegins(t *testing.T) {
	for want, e := range map[string]contract.Export{
		"The server begins the export within a minute\n":      {Status: "pending"},
		"The server is making the export: 2 of 5 artifacts\n": {Status: "pending", ArtifactsDone: 2, ArtifactsTotal: 5},
	} {
		var said bytes.Buffer
		stopped := errors.New("stopped")
		a := &app{err: &said, pause: func(context.Context, time.Duration) error { return stopped }}
		a.open()
		_, err := a.awaitExport(t.Context(), nil, e)
		if !errors.Is(err, stopped) || !strings.HasSuffix(said.String(), want) {
			t.Errorf("awaitExport = %v and says %q before it waits, want %q", err, said.String(), want)
		}
	}
}
