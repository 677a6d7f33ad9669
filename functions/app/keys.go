package app

import (
	"fmt"
	"net/http"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/contract"
	"vitrine/shared/credential"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/idempotency"
	"vitrine/shared/limits"
	"vitrine/shared/web"
)

func (h *Host) keys(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.showKeys(w, r, v, http.StatusOK, pages.Keys{})
}

// showKeys lists the keys around what p tells already.
func (h *Host) showKeys(w http.ResponseWriter, r *http.Request, v visit, status int, p pages.Keys) error {
	list, err := h.Keys.List(r.Context(), v.Actor)
	if err != nil && p.Made == nil {
		return err
	}
	p.Shell, p.APIURL, p.Once, p.More = v.shell("/keys"), h.APIURL, once(), list.PageInfo.HasMore
	for _, k := range list.Items {
		row := keyOf(k.APIKeySummary)
		row.Revoked = k.Revoked
		p.Items = append(p.Items, row)
	}
	if p.Made != nil && err != nil { // the secret is shown this once, list or no list
		web.Failed(r.Context(), fault.CodeOf(err), err)
		p.Items, p.More = []pages.Key{p.Made.Key}, true
	}
	return h.page(w, status, p)
}

func (h *Host) createKey(w http.ResponseWriter, r *http.Request, v visit) error {
	form, err := readForm(r)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(form["name"])
	command, err := commandOf(v, idempotency.CreateKey, "", form["once"], contract.CreateKey{Name: name})
	if err != nil {
		return err
	}
	made, err := h.Keys.Create(r.Context(), v.Actor, command, nil, name, 0)
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.showKeys(w, r, v, http.StatusBadRequest, pages.Keys{Name: form["name"], Error: fmt.Sprintf("Give it a name of 1 to %d characters.", limits.KeyNameRunes)})
	}
	if err != nil {
		return err
	}
	web.Hide(r.Context(), made.Secret)
	return h.showKeys(w, r, v, http.StatusOK, pages.Keys{Made: &pages.Made{Key: keyOf(made.APIKey), Secret: made.Secret}})
}

func (h *Host) askRevokeKey(w http.ResponseWriter, r *http.Request, v visit) error {
	list, err := h.Keys.List(r.Context(), v.Actor)
	if err != nil {
		return err
	}
	for _, k := range list.Items {
		if string(k.ID) == r.PathValue("keyId") && !k.Revoked {
			return h.page(w, http.StatusOK, pages.Confirm{
				Shell: v.shell("/keys"), Heading: "Revoke this key?", Subject: k.Name, Detail: string(k.PublicID), Button: "Revoke it",
				Text:   "Whoever uses it is refused from that moment on. It cannot be brought back.",
				Action: "/keys/" + string(k.ID) + "/revoke", Back: "/keys", Once: once(),
			})
		}
	}
	return fault.New(fault.NotFound, "no such key, or it is revoked")
}

func (h *Host) revokeKey(w http.ResponseWriter, r *http.Request, v visit) error {
	form, err := readForm(r)
	if err != nil {
		return err
	}
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

func keyOf(k contract.APIKeySummary) pages.Key {
	scopes := make([]credential.Scope, len(k.Scopes))
	for i, s := range k.Scopes {
		scopes[i] = credential.Scope(s)
	}
	return pages.Key{
		ID: string(k.ID), Public: string(k.PublicID), Name: k.Name, Scopes: shortRights(scopes), CreatedAt: k.CreatedAt.Time,
		UsedAt: orZero(k.LastUsedAt), ExpiresAt: orZero(k.ExpiresAt), RevokedAt: orZero(k.RevokedAt),
	}
}
