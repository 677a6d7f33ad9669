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

// artifacts lists the artifacts of the workspace as they were made, or what a search found among the newest.
func (h *Host) artifacts(w http.ResponseWriter, r *http.Request, v browserSession) error {
	asked := r.URL.Query()
	p := pages.Artifacts{
		Layout: v.layout(artifactsPath),
		APIURL: h.Origins.API,
		MCPURL: h.Origins.MCP,
		Search: searchOf(asked),
		Chosen: asked.Get("choose") == "all",
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

// listArtifacts reads one page. All artifacts are counted beside its first page.
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

// countTime is how long a page waits for its counts.
const countTime = 1800 * time.Millisecond

// counts are the artifacts of the workspace in numbers; nil where counting fails or takes too long, because a page is
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

// searchArtifacts finds artifacts among the newest, and shows one page of them.
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
	number = min(max(number, 1), 1+len(found)/limits.DefaultPage)
	from := (number - 1) * limits.DefaultPage
	p.Items = found[from:min(from+limits.DefaultPage, len(found))]
	address := func(page int) string {
		asked.Set("page", strconv.Itoa(page))
		return artifactsPath + "?" + asked.Encode()
	}
	asked.Del("choose")
	p.Ranked = true
	if number > 1 {
		p.First = address(1)
	}
	if from+limits.DefaultPage < len(found) {
		p.Next = address(number + 1)
	}
	return nil
}

// searchOf reads what is asked of the list. What is no choice of the form is left out.
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

// matching are the rows that a search asks for, in its order.
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

// orders compare rows; rows that are equal stay as they were made, newest first.
var orders = map[string]func(a, b pages.Artifact) int{
	"published": func(a, b pages.Artifact) int { return b.PublishedAt.Compare(a.PublishedAt) },
	"title":     func(a, b pages.Artifact) int { return strings.Compare(fold(a.Title), fold(b.Title)) },
	"size":      func(a, b pages.Artifact) int { return cmp.Compare(b.Size, a.Size) },
	"expiry":    byExpiry,
}

// byExpiry puts first what ends soonest, then what does not end, then what has ended.
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

// fold maps texts that differ in case alone to one text.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}
