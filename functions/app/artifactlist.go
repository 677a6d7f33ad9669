package app

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

const artifactsPath = "/artifacts"

// artifactListRoutes list artifacts, and change several at once.
func (h *Host) artifactListRoutes() []route {
	return []route{
		{method: "GET", path: artifactsPath, handle: members{page: resetCursor(h.artifacts)}},
		question(selectionPath, artifactsPath, members{page: h.askSelected}),
		{method: "POST", path: selectionPath, handle: members{form: h.changeSelected, back: artifactsPath}},
	}
}

// artifacts lists all artifacts, newest first, or those among the newest that a search found.
func (h *Host) artifacts(w http.ResponseWriter, r *http.Request, v browserSession) error {
	asked := r.URL.Query()
	p := pages.Artifacts{
		Layout:  v.layout(artifactsPath),
		APIURL:  h.Origins.API,
		AppURL:  h.Origins.App,
		Connect: h.connect(),
		Search:  searchOf(asked),
		Chosen:  asked.Get("choose") == "all",
	}
	var err error
	if p.Search == (pages.Search{}) {
		err = h.listArtifacts(r, v, &p)
	} else {
		err = h.searchArtifacts(r, v, &p)
	}
	if err != nil {
		return err
	}
	asked.Set("choose", "all")
	p.AllURL = artifactsPath + "?" + asked.Encode()
	return h.page(w, http.StatusOK, p)
}

// listArtifacts reads one page. With the first one it counts all artifacts.
func (h *Host) listArtifacts(r *http.Request, v browserSession, p *pages.Artifacts) error {
	after := r.URL.Query().Get("after")
	var next string
	err := async.All(func() (err error) {
		var list []artifact.Artifact
		list, next, err = h.Artifacts.ListAll(r.Context(), v.Actor, artifact.Page{Cursor: after})
		p.Items = h.artifactRows(list)
		return err
	}, func() error {
		if after == "" {
			p.Counts = h.counts(r, v)
		}
		return nil
	})
	p.Pages = pagesOf(artifactsPath, after, next)
	return err
}

// counts returns how many artifacts there are. It returns nil if counting fails or takes too long, because the page is
// countTime is how long a page waits for its counts.
const countTime = 1800 * time.Millisecond

// worth more than its numbers.
func (h *Host) counts(r *http.Request, v browserSession) *pages.Counts {
	ctx, cancel := context.WithTimeout(r.Context(), countTime)
	defer cancel()
	c, err := h.Artifacts.Count(ctx, v.Actor)
	if err != nil {
		return nil
	}
	return &pages.Counts{
		All:       pages.Count(c.All),
		Published: pages.Count(c.Published),
		Expiring:  pages.Count(c.Expiring),
	}
}

// searchArtifacts searches the newest artifacts and shows one page of the results.
func (h *Host) searchArtifacts(r *http.Request, v browserSession, p *pages.Artifacts) error {
	list, more, err := h.Artifacts.Newest(r.Context(), v.Actor)
	if err != nil {
		return err
	}
	if more {
		p.Looked = len(list)
	}
	found := matching(p.Search, h.artifactRows(list))
	p.Searched, p.Found = true, len(found)
	asked := r.URL.Query()
	number, _ := strconv.Atoi(asked.Get("page")) // what is no number is the first page
	// A page past the end shows the end, which is empty if the results fill their pages.
	number = min(max(number, 1), 1+len(found)/limits.DefaultPage)
	from := (number - 1) * limits.DefaultPage
	p.Items = found[from:min(from+limits.DefaultPage, len(found))]
	address := func(page int) string {
		asked.Set("page", strconv.Itoa(page))
		return artifactsPath + "?" + asked.Encode()
	}
	asked.Del("choose") // on other pages no box is checked
	p.Ranked = true
	if number > 1 {
		p.First = address(1)
	}
	if from+limits.DefaultPage < len(found) {
		p.Next = address(number + 1)
	}
	return nil
}

// searchOf reads a search from the query, and ignores values that the form does not offer.
func searchOf(asked url.Values) pages.Search {
	choice := func(name string, of []pages.Choice) string {
		value := asked.Get(name)
		if slices.ContainsFunc(of, func(c pages.Choice) bool { return c.Code == value }) {
			return value
		}
		return ""
	}
	return pages.Search{
		Title: strings.TrimSpace(asked.Get("q")),
		State: choice("state", pages.States),
		Kind:  choice("kind", pages.Kinds),
		Order: choice("sort", pages.Orders),
	}
}

// matching returns the rows that a search asks for, in its order.
func matching(s pages.Search, rows []pages.Artifact) []pages.Artifact {
	title := fold(s.Title)
	found := slices.DeleteFunc(rows, func(a pages.Artifact) bool {
		inState := strings.EqualFold(s.State, a.Status) || s.State == "pinned" && a.Pinned
		return s.State != "" && !inState || s.Kind != "" && s.Kind != a.Kind || !strings.Contains(fold(a.Title), title)
	})
	if order := orders[s.Order]; order != nil {
		slices.SortStableFunc(found, order)
	}
	return found
}

// orders compare rows. Equal rows stay in the order of creation, newest first.
var orders = map[string]func(a, b pages.Artifact) int{
	"published": func(a, b pages.Artifact) int { return b.PublishedAt.Compare(a.PublishedAt) },
	"title":     func(a, b pages.Artifact) int { return strings.Compare(fold(a.Title), fold(b.Title)) },
	"size":      func(a, b pages.Artifact) int { return cmp.Compare(b.Size, a.Size) },
	"expiry":    byExpiry,
}

// byExpiry puts what ends soonest first, then what does not end, and at last what has ended.
func byExpiry(a, b pages.Artifact) int {
	rank := func(a pages.Artifact) int {
		switch {
		case a.Ended():
			return 2
		case a.ExpiresAt.IsZero():
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.ExpiresAt.Compare(b.ExpiresAt))
}

// fold returns a text in which letters that differ only in case are the same.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}
