package access_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// wantDeleting checks a refusal that says when the workspace goes.
func wantDeleting(t *testing.T, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.NotAuthenticated || !errors.Is(err, workspace.ErrDeleting) ||
		!strings.Contains(err.Error(), "2026-11-23") {
		t.Errorf("refused with %v", err)
	}
}

func TestAKeyOfAWorkspaceThatIsBeingDeletedIsToldSo(t *testing.T) {
	e := newKeyEnv(t)
	e.store.found.Workspace.DeletesAt = now.Add(24 * time.Hour)
	for _, deleting := range []bool{false, true} { // the routes that let members in are not for keys
		_, err := e.Authenticate(t.Context(), e.secret, access.Request{Deleting: deleting}, "")
		wantDeleting(t, err)
	}
	other := newKeyEnv(t)
	e.store.found.Key.Hash = other.store.found.Key.Hash
	if _, err := e.Authenticate(t.Context(), e.secret, access.Request{}, ""); errors.Is(err, workspace.ErrDeleting) {
		t.Errorf("who does not hold the key learns that %v", err)
	}
}

func TestATokenOfAWorkspaceThatIsBeingDeletedOpensWhatItsMemberNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(e *tokenEnv)
		deleting bool // the route
		in, told bool
	}{
		"another route":              {func(*tokenEnv) {}, false, false, true},
		"its route":                  {func(*tokenEnv) {}, true, true, false},
		"its route, once it began":   {func(e *tokenEnv) { e.store.workspace.RemovedAt = now }, true, false, false},
		"its route, a locked one":    {func(e *tokenEnv) { e.store.workspace.Lock = id.NewLockdown() }, true, false, false},
		"its route, an older token":  {func(e *tokenEnv) { e.store.member.SignedOutAt = now.Add(-time.Minute) }, true, false, false},
		"its route, a member's gone": {func(e *tokenEnv) { e.store.member = nil }, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTokenEnv(t)
			e.store.workspace.DeletesAt = now.Add(24 * time.Hour)
			c.change(e)
			got, err := e.Authenticate(t.Context(), e.bearer, access.Request{Deleting: c.deleting}, "")
			if (err == nil) != c.in || err != nil && fault.CodeOf(err) != fault.NotAuthenticated {
				t.Fatal(err)
			}
			if c.told {
				wantDeleting(t, err)
			}
			if c.in && !got.Actor.Workspace.Deleting() {
				t.Error("the caller's workspace does not say so")
			}
		})
	}
}
