package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
)

// robots allows crawlers, and programs of agents that obey the same rules, the front page and the manual alone, because
// every other address belongs to a member or a link.
var robots = "User-agent: *\nAllow: /$\nAllow: /assets/\nAllow: " + strings.Join(manual.Paths(), "\nAllow: ") +
	"\nDisallow: /\n"

// openRoutes are open to everybody: the front page, the viewer of access links, and what they load.
func (h *Host) openRoutes() []route {
	return []route{
		{method: "GET", path: "/{$}", handle: timed(h.home), packed: true},
		{method: "GET", path: "/al/{publicId}", handle: handler(h.viewer), packed: true},
		{method: "POST", path: "/al/{publicId}", handle: handler(h.openPasted)},
		{method: "POST", path: "/api/access-links/resolve", handle: handler(h.resolve)},
		{method: "POST", path: "/api/access-links/qr", handle: handler(h.qr)},
		{method: "GET", path: "/assets/{build}/{name}", handle: handler(h.asset), packed: true},
		{method: "GET", path: "/scripts/{program}/{file...}", handle: handler(h.program), packed: true},
		{method: "GET", path: "/healthz", handle: fixed("application/json", "no-store", `{"ok":true,"app":"app"}`)},
		{method: "GET", path: "/robots.txt", handle: fixed("text/plain; charset=utf-8", "public, max-age=3600", robots)},
		{
			method: "GET",
			path:   "/.well-known/gpc.json",
			handle: fixed("application/json", "public, max-age=300", `{"gpc":true,"lastUpdate":"2026-01-01"}`),
		},
	}
}

// home is the front page; members are redirected to theirs. Caches must ask again, because it differs before and after
// a sign-in.
func (h *Host) home(w http.ResponseWriter, r *http.Request) error {
	_, err := h.visitor(r, false)
	if err == nil {
		redirect(w, "/dashboard")
		return nil
	}
	if beingDeleted(err) {
		redirect(w, deletionPath)
		return nil
	}
	if fault.CodeOf(err) != fault.NotAuthenticated || notAllowed(err) {
		return err
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Set("Vary", "Cookie, User-Agent")
	return h.page(w, http.StatusOK, pages.Home{
		APIURL:       h.Origins.API,
		AppURL:       h.Origins.App,
		SignIn:       signInPath("/"),
		Connect:      h.connect(),
		AccountsOnly: h.AccountsOnly,
		Windows:      strings.Contains(r.UserAgent(), "Windows"),
	})
}

// viewer serves the page of an access link, without what the link shows. Only the script of the page has the secret, so
// the page is the same for every well-formed id.
func (h *Host) viewer(w http.ResponseWriter, r *http.Request) error {
	unlisted(w.Header())
	public := id.Public(r.PathValue("publicId"))
	if _, err := public.Bits(); err != nil {
		web.Failed(r.Context(), fault.NotFound, err)
		return h.page(w, http.StatusNotFound, pages.Gone)
	}
	w.Header().Set(policyHeader, policyLink(h.framable(h.Origins.Own)))
	return h.cachedPage(w, r, pages.Viewer{
		PublicID:      string(public),
		ContentOrigin: h.contentOrigin(),
		OwnOrigins:    h.Origins.Own,
		APIURL:        h.Origins.API,
		Scripts:       string(h.Operators.Limits.Tiers[limits.Ephemeral].Scripts),
		Pace:          pages.Pace(h.Operators.Limits.Pace),
	})
}

func (h *Host) resolve(w http.ResponseWriter, r *http.Request) error {
	link, err := sentLink(w, r)
	if err != nil {
		return err
	}
	shown, err := h.Views.Resolve(r.Context(), link.ResolveRequest, link.Scripts)
	if err != nil {
		return unopened(err)
	}
	answer := opened{
		Resolved:   wire.Resolved(shown),
		ScriptsRun: shown.Scripts,
		OwnSrc:     ownFrameAt(shown, link.At),
		Comments:   shown.Comments,
	}
	answer.IframeSrc = frameAt(shown, link.At)
	return writeJSON(w, http.StatusOK, answer)
}

// opened is what the page of a link gets.
type opened struct {
	contract.Resolved
	ScriptsRun bool `json:"scripts_run"`
	// OwnSrc is iframe_src at the own origin of the artifact. A viewer frames it if the revision is the current one.
	OwnSrc string `json:"own_src,omitempty"`
	// Comments is that the link takes comments. The page asks then for what guests may read.
	Comments bool `json:"comments,omitempty"`
}

// unopened reduces a failure to the four kinds that the viewer knows.
func unopened(err error) error {
	switch fault.KindOf(err) {
	case fault.KindInvalid, fault.KindLimited, fault.KindUnavailable:
		return err
	case fault.KindNotFound, fault.KindGone, fault.KindForbidden, fault.KindUnauthenticated:
		return fault.Wrap(fault.NotFound, err, "%s", fault.NotFound)
	}
	return fault.Wrap(fault.DatabaseUnavailable, err, "%s", fault.DatabaseUnavailable)
}

// openRequest is what the page of a link asks for.
type openRequest struct {
	contract.ResolveRequest
	Scripts bool   // the reader wants the scripts of the artifact to run
	At      string // the place in the artifact to show; empty: its entrypoint
}

// sentLink reads the link in the body of a request, and keeps its secret out of the log.
func sentLink(w http.ResponseWriter, r *http.Request) (openRequest, error) {
	members, err := readObject(w, r, limits.FormBody)
	if err != nil {
		return openRequest{}, err
	}
	link, err := readLink(members)
	if err == nil {
		web.RedactSecret(r.Context(), link.Blob)
	}
	return link, err
}

// readLink reads a link from the members of a body, and ignores all others.
func readLink(members map[string]json.RawMessage) (openRequest, error) {
	var link openRequest
	err := errors.Join(json.Unmarshal(members["public_id"], &link.PublicID), json.Unmarshal(members["blob"], &link.Blob))
	for name, to := range map[string]any{
		"scripts": &link.Scripts, "at": &link.At, "files_cursor": &link.FilesCursor,
	} {
		if value, sent := members[name]; sent {
			err = errors.Join(err, json.Unmarshal(value, to))
		}
	}
	if _, malformed := link.PublicID.Bits(); err != nil || malformed != nil || link.Blob == "" {
		return openRequest{}, fault.New(fault.InvalidRequest,
			"The body must be an object with public_id and blob; scripts is a boolean, and at and files_cursor are strings "+
				"if they are sent.")
	}
	return link, nil
}

// readObject reads the JSON object in the body of a request, which has at most so many bytes.
func readObject(w http.ResponseWriter, r *http.Request, most int64) (map[string]json.RawMessage, error) {
	if sent := r.Header.Values("Content-Type"); len(sent) > 0 {
		if media, _, err := mime.ParseMediaType(sent[0]); err != nil || media != "application/json" {
			return nil, fault.New(fault.InvalidRequest, "Send the body as application/json.")
		}
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidRequest, err, "The body is too large or incomplete.")
	}
	members, err := object(raw)
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "The body must be one JSON object without repeated members.")
	}
	return members, nil
}

var errNoObject = errors.New("no JSON object, or one with a member twice")

// object reads the members of a JSON object. It refuses a repeated member, because readers differ on which one counts.
func object(raw []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	// Valid also refuses what follows the object, which the decoder would leave unread.
	if open, _ := d.Token(); open != json.Delim('{') || !json.Valid(raw) {
		return nil, errNoObject
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		token, _ := d.Token() // a valid object has strings here
		name := token.(string)
		if _, twice := members[name]; twice {
			return nil, errNoObject
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		members[name] = value
	}
	return members, nil
}

func fixed(contentType, cache, body string) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", cache)
		io.WriteString(w, body)
		return nil
	}
}
