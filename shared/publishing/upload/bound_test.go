package upload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// many returns a creator that declares n files, of as many as its policy allows.
func many(n int) *creator {
	c := newCreator()
	c.by.Policy.FileCount = limits.FilesPerTree
	for i := 1; i < n; i++ {
		c.request.Files = append(c.request.Files, file(fmt.Sprintf("%d.txt", i), 1))
	}
	return c
}

// TestABaseOfManyFilesIsComparedWhole protects files that a client without pages does not see.
func TestABaseOfManyFilesIsComparedWhole(t *testing.T) {
	for name, c := range map[string]struct {
		base, compared int
		want           fault.Code
	}{
		"few files and no number":         {limits.ViewFiles, 0, ""},
		"few files and theirs":            {limits.ViewFiles, limits.ViewFiles, ""},
		"few files and another":           {limits.ViewFiles, 99, fault.InvalidRequest},
		"many files and no number":        {limits.ViewFiles + 1, 0, fault.InvalidRequest},
		"many files and those of a page":  {limits.ViewFiles + 1, limits.ViewFiles, fault.InvalidRequest},
		"many files and theirs":           {limits.ViewFiles + 1, limits.ViewFiles + 1, ""},
		"a base that is not there at all": {0, 200, ""}, // refused when it is finalized
	} {
		t.Run(name, func(t *testing.T) {
			e := newCreator()
			e.request.BaseRevisionID = e.revises().Current
			e.request.BaseFiles = c.compared
			for n := range c.base {
				e.store.files = append(e.store.files, tree.File{Path: fmt.Sprint(n)})
			}
			_, err := e.create(t, nil)
			expect.Code(t, err, c.want)
			if c.want != "" && (!strings.HasPrefix(fault.Of(err).Message, baseUnpublished) || e.store.creations > 0) {
				t.Errorf("%v, and %d sessions; want none, and a word that clients know", err, e.store.creations)
			}
		})
	}
}

func TestListsThatNoItemHoldsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		files, listed int
		want          fault.Code
	}{
		"few files are not measured": {limits.ViewFiles, maxStoredList, ""},
		"a list at the bound":        {1024, maxStoredList / 1024, ""},
		"a longer one":               {1025, maxStoredList / 1024, fault.FileCountCapExceeded},
	} {
		e := many(c.files)
		e.store.listed = c.listed
		_, err := e.create(t, nil)
		expect.Code(t, err, c.want)
		if stored := e.store.creations == 1; stored != (c.want == "") {
			t.Errorf("%s: %d sessions are stored", name, e.store.creations)
		}
	}
}

func TestFilesWithoutADigestAreBounded(t *testing.T) {
	digest := strings.Repeat("0", 64)
	declared := func(sizes ...int64) contract.CreateSession {
		r := request(file("index.html", 3))
		for n, size := range sizes {
			r.Files = append(r.Files, file(fmt.Sprint(n), size))
		}
		return r
	}
	most := int64(limits.HashedTogether - 3)
	known := declared(most/2, most/2, limits.MiB)
	known.Files[1].SHA256 = digest
	for name, c := range map[string]struct {
		request contract.CreateSession
		refused bool
	}{
		"at the bound":          {declared(most/2, most-most/2), false},
		"above it":              {declared(most/2, most-most/2, 1), true},
		"one of them is hashed": {known, false},
	} {
		_, err := declare(c.request)
		if refused := fault.CodeOf(err) == fault.InvalidRequest && strings.Contains(err.Error(), "sha256"); refused != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAnswerThatNoFunctionGivesIsRefusedBeforeAnythingIsStored(t *testing.T) {
	for name, c := range map[string]struct {
		files, size int // size of a file's target
		want        fault.Code
	}{
		"few files are not measured": {limits.ViewFiles, maxAnswer, ""},
		"an answer at the bound":     {1000, maxAnswer / 1000, ""},
		"a larger one":               {1001, maxAnswer / 1000, fault.FileCountCapExceeded},
	} {
		e := many(c.files)
		e.size = func(made Created) int { return c.size * len(made.Files) }
		made, err := e.create(t, nil)
		expect.Code(t, err, c.want)
		stored, signed := e.store.creations == 1, len(e.store.presigned)
		if stored != (c.want == "") || stored && (len(made.Files) != c.files || signed != c.files) {
			t.Errorf("%s: %d sessions are stored, %d targets of %d signatures", name, e.store.creations, len(made.Files), signed)
		}
		if c.want != "" && !strings.Contains(err.Error(), "publish 1000 files first") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARepetitionUploadsOnlyWhatIsNotStored(t *testing.T) {
	first := id.NewSession()
	object := func(n int, diff bool) tree.Object { return tree.Object{Session: first, Entry: n, Diff: diff} }
	for resumable, want := range map[bool][]string{
		false: {"stored", "short", "missing", "patched"},
		true:  {"short", "missing"},
	} {
		e := newCreator()
		e.request.Resumable = resumable
		e.store.session = &Session{ID: first, ExpiresAt: now.Add(time.Hour), Diffs: true}
		e.store.entries = []Entry{
			{Path: "stored", Size: 3, Object: object(0, false)},
			{Path: "short", Size: 3, Object: object(1, false)},
			{Path: "missing", Size: 3, Object: object(2, false)},
			{Path: "patched", Size: 2, Object: object(3, false), Patch: &Patch{}},
		}
		e.store.objects = map[tree.Object]string{object(0, false): "abc", object(1, false): "ab", object(3, true): "-+"}
		made, err := e.create(t, &idempotency.Record{
			Fingerprint: e.command.Fingerprint,
			Done:        true,
			Expires:     now.Add(time.Hour),
			Result:      []byte(`{"s":"` + string(first) + `"}`),
		})
		expect.OK(t, err)
		var got []string
		for _, f := range made.Files {
			if f.Put.URL != "" {
				got = append(got, f.Path)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("resumable %t: %q are uploaded, want %q", resumable, got, want)
		}
	}
}
