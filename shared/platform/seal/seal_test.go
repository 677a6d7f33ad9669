package seal

import (
	"bytes"
	"errors"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/keyring"
)

func box(t *testing.T, ring keyring.Ring, use string) *Box {
	t.Helper()
	b, err := New(ring, use)
	expect.OK(t, err)
	return b
}

func TestWhatIsSealedOpensInItsPlaceOnly(t *testing.T) {
	ring := keyring.New().Seal
	b := box(t, ring, "record")
	secret := []byte("a secret that is shown once")
	sealed, err := b.Seal(secret, "here")
	expect.OK(t, err)
	if bytes.Contains(sealed, secret) {
		t.Error("the sealed text is readable")
	}
	if got, err := b.Open(sealed, "here"); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("%q %v", got, err)
	}
	for name, open := range map[string]func() ([]byte, error){
		"another place": func() ([]byte, error) { return b.Open(sealed, "there") },
		"another use":   func() ([]byte, error) { return box(t, ring, "cursor").Open(sealed, "here") },
		"another ring":  func() ([]byte, error) { return box(t, keyring.New().Seal, "record").Open(sealed, "here") },
		"cut":           func() ([]byte, error) { return b.Open(sealed[:len(sealed)-1], "here") },
		"cut short":     func() ([]byte, error) { return b.Open(sealed[:5], "here") },
		"nothing":       func() ([]byte, error) { return b.Open(nil, "here") },
	} {
		if got, err := open(); !errors.Is(err, ErrBroken) {
			t.Errorf("%s opens: %q %v", name, got, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := b.Open(changed, "here"); !errors.Is(err, ErrBroken) {
			t.Errorf("it opens with byte %d changed", i)
		}
	}
}

func TestASealedTextOutlivesTheRotationOfItsKey(t *testing.T) {
	ring := keyring.New().Seal
	sealed, err := box(t, ring, "record").Seal([]byte("x"), "here")
	expect.OK(t, err)
	fresh := keyring.New().Seal.Keys[0]
	fresh.ID = 2
	old := ring.Keys[0]
	old.State = keyring.Verify
	turned := keyring.Ring{ActiveID: 2, Keys: []keyring.Key{fresh, old}}
	if _, err := box(t, turned, "record").Open(sealed, "here"); err != nil {
		t.Error(err)
	}
	turned.Keys = turned.Keys[:1]
	if _, err := box(t, turned, "record").Open(sealed, "here"); !errors.Is(err, ErrBroken) {
		t.Error("it opens after its key was dropped", err)
	}
}

func TestABoxWithoutKeysIsNotMade(t *testing.T) {
	if _, err := New(keyring.Ring{}, "record"); err == nil {
		t.Error("it was made")
	}
}
