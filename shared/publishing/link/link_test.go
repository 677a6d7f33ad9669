package link

import (
	"encoding/json"
	"testing"
	"time"

	"vitrine/shared/platform/id"
)

func TestALinkEndsOnce(t *testing.T) {
	made := time.UnixMilli(1_000_000)
	sooner, later := made.Add(time.Second), made.Add(time.Minute)
	for name, c := range map[string]struct{ revoked, closed, want time.Time }{
		"it lives":                      {},
		"it was revoked":                {revoked: sooner, want: sooner},
		"all were closed":               {closed: later, want: later},
		"all were closed as it came":    {closed: made, want: made},
		"all were closed before":        {closed: made.Add(-time.Millisecond)},
		"revoked, then closed":          {revoked: sooner, closed: later, want: sooner},
		"closed, then revoked":          {revoked: later, closed: sooner, want: sooner},
		"revoked, and closed before it": {revoked: sooner, closed: made.Add(-time.Hour), want: sooner},
	} {
		l := &Link{CreatedAt: made, RevokedAt: c.revoked}
		if got := l.Ended(c.closed); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNewLinksComeFirst(t *testing.T) {
	at := time.UnixMilli(1_000_000)
	links := []Link{
		{Public: "A", CreatedAt: at},
		{Public: "C", CreatedAt: at.Add(time.Second)},
		{Public: "B", CreatedAt: at},
	}
	Sort(links)
	if links[0].Public != "C" || links[1].Public != "B" || links[2].Public != "A" {
		t.Errorf("%v", links)
	}
}

func TestALinkOpensItsArtifactUntilItEnds(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for name, c := range map[string]struct {
		link  *Link
		opens bool
	}{
		"one that never ends":      {&Link{Artifact: "art"}, true},
		"one that ends later":      {&Link{Artifact: "art", ExpiresAt: now.Add(1)}, true},
		"one that ends now":        {&Link{Artifact: "art", ExpiresAt: now}, false},
		"one that was revoked":     {&Link{Artifact: "art", RevokedAt: now.Add(-time.Hour)}, false},
		"one of another artifact":  {&Link{Artifact: "other"}, false},
		"one that is not there":    {nil, false},
		"a revoked one that ended": {&Link{Artifact: "art", RevokedAt: now, ExpiresAt: now}, false},
	} {
		if c.link.Opens("art", now) != c.opens {
			t.Errorf("%s opens: %t", name, !c.opens)
		}
	}
}

func TestTheRecordOfALinkKeepsItsKeys(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	for revision, want := range map[id.Revision]string{
		"rev": `{"id":"al","type":"revision","artifact_id":"art","revision_id":"rev","created_at":"2026-01-02T03:04:05.678Z"}`,
		"":    `{"id":"al","type":"revision","artifact_id":"art","revision_id":null,"created_at":"2026-01-02T03:04:05.678Z"}`,
	} {
		l := Link{
			ID:        "al",
			Kind:      Revision,
			Artifact:  "art",
			Revision:  revision,
			CreatedAt: at,
		}
		if got, err := json.Marshal(l.Record()); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
