package app

import (
	"slices"
	"strings"
	"testing"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

func TestOlderRevisionsAreRestored(t *testing.T) {
	s := newHouse()
	h := s.handler()
	body := text(t, signedIn(h, "GET", artifactPage, nil))
	if strings.Count(body, "/restore\"") != 1 || !strings.Contains(body, `action="`+restorePath+`"`) {
		t.Errorf("not the one older revision that has its files is restored:\n%s", body)
	}
	for _, scene := range []string{ended, deleted, closed, draft} {
		s := newHouse()
		s.scene = scene
		if body := text(t, signedIn(s.handler(), "GET", artifactPage, nil)); strings.Contains(body, "/restore\"") {
			t.Errorf("%s: a revision may be restored", scene)
		}
	}
	s.calls = nil
	r := signedIn(h, "POST", restorePath, doors[restorePath])
	if r.StatusCode != 303 || r.Header.Get("Location") != artifactPage+"#revisions" ||
		!slices.Equal(did(s), []string{"Restore " + artifactID + " " + oldID}) {
		t.Errorf("%d to %q, did %v", r.StatusCode, r.Header.Get("Location"), did(s))
	}
	if k := s.commands[0].Key; k.Operation != idempotency.RestoreRevision || k.Target != artifactID+"/"+oldID ||
		k.Client != "page-0123456789" {
		t.Errorf("command %+v", k)
	}
	if r := signedIn(h, "POST", restorePath, nil); r.StatusCode != 400 || len(s.commands) != 1 {
		t.Errorf("a form without a name: %d", r.StatusCode)
	}
}

func TestWhyARevisionIsNotRestored(t *testing.T) {
	for code, want := range map[fault.Code]struct {
		status int
		words  string
	}{
		fault.DraftRevisionConflict:   {409, "A draft is in the way"},
		fault.RevisionCeilingExceeded: {429, "It has as many revisions as it is allowed"},
		fault.RevisionRetained:        {404, "Nothing was changed: it may have ended"},
		fault.RevisionUnpublished:     {404, "Nothing was changed: it may have ended"},
		fault.ArtifactNotFound:        {404, "Nothing was changed: it may have ended"},
	} {
		s := newHouse()
		s.restoreRefused = fault.NewCode(code)
		r := signedIn(s.handler(), "POST", restorePath, doors[restorePath])
		if body := text(t, r); r.StatusCode != want.status || !strings.Contains(body, want.words) ||
			!strings.Contains(body, "Nothing was changed") || !strings.Contains(body, `href="`+artifactPage+`"`) {
			t.Errorf("%s: %d\n%s", code, r.StatusCode, body)
		}
	}
}
