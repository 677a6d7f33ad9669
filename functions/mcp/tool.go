package mcp

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// tool describes one tool, with the scopes that it requires and its effect.
type tool struct {
	name, title, description string

	scopes []credential.Scope // required of the token
	effect effect
	input  *jsonschema.Schema // schema of an object
	output *jsonschema.Schema // schema; nil: none is announced
	// feedback reads the counts of the artifact's threads with the token.
	feedback bool
	card     bool // clients with apps show the card with the result

	// operation makes repetitions of a call get the same answer. They are recognised by the caller's idempotency key,
	// or by one that is derived from the call. Empty: repeating the tool does no harm.
	operation idempotency.Operation
	// target returns the ID that the operation works on; nil: there is none.
	target func(subject) string
	// fixed returns a key that replaces the derived one; nil: the key is derived.
	fixed func(subject) string

	run func(context.Context, *call, json.RawMessage) (result, error)
}

// effect describes what a tool does to its environment, for the hints of the protocol.
type effect struct {
	reads       bool // reads and does not change anything
	destroys    bool // destroys something or shows it to others: a person should agree first
	repeatable  bool // calling it again has no further effect
	openToWorld bool // its effect reaches people outside of the workspace
}

// annotations returns the hints in the form of the protocol.
func (e effect) annotations(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		Title:           title,
		ReadOnlyHint:    e.reads,
		DestructiveHint: &e.destroys,
		IdempotentHint:  e.repeatable || e.reads,
		OpenWorldHint:   &e.openToWorld,
	}
}

// subject is what the arguments of a call name. A member of the wrong type counts as missing here; the schema refuses
// it later.
type subject struct {
	Artifact id.Artifact `json:"artifact_id"`
	Session  id.Session  `json:"upload_session_id"`
	Thread   id.Thread   `json:"thread_id"`
	Key      string      `json:"idempotency_key"`
}

// toolset holds all tools in the order in which they are listed.
type toolset []*tool

// find returns a tool by its name; nil if there is none.
func (t toolset) find(name string) *tool {
	at := slices.IndexFunc(t, func(each *tool) bool { return each.name == name })
	if at < 0 {
		return nil
	}
	return t[at]
}

// invocation is the call of a tool, before authorization.
type invocation struct {
	*tool
	print   idempotency.Fingerprint
	wants   access.Request
	derived bool // the key of wants is derived from the call
}

// invoked returns the invocation in a message; nil if the message calls no existing tool.
func (t toolset) invoked(m transport.Message) *invocation {
	if m.Method != "tools/call" || !m.Call() {
		return nil
	}
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return nil
	}
	called := t.find(p.Name)
	if called == nil {
		return nil
	}
	var s subject
	// The error is dropped, because checkArguments reports arguments that do not fit.
	_ = json.Unmarshal(p.Arguments, &s)
	v := &invocation{tool: called, wants: access.Request{
		Artifact: s.Artifact,
		Session:  s.Session,
		Feedback: called.feedback,
	}}
	if called.operation == "" {
		return v
	}
	v.print = idempotency.FingerprintOf("tools/call", called.name, p.Arguments)
	v.wants.Operation = called.operation
	if called.target != nil {
		v.wants.Target = called.target(s)
	}
	switch {
	case s.Key != "":
		v.wants.Client = s.Key
	case called.fixed != nil:
		v.wants.Client = called.fixed(s)
	default:
		v.derived = true
		v.wants.Client = derivedKey(m.ID, called.name, v.print)
	}
	return v
}

// plainID matches a message ID that can be part of an idempotency key.
var plainID = regexp.MustCompile(`^"?[A-Za-z0-9._:-]{1,64}"?$`)

// derivedKey returns a key that recognises repetitions of a call by a client without idempotency keys. It depends on
// the arguments too, because clients restart the IDs of their messages in each session.
func derivedKey(message json.RawMessage, tool string, print idempotency.Fingerprint) string {
	name := string(bytes.Trim(message, `"`))
	if !plainID.MatchString(name) {
		sum := idempotency.FingerprintOf("id", "", message)
		name = "h" + hex.EncodeToString(sum[:16])
	}
	return "mcp:" + name + ":" + tool + ":h" + hex.EncodeToString(print[:16])
}

// define completes a tool with its handler. run gets only arguments that fit the schema of the tool.
func define[In any](t tool, run func(context.Context, *call, In) (result, error)) *tool {
	schema, err := t.input.Resolve(nil)
	if err != nil {
		panic("mcp: the schema of " + t.name + ": " + err.Error())
	}
	t.run = func(ctx context.Context, c *call, raw json.RawMessage) (result, error) {
		var in In
		if len(raw) == 0 || string(raw) == "null" {
			raw = json.RawMessage("{}")
		}
		if err := checkArguments(schema, raw); err != nil {
			return result{}, err
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return result{}, fault.New(fault.InvalidRequest, "the arguments do not fit the schema of the tool")
		}
		return run(ctx, c, in)
	}
	return &t
}
