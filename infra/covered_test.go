package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fakeACM knows one certificate, or refuses.
func fakeACM(t *testing.T, status, covers, refusal string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		var asked struct{ CertificateArn string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.CertificateArn != wildCertificate {
			t.Errorf("ACM is asked for %q, %v", asked.CertificateArn, err)
		}
		if scope := r.Header.Get("Authorization"); !strings.Contains(scope, "/us-east-1/acm/") {
			t.Errorf("ACM is asked in %q", scope)
		}
		if refusal != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"__type":%q,"message":"no"}`, refusal)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"Certificate": map[string]any{
			"Status": status, "SubjectAlternativeNames": []string{"example.net", covers},
		}})
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_ACM": server.URL, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
	} {
		t.Setenv(name, value)
	}
}

func TestACertificateThatDoesNotCoverTheOriginsOfArtifactsIsRefused(t *testing.T) {
	const account, all = "111122223333", "*.files.example.net"
	for name, tt := range map[string]struct {
		account, status, covers string
		refusal                 string // of ACM
		warns, fails            string
	}{
		"it covers them":        {account: account, status: "ISSUED", covers: all},
		"in capitals":           {account: account, status: "ISSUED", covers: strings.ToUpper(all)},
		"the content host's":    {account: account, status: "ISSUED", covers: "files.example.net", fails: "but not " + all},
		"a level too high":      {account: account, status: "ISSUED", covers: "*.example.net", fails: "but not " + all},
		"not issued yet":        {account: account, status: "PENDING_VALIDATION", covers: all, fails: "has to be ISSUED"},
		"of another account":    {account: "444455556666", warns: "belongs to the account 111122223333"},
		"one that is not there": {account: account, refusal: "ResourceNotFoundException", fails: "does not exist"},
		"without the right":     {account: account, refusal: "AccessDeniedException", warns: "acm:DescribeCertificate"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeACM(t, tt.status, tt.covers, tt.refusal)
			o, err := optionsFrom(ownOrigins(map[string]any{"certificate-wildcard": wildCertificate}))
			if err != nil {
				t.Fatal(err)
			}
			warnings, err := o.checkCovered(t.Context(), tt.account)
			warned, failed := strings.Join(warnings, "\n"), fmt.Sprint(err)
			if tt.fails == "" && err != nil || !strings.Contains(failed, tt.fails) || strings.Contains(failed, "\n") {
				t.Errorf("it fails with %q, want %q", failed, tt.fails)
			}
			if (tt.warns == "") != (warned == "") || !strings.Contains(warned, tt.warns) || strings.Contains(warned, "\n") {
				t.Errorf("it warns %q, want %q", warned, tt.warns)
			}
		})
	}
}

func TestTheCertificateOfTheEdgeIsReadToo(t *testing.T) {
	o, err := optionsFrom(ownOrigins(map[string]any{
		"wildcard-edge": "yes", "region": "eu-west-1", "certificate": euCertificate, "certificate-upload": certificate,
		"certificate-wildcard-edge": wildCertificate,
	}))
	if err != nil {
		t.Fatal(err)
	}
	warnings, err := o.checkCovered(t.Context(), "another")
	if err != nil || len(warnings) != 2 || !strings.HasPrefix(warnings[1], "certificate-wildcard-edge belongs") {
		t.Errorf("%q, %v", warnings, err)
	}
}
