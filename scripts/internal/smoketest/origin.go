package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// inFrame are the headers of a frame of the viewer, which is of another site.
var inFrame = []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}

// originOf returns the own origin of an artifact.
func (d *deployment) originOf(a id.Artifact) string {
	at := address.Origins{Content: d.anyone.At.ContentURL}
	at.Own = at.Wildcard(d.domain)
	return at.Of(a)
}

// dialLocal dials names below localhost on this machine, because resolvers do not know them.
func dialLocal(ctx context.Context, network, at string) (net.Conn, error) {
	if name, port, err := net.SplitHostPort(at); err == nil && strings.HasSuffix(name, ".localhost") {
		at = net.JoinHostPort("127.0.0.1", port)
	}
	return new(net.Dialer).DialContext(ctx, network, at)
}

// opened opens the artifact at its own origin as the viewer's frame does, and follows the cookie.
func opened(ctx context.Context, v *deployment) error {
	origin := v.originOf(v.published.ArtifactID)
	token, page, _ := strings.Cut(strings.TrimPrefix(v.published.RevisionContentURL, v.anyone.At.ContentURL+"/v/"), "/")
	opening := origin + "/.vitrine/open/" + token + "/" + page
	if _, err := expect(ctx, v.anyone, http.StatusNotFound, "GET", opening, inFrame...); err != nil {
		return fmt.Errorf("the opening by another page: %w", err)
	}
	fromApp := append(slices.Clone(inFrame), "Referer", v.anyone.At.AppURL+"/")
	a, err := expect(ctx, v.anyone, http.StatusSeeOther, "GET", opening, fromApp...)
	if err != nil {
		return fmt.Errorf("the opening: %w", err)
	}
	const cookie = "Set-Cookie"
	ready := origin + "/.vitrine/ready/" + page
	if err := errors.Join(wrong(a, is, "Location", ready), wrong(a, begins, cookie, "__Host-v="),
		wrong(a, contains, cookie, "Secure", cookie, "HttpOnly", cookie, "Partitioned")); err != nil {
		return fmt.Errorf("the opening: %w", err)
	}
	v.origin = origin
	v.cookie, _, _ = strings.Cut(a.Header.Get(cookie), ";")
	a, err = expect(ctx, v.anyone, http.StatusSeeOther, "GET", ready, append(inFrame, "Cookie", v.cookie)...)
	if err == nil {
		err = wrong(a, is, "Location", origin+"/"+page)
	}
	if err != nil {
		return fmt.Errorf("after the opening: %w", err)
	}
	return v.read(ctx)
}

// read reads files and pages of the artifact at its own origin by the cookie.
func (d *deployment) read(ctx context.Context) error {
	for path, want := range map[string][]byte{
		"/index.html": []byte("It works."),
		"/large.bin":  d.large,
		"/.vitrine/r": []byte("large.bin"), // a list of the files
	} {
		a, err := expect(ctx, d.anyone, http.StatusOK, "GET", d.origin+path, append(inFrame, "Cookie", d.cookie)...)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !bytes.Contains(a.Body, want) {
			return fmt.Errorf("%s has %d bytes, and they are not those that were sent", path, len(a.Body))
		}
	}
	return nil
}

// strangers asks origins for what nobody opened there.
func strangers(ctx context.Context, v *deployment) error {
	other := v.originOf(id.NewArtifact())
	for name, request := range map[string][]string{
		"the artifact's without its cookie":   {v.origin},
		"another artifact's":                  {other},
		"another artifact's with this cookie": {other, "Cookie", v.cookie},
		"a name that is no label":             {strings.Replace(other, "art-", "art", 1), "Cookie", v.cookie},
	} {
		a, err := expect(ctx, v.anyone, http.StatusNotFound, "GET", request[0]+"/index.html", request[1:]...)
		if err == nil && a.Code() != fault.NotFound {
			err = fmt.Errorf("it answers %.100s", a.Body)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// cleared asks for a file of the artifact after its deletion.
func cleared(ctx context.Context, v *deployment) error {
	page := v.origin + "/index.html"
	a, err := expect(ctx, v.anyone, http.StatusNotFound, "GET", page, append(inFrame, "Cookie", v.cookie)...)
	if err != nil {
		return err
	}
	return errors.Join(wrong(a, is, "Clear-Site-Data", `"cache", "storage"`),
		wrong(a, contains, "Set-Cookie", "__Host-v=;", "Set-Cookie", "Max-Age=0"))
}
