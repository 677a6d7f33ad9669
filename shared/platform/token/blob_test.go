package token

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

func linkCodec(t testing.TB) *LinkCodec {
	t.Helper()
	c, err := NewLinkCodec(keyring.New().Links, "http://app")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func blob() Blob {
	return Blob{
		Expires:   now.Add(time.Hour),
		Scopes:    AllScopes,
		Workspace: id.NewWorkspace(),
		Artifact:  id.NewArtifact(),
	}
}

func TestABlobSaysWhatItWasMintedFor(t *testing.T) {
	c := linkCodec(t)
	want := blob()
	public := id.NewPublic()
	text, err := c.Mint(public, want)
	if err != nil || len(text) != blobText {
		t.Fatal(text, err)
	}
	got, err := c.Parse(public, text, now)
	if err != nil || !got.Expires.Equal(want.Expires) {
		t.Fatal(got, err)
	}
	got.Expires = want.Expires
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestABlobWithoutAnEndOpensForGood(t *testing.T) {
	c := linkCodec(t)
	endless, public := blob(), id.NewPublic()
	endless.Expires = time.Time{}
	text, err := c.Mint(public, endless)
	if err != nil || len(text) != blobText {
		t.Fatal(text, err)
	}
	if got, err := c.Parse(public, text, now.AddDate(200, 0, 0)); err != nil || got != endless {
		t.Errorf("got %+v, %v, want %+v", got, err, endless)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(text)
	if end := binary.BigEndian.Uint32(raw[2:]); end != 0xFFFFFFFF {
		t.Errorf("the stored end is %x, and older codecs need one far ahead", end)
	}
}

func TestT60ABlobIsBoundToItsLinkScopesAndExpiry(t *testing.T) {
	c := linkCodec(t)
	want := blob()
	public := id.NewPublic()
	text, _ := c.Mint(public, want)
	if _, err := c.Parse(id.NewPublic(), text, now); err == nil {
		t.Error("it opens another link")
	}
	if _, err := c.Parse(public, text, want.Expires); err == nil {
		t.Error("it works at its expiry")
	}
	if _, err := linkCodec(t).Parse(public, text, now); err == nil {
		t.Error("another ring accepts it")
	}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range text {
		other := digits[(strings.IndexByte(digits, text[i])+1)%64]
		if _, err := c.Parse(public, text[:i]+string(other)+text[i+1:], now); err == nil {
			t.Fatalf("character %d can be changed", i)
		}
	}
	for _, bad := range []string{text[:30] + "\n\n\n\n" + text[34:], strings.Repeat("\n", blobText), ""} {
		if _, err := c.Parse(public, bad, now); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	want.Scopes = Raw
	if text, _ := c.Mint(public, want); text != "" {
		if _, err := c.Parse(public, text, now); err == nil {
			t.Error("a link without the view bit opens")
		}
	}
}
