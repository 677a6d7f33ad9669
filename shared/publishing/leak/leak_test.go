package leak

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
)

func find(t *testing.T, r io.Reader) string {
	t.Helper()
	var f Finder
	if _, err := io.Copy(&f, r); err != nil {
		t.Fatal(err)
	}
	return f.Found()
}

// pemKey returns a new private key of the shortest kind.
func pemKey(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	expect.OK(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	expect.OK(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// wide returns a text in UTF-16, as some shells write it.
func wide(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune("\uFEFF" + text)) {
		b.WriteByte(byte(unit))
		b.WriteByte(byte(unit >> 8))
	}
	return b.String()
}

func mint() string {
	return credential.Mint(credential.RefreshToken, credential.Preview, id.NewWorkspace(), "").Reveal()
}

// TestFinder searches the texts that the page that publishes searches, too.
func TestFinder(t *testing.T) {
	text, err := os.ReadFile("testdata/secrets.json")
	expect.OK(t, err)
	var corpus struct {
		Token, Line string
		Cases       []struct {
			Name, Text, Want string
			Before           int // characters
			Wide             bool
		}
	}
	expect.OK(t, json.Unmarshal(text, &corpus))
	for _, tt := range corpus.Cases {
		t.Run(tt.Name, func(t *testing.T) {
			text := strings.NewReplacer("{token}", corpus.Token, "{line}", corpus.Line).Replace(tt.Text)
			if text = strings.Repeat(".", tt.Before) + text; tt.Wide {
				text = wide(text)
			}
			for how, r := range map[string]io.Reader{
				"at once":      strings.NewReader(text),
				"byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			} {
				if got := find(t, r); got != tt.Want {
					t.Errorf("read %s: %q, want %q", how, got, tt.Want)
				}
			}
		})
	}
}

// TestFinderFindsSecretsAcrossWindows moves a secret over each place where a window or a write may end.
func TestFinderFindsSecretsAcrossWindows(t *testing.T) {
	for _, secret := range []string{mint(), pemKey(t)} {
		var places []int
		for _, end := range []int{32 << 10, window - MaxSecret, window, 2*window - MaxSecret, 2 * window} {
			for at := end - len(secret) - 2; at <= end+2; at += 31 {
				places = append(places, at)
			}
		}
		for _, at := range places {
			text := bytes.Repeat([]byte("."), 3*window)
			copy(text[at:], secret)
			if find(t, bytes.NewReader(text)) == "" {
				t.Errorf("not found at %d", at)
			}
			if whole := (&Finder{}); func() string { whole.Write(text); return whole.Found() }() == "" {
				t.Errorf("not found at %d in one write", at)
			}
		}
	}
}

func TestFinderHoldsLittle(t *testing.T) {
	var f Finder
	piece := bytes.Repeat([]byte("ap_pk_preview_-----BEGIN PRIVATE KEY-----"), 1000)
	for range 50 {
		f.Write(piece)
	}
	if cap(f.held) > 4*window || len(f.seen) > 0 {
		t.Errorf("holds %d bytes and %d secrets of 2 MB", cap(f.held), len(f.seen))
	}
}

func TestAdded(t *testing.T) {
	token := mint()
	other := mint()
	key := pemKey(t)
	for _, tt := range []struct{ name, before, after, want string }{
		{"nothing", "a", "b", ""},
		{"a secret", "a", "b" + token, "a secret of Vitrine (ap_rt_...)"},
		{"a secret beside one that was there", token, token + " " + other, "a secret of Vitrine (ap_rt_...)"},
		{"another secret", token, other, "a secret of Vitrine (ap_rt_...)"},
		{"a key", token, token + key, "a private key"},
		{"a secret that moved", "x" + token + key, key + token, ""},
		{"one that is gone", token + key, token, ""},
	} {
		if got := Added(tt.before, tt.after); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
