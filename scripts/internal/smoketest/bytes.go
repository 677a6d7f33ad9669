package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

const largeSize = 10_000_000

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// uploads tries every wrong body before the right one: none may be stored or invalidate the
// session.
func uploads(ctx context.Context, v *deployment) error {
	v.large = noise(largeSize)
	page := wire.File{Path: "index.html", Body: []byte("<!doctype html><title>Smoke</title><p>It works.</p>")}
	large := wire.File{Path: "large.bin", Body: v.large}
	idem := wire.NewKey()
	s, err := v.agent.Create(ctx, idem, wire.Declare("Smoke test", page, large))
	if err != nil {
		return err
	}
	other := bytes.Clone(v.large)
	other[largeSize/2]++
	for name, body := range map[string][]byte{
		"other bytes":    other,
		"a shorter body": v.large[:largeSize-1],
		"a longer body":  append(bytes.Clone(v.large), 0),
	} {
		a, err := v.agent.Put(ctx, s.Files[1], body)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if a.Status != http.StatusBadRequest && a.Status != http.StatusForbidden {
			return fmt.Errorf("%s: the PUT answers %d", name, a.Status)
		}
	}
	if _, err := v.agent.Finalize(ctx, idem, s.UploadSessionID); err == nil {
		return errors.New("a session without its files is finalized")
	}
	for i, f := range []wire.File{page, large} {
		for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed} {
			a, err := v.agent.Put(ctx, s.Files[i], f.Body)
			if err == nil && a.Status != want {
				err = fmt.Errorf("%w, not %d", unexpected{Answer: a, method: http.MethodPut}, want)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
		}
	}
	draft, err := v.agent.Finalize(ctx, idem, s.UploadSessionID)
	if err != nil {
		return err
	}
	v.published, err = v.agent.Publish(ctx, idem, draft.ArtifactID, draft.RevisionID)
	return err
}

// largeURL returns the signed URL of the large file.
func (d *deployment) largeURL() string {
	return strings.TrimSuffix(d.published.RevisionContentURL, "index.html") + "large.bin"
}

func largeRead(ctx context.Context, v *deployment) error {
	a, err := expect(ctx, v.anyone, http.StatusOK, "GET", v.largeURL())
	if err != nil {
		return err
	}
	if !bytes.Equal(a.Body, v.large) {
		return fmt.Errorf("%d bytes came, and they are not those that were sent", len(a.Body))
	}
	a, err = expect(ctx, v.anyone, http.StatusPartialContent, "GET", v.largeURL(), "Range", "bytes=5000000-5000099")
	if err != nil {
		return err
	}
	if !bytes.Equal(a.Body, v.large[5_000_000:5_000_100]) {
		return errors.New("a range gives other bytes")
	}
	etag := a.Header.Get("ETag")
	_, err = expect(ctx, v.anyone, http.StatusNotModified, "GET", v.largeURL(), "If-None-Match", etag)
	return err
}

func sealed(ctx context.Context, v *deployment) error {
	page := v.published.RevisionContentURL
	a, err := expect(ctx, v.anyone, http.StatusOK, "GET", page)
	if err != nil {
		return err
	}
	const policy = "Content-Security-Policy"
	err = errors.Join(
		wrong(a, contains, policy, "script-src 'none'", policy, "frame-ancestors 'none'"),
		wrong(a, is, "Content-Type", "text/html; charset=utf-8", "X-Robots-Tag", "noindex, nofollow"),
		wrong(a, is, "Referrer-Policy", "no-referrer", "Cache-Control", "private, no-cache"),
	)
	if err != nil {
		return fmt.Errorf("opened directly: %w", err)
	}
	a, err = expect(ctx, v.anyone, http.StatusOK, "GET", page, "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate")
	if err == nil {
		err = errors.Join(
			wrong(a, contains, policy, "frame-ancestors "+v.anyone.At.AppURL),
			wrong(a, is, "X-Frame-Options", ""),
		)
	}
	if err != nil {
		return fmt.Errorf("in the viewer's frame: %w", err)
	}
	return nil
}

func link(ctx context.Context, v *deployment) error {
	r, err := v.anyone.Resolve(ctx, v.published.UnlistedURL)
	if err != nil {
		return err
	}
	if len(r.AgentView.Files) != 2 || r.AgentView.Files[1].SHA256 != wire.Digest(v.large) || !r.AgentView.EphemeralTier {
		return fmt.Errorf("the link shows %+v", r.AgentView.Files)
	}
	if _, err := expect(ctx, v.anyone, http.StatusOK, "GET", v.published.AgentViewURL); err != nil {
		return err
	}
	page, _, _ := strings.Cut(v.published.UnlistedURL, "#")
	_, err = expect(ctx, v.anyone, http.StatusOK, "GET", page)
	return err
}

func deletion(ctx context.Context, v *deployment) error {
	at := v.anyone.At.APIURL + "/v1/artifacts/" + string(v.published.ArtifactID)
	if _, err := expect(ctx, v.agent, http.StatusOK, "DELETE", at); err != nil {
		return err
	}
	for _, target := range []string{v.published.RevisionContentURL, v.largeURL(), v.published.AgentViewURL} {
		if _, err := expect(ctx, v.anyone, http.StatusNotFound, "GET", target); err != nil {
			return err
		}
	}
	if _, err := v.anyone.Resolve(ctx, v.published.UnlistedURL); err == nil {
		return errors.New("the link still opens")
	}
	v.published = contract.Published{}
	return nil
}
