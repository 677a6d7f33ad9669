package token

import (
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

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
