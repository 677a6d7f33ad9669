package content

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// Refused is the refusal of a token, whatever path was asked for.
type Refused struct{}

// Error implements error.
func (Refused) Error() string { return "the token opens nothing" }

// Unwrap returns not_found.
func (Refused) Unwrap() error { return readaccess.NotFound() }

// TokenOf returns the first text that is a token of an artifact, whatever its state; empty if none is.
func (r *Reader) TokenOf(a id.Artifact, texts ...string) string {
	at := slices.IndexFunc(texts, func(text string) bool {
		claims, err := r.Tokens.Parse(text, r.Now())
		return err == nil && claims.Artifact == a
	})
	if at < 0 {
		return ""
	}
	return texts[at]
}

// Admit checks a token that opens the own origin of an artifact, and returns how long it lives. It refuses one of another
// revision than the current one, because the origin shows one revision at a time. It counts as a read.
func (r *Reader) Admit(ctx context.Context, text string) (life time.Duration, err error) {
	now := r.Now()
	claims, err := r.Tokens.Parse(text, now)
	if err != nil {
		return 0, Refused{}
	}
	state, _, _, err := r.load(ctx, readaccess.QueryOf(claims), claims)
	if err == nil && state.Artifact.Current != claims.Revision {
		err = Refused{}
	}
	return claims.Expires.Sub(now), err
}

// FindOwn is Find at the own origin of the artifact, where paths are those that a web server gives to its pages: a folder
// with a slash at its end is the index in it, and a page does without its extension. A document that no file has is the
// entrypoint of an app, and else the page of the revision for such paths.
func (r *Reader) FindOwn(ctx context.Context, text, asked string, document bool) (File, error) {
	absent := false
	found, err := r.find(ctx, text, asked, func(shown artifact.Revision, t tree.Tree) (tree.File, error) {
		f, ok := t.Find(asked)
		if ok {
			return f, nil
		}
		m := missing(t, asked)
		folder := asked == "" || strings.HasSuffix(asked, "/")
		switch {
		case m.Page != "" && folder == (path.Dir(m.Page) == path.Clean(asked)):
			f, ok = t.Find(m.Page)
		case m.Page != "" || !document:
		case shown.App.Is() && media.IsHTML(shown.Entrypoint):
			f, ok = t.Find(shown.Entrypoint)
		case !m.Folder:
			f, ok = t.Find(media.NotFoundPage)
			absent = ok
		}
		if !ok {
			return f, m
		}
		return f, nil
	})
	found.MaxAge = 0 // the address does not tell the revision
	found.Absent = absent
	return found, err
}
