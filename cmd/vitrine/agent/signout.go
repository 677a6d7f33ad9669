package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
)

// signOut ends what the client may do at the deployment, and returns what is left for the person to do.
func (a *Agents) signOut(
	ctx context.Context, c Client, r Record, url string, revoke Revoke,
) (notes []string, err error) {
	if err := a.step(); err != nil {
		return nil, err
	}
	f, kept, err := a.signIns(c)
	if err != nil {
		return []string{failure.Of(err).Message + "; end the sign-in of " + c.Name + inApp}, nil
	}
	ours := func(s signIn) bool { return s.server == r.Name && strings.TrimRight(s.url, "/") == url }
	left := slices.DeleteFunc(slices.Clone(kept), ours)
	for _, s := range kept {
		if !ours(s) {
			continue
		}
		if err := revoke(ctx, s.clientID, s.token); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			notes = append(notes, "the server did not end the sign-in of "+c.Name+" ("+failure.Of(err).Message+"); end it"+inApp)
		}
	}
	if c.ID != gemini {
		more, err := a.logOut(ctx, c, r, len(left) < len(kept))
		return append(notes, more...), err
	}
	if len(left) < len(kept) {
		err = a.forget(f, left)
	}
	return notes, err
}

const inApp = " under Connections in the app of the deployment"

// logOut has a client forget its tokens, which are revoked or unknown.
func (a *Agents) logOut(ctx context.Context, c Client, r Record, revoked bool) (notes []string, err error) {
	ask := []string{"if " + c.Name + " was signed in, end that" + inApp}
	if revoked {
		ask = nil
	}
	if c.ID != claudeCode && (r.Project || c.tokens == nil) { // it has no command for this entry
		return ask, nil
	}
	if c.ID == codex {
		if _, auth := a.codexEntry(ctx, r.Name); auth == "not_logged_in" {
			return nil, nil
		}
	}
	_, err = a.Run(ctx, c.program, "mcp", "logout", r.Name)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && c.ID != codex: // which may have had its tokens in the keyring, and does not tell the server
		return nil, nil
	}
	return ask, nil
}

// signIn is what a client keeps of a sign-in.
type signIn struct {
	element         json.RawMessage // of its file
	server, url     string
	clientID, token string
}

// signIns reads what a client keeps of sign-ins. It returns none if the client keeps them elsewhere.
func (a *Agents) signIns(c Client) (f file, all []signIn, err error) {
	if c.tokens == nil {
		return f, nil, nil
	}
	if f, err = read(c.tokens(a.Machine), true); err != nil || !f.there {
		return f, nil, err
	}
	var list []json.RawMessage
	var named map[string]json.RawMessage
	if json.Unmarshal(f.text, &list) != nil && json.Unmarshal(f.text, &named) != nil {
		return f, nil, refused(f.name, "it is not the file of tokens that it should be")
	}
	for _, element := range list {
		all = append(all, signInOf("", element))
	}
	for name, element := range named {
		all = append(all, signInOf(name, element))
	}
	return f, all, nil
}

// signInOf reads an element of a file of tokens. Clients call the same members by different names, at different depths.
func signInOf(name string, element json.RawMessage) signIn {
	members := map[string]string{}
	var value any
	if json.Unmarshal(element, &value) == nil {
		collect(value, members)
	}
	return signIn{
		element:  element,
		server:   cmp.Or(members["servername"], name),
		url:      cmp.Or(members["mcpserverurl"], members["serverurl"]),
		clientID: members["clientid"],
		token:    cmp.Or(members["refreshtoken"], members["accesstoken"]),
	}
}

// collect gathers the strings of an object and of those in it by their names in small letters without underscores.
func collect(value any, to map[string]string) {
	object, _ := value.(map[string]any)
	for name, member := range object {
		if text, ok := member.(string); ok {
			to[strings.ToLower(strings.ReplaceAll(name, "_", ""))] = text
		}
		collect(member, to)
	}
}

// forget writes the tokens of Gemini CLI that are left. It has no command that signs out.
func (a *Agents) forget(f file, left []signIn) error {
	if len(left) == 0 { // as Gemini CLI does
		return f.delete()
	}
	elements := make([]json.RawMessage, 0, len(left))
	for _, s := range left {
		elements = append(elements, s.element)
	}
	text, err := json.MarshalIndent(elements, "", "  ")
	if err != nil {
		return err
	}
	return f.replace(text, a.step)
}
