package api

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"vitrine/functions/assembly"
	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/address"
)

// verifierOf returns the verifier of a host with a configuration, and what is logged.
func verifierOf(c assembly.Config) (*provider.Verifier, string) {
	var log bytes.Buffer
	v := providers(&assembly.Services{Config: c}, slog.New(slog.NewTextHandler(&log, nil)))
	return v, log.String()
}

func TestAListThatCannotBeUsedIsReportedAndTrustsNoProvider(t *testing.T) {
	list := []provider.Provider{{Issuer: "https://agents.example"}}
	v, log := verifierOf(assembly.Config{Providers: list, ProvidersError: errors.New("no JSON")})
	if v != nil || strings.Count(log, "\n") != 1 || !strings.Contains(log, `level=ERROR msg=providers error="no JSON"`) {
		t.Errorf("%v, %s", v, log)
	}
	if v, log := verifierOf(assembly.Config{}); v != nil || log != "" {
		t.Errorf("without a list: %v, %s", v, log)
	}
	v, log = verifierOf(assembly.Config{Providers: list, Origins: address.Origins{API: "https://api.example.com"}})
	if v == nil || log != "" || len(v.Providers) != 1 || v.Audience != "https://api.example.com" || v.Documents == nil {
		t.Errorf("with a list: %+v, %s, want a verifier and no log", v, log)
	}
}
