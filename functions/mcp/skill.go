package mcp

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/platform/manual"
)

// skillURI is the skill as a resource. Its folder is named after the skill.
const skillURI = "skill://vitrine/SKILL.md"

// skillsExtension is the name of the extension that defines skills/list and skills/get.
const skillsExtension = "io.modelcontextprotocol/skills"

// skillEntry describes a skill and all its files.
//
// Source: the skills extension, https://github.com/modelcontextprotocol/ext-skills.
type skillEntry struct {
	URI         string             `json:"uri"`
	FrontMatter manual.FrontMatter `json:"frontmatter"`
	Resources   []skillFile        `json:"resources"`
}

type skillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and lower-case hexadecimal digits
	Size   int    `json:"size"`   // bytes
}

// entryOf returns the entry of the skill, which is one file.
func entryOf(m manual.Manual) skillEntry {
	return skillEntry{
		URI:         skillURI,
		FrontMatter: m.Head,
		Resources:   []skillFile{{URI: skillURI, Digest: manual.Digest(m.Skill), Size: len(m.Skill)}},
	}
}

// complete has the members of every result in the skills extension. The entries change only with a deployment.
type complete struct {
	ResultType string `json:"resultType"`
	TTLMs      int64  `json:"ttlMs"`
	CacheScope string `json:"cacheScope"`
}

var completed = complete{ResultType: "complete", TTLMs: listsLive.Milliseconds(), CacheScope: "public"}

type skillList struct {
	complete
	Skills []skillEntry `json:"skills"`
}

type skillResult struct {
	complete
	Skill skillEntry `json:"skill"`
}

// skillMethods returns the methods skills/list and skills/get, which the SDK does not have.
func skillMethods(m manual.Manual) map[string]transport.Method {
	entry := entryOf(m)
	return map[string]transport.Method{
		"skills/list": func(_ context.Context, params json.RawMessage) (any, *transport.Failure) {
			var p struct {
				Cursor string `json:"cursor"`
			}
			if !readParams(params, &p) || p.Cursor != "" {
				return nil, invalidParams("invalid_cursor", "the list has one page; send no cursor")
			}
			return skillList{completed, []skillEntry{entry}}, nil
		},
		"skills/get": func(_ context.Context, params json.RawMessage) (any, *transport.Failure) {
			var p struct {
				URI string `json:"uri"`
			}
			if !readParams(params, &p) || p.URI != entry.URI {
				return nil, invalidParams("not_found", "no such skill; skills/list names those that there are")
			}
			return skillResult{completed, entry}, nil
		},
	}
}

// readParams decodes the parameters of a method, which may be missing.
func readParams(params json.RawMessage, into any) bool {
	return params == nil || json.Unmarshal(params, into) == nil
}

func invalidParams(reason, message string) *transport.Failure {
	return &transport.Failure{
		Status:  http.StatusBadRequest,
		Code:    transport.CodeInvalidParams,
		Reason:  reason,
		Message: message,
	}
}

// addSkill adds the skill to the server's resources.
func (h *Host) addSkill(s *mcp.Server) {
	m := h.Manual
	s.AddResource(&mcp.Resource{
		URI:         skillURI,
		Name:        m.Head.Name,
		Title:       "How to use " + h.name(),
		Description: m.Head.Description,
		MIMEType:    "text/markdown",
		Size:        int64(len(m.Skill)),
	}, constant(&mcp.ResourceContents{URI: skillURI, MIMEType: "text/markdown", Text: m.Skill}))
}

// constant returns the handler of a resource that is the same for all callers.
func constant(c *mcp.ResourceContents) mcp.ResourceHandler {
	return func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		copied := *c // a copy, because the SDK fills in missing fields
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&copied}}, nil
	}
}
