package pages

import "time"

// Report asks a person without an account what is wrong with an artifact.
type Report struct {
	Target, Reason, Text, Email string // as they were typed
	Reasons                     []Choice
	MostText                    int           // characters
	Kept                        time.Duration // how long a report is kept
	Wrong, Error                string        // Error is about the field Wrong, or about the whole form
	Challenge                   string        // a JSON object to solve before the form is sent again; empty: none
	Wait                        string        // until the form can be sent without a solution; empty: it never can
}

// Choice is an option of a list.
type Choice struct{ Code, Name string }

func (Report) template() string { return "report.html" }
