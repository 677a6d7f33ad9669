package cursor

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

func TestF75OnlyTheSameListOfTheSameWorkspaceOpensACursor(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	c, err := New(keyring.New().Seal)
	expect.OK(t, err)
	of := List{Workspace: id.NewWorkspace(), Name: "artifacts", Now: now}
	want := Position{At: now.UTC(), ID: string(id.NewArtifact())}
	text, err := c.Seal(of, want)
	if err != nil || len(text) > limits.CursorLength {
		t.Fatal(text, err)
	}
	if got, err := c.Open(of, text); err != nil || got != want {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
	other, _ := New(keyring.New().Seal)
	elsewhere, late := List{id.NewWorkspace(), of.Name, now}, List{of.Workspace, of.Name, now.Add(limits.CursorLife)}
	for name, open := range map[string]func() (Position, error){
		"another workspace": func() (Position, error) { return c.Open(elsewhere, text) },
		"another list":      func() (Position, error) { return c.Open(List{of.Workspace, "audit", now}, text) },
		"another ring":      func() (Position, error) { return other.Open(of, text) },
		"a day later":       func() (Position, error) { return c.Open(late, text) },
		"tampered":          func() (Position, error) { return c.Open(of, text[:len(text)-4]+"AAAA") },
		"empty":             func() (Position, error) { return c.Open(of, "") },
		"prefix only":       func() (Position, error) { return c.Open(of, "v1.") },
		"key id only":       func() (Position, error) { return c.Open(of, "v1.AQ") },
		"too long":          func() (Position, error) { return c.Open(of, "v1."+strings.Repeat("A", 500)) },
	} {
		if _, err := open(); fault.CodeOf(err) != fault.InvalidCursor {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPageStartsWhereTheOneBeforeEnded(t *testing.T) {
	c, err := New(keyring.New().Seal)
	expect.OK(t, err)
	of := List{Workspace: id.NewWorkspace(), Name: "artifacts", Now: time.Now()}
	last := Position{At: of.Now.UTC().Truncate(time.Millisecond), ID: string(id.NewArtifact())}
	next, err := c.Seal(of, last)
	if err != nil || next == "" {
		t.Fatal(next, err)
	}
	if got, err := c.Start(of, Page{Cursor: next, Limit: limits.MaxPage}); err != nil || got != last {
		t.Errorf("got %v %v, want %v", got, err, last)
	}
	if got, err := c.Start(of, Page{Limit: 1}); err != nil || got != (Position{}) {
		t.Errorf("the first page starts at %v, %v", got, err)
	}
	for _, limit := range []int{-1, 0, limits.MaxPage + 1} {
		if _, err := c.Start(of, Page{Limit: limit}); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("a page of %d: %v", limit, err)
		}
	}
}
