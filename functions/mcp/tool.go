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

// tool is one tool with what it may do and needs.
type tool struct {
	name, title, description string

	scopes []credential.Scope // that a token needs
	effect effect
	input  *jsonschema.Schema // an object
	output *jsonschema.Schema // nil: not told
	card   bool               // clients that show apps show the card with the result

	// operation makes repetitions of the tool answer alike, by the idempotency key of the caller or one that is derived
	// from the call; empty: the tool is repeated without harm.
	operation idempotency.Operation
	// target is what the operation works on. nil: nothing that has an id.
	target func(subject) string
	// fixed is the idempotency key of a tool whose repetitions are told by their target alone. nil: as operation says.
	fixed func(subject) string

	run func(context.Context, *call, json.RawMessage) (result, error)
}

// effect says what a tool does to its environment, for the hints of the protocol.
type effect struct {
	reads       bool // and changes nothing
	destroys    bool // or shows to others: a person should agree before
	repeatable  bool // calling it again changes nothing more
	openToWorld bool // what it does reaches people outside of the workspace
}

// annotations are the hints as clients get them.
func (e effect) annotations(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		Title:           title,
		ReadOnlyHint:    e.reads,
		DestructiveHint: &e.destroys,
		IdempotentHint:  e.repeatable || e.reads,
		OpenWorldHint:   &e.openToWorld,
	}
}

// subject is what the arguments of a call name. Members of a wrong type count as missing; the schema refuses them.
type subject struct {
	Artifact id.Artifact `json:"artifact_id"`
	Session  id.Session  `json:"upload_session_id"`
	Key      string      `json:"idempotency_key"`
}

// toolset is all tools, in the order of their list.
type toolset []*tool

// find returns a tool, nil if there is none.
func (t toolset) find(name string) *tool {
	at := slices.IndexFunc(t, func(each *tool) bool { return each.name == name })
	if at < 0 {
		return nil
	}
	return t[at]
}

// invocation is the call of a tool before it is authorized.
type invocation struct {
	*tool
	print idempotency.Fingerprint
	wants access.Request
}

// invoked returns the invocation of a message; nil if it calls no tool that exists.
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
	_ = json.Unmarshal(p.Arguments, &s)
	v := &invocation{tool: called, wants: access.Request{Artifact: s.Artifact, Session: s.Session}}
	if called.operation == "" {
		return v
	}
	v.print = idempotency.FingerprintOf("tools/call", called.name, p.Arguments)
	v.wants.Operation = called.operation
	if called.target != nil {
		v.wants.Target = called.target(s)
	}
	switch {
	case called.fixed != nil:
		v.wants.Client = called.fixed(s)
	case s.Key != "":
		v.wants.Client = s.Key
	default:
		v.wants.Client = derivedKey(m.ID, called.name, v.print)
	}
	return v
}

// plainID is the id of a message that fits into an idempotency key.
var plainID = regexp.MustCompile(`^"?[A-Za-z0-9._:-]{1,64}"?$`)

// derivedKey recognises the repetition of a call by a client that sends no idempotency key. The arguments are in it,
// because clients count their messages anew in each session.
func derivedKey(message json.RawMessage, tool string, print idempotency.Fingerprint) string {
	name := string(bytes.Trim(message, `"`))
	if !plainID.MatchString(name) {
		sum := idempotency.FingerprintOf("id", "", message)
		name = "h" + hex.EncodeToString(sum[:16])
	}
	return "mcp:" + name + ":" + tool + ":h" + hex.EncodeToString(print[:16])
}

// define gives a tool its handler, which gets arguments that the schema of the tool allows.
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

func checkArguments(schema *jsonschema.Resolved, raw json.RawMessage) error {
	var v any
	err := json.Unmarshal(raw, &v)
	if err == nil {
		err = schema.Validate(v)
	}
	if err == nil {
		return nil
	}
	return fault.New(fault.InvalidRequest, "arguments: %s", transport.Shorten(err.Error()))
}
