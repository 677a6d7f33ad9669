package app

import (
	"context"
	"net/http"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
)

const badDevice = "No device is waiting with this code: it may be mistyped, already answered, or older than 15 minutes. Check the letters, or start again on the device."

func (h *Host) deviceRoutes() []route {
	return noReferrer(
		route{method: "GET", path: "/device", handle: members{page: h.devicePage}},
		route{method: "POST", path: "/device", handle: members{form: h.showDevice, back: "/device"}},
		route{method: "POST", path: "/device/approve", handle: members{form: h.approveDevice, back: "/device"}},
		route{method: "POST", path: "/device/deny", handle: members{form: h.denyDevice, back: "/device"}},
	)
}

// devicePage asks for a code. One in the address fills in the field, and has no effect until it is sent.
func (h *Host) devicePage(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.page(w, http.StatusOK, pages.Device{Layout: v.layout(""), Code: typed(r.URL.Query().Get("code"))})
}

// typed returns a code as it may stand in the field again: letters, digits, and what people put between them.
func typed(code string) string {
	kept := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == ' ' {
			return c
		}
		return -1
	}, code)
	return kept[:min(len(kept), 60)]
}

// showDevice shows which device asks, and changes nothing.
func (h *Host) showDevice(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	code := form["code"]
	web.RedactSecret(r.Context(), code)
	d, err := h.Apps.Device(r.Context(), v.Actor, code)
	if absent(err) {
		return h.badDevice(w, r, v, code, err)
	}
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.DeviceRequest{
		Layout:    v.layout(""),
		Client:    d.Client.Name,
		Name:      d.Name,
		Network:   d.Network,
		AskedAt:   d.CreatedAt,
		ExpiresAt: d.ExpiresAt,
		Rights:    rights(v.reach(d.Client.ID, nil)),
		Code:      typed(code),
	})
}

func (h *Host) badDevice(w http.ResponseWriter, r *http.Request, v browserSession, code string, err error) error {
	web.Failed(r.Context(), fault.CodeOf(err), err)
	return h.page(w, http.StatusNotFound, pages.Device{Layout: v.layout(""), Code: typed(code), Error: badDevice})
}

func (h *Host) approveDevice(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	return h.answerDevice(w, r, v, form["code"], h.Apps.ApproveDevice, pages.Done{
		Layout:  v.layout(""),
		Heading: "The device is in",
		Subject: v.Actor.Workspace.Name,
		Points: []string{
			"It goes on by itself within a few seconds: you can close this page.",
			"It acts in your name until its access ends or you end it.",
		},
		Links: []pages.Link{{Path: "/connections", Text: "Connections"}, {Path: "/dashboard", Text: "Overview"}},
	})
}

func (h *Host) denyDevice(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	return h.answerDevice(w, r, v, form["code"], h.Apps.DenyDevice,
		denied(v, "The device will learn of it the next time it asks."))
}

// answerDevice approves or denies a device, and shows done.
func (h *Host) answerDevice(
	w http.ResponseWriter, r *http.Request, v browserSession, code string,
	answer func(context.Context, credential.Actor, string) error, done pages.Done,
) error {
	web.RedactSecret(r.Context(), code)
	err := answer(r.Context(), v.Actor, code)
	if absent(err) {
		return h.badDevice(w, r, v, code, err)
	}
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, done)
}
