package agent

import "context"

// Gone is the state of an entry that is no longer in its file, or leads elsewhere by now.
const Gone State = "gone"

// Look tells what became of an entry. It changes no file.
func (a *Agents) Look(ctx context.Context, r Record) (State, error) {
	c, ok := Find(r.Client)
	if !ok {
		return Gone, nil
	}
	_, leadsTo, err := a.find(c, r)
	if err != nil || !r.wrote(leadsTo) {
		return Gone, err
	}
	return a.Ask(ctx, Change{
		Client: c,
		Name:   r.Name,
		File:   r.File,
		want:   Want{URL: leadsTo},
	}), nil
}
