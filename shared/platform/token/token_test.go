package token

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

var now = time.Date(2026, 3, 1, 10, 20, 0, 0, time.UTC)

func codec(t testing.TB, ring keyring.Ring, kind Kind, host string) *Codec {
	t.Helper()
	c, err := New(ring, kind, host)
	expect.OK(t, err)
	return c
}

func claims() Claims {
	return Claims{
		Expires:   now.Add(time.Hour),
		Workspace: id.NewWorkspace(),
		Artifact:  id.NewArtifact(),
		Revision:  id.NewRevision(),
		NoIndex:   true,
	}
}

func TestATokenSaysWhatItWasMintedFor(t *testing.T) {
	c := codec(t, keyring.New().Content, Content, "http://content")
	for _, link := range []id.Public{"", id.NewPublic()} {
		want := claims()
		want.Link, want.Scripts, want.Public = link, link != "", link == ""
		text, err := c.Mint(want)
		expect.OK(t, err)
		if n := len(text); n != plainText && n != linkText {
			t.Errorf("%d characters", n)
		}
		got, err := c.Parse(text, now)
		if err != nil || !got.Expires.Equal(want.Expires) {
			t.Fatalf("%+v %v, want the end that was sealed", got, err)
		}
		got.Expires = want.Expires
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if again, _ := c.Mint(want); again != text {
			t.Error("minting is not deterministic")
		}
	}
}

func TestT01T02ATokenOpensOneKindOnOneHostOnly(t *testing.T) {
	ring := keyring.New().Content
	text, _ := codec(t, ring, Content, "http://a").Mint(claims())
	for name, c := range map[string]*Codec{
		"another kind": codec(t, ring, AgentView, "http://a"),
		"another host": codec(t, ring, Content, "http://b"),
		"another ring": codec(t, keyring.New().Content, Content, "http://a"),
	} {
		if _, err := c.Parse(text, now); err == nil {
			t.Errorf("%s accepts it", name)
		}
	}
}

func TestT55DamagedTokensAreInvalid(t *testing.T) {
	c := codec(t, keyring.New().Content, Content, "http://content")
	want := claims()
	text, _ := c.Mint(want)
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range text {
		other := digits[(strings.IndexByte(digits, text[i])+1)%64]
		if _, err := c.Parse(text[:i]+string(other)+text[i+1:], now); err == nil {
			t.Fatalf("character %d can be changed", i)
		}
	}
	for name, bad := range map[string]string{
		"empty":          "",
		"truncated":      text[1:],
		"padded":         text + "=",
		"longer":         text + "A",
		"dots":           strings.Repeat(".", plainText),
		"line ends":      text[:40] + "\n\n\n\n" + text[44:],
		"only line ends": strings.Repeat("\r", linkText),
		"8 KB":           strings.Repeat("A", 8192),
		"link length":    text + strings.Repeat("A", linkText-plainText),
	} {
		if _, err := c.Parse(bad, now); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := c.Parse(text, want.Expires); err == nil {
		t.Error("a token works at its expiry")
	}
}

func TestTokensEndAtTheArtifactsExpiryRoundedToTheHour(t *testing.T) {
	at := func(h, m int) time.Time { return time.Date(2026, 3, 1, h, m, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name    string
		expires time.Time
		pinned  bool
		want    time.Time
	}{
		{"within a day", at(18, 30), false, at(19, 0)},
		{"on the hour", at(18, 0), false, at(18, 0)},
		{"far away", now.AddDate(0, 3, 0), false, at(11, 0).AddDate(0, 0, 7)},
		{"pinned and past", at(9, 0), true, at(11, 0).AddDate(0, 0, 3)},
	} {
		if got := Until(now, tt.expires, tt.pinned); !got.Equal(tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestATokenOfAnExportIsReadAsItWasMinted(t *testing.T) {
	now := time.Now()
	codec, err := New(keyring.New().Content, Export, "https://content.test")
	expect.OK(t, err)
	for _, volume := range []int{1, 2, 1000} {
		claims := ExportClaims{
			Expires:   now.Add(time.Hour).Truncate(time.Second),
			Workspace: id.NewWorkspace(),
			Export:    id.NewExport(),
			Volume:    volume,
		}
		text, err := codec.MintExport(claims)
		if err != nil || len(text) != plainText {
			t.Fatal(text, err)
		}
		got, err := codec.ParseExport(text, now)
		if err != nil || got.Workspace != claims.Workspace || got.Export != claims.Export || got.Volume != volume ||
			!got.Expires.Equal(claims.Expires) {
			t.Errorf("%+v, want %+v: %v", got, claims, err)
		}
		if _, err := codec.ParseExport(text, claims.Expires); err == nil {
			t.Error("it outlives its end")
		}
	}
}

func TestT02ATokenOfAnotherKindIsNoneOfAnExport(t *testing.T) {
	now, ring := time.Now(), keyring.New().Content
	exports, err1 := New(ring, Export, "https://content.test")
	bundles, err2 := New(ring, Bundle, "https://content.test")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	claims := Claims{
		Expires:   now.Add(time.Hour),
		Workspace: id.NewWorkspace(),
		Artifact:  id.NewArtifact(),
		Revision:  id.NewRevision(),
	}
	text, err := bundles.Mint(claims)
	expect.OK(t, err)
	if _, err := exports.ParseExport(text, now); err == nil {
		t.Error("a token of a bundle opens an export")
	}
	claims.Link = id.NewPublic()
	if text, err = exports.Mint(claims); err != nil {
		t.Fatal(err)
	}
	if _, err := exports.ParseExport(text, now); err == nil {
		t.Error("a token with a link opens an export")
	}
	if _, err := exports.MintExport(ExportClaims{Workspace: claims.Workspace, Export: "exp_x"}); err == nil {
		t.Error("a malformed export has a token")
	}
}
