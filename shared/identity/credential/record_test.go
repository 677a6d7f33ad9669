package credential

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTheRecordOfAKeyKeepsItsKeys holds what stored results and exports contain, and that a repetition answers from it.
func TestTheRecordOfAKeyKeepsItsKeys(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	k := Key{
		ID:        "key",
		Workspace: "w",
		Name:      "A key",
		Public:    "p",
		Scopes:    []Scope{Publish, Read},
		CreatedAt: at,
		ExpiresAt: at.Add(time.Hour),
	}
	const want = `{"id":"key","workspace_id":"w","name":"A key","public_id":"p","scopes":["publish","read"],"revoked_at":null,` +
		`"expires_at":"2026-01-02T04:04:05.678Z","created_at":"2026-01-02T03:04:05.678Z","last_used_at":null}`
	stored, err := json.Marshal(k.Record())
	if err != nil || string(stored) != want {
		t.Errorf("%s, %v; want %s", stored, err, want)
	}
	var r Record
	err = json.Unmarshal(stored, &r)
	if diff := cmp.Diff(k, r.key()); err != nil || diff != "" {
		t.Errorf("%v, the key (-want +got):\n%s", err, diff)
	}
}
