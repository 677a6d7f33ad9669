package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/functions/wire"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

const artifactScheme = "artifact://"

// fixedResource reports whether a resource is the same for all callers.
func fixedResource(uri string) bool { return uri == skillURI || uri == cardURI }

// reference names a file of an artifact's newest revision, or the view of that revision.
type reference struct {
	artifact id.Artifact
	path     string // empty: the view
}

// parseReference parses artifact://{id}/{path}, or artifact://{id} for the view. The path is everything that follows,
// because file names may hold ? and #. It may be percent-encoded or not. The ID may be in any case, because RFC 3986
// lets clients write the authority of a URI in lower case.
func parseReference(uri string) (reference, bool) {
	rest, ok := strings.CutPrefix(uri, artifactScheme)
	if !ok {
		return reference{}, false
	}
	name, path, _ := strings.Cut(rest, "/")
	prefix, tail, _ := strings.Cut(name, "_")
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	r := reference{artifact: id.Artifact(prefix + "_" + strings.ToUpper(tail)), path: path}
	_, err := r.artifact.Bits()
	return r, err == nil
}

// uri returns the reference in the form that the templates of the SDK match.
func (r reference) uri() string {
	if r.path == "" {
		return artifactScheme + string(r.artifact)
	}
	return artifactScheme + string(r.artifact) + "/" + address.Escape(r.path)
}

// resourceRead returns the invocation for a message that reads a file or view; nil for any other message.
func resourceRead(m transport.Message) *invocation {
	if m.Method != readMethod || !m.Call() {
		return nil
	}
	var p struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return nil
	}
	named, ok := parseReference(p.URI)
	if !ok {
		return nil
	}
	return &invocation{tool: resourceReader, wants: access.Request{Artifact: named.artifact}}
}

const readMethod = "resources/read"

// resourceReader stands for the reading of artifacts as a tool, because the same rules apply.
var resourceReader = &tool{name: readMethod, scopes: reading}

// addResources adds the files of artifacts, the skill and the card. It does not list artifacts, because the list must
// be the same for all callers; list_artifacts lists those of a workspace.
func (h *Host) addResources(s *mcp.Server) {
	h.addSkill(s)
	h.addCard(s)
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name:        "artifact-file",
		Title:       "File of an artifact",
		Description: "A file of the newest revision of an artifact, whose paths read_artifact lists",
		URITemplate: artifactScheme + "{id}/{+path}",
	}, h.readResource)
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name:        "artifact-view",
		Title:       "Artifact",
		Description: "The newest revision of an artifact with its first 100 files, as read_artifact answers it",
		URITemplate: artifactScheme + "{id}",
		MIMEType:    jsonMedia,
	}, h.readResource)
}

// resourceReads lets the SDK find resources whose names its templates do not match, and makes every failure to read an
// error of this host. A panic ends the answer and not the process.
func resourceReads(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (res mcp.Result, err error) {
		p, ok := r.GetParams().(*mcp.ReadResourceParams)
		if !ok || p == nil {
			return next(ctx, method, r)
		}
		asked := p.URI
		defer func() {
			if v := recover(); v != nil {
				web.Annotate(ctx, slog.String("stack", string(debug.Stack())))
				err = fmt.Errorf("%w: %v", errPanic, v)
			}
			if err != nil {
				res, err = nil, unread(ctx, asked, err)
			}
		}()
		if !fixedResource(asked) {
			named, ok := parseReference(asked)
			if !ok {
				return nil, fault.New(fault.NotFound, "no such resource; files are artifact://ARTIFACT_ID/PATH")
			}
			p.URI = named.uri()
		}
		res, err = next(ctx, method, r)
		if out, ok := res.(*mcp.ReadResourceResult); ok && err == nil {
			for _, c := range out.Contents {
				c.URI = asked
			}
		}
		return res, err
	}
}

// readResource answers with a file or the view of an artifact in the caller's workspace.
func (h *Host) readResource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	named, ok := parseReference(r.Params.URI)
	c := callOf(ctx)
	if !ok || c == nil || c.tool != resourceReader {
		return nil, fault.New(fault.Internal, "the reading was not authorized")
	}
	contents, err := h.contents(ctx, c, named)
	if refused := c.permit(); refused != nil {
		err = refused
	}
	if err != nil {
		return nil, err
	}
	encoded, err := contract.Encode(contents)
	if err != nil {
		return nil, err
	}
	if size, _ := limits.FunctionBody(encoded); size > transport.MaxAnswer-resultFrame {
		return nil, errLargeFile
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

// contents reads what a reference names.
func (h *Host) contents(ctx context.Context, c *call, named reference) (*mcp.ResourceContents, error) {
	if named.path == "" {
		v, err := h.view(ctx, c, "")
		if err != nil {
			return nil, err
		}
		body, err := contract.Encode(wire.AgentView(v, c.Actor, h.Loads))
		return &mcp.ResourceContents{MIMEType: jsonMedia, Text: strings.TrimSuffix(string(body), "\n")}, err
	}
	body, err := h.Views.Content(ctx, c.Actor, c.Artifact, named.path, transport.MaxAnswer)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, errLargeFile
	}
	out := &mcp.ResourceContents{MIMEType: media.Of(named.path).ContentType}
	// The SDK omits an empty text, but the protocol requires text or blob.
	if textual(out.MIMEType) && utf8.Valid(body) && len(body) > 0 {
		out.Text = string(body)
	} else {
		out.Blob = body
	}
	return out, nil
}

// textual reports whether files of a media type are text.
func textual(kind string) bool {
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "; charset=utf-8") || kind == "image/svg+xml"
}

// errLargeFile refuses a file that is too large for any answer.
var errLargeFile = fault.New(fault.InvalidRequest,
	"the file is larger than one answer can be; call read_file, and get it from the content_url of the answer")

// unread converts a failure to read to a JSON-RPC error. For what is not found, it uses a code that both generations of
// the protocol know.
func unread(ctx context.Context, uri string, err error) error {
	f := fault.Of(web.AsUnavailable(err))
	web.Failed(ctx, f.Code, err)
	out := &jsonrpc.Error{Code: transport.CodeServer, Message: f.Message}
	switch f.Code {
	case fault.NotFound, fault.ArtifactNotFound:
		out.Code = transport.CodeInvalidParams
	case fault.Internal:
		out.Code = transport.CodeInternal
	}
	out.Data, _ = contract.Encode(struct { // strings and numbers always marshal
		URI string `json:"uri"`
		problemFacts
	}{uri, factsOf(ctx, f)})
	return out
}
