package main

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/policy"
)

// withPolicy returns a context whose policy is a text.
func withPolicy(t *testing.T, text string, more map[string]any) map[string]any {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.json")
	expect.OK(t, os.WriteFile(file, []byte(text), 0o600))
	out := map[string]any{"policy": file}
	maps.Copy(out, more)
	return out
}

func TestAWrongPolicyIsNotDeployed(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.json")
	oidc := map[string]any{"identity": "oidc", "oidc-issuer": "https://id.example.com", "oidc-client-id": "x"}
	for name, c := range map[string]struct {
		from map[string]any
		want []string
	}{
		"no file":      {map[string]any{"policy": none}, []string{none}},
		"two mistakes": {withPolicy(t, `{"agents": 1, "member": {}}`, nil), []string{"agents: 1: ", "member: {}: "}},
		"a host of its own": {withPolicy(t, `{"loads_from": {"scripts": ["app.example.org"]}}`, domains(nil)),
			[]string{"must not cover app.example.org"}},
		"the sign-in pages": {withPolicy(t, `{"loads_from": {"images": ["id.example.org"]}}`,
			domains(map[string]any{"domain-identity": "id.example.org"})), []string{"must not cover id.example.org"}},
		"operators that nobody names": {withPolicy(t, `{"sign_in": "operators"}`, oidc), []string{"names no operators"}},
		"operators without sign-in": {withPolicy(t, `{"sign_in": "operators"}`, map[string]any{"identity": "none"}),
			[]string{"names no operators"}},
	} {
		_, err := optionsFrom(c.from)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	if _, err := optionsFrom(withPolicy(t, `{"sign_in": "operators"}`, nil)); err != nil {
		t.Errorf("operators of a pool: %v", err)
	}
}

func TestWhoSignsUp(t *testing.T) {
	for file, want := range map[string]bool{
		`{}`:                       true,
		`{"sign_in": "anybody"}`:   true,
		`{"sign_in": "operators"}`: false,
		`{"sign_in": {"addresses": ["ada@example.com"]}}`:                             false,
		`{"sign_in": {"domains": ["example.com"]}}`:                                   true,
		`{"sign_in": {"domains": ["example.com"], "addresses": ["ada@example.com"]}}`: true,
	} {
		o := expect.Value(optionsFrom(withPolicy(t, file, nil)))(t)
		if got := o.Policy.signUp(); got != want {
			t.Errorf("%s: people sign up themselves: %v", file, got)
		}
	}
}

func TestThePolicyIsBesideEachProgram(t *testing.T) {
	o := made["Named"].options
	packed := expect.Value(policy.Load("../docs/policies/company.json", policy.Deployment{}))(t).File
	for _, name := range functionNames {
		first := expect.Value(os.ReadFile(o.code(name)))(t)
		z := expect.Value(zip.NewReader(bytes.NewReader(first), int64(len(first))))(t)
		f := expect.Value(z.Open(o.Policy.file()))(t)
		if got := expect.Value(io.ReadAll(f))(t); !bytes.Equal(got, packed) {
			t.Errorf("%s has a policy of %d bytes, want %d", name, len(got), len(packed))
		}
		if _, err := z.Open("bootstrap"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		expect.OK(t, o.addPolicyTo(name))
		if !bytes.Equal(expect.Value(os.ReadFile(o.code(name)))(t), first) {
			t.Errorf("%s: a second zip has other bytes", name)
		}
	}
}

func TestATemplateShowsWhichPolicyHolds(t *testing.T) {
	for deployment, want := range map[string]string{"Named": made["Named"].Policy.file(), "Plain": ""} {
		for _, name := range slices.Concat(hostNames, env.Scheduled) {
			h := host{name: name}
			if got := read(t, deployment+"-"+h.title()).variables(t)[env.PolicyFile]; got != want {
				t.Errorf("%s of %s reads %q, want %q", name, deployment, got, want)
			}
		}
	}
}

func TestASenderHasTheNameOfTheDeployment(t *testing.T) {
	for name, want := range map[string]string{
		"Vitrine":   "Vitrine <a@example.org>",
		"Tom & Co.": `"Tom & Co." <a@example.org>`,
		"Büro":      "=?utf-8?q?B=C3=BCro?= <a@example.org>",
	} {
		p := ownerPolicy{Policy: policy.Policy{Brand: policy.Brand{Name: name}}}
		if got := p.sender("a@example.org"); got != want {
			t.Errorf("sender of %s = %q, want %q", name, got, want)
		}
	}
}
