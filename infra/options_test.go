package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// domains is a complete set of names, changed for a test; "" takes one away.
func domains(change map[string]any) map[string]any {
	all := map[string]any{"certificate": certificate}
	for host, name := range domainNames {
		all["domain-"+host] = name
	}
	maps.Copy(all, change)
	return all
}

func TestBadOptionsAreRefusedInOneSentence(t *testing.T) {
	tests := []struct {
		name string
		from map[string]any
		want string
	}{
		{"a strange name", map[string]any{"name": "my vitrine"}, "the context name"},
		{"a strange environment", map[string]any{"environment": "staging"}, "preview or production"},
		{"a strange architecture", map[string]any{"arch": "mips"}, "arm64 or x86_64"},
		{"production that forgets", domains(map[string]any{"environment": "production", "keep": "no"}), "production keeps its data"},
		{"production without domains", map[string]any{"environment": "production"}, "production needs a host name"},
		{"half of the domains", domains(map[string]any{"domain-app": "", "domain-content": ""}), "lacks domain-content, domain-app"},
		{"no certificate", domains(map[string]any{"certificate": ""}), "lacks certificate-api"},
		{"an upload certificate elsewhere", domains(map[string]any{"certificate-upload": "arn:aws:acm:eu-west-1:111122223333:certificate/x"}), "us-east-1"},
		{"content below app", domains(map[string]any{"domain-content": "files.app.example.org"}), "must not share a name"},
		{"content above app", domains(map[string]any{"domain-content": "example.org"}), "must not share a name"},
		{"content like app", domains(map[string]any{"domain-content": "App.example.org"}), "must not share a name"},
		{"a zone without name", domains(map[string]any{"zone": "Z1"}), "ID/NAME"},
		{"a foreign zone", domains(map[string]any{"zone": "Z1/example.net"}), "ID/NAME of the zone that holds api.example.org"},
		{"a strange answer", map[string]any{"keep": "false"}, "keep is yes or no"},
		{"another strange answer", map[string]any{"narrow-writes": "true"}, "narrow-writes is yes or no"},
		{"no units", map[string]any{"table-read-units": "0"}, "table-read-units is a number of at least 1 or none"},
		{"units in words", map[string]any{"table-write-units": "few"}, "table-write-units is a number of at least 1 or none"},
		{"a budget of nothing", map[string]any{"budget-usd": "0", "alarm-topic": "arn"}, "budget-usd is a number of at least 1 or none"},
		{"a budget that nobody hears of", map[string]any{"budget-usd": "5"}, "give alarm-topic too"},
		{"no concurrency", map[string]any{"concurrency-api": "0"}, "at least 1"},
		{"concurrency in words", map[string]any{"concurrency-api": "many"}, "at least 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readOptions(func(name string) any { return tt.from[name] })
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one sentence with %q", err, tt.want)
			}
		})
	}
}

func TestCodeThatCannotRunNamesTheCommandThatBuildsIt(t *testing.T) {
	o := options{Dist: filepath.Join(t.TempDir(), "dist"), Arch: "arm64"}
	if err := o.findCode(); err == nil || !strings.Contains(err.Error(), "run scripts/build") {
		t.Errorf("without code: %v", err)
	}
	if err := writeZips(o); err != nil {
		t.Fatal(err)
	}
	if err := o.findCode(); err != nil {
		t.Errorf("with code: %v", err)
	}
	o.Arch = "x86_64"
	if err := o.findCode(); err == nil || !strings.Contains(err.Error(), "run scripts/build -arch amd64") {
		t.Errorf("with code for another machine: %v", err)
	}
}

func TestADamagedSettingsFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := readOptions(func(name string) any { return map[string]any{"settings": file}[name] })
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v, want the name of the file", err)
	}
}

func TestWithoutAnMCPHostDiscoveryNamesTheAPI(t *testing.T) {
	from := domains(nil)
	o, err := readOptions(func(name string) any { return from[name] })
	if err != nil {
		t.Fatal(err)
	}
	if o.Addresses.MCP != "https://api.example.org" {
		t.Errorf("the MCP host is at %s", o.Addresses.MCP)
	}
}
