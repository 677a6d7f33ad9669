package app

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

func (h *Host) keyRoutes() []route {
	const revoke = "/keys/{keyId}/revoke"
	return []route{
		{method: "GET", path: "/keys", handle: members{page: resetCursor(h.keys)}},
		{method: "POST", path: "/keys", handle: members{form: h.createKey, back: "/keys"}},
		{method: "GET", path: "/keys/ended", handle: members{page: resetCursor(h.endedKeys)}},
		question(revoke, "/keys", members{page: h.askRevokeKey}),
		{method: "POST", path: revoke, handle: members{form: h.revokeKey, back: "/keys"}},
	}
}

func (h *Host) keys(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.listKeys(w, r, v, "/keys", pages.Keys{})
}

func (h *Host) endedKeys(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.listKeys(w, r, v, "/keys/ended", pages.Keys{Ended: true, Kept: limits.EndedKeyLife})
}

// listKeys shows one page of a list of keys.
func (h *Host) listKeys(w http.ResponseWriter, r *http.Request, v browserSession, path string, p pages.Keys) error {
	which, after := credential.LiveKeys, r.URL.Query().Get("after")
	if p.Ended {
		which = credential.EndedKeys
	}
	list, next, err := h.Keys.List(r.Context(), v.Actor, which, cursor.Page{Cursor: after})
	if err != nil {
		return err
	}
	p.Pages = pagesOf(path, after, next)
	return h.showKeys(w, v, http.StatusOK, p, list)
}

// afterCreate shows the newest live keys after one was created, or was not. p has the new key or the error.
func (h *Host) afterCreate(w http.ResponseWriter, r *http.Request, v browserSession, status int, p pages.Keys) error {
	list, next, err := h.Keys.List(r.Context(), v.Actor, credential.LiveKeys, cursor.Page{})
	if err != nil && p.Made == nil {
		return err
	}
	p.Pages = pagesOf("/keys", "", next)
	if err != nil { // shown without the list, because the secret is shown only this once
		web.Failed(r.Context(), fault.CodeOf(err), err)
		p.Items, p.First = []pages.Key{p.Made.Key}, "/keys"
	}
	return h.showKeys(w, v, status, p, list)
}

func (h *Host) showKeys(
	w http.ResponseWriter, v browserSession, status int, p pages.Keys, list []credential.Key,
) error {
	p.Layout = v.layout("/keys")
	p.APIURL = h.Origins.API
	p.Once, p.Lives = once(), pages.KeyLives
	for _, k := range list {
		p.Items = append(p.Items, keyOf(k))
	}
	return h.page(w, status, p)
}

func (h *Host) createKey(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	name := strings.TrimSpace(form["name"])
	days, err := daysOf(form["expires"])
	if err != nil {
		return err
	}
	asked := contract.CreateKey{Name: name, ExpiresInDays: days}
	command, err := commandOf(v, idempotency.CreateKey, "", form["once"], asked)
	if err != nil {
		return err
	}
	made, err := h.Keys.Create(r.Context(), v.Actor, command, nil, name, time.Duration(days)*limits.Day)
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.afterCreate(w, r, v, http.StatusBadRequest, pages.Keys{
			Name: form["name"], Error: fmt.Sprintf("Give it a name of 1 to %d characters.", limits.KeyNameRunes),
		})
	}
	// A member who may create keys is forbidden to for one reason: there is no room.
	if fault.CodeOf(err) == fault.Forbidden && v.Actor.Require(credential.Admin) == nil {
		return explained{err, pages.Message{
			Heading: "No room for another key",
			Text: fmt.Sprintf("This workspace has %d live API keys, as many as it is allowed. ", limits.LiveKeys) +
				"Revoke one that nobody needs any more; nothing was made.",
			Links: []pages.Link{{Path: "/keys", Text: "Back to the keys"}},
		}}
	}
	if err != nil {
		return err
	}
	web.RedactSecret(r.Context(), made.Secret)
	shown := &pages.Made{Key: keyOf(made.Key), Secret: made.Secret}
	return h.afterCreate(w, r, v, http.StatusOK, pages.Keys{Made: shown})
}

// daysOf returns after how many days a key expires: one of pages.KeyLives, 0 for never.
func daysOf(asked string) (int, error) {
	if !slices.ContainsFunc(pages.KeyLives, func(c pages.Choice) bool { return c.Code == asked }) {
		return 0, fault.New(fault.InvalidRequest, "a key expires after one of the times in the form")
	}
	days, _ := strconv.Atoi(asked) // never is the choice that is no number, which makes 0
	return days, nil
}

func (h *Host) askRevokeKey(w http.ResponseWriter, r *http.Request, v browserSession) error {
	k, err := h.Keys.Key(r.Context(), v.Actor, id.Key(r.PathValue("keyId")))
	if err == nil && !k.RevokedAt.IsZero() {
		err = fault.New(fault.NotFound, "this key is revoked")
	}
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Confirm{
		Layout:  v.layout("/keys"),
		Heading: "Revoke this key?",
		Subject: k.Name,
		Detail:  string(k.Public),
		Text:    "Whoever uses it is refused from that moment on. It cannot be brought back.",
		Button:  "Revoke it",
		Action:  "/keys/" + string(k.ID) + "/revoke",
		Back:    "/keys",
		Once:    once(),
	})
}

func (h *Host) revokeKey(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	key := r.PathValue("keyId")
	command, err := commandOf(v, idempotency.RevokeKey, key, form["once"], nil)
	if err != nil {
		return err
	}
	if _, err := h.Keys.Revoke(r.Context(), v.Actor, command, nil, id.Key(key)); err != nil {
		return err
	}
	redirect(w, "/keys")
	return nil
}

func keyOf(k credential.Key) pages.Key {
	return pages.Key{
		ID:        string(k.ID),
		Public:    string(k.Public),
		Name:      k.Name,
		Scopes:    shortRights(k.Scopes),
		CreatedAt: k.CreatedAt,
		UsedAt:    k.LastUsedAt,
		ExpiresAt: k.ExpiresAt,
		RevokedAt: k.RevokedAt,
		Revoked:   !k.RevokedAt.IsZero(),
	}
}

func orZero(t *contract.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
