package artifact

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestWhatMayBePinnedAndUnpinned(t *testing.T) {
	type wanted struct {
		commits int
		code    fault.Code
	}
	once, missing := wanted{1, ""}, wanted{0, fault.ArtifactNotFound}
	full, forbidden := wanted{0, fault.PinnedArtifactCap}, wanted{0, fault.Forbidden}
	capped := wanted{1, fault.PinnedArtifactCap}
	for name, c := range map[string]struct {
		change     func(*env)
		pin, unpin wanted
	}{
		"a published artifact": {func(*env) {}, once, once},
		"one that is pinned":   {func(e *env) { e.store.artifact.PinnedAt = e.now }, once, once},
		"a draft":              {func(e *env) { e.store.artifact.Current = "" }, missing, once},
		"an expired artifact":  {func(e *env) { e.store.artifact.ExpiresAt = e.now }, missing, missing},
		"a deleted artifact":   {func(e *env) { e.store.artifact.Status = Deleted }, missing, missing},
		"one that never was":   {func(e *env) { e.store.artifact = nil }, missing, missing},
		"one too many": {func(e *env) {
			e.store.refuses = times(1, fault.NewCode(fault.PinnedArtifactCap))
		}, capped, capped},
		"where none may be":       {func(e *env) { e.by.Policy.LiveArtifacts = 0 }, full, once},
		"another workspace's":     {func(e *env) { e.store.artifact.Owner = "other" }, missing, missing},
		"by an API key":           {func(e *env) { e.by.Member = "" }, forbidden, forbidden},
		"by a member who may not": {func(e *env) { e.by.Scopes = nil }, forbidden, forbidden},
	} {
		for pins, want := range map[bool]wanted{true: c.pin, false: c.unpin} {
			t.Run(fmt.Sprintf("%s, pin %t", name, pins), func(t *testing.T) {
				e := newEnv(t)
				named := e.target()
				c.change(e)
				was := e.store.artifact != nil && !e.store.artifact.PinnedAt.IsZero()
				do := e.Unpin
				if pins {
					do = e.Pin
				}
				got, err := do(t.Context(), e.by, named)
				expect.Code(t, err, want.code)
				if len(e.store.commits) != want.commits || got.Pinned != (pins && err == nil) {
					t.Errorf("%+v after %d commits, want %d", got, len(e.store.commits), want.commits)
				}
				if want.commits == 1 && e.store.commits[0].(Pinning).Noop != (was == pins) {
					t.Errorf("%+v: whether it changes anything is wrong", e.store.commits[0])
				}
			})
		}
	}
	e := newEnv(t)
	_, err := e.Pin(t.Context(), e.by, Target{RequestedID: "art_1"})
	expect.Code(t, err, fault.ArtifactNotFound)
}

func TestAnUnpinnedArtifactThatHadNoEndHasNone(t *testing.T) {
	e := newEnv(t)
	e.store.artifact.PinnedAt, e.store.artifact.ExpiresAt = e.now.Add(-time.Hour), limits.Never
	got, err := e.Unpin(t.Context(), e.by, e.target())
	expect.OK(t, err)
	if p := e.store.commits[0].(Pinning); !p.Artifact.ExpiresAt.Equal(limits.Never) || !got.EndsAt.IsZero() || got.Pinned {
		t.Errorf("it ends at %s and is answered as %+v, want no end", p.Artifact.ExpiresAt, got)
	}
}

func TestAnUnpinnedArtifactStaysForAWhile(t *testing.T) {
	for name, c := range map[string]struct{ left, want time.Duration }{
		"that would have expired":       {-time.Hour, limits.UnpinnedLife},
		"that would expire soon":        {time.Minute, limits.UnpinnedLife},
		"that would expire much later":  {limits.UnpinnedLife + time.Hour, limits.UnpinnedLife + time.Hour},
		"that would expire just as now": {limits.UnpinnedLife, limits.UnpinnedLife},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store.artifact.PinnedAt = e.now.Add(-time.Hour)
			e.store.artifact.ExpiresAt = e.now.Add(c.left)
			got, err := e.Unpin(t.Context(), e.by, e.target())
			if err != nil || got.Pinned || !got.EndsAt.Equal(e.now.Add(c.want)) {
				t.Errorf("%+v, %v; want an end %s from now", got, err, c.want)
			}
		})
	}
}

func TestARepeatedPinShowsTheArtifactAsItWasLeft(t *testing.T) {
	e := newEnv(t)
	named := e.target()
	left := e.store.artifact.Detail(e.now)
	left.Title, left.Pinned = "As it was", true
	named.Record = e.done(t, left)
	got, err := e.Pin(t.Context(), e.by, named)
	if err != nil || got.Title != "As it was" || got.Preview == nil || len(e.store.commits) != 0 {
		t.Errorf("%+v, %v, want the recorded result", got, err)
	}
	e.store.artifact.Owner = "other"
	if got, err = e.Pin(t.Context(), e.by, named); err != nil || got.Title != "As it was" || got.Preview != nil {
		t.Errorf("of an artifact that is gone: %+v, %v", got, err)
	}
}

func TestWhatMayBeRestored(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*env)
		made   bool
		code   fault.Code
	}{
		"an older revision":   {func(*env) {}, true, ""},
		"the newest revision": {func(e *env) { e.store.artifact.Current = e.store.revision.ID }, false, ""},
		"a draft":             {func(e *env) { e.store.revision.Status = Draft }, false, fault.RevisionUnpublished},
		"without its bytes":   {func(e *env) { e.store.revision.Status = Retained }, false, fault.RevisionRetained},
		"beside a draft": {func(e *env) {
			e.store.artifact.Draft = id.NewRevision()
		}, false, fault.DraftRevisionConflict},
		"one too many": {func(e *env) {
			e.store.artifact.Number = e.by.Policy.Revisions
		}, false, fault.RevisionCeilingExceeded},
		"that never was":            {func(e *env) { e.store.revision = nil }, false, fault.RevisionUnpublished},
		"of another artifact":       {func(e *env) { e.store.revision.Artifact = "other" }, false, fault.RevisionUnpublished},
		"of another workspace":      {func(e *env) { e.store.artifact.Owner = "other" }, false, fault.ArtifactNotFound},
		"of a locked artifact":      {func(e *env) { e.store.artifact.Lock = "lkd_1" }, false, fault.ArtifactNotFound},
		"of an expired artifact":    {func(e *env) { e.store.artifact.ExpiresAt = e.now }, false, fault.ArtifactNotFound},
		"of a deleted artifact":     {func(e *env) { e.store.artifact.Status = Deleted }, false, fault.ArtifactNotFound},
		"in an unclaimed workspace": {func(e *env) { e.by.Workspace.ClaimedAt = time.Time{} }, false, fault.Forbidden},
		"by an API key":             {func(e *env) { e.by.Member = "" }, false, fault.Forbidden},
		"lost for good":             {func(e *env) { e.store.refuses = times(4, ErrMoved) }, true, fault.DatabaseUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store.artifact.Current, e.store.artifact.Number = id.NewRevision(), 2
			named, old := e.target(), e.store.revision.ID
			c.change(e)
			got, err := e.Restore(t.Context(), e.by, named, old)
			expect.Code(t, err, c.code)
			if (len(e.store.commits) > 0) != c.made || err == nil && (got != old) != c.made {
				t.Errorf("the newest is %s after %d commits", got, len(e.store.commits))
			}
			for _, commit := range e.store.commits {
				r := commit.(Restoration)
				if !r.Republish || r.Revision.Source != old || r.Number != 3 || r.Revision.Title != "Seals" {
					t.Errorf("%+v, want the third revision, made of the old one", r)
				}
			}
		})
	}
	e := newEnv(t)
	_, err := e.Restore(t.Context(), e.by, Target{RequestedID: "art_x"}, e.store.revision.ID)
	expect.Code(t, err, fault.ArtifactNotFound)
	_, err = e.Restore(t.Context(), e.by, e.target(), "rev_x")
	expect.Code(t, err, fault.RevisionUnpublished)
}

func TestRevisionsAreListedDraftsFirstThenTheNewest(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	e := newEnv(t)
	e.Store = unsorted{e.store, []Revision{
		{ID: "one", Status: Retained, Number: 1, CreatedAt: at(1)},
		{ID: "old draft", Status: Draft, CreatedAt: at(2)},
		{ID: "three", Status: Published, Number: 3, CreatedAt: at(3)},
		{ID: "draft", Status: Draft, CreatedAt: at(4)},
		{ID: "two", Status: Published, Number: 2, CreatedAt: at(5)},
	}}
	for limit, want := range map[int]string{
		0: "draft, old draft, three, two, one; ",
		1: "draft, old draft, three; two; one; ",
		2: "draft, old draft, three, two; one; ",
		3: "draft, old draft, three, two, one; ",
	} {
		if got := e.listed(t, limit); got != want {
			t.Errorf("pages of %d: %s, want %s", limit, got, want)
		}
	}
	_, _, err := e.Revisions(t.Context(), e.by, nil, cursor.Page{})
	expect.Code(t, err, fault.ArtifactNotFound)
	_, next, _ := e.Revisions(t.Context(), e.by, e.store.artifact, cursor.Page{Limit: 1})
	other := *e.store.artifact
	other.ID = "art_other"
	for _, p := range []cursor.Page{{Cursor: next}, {Cursor: "v1.x"}} {
		_, _, err = e.Revisions(t.Context(), e.by, &other, p)
		expect.Code(t, err, fault.InvalidCursor)
	}
	_, _, err = e.Revisions(t.Context(), e.by, e.store.artifact, cursor.Page{Limit: 101})
	expect.Code(t, err, fault.InvalidRequest)
}

// listed reads all pages of the revisions: ids, with a semicolon after each page.
func (e *env) listed(t *testing.T, limit int) (all string) {
	t.Helper()
	p := cursor.Page{Limit: limit}
	for {
		rows, next, err := e.Revisions(t.Context(), e.by, e.store.artifact, p)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range rows {
			ids = append(ids, string(r.ID))
		}
		all += strings.Join(ids, ", ") + "; "
		if p.Cursor = next; next == "" {
			return all
		}
	}
}

func TestAPageOfRevisionsHasAHundredWithItsDrafts(t *testing.T) {
	e := newEnv(t)
	all := []Revision{{ID: "draft", Status: Draft}}
	for n := range 1000 {
		all = append(all, Revision{ID: id.Revision(strconv.Itoa(n + 1)), Status: Published, Number: n + 1})
	}
	e.Store = unsorted{e.store, all}
	pages := strings.Split(strings.TrimSuffix(e.listed(t, 0), "; "), "; ")
	if len(pages) != 11 || !strings.HasPrefix(pages[0], "draft, 1000, 999, ") || pages[10] != "1" ||
		strings.Count(pages[0], ",") != 99 || strings.Count(strings.Join(pages, ","), ",") != 1000 {
		t.Errorf("%d pages, the first %s, the last %s", len(pages), pages[0], pages[len(pages)-1])
	}
}

// unsorted has revisions as a query may return them.
type unsorted struct {
	Store
	revisions []Revision
}

func (u unsorted) Revisions(context.Context, id.Artifact) ([]Revision, error) {
	return slices.Clone(u.revisions), nil
}

func TestTheResultOfAPinKeepsItsKeys(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 600e6, time.FixedZone("east", 3600))
	a := &Artifact{
		ID:          "art",
		Status:      Live,
		Title:       "T",
		Current:     "rev",
		PublishedAt: at,
		ExpiresAt:   at.Add(time.Hour),
		Entrypoint:  "index.html",
		FileCount:   2,
		Size:        3,
	}
	for pinned, want := range map[time.Time]string{
		{}: `{"id":"art","title":"T","status":"Published","latest_revision_id":"rev","pinned":false,"lockdown":false,` +
			`"last_published_at":"2026-01-02T02:04:05.600Z","auto_delete_at":"2026-01-02T03:04:05.600Z",` +
			`"entrypoint":"index.html","file_count":2,"size_bytes":3,"viewer":null}`,
		at: `{"id":"art","title":"T","status":"Published","latest_revision_id":"rev","pinned":true,"lockdown":false,` +
			`"last_published_at":"2026-01-02T02:04:05.600Z","auto_delete_at":null,` +
			`"entrypoint":"index.html","file_count":2,"size_bytes":3,"viewer":null}`,
	} {
		a.PinnedAt = pinned
		if got := string(pinResult(a, at)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
