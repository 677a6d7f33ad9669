package cloud

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// outputs are what the stacks of a deployment give out, by stack and name.
type outputs map[string]map[string]string

// outputs reads the file that scripts/deploy writes.
func (r Restore) outputs() (outputs, error) {
	text, err := os.ReadFile(r.Settings)
	if err != nil {
		return nil, fmt.Errorf("nothing is known of %s: %w; scripts/deploy writes that file", r.Name, err)
	}
	var out outputs
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("%s is no file of scripts/deploy: %w", r.Settings, err)
	}
	for stack := range out {
		if !strings.HasPrefix(stack, r.Name+"-") {
			return nil, fmt.Errorf("%s tells of %s, which is no stack of %s: is that the right file?", r.Settings, stack, r.Name)
		}
	}
	return out, nil
}

// RecoveryRole returns the ARN of the role that alone may take delete markers away; empty: the deployment has none.
func (r Restore) RecoveryRole() (string, error) {
	out, err := r.outputs()
	return out[r.Name+"-Data"]["RecoveryRole"], err
}

// living returns where the deployment keeps its data.
func (r Restore) living() (set, error) {
	out, err := r.outputs()
	if err != nil {
		return set{}, err
	}
	data, s := out[r.Name+"-Data"], set{}
	for name, to := range map[string]*string{
		"CoreTable": &s.Core, "EventsTable": &s.Events, "HotTable": &s.Hot, "Bucket": &s.Bucket,
	} {
		if *to = data[name]; *to == "" {
			return set{}, fmt.Errorf("%s does not tell the %s of %s: deploy once more, so that it does", r.Settings, name,
				r.Name)
		}
	}
	return s, nil
}

// functions returns the names of all functions of the deployment.
func (r Restore) functions() ([]string, error) {
	out, err := r.outputs()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, stack := range slices.Sorted(maps.Keys(out)) {
		switch name := out[stack]["FunctionName"]; {
		case name != "":
			all = append(all, name)
		case stack != r.Name+"-Data":
			return nil, fmt.Errorf("%s does not name the function of %s: deploy once more, so that it does", r.Settings, stack)
		}
	}
	return all, nil
}
