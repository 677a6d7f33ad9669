package cursor

import (
	"strings"
	"testing"
	"time"

	"vitrine/shared/artifact"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/keyring"
	"vitrine/shared/limits"
)

func TestF75OnlyTheSameListOfTheSameWorkspaceOpensACursor(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	c, err := New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	ws, want := id.NewWorkspace(), artifact.Position{CreatedAt: now.UTC(), ID: id.NewArtifact()}
	text, err := c.Seal(ws, "artifacts", want, now)
	if err != nil || len(text) > limits.CursorLength {
		t.Fatal(text, err)
	}
	if got, err := c.Open(ws, "artifacts", text, now); err != nil || got != want {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
	other, _ := New(keyring.New().Seal)
	for name, open := range map[string]func() (artifact.Position, error){
		"another workspace": func() (artifact.Position, error) { return c.Open(id.NewWorkspace(), "artifacts", text, now) },
		"another list":      func() (artifact.Position, error) { return c.Open(ws, "audit", text, now) },
		"another ring":      func() (artifact.Position, error) { return other.Open(ws, "artifacts", text, now) },
		"a day later":       func() (artifact.Position, error) { return c.Open(ws, "artifacts", text, now.Add(limits.CursorLife)) },
		"tampered":          func() (artifact.Position, error) { return c.Open(ws, "artifacts", text[:len(text)-4]+"AAAA", now) },
		"empty":             func() (artifact.Position, error) { return c.Open(ws, "artifacts", "", now) },
		"prefix only":       func() (artifact.Position, error) { return c.Open(ws, "artifacts", "v1.", now) },
		"key id only":       func() (artifact.Position, error) { return c.Open(ws, "artifacts", "v1.AQ", now) },
		"too long":          func() (artifact.Position, error) { return c.Open(ws, "artifacts", "v1."+strings.Repeat("A", 500), now) },
	} {
		if _, err := open(); fault.CodeOf(err) != fault.InvalidCursor {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	c, _ := New(keyring.New().Seal)
	now := time.Now()
	text, _ := c.Seal("w", "l", artifact.Position{CreatedAt: now, ID: id.NewArtifact()}, now)
	f.Add(text)
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := c.Open("w", "l", s, now); err == nil && s != text {
			t.Errorf("%q opens", s)
		}
	})
}
