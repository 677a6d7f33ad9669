package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/shared/platform/keyring"
)

const ringARN = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:PepperRingA1B2C3-x"

// fakeManager speaks the protocol of Secrets Manager for one secret, with the rule that the tool
// relies on: a label moves only from the version that it is at. No local engine of that service
// exists.
type fakeManager struct {
	mu       sync.Mutex
	versions map[string]string // texts by version
	labels   map[string]string // versions by label
	calls    []string
	region   string

	before func(call string) // runs before a call, without the lock
	lost   string            // the call whose answer is lost, once
}

// newManager points the SDK at a secret that starts as a seed.
func newManager(t *testing.T) *fakeManager {
	t.Helper()
	m := &fakeManager{
		versions: map[string]string{"born": `{"seed":"` + strings.Repeat("s3", 32) + `"}`},
		labels:   map[string]string{current: "born"},
	}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": server.URL,
		"AWS_ACCESS_KEY_ID":                "key",
		"AWS_SECRET_ACCESS_KEY":            "secret",
		"AWS_REGION":                       "us-east-1",
		"AWS_MAX_ATTEMPTS":                 "2",
		"AWS_CONFIG_FILE":                  "/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE":      "/dev/null",
	} {
		t.Setenv(name, value)
	}
	return m
}

type secretCall struct {
	SecretId, SecretString, ClientRequestToken, VersionStage, RemoveFromVersionId, MoveToVersionId string
	VersionStages                                                                                  []string
}

func (m *fakeManager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in secretCall
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &in) != nil || in.SecretId != ringARN {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if m.before != nil {
		m.before(call)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, call)
	m.region = strings.Split(r.Header.Get("Authorization")+"////", "/")[2]
	out, refusal := m.answer(call, in)
	if m.lost == call {
		m.lost = ""
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if refusal != "" {
		w.Header().Set("X-Amzn-Errortype", refusal)
		w.WriteHeader(http.StatusBadRequest)
	}
	json.NewEncoder(w).Encode(out)
}

func (m *fakeManager) answer(call string, in secretCall) (out map[string]any, refusal string) {
	out = map[string]any{"ARN": ringARN}
	switch call {
	case "GetSecretValue":
		out["VersionId"], out["SecretString"] = m.labels[current], m.versions[m.labels[current]]
	case "PutSecretValue":
		m.versions[in.ClientRequestToken] = in.SecretString
		for _, label := range in.VersionStages {
			m.labels[label] = in.ClientRequestToken
		}
		out["VersionId"] = in.ClientRequestToken
	case "UpdateSecretVersionStage":
		if m.labels[in.VersionStage] != in.RemoveFromVersionId || m.versions[in.MoveToVersionId] == "" {
			return map[string]any{"message": "the label is not there"}, "InvalidParameterException"
		}
		m.labels["AWSPREVIOUS"], m.labels[in.VersionStage] = in.RemoveFromVersionId, in.MoveToVersionId
	default:
		return map[string]any{"message": call}, "InvalidRequestException"
	}
	return out, ""
}

// ring returns what a function that starts now would read.
func (m *fakeManager) ring(t *testing.T) keyring.Ring {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := keyring.ParseRing([]byte(m.versions[m.labels[current]]))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// turn runs the tool on the secret.
func turn(t *testing.T, now time.Time, step string, options ...string) (code int, out, complaints string) {
	t.Helper()
	var o, c strings.Builder
	args := append([]string{step, "pepper", "--secret", ringARN}, options...)
	code = run(t.Context(), args, tool{out: &o, complaints: &c, now: func() time.Time { return now }})
	return code, o.String(), c.String()
}

func TestASecretThatWasBornAsASeedIsRotated(t *testing.T) {
	m := newManager(t)
	before := m.ring(t)
	takes := func(now time.Time, says, step string, options ...string) keyring.Ring {
		t.Helper()
		if code, out, complaints := turn(t, now, step, options...); code != 0 || !strings.Contains(out, says) {
			t.Fatal(code, out, complaints)
		}
		return m.ring(t)
	}
	takes(began, "key 1   active", "status")
	if !slices.Equal(m.calls, []string{"GetSecretValue"}) || m.region != "eu-west-1" {
		t.Errorf("status made the calls %v in %s", m.calls, m.region)
	}
	staged := takes(began, "run scripts/deploy", "stage")
	if len(staged.Keys) != 2 || staged.ActiveID != 1 || string(staged.Keys[0].Secret) != string(before.Keys[0].Secret) {
		t.Error("the full form does not begin with the seed's key")
	}
	takes(began, "flip pepper --secret "+ringARN, "status")
	if code, _, complaints := turn(t, began, "flip"); code != 1 || !strings.Contains(complaints, "not yet") ||
		len(m.versions) != 2 {
		t.Error("a refusal wrote something:", code, complaints)
	}
	if r := takes(began.Add(keyring.StageAge), "", "flip"); r.ActiveID != 2 {
		t.Error("key 2 does not sign")
	}
	if r := takes(began.Add(2*time.Hour), "", "drop", "--confirm-unused"); len(r.Keys) != 1 {
		t.Error("key 1 is still there")
	}
}

func TestOfTwoChangesOfASecretAtOnceOneIsMade(t *testing.T) {
	m := newManager(t)
	var overtaken atomic.Bool
	m.before = func(call string) { // another process writes between reading and writing
		if call == "PutSecretValue" && !overtaken.Swap(true) {
			if code, _, complaints := turn(t, began, "stage"); code != 0 {
				t.Error(complaints)
			}
		}
	}
	code, out, complaints := turn(t, began, "stage")
	if code != 1 || out != "" || !strings.Contains(complaints, "somebody else changed the ring") {
		t.Errorf("code %d, %q, %q", code, out, complaints)
	}
	if r := m.ring(t); len(r.Keys) != 2 {
		t.Errorf("the ring has %d keys", len(r.Keys))
	}
}

// A change that is put twice is one version, and a label that was moved counts although nobody heard of it.
func TestALostAnswerIsNotALostChange(t *testing.T) {
	for call, attempts := range map[string]string{"PutSecretValue": "2", "UpdateSecretVersionStage": "1"} {
		m := newManager(t)
		t.Setenv("AWS_MAX_ATTEMPTS", attempts) // each but the first waits
		m.lost = call
		if code, _, complaints := turn(t, began, "stage"); code != 0 || len(m.ring(t).Keys) != 2 || len(m.versions) != 2 {
			t.Errorf("%s: code %d, %d versions: %s", call, code, len(m.versions), complaints)
		}
	}
}

func TestAChangeThatIsRefusedIsNotMade(t *testing.T) {
	m := newManager(t)
	m.before = func(call string) {
		if call == "UpdateSecretVersionStage" { // its version is removed
			m.mu.Lock()
			for version := range m.versions {
				if version != "born" {
					delete(m.versions, version)
				}
			}
			m.mu.Unlock()
		}
	}
	code, _, complaints := turn(t, began, "stage")
	if code != 1 || !strings.Contains(complaints, "the change is not made") || len(m.ring(t).Keys) != 1 {
		t.Errorf("code %d, %s", code, complaints)
	}
}
