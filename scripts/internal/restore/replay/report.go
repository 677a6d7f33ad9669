package replay

import (
	"fmt"
	"slices"

	"vitrine/shared/platform/event"
)

// Outcome is what became of an event.
type Outcome string

// The outcomes. Others are the reason why an event was not applied, for people.
const (
	Applied Outcome = "done again"
	Already Outcome = "were so already"
	Unknown Outcome = "are about what the restored set does not have"
)

// Report is what a step did.
type Report struct {
	Lines  []string // for people
	Counts map[event.Action]map[Outcome]int
}

func (r *Report) say(format string, args ...any) {
	r.Lines = append(r.Lines, line(fmt.Sprintf(format, args...)))
}

// count adds the outcome of an event.
func (r *Report) count(e event.Event, o Outcome) {
	if r.Counts == nil {
		r.Counts = map[event.Action]map[Outcome]int{}
	}
	if r.Counts[e.Action] == nil {
		r.Counts[e.Action] = map[Outcome]int{}
	}
	r.Counts[e.Action][o]++
	if !slices.Contains([]Outcome{Applied, Already, Unknown}, o) {
		r.say("%s of %s in workspace %s was not done again: %s", e.Action, e.Target.ID, e.Workspace, o)
	}
}

// summarize adds a line for each action and outcome.
func (r *Report) summarize() {
	lines := map[string]int{}
	for action, outcomes := range r.Counts {
		for o, n := range outcomes {
			if slices.Contains([]Outcome{Applied, Already, Unknown}, o) {
				lines[fmt.Sprintf("%s: %d %s", action, n, o)] = n
			}
		}
	}
	r.Lines = append(r.Lines, sorted(lines)...)
}
