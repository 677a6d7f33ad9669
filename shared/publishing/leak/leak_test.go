package leak

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
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

func quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	expect.OK(t, err)
	return string(b)
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

func TestFinderFindsSecrets(t *testing.T) {
	token, key := mint(), pemKey(t)
	lines := strings.Repeat(strings.Repeat("Ab+/", 16)+"\n", 12)
	const ours, private = "a secret of Vitrine (ap_rt_...)", "a private key"
	for _, tt := range []struct{ name, text, want string }{
		{"a secret alone", token, ours},
		{"in a JSON document", `{"refresh_token":"` + token + `"}`, ours},
		{"in a binary file", "\x7fELF\x00\xff\xfe" + token + "\x00\x01", ours},
		{"in UTF-16", wide("key: " + token), ours},
		{"after one that is none", "ap_rt_preview_" + token, ours},
		{"a private key", key, private},
		{"with the line ends of Windows", strings.ReplaceAll(key, "\n", "\r\n"), private},
		{"in a JSON document of a service account", `{"private_key":` + quoted(t, key) + `}`, private},
		{"in JSON within JSON", quoted(t, quoted(t, key)), private},
		{"in one line of an environment", strings.ReplaceAll(key, "\n", " "), private},
		{"in the lines of a program", `"` + strings.ReplaceAll(key, "\n", "\\n\" +\n\t\""), private},
		{"indented in YAML", "key: |\n  " + strings.ReplaceAll(key, "\n", "\n  "), private},
		{"in UTF-16", wide(key), private},
		{"an encrypted one",
			"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n" + lines, private},
		{"one of OpenSSH", "-----BEGIN OPENSSH PRIVATE KEY-----\n" + lines, private},
		{"one of OpenPGP",
			"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\nComment: https://example.com/a?b\n\n" + lines,
			private},

		{"nothing", "", ""},
		{"a page about it", "<p>An API key looks like ap_pk_preview_0123456789ABCDEF_…, a claim token like ap_ct_…", ""},
		{"a secret with a letter changed", strings.ToUpper(token[:len(token)-7]) + token[len(token)-7:], ""},
		{"an example of the right length", "ap_pk_preview_0123456789ABCDEF_" + strings.Repeat("x", 71), ""},
		{"the head alone", "<pre>-----BEGIN PRIVATE KEY-----</pre>", ""},
		{"a head with dots", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG...\n-----END PRIVATE KEY-----\n", ""},
		{"a head with words", "-----BEGIN RSA PRIVATE KEY-----\nNote: the key as base64\n(base64 of the key, in lines of " +
			"64 characters)\n-----END RSA PRIVATE KEY-----", ""},
		{"a certificate", "-----BEGIN CERTIFICATE-----\n" + lines, ""},
		{"a public key", "-----BEGIN PUBLIC KEY-----\n" + lines, ""},
		{"a public key of OpenPGP", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n" + lines, ""},
		{"a signature", "-----BEGIN PGP SIGNATURE-----\n\n" + lines, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":      strings.NewReader(tt.text),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.text)),
			} {
				if got := find(t, r); got != tt.want {
					t.Errorf("read %s: %q, want %q", how, got, tt.want)
				}
			}
		})
	}
}

// TestFinderFindsSecretsAcrossWindows moves a secret over each place where a window or a write may end.
func TestFinderFindsSecretsAcrossWindows(t *testing.T) {
	for _, secret := range []string{mint(), pemKey(t)} {
		var places []int
		for _, end := range []int{32 << 10, window - maxSecret, window, 2*window - maxSecret, 2 * window} {
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
