package id

import (
	"regexp"
	"testing"
)

func TestIdsHaveTheFormOfTheContract(t *testing.T) {
	const body = `[0-9A-HJKMNP-TV-Z]{26}$`
	for _, tt := range []struct{ got, form string }{
		{string(NewWorkspace()), `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`},
		{string(NewArtifact()), `^art_` + body},
		{string(NewRevision()), `^rev_` + body},
		{string(NewSession()), `^upl_` + body},
		{string(NewKey(NewPublic())), `^key_` + body},
		{string(NewClaimToken()), `^ct_` + body},
		{string(NewLink()), `^al_` + body},
		{string(NewEvent()), `^evt_` + body},
		{string(NewPublic()), `^[0-9A-HJKMNP-TV-Z]{16}$`},
	} {
		if !regexp.MustCompile(tt.form).MatchString(tt.got) {
			t.Errorf("%q does not match %s", tt.got, tt.form)
		}
	}
}

func TestIdsSurvivePacking(t *testing.T) {
	for range 200 {
		a := NewArtifact()
		r := NewRevision()
		w := NewWorkspace()
		p := NewPublic()
		ab, err1 := a.Bits()
		rb, err2 := r.Bits()
		wb, err3 := w.Bits()
		pb, err4 := p.Bits()
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			t.Fatal(err1, err2, err3, err4)
		}
		if ArtifactOf(ab) != a || RevisionOf(rb) != r || WorkspaceOf(wb) != w || PublicOf(pb) != p {
			t.Fatalf("packing changed %s %s %s %s", a, r, w, p)
		}
	}
}

func TestAKeyIdCarriesThePublicIdOfItsKey(t *testing.T) {
	for range 200 {
		p := NewPublic()
		one, two := NewKey(p), NewKey(p)
		if got, err := one.Public(); err != nil || got != p || one == two {
			t.Fatalf("%s and %s of %s: %s %v", one, two, p, got, err)
		}
	}
	for _, bad := range []Key{"", "key_", "key_80000000000000000000000000", "art_00000000000000000000000000",
		"key_0000000000000000000000000"} {
		if p, err := bad.Public(); err == nil {
			t.Errorf("%q has the public id %q", bad, p)
		}
	}
}

func TestMalformedIdsAreRefused(t *testing.T) {
	for _, bad := range []string{
		"", "art_", "rev_00000000000000000000000000", "art_0000000000000000000000000", "art_000000000000000000000000000",
		"art_80000000000000000000000000", "art_I0000000000000000000000000", "art_0000000000000000000000000a",
		"ART_00000000000000000000000000",
	} {
		if _, err := Artifact(bad).Bits(); err == nil {
			t.Errorf("artifact id %q passed", bad)
		}
	}
	for _, bad := range []string{
		"", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-00000000000G",
		"00000000-0000-0000-0000-00000000000A",
		"0000000-00000-0000-0000-000000000000", "------------------------------------",
		"00000000000000000000000000000000----",
	} {
		if _, err := Workspace(bad).Bits(); err == nil {
			t.Errorf("workspace id %q passed", bad)
		}
	}
	if _, err := Public("0123456789ABCDEU").Bits(); err == nil {
		t.Error("public id with U passed")
	}
}

func TestALinkNamesItsPublicID(t *testing.T) {
	for range 100 {
		l := NewLink()
		public, err := l.Public()
		if err != nil || len(public) != 16 || string(l[13:]) != string(public) {
			t.Fatal(l, public, err)
		}
	}
	for _, bad := range []Link{"", "al_", "al_0123456789ABCDEF", "art_0123456789ABCDEFGHJKMNPQRS",
		"al_0123456789ABCDEFGHJKMNPQRU"} {
		if _, err := bad.Public(); err == nil {
			t.Errorf("%q has a public id", bad)
		}
	}
}

func TestARegistrationIsNamedByItsClaimToken(t *testing.T) {
	for range 200 {
		one, two := NewPublic(), NewPublic()
		r := RegistrationOf(one)
		if !r.Valid() || r != RegistrationOf(one) || r == RegistrationOf(two) {
			t.Fatalf("%s of %s and %s of %s", r, one, RegistrationOf(two), two)
		}
	}
}
