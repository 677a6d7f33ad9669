package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/shared/platform/env"
)

func nothing(string) string { return "" }

func TestItServesUntilItIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"--port", "0", "--data", t.TempDir()}, nothing, writer)
		writer.Close()
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-ended)
	}
	issuer, _, _ := strings.Cut(strings.TrimPrefix(line, "issuer "), ",")
	for _, path := range []string{"/mint", "/assertion", "/second/event"} {
		response, err := http.Get(strings.Replace(issuer, "localhost", "127.0.0.1", 1) + path + "?email=ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK || !strings.HasPrefix(issuer, "http://localhost:") {
			t.Errorf("%q answers %s to %s", issuer, response.Status, path)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestT79ItDoesNotRunInProduction(t *testing.T) {
	production := func(name string) string { return map[string]string{env.Environment: "production"}[name] }
	err := run(t.Context(), []string{"--port", "0", "--data", t.TempDir()}, production, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "production") {
		t.Error(err)
	}
	if err := run(t.Context(), []string{"--port", "0"}, nothing, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "--data") {
		t.Error(err)
	}
}
