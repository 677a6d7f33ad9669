package lint

import (
	"strings"

	"vitrine/shared/platform/media"
)

// Code identifies the kind of a finding for programs.
type Code string

// The codes.
const (
	MissingFile     Code = "missing_file"
	WrongCase       Code = "wrong_case"
	LeavesArtifact  Code = "leaves_artifact"
	RootRelative    Code = "root_relative"
	LocalFile       Code = "local_file"
	MixedContent    Code = "mixed_content"
	ScriptBlocked   Code = "script_blocked"
	StyleBlocked    Code = "style_blocked"
	FontBlocked     Code = "font_blocked"
	ImageBlocked    Code = "image_blocked"
	MediaBlocked    Code = "media_blocked"
	ConnectBlocked  Code = "connect_blocked"
	FrameBlocked    Code = "frame_blocked"
	ObjectBlocked   Code = "object_blocked"
	FormBlocked     Code = "form_blocked"
	BaseBlocked     Code = "base_blocked"
	NeedsOrigin     Code = "needs_origin"
	ServiceWorker   Code = "service_worker"
	StorageBlocked  Code = "storage_blocked"
	OriginUnclaimed Code = "origin_unclaimed"
	ScriptUnclaimed Code = "script_unclaimed"
	ScriptsOff      Code = "scripts_off"
	SecretFound     Code = "secret_found"
	EntrypointLarge Code = "entrypoint_large"
	MissingTitle    Code = "missing_title"
	MissingLang     Code = "missing_lang"
	MissingViewport Code = "missing_viewport"
	MissingAlt      Code = "missing_alt"
)

// hosts returns from which hosts a page may load what the code is about.
func (c Code) hosts(loads media.Sources) []string {
	switch c {
	case ScriptBlocked:
		return loads.Scripts
	case StyleBlocked:
		return loads.Styles
	case FontBlocked:
		return loads.Fonts
	case ImageBlocked:
		return loads.Images
	case ConnectBlocked:
		return loads.Connect
	}
	return nil
}

// message says what is wrong and what to do. {it} stands for Warning.Subject, {instead} for Warning.Instead, and {hosts}
// for the hosts of the code.
type message struct {
	alone   string
	instead string // used if Instead is known
	listed  string // used if the code has hosts
}

const copyIn = "put the file into the artifact and name it by a relative path"

var messages = map[Code]message{
	MissingFile: {
		alone:   `"{it}" is not in the artifact; add the file or correct the path`,
		instead: `"{it}" is not in the artifact, because a folder has no page; write "{instead}"`,
	},
	WrongCase: {
		instead: `"{it}" is not in the artifact, because capitals count in paths; write "{instead}"`,
	},
	LeavesArtifact: {
		alone:   `"{it}" leads out of the artifact; name one of its files by a relative path, without a slash at the start`,
		instead: `"{it}" leads out of the artifact; write "{instead}"`,
	},
	RootRelative: {
		instead: `"{it}" starts at the root of the host, which is not the artifact; write "{instead}", ` +
			`or build the pages with a relative base`,
	},
	LocalFile:    {alone: `"{it}" is on one computer only; ` + copyIn},
	MixedContent: {alone: `{it} is blocked, because it is loaded by http; write https`},
	ScriptBlocked: {
		alone:  "script-src blocks scripts from {it}; " + copyIn,
		listed: "script-src blocks scripts from {it}; " + copyIn + ", or load it from one of {hosts}",
	},
	StyleBlocked: {
		alone:  "style-src blocks styles from {it}; " + copyIn,
		listed: "style-src blocks styles from {it}; " + copyIn + ", or load it from one of {hosts}",
	},
	FontBlocked: {
		alone:  "font-src blocks fonts from {it}; " + copyIn,
		listed: "font-src blocks fonts from {it}; " + copyIn + ", or use {hosts}",
	},
	ImageBlocked: {
		alone:  "img-src blocks images from {it}; " + copyIn + ", or write it as a data: URL",
		listed: "img-src blocks images from {it}; " + copyIn + ", write it as a data: URL, or use {hosts}",
	},
	MediaBlocked:   {alone: "media-src blocks sound and video from {it}; " + copyIn},
	ConnectBlocked: {alone: "connect-src blocks requests to {it}; put the data into the artifact and fetch it from there"},
	FrameBlocked:   {alone: "frame-src blocks frames, here of {it}; link to it, or put what it shows into the page"},
	ObjectBlocked:  {alone: "object-src blocks embedded objects, here {it}; link to the file instead"},
	FormBlocked: {
		alone: `forms are sent nowhere; handle the submit event, or lead a GET form to a page of the artifact`,
	},
	BaseBlocked: {alone: "base-uri blocks the base element; write each address relative to the page"},
	NeedsOrigin: {
		alone: `"{it}" does not load, because pages of an artifact have no origin of their own; ` +
			`start a worker from a blob: URL, and put what <use> shows into the page`,
	},
	ServiceWorker: {
		alone: "pages of an artifact cannot register a service worker; leave it out, or catch the failure",
	},
	StorageBlocked: {
		alone: "until somebody claims the artifact, {it} fails unless a reader runs the scripts; " +
			"show what matters without it",
	},
	OriginUnclaimed: {
		alone: `until somebody claims the artifact, "{it}" loads only for a reader who runs the scripts`,
		instead: `until somebody claims the artifact, "{it}" loads only for a reader who runs the scripts; ` +
			`write "{instead}"`,
	},
	ScriptUnclaimed: {
		alone: "until somebody claims the artifact, scripts run only for a reader who asks for it; " +
			"show what matters without them",
	},
	ScriptsOff:      {alone: "scripts of pages do not run in this deployment; show what matters without them"},
	SecretFound:     {alone: "this looks like {it}, which everyone who opens the file can copy; replace it"},
	EntrypointLarge: {alone: "the first page has {it} and opens slowly; move images and data into files of their own"},
	MissingTitle:    {alone: "the page has no title; add <title> with a few words"},
	MissingLang:     {alone: `the page does not say its language; write <html lang="en">, or the language that it has`},
	MissingViewport: {
		alone: `the page is not laid out for phones; add ` +
			`<meta name="viewport" content="width=device-width, initial-scale=1">`,
	},
	MissingAlt: {alone: `{it} no alt text; say what is seen in alt="…", or write alt="" for an ornament`},
}

// Message returns what is wrong and what to do, where pages may load from these hosts. It is empty for a code that this
// release does not know.
func (w Warning) Message(loads media.Sources) string {
	m := messages[w.Code]
	text, hosts := m.alone, w.Code.hosts(loads)
	switch {
	case w.Instead != "" && m.instead != "":
		text = m.instead
	case len(hosts) == 1 && m.listed != "":
		text = strings.Replace(m.listed, "one of ", "", 1)
	case len(hosts) > 1 && m.listed != "":
		text = m.listed
	}
	return strings.NewReplacer("{it}", w.Subject, "{instead}", w.Instead, "{hosts}", strings.Join(hosts, ", ")).Replace(text)
}
