package mcp

import (
	"slices"

	"vitrine/shared/identity/credential"
)

// The scopes that tools require.
var (
	reading    = []credential.Scope{credential.Read}
	publishing = []credential.Scope{credential.Publish}
	both       = []credential.Scope{credential.Publish, credential.Read}
)

// tools returns all tools in the order in which clients list them.
func (h *Host) tools() toolset {
	return slices.Concat(
		h.publishTools(),
		h.readTools(),
		h.changeTools(),
		h.shareTools(),
		toolset{h.whoami()},
		h.uploadTools(),
		toolset{h.diffRevisions()},
		h.feedbackTools(),
	)
}

// instructions tells a model how the tools belong together.
const instructions = `{{name}} publishes files as artifacts that a person opens in a browser.
- publish_artifact makes a new, private artifact of one text of at most {{text}}. For several files, binary files or anything large call prepare_upload, PUT the bytes to the addresses it gives, then publish_upload.
- To change an artifact keep its id: multi_edit replaces passages, add_revision replaces its main file. The link stays, and open pages follow the newest revision. Find ids with list_artifacts.
- catch_up tells what people wrote about an artifact. Revise it, then answer_feedback with the revision that dealt with each thread.
- Artifacts are private: only the member sees private_url. Letting people without an account see one is a separate act, set_visibility, and wants the person's consent.
- Give the person the link that the result names. Artifacts end by themselves at expires_at; one with 2100-01-01T00:00:00.000Z does not expire.
- A failed call has error.code and error.message, which says what to do next.`
