package app

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
)

// recent is the number of artifacts, and of entries of the record, on the overview.
const recent = 5

func (h *Host) overviewRoutes() []route {
	return []route{{method: "GET", path: "/dashboard", handle: members{page: h.dashboard}}}
}

func (h *Host) dashboard(w http.ResponseWriter, r *http.Request, v browserSession) error {
	p := pages.Overview{
		Layout:  v.layout("/dashboard"),
		APIURL:  h.Origins.API,
		AppURL:  h.Origins.App,
		Connect: h.connect(),
		Limits:  h.limits(v),
	}
	err := async.All(func() error {
		list, _, err := h.Artifacts.ListAll(r.Context(), v.Actor, artifact.Page{Limit: recent})
		p.Recent = h.artifactRows(list)
		return err
	}, func() error {
		p.Counts = h.counts(r, v)
		return nil
	}, func() error {
		p.Discussed = h.discussed(r, v)
		return nil
	}, func() error {
		p.Left = h.Account.Policy(r.Context(), v.Actor).DailyNewArtifactsRemaining
		return nil
	}, func() error {
		p.Due = h.due(r.Context(), v)
		return nil
	}, func() error {
		return h.tell(r.Context(), v, &p.Recorded)
	})
	if err != nil {
		return err
	}
	if p.Upload = h.uploadPart(w, v); p.Upload != nil {
		p.Upload.Left = p.Left
	}
	return h.page(w, http.StatusOK, p)
}

// access are the actions that give something access, or take it away for a reason that the owner should know.
var access = []event.Action{
	event.KeyCreated, event.ClaimCompleted, event.DelegationCreated, event.ConsentGranted, event.DeviceApproved,
	event.RefreshReused,
}

// tell adds what the overview says of the record, for members who may read it. Access counts as new since the member's
// previous sign-in, which is in the record too, but for no longer than noticeLife.
// noticeLife is how long what got access counts as new.
const noticeLife = 7 * limits.Day

func (h *Host) tell(ctx context.Context, v browserSession, out *pages.Recorded) error {
	if v.Actor.Require(credential.Admin) != nil {
		return nil
	}
	events, told, err := h.story(ctx, v, account.Page{}, new(pages.Pages))
	if err != nil {
		return err
	}
	out.Since = h.Now().Add(-noticeLife)
	for _, e := range events {
		mine := e.Action == event.SessionStarted && e.Actor.ID == string(v.Member.ID)
		if mine && e.At.Before(v.Session.CreatedAt) && e.At.After(out.Since) {
			out.Since = e.At
		}
	}
	out.Activity = told.entries(events[:min(recent, len(events))])
	out.Notices = told.entries(slices.DeleteFunc(events, func(e event.Event) bool {
		return !e.At.After(out.Since) || !slices.Contains(access, e.Action)
	}))
	return nil
}

// pagesOf returns the links around a list. after is the cursor before the page, empty for the first one.
func pagesOf(list, after, next string) pages.Pages {
	return filteredPages(list, nil, after, next)
}

// lists are the lists of a page that has several: each has a cursor of its own in the query, and its links keep those of
// the others.
type lists struct {
	path  string
	at    url.Values // the query
	names []string   // of the cursors, which are those of the headings, too
}

// pages returns the links around one of the lists.
func (l lists) pages(list, next string) pages.Pages {
	p := pages.Pages{Of: list}
	path := func(after string) string {
		to := url.Values{}
		for _, name := range l.names {
			if place := l.at.Get(name); name != list && place != "" {
				to.Set(name, place)
			}
		}
		if after != "" {
			to.Set(list, after)
		}
		return (&url.URL{Path: l.path, RawQuery: to.Encode(), Fragment: list}).String()
	}
	if l.at.Get(list) != "" {
		p.First = path("")
	}
	if next != "" {
		p.Next = path(next)
	}
	return p
}

// filteredPages returns the links around a list that has filters.
func filteredPages(path string, filters url.Values, after, next string) pages.Pages {
	var p pages.Pages
	kept := url.Values{}
	for name, values := range filters {
		if len(values) > 0 && values[0] != "" {
			kept.Set(name, values[0])
		}
	}
	if after != "" {
		p.First = path
		if query := kept.Encode(); query != "" {
			p.First += "?" + query
		}
	}
	if next != "" {
		kept.Set("after", next)
		p.Next = path + "?" + kept.Encode()
	}
	return p
}

func (h *Host) limits(v browserSession) pages.Limits {
	p := h.Account.Workspace(v.Actor, v.Member).UsagePolicy
	return pages.Limits{
		PerDay:       p.DailyNewArtifactAllowance,
		Files:        p.FileCountCap,
		FileSize:     p.FileSizeCapBytes,
		ArtifactSize: p.ArtifactSizeCapBytes,
		DefaultLife:  finite(v.Actor.Workspace.Life(v.Actor.Policy)),
		LongestLife:  finite(time.Duration(p.MaxTTLSeconds) * time.Second),
		PerMinute:    p.ActorRateLimitPerMinute,
		Pins:         v.Actor.Policy.LiveArtifacts,
		Revisions:    p.LifetimeRevisionCeiling,
	}
}

// finite returns a life as the pages have it: zero if it has no end.
func finite(life time.Duration) time.Duration {
	if life >= limits.Forever {
		return 0
	}
	return life
}

func (h *Host) artifactRows(list []artifact.Artifact) []pages.Artifact {
	rows := make([]pages.Artifact, len(list))
	for i := range list {
		rows[i] = h.artifactRow(&list[i])
	}
	return rows
}

// artifactRow returns an artifact as lists and the head of its page show it.
func (h *Host) artifactRow(a *artifact.Artifact) pages.Artifact {
	row := pages.Artifact{
		ID:          string(a.ID),
		Title:       a.Title,
		Status:      "Published",
		Pinned:      !a.PinnedAt.IsZero(),
		Locked:      !a.LinksLockedAt.IsZero(),
		PublishedAt: a.PublishedAt,
		Size:        a.Size,
	}
	if a.Entrypoint != "" {
		row.Kind = pages.Kind(media.Of(a.Entrypoint).ContentType)
	}
	// The order matters: what is deleted or has expired may never have been published.
	switch {
	case a.Status == artifact.Deleted:
		row.Status = "Deleted"
	case !a.Active(h.Now()):
		row.Status = "Expired"
	case a.PublishedAt.IsZero():
		row.Status = "Draft"
	}
	if a.Status != artifact.Deleted && !a.Lasts() {
		row.ExpiresAt = a.ExpiresAt
	}
	return row
}

// nextOf returns the cursor of the next page, empty if there is none.
func nextOf(p contract.PageInfo) string {
	if p.NextCursor == nil {
		return ""
	}
	return *p.NextCursor
}
