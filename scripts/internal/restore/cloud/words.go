package cloud

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// readWords returns the options among the arguments of scripts/deploy.
func readWords(words []string) (map[string]string, error) {
	options := map[string]string{}
	for i := 0; i < len(words); i++ {
		if words[i] == "--yes" {
			continue
		}
		given := ""
		if words[i] == "-c" && i+1 < len(words) {
			i++
			given = words[i]
		}
		name, value, named := strings.Cut(given, "=")
		if !named {
			return nil, fmt.Errorf("after -- stand the arguments of scripts/deploy, -c NAME=VALUE or --yes, not %q",
				words[i])
		}
		options[name] = value
	}
	return options, nil
}

// units returns the ceiling of tables that an option gives; 0: none.
func units(options map[string]string, name string) (int64, error) {
	text := options[name]
	if text == "" || text == "none" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is a number of at least 1 or none, not %q", name, text)
	}
	return n, nil
}

// adopting returns the arguments of scripts/deploy that make the deployment run on the restored set.
func (w *work) adopting() []string {
	own := []string{"name", "table-core", "table-events", "table-hot"}
	if w.Set.Bucket != w.Living.Bucket {
		own = append(own, "bucket")
	}
	var args []string
	for i := 0; i < len(w.Context); i++ {
		if w.Context[i] != "-c" {
			args = append(args, w.Context[i])
			continue
		}
		i++
		if name, _, _ := strings.Cut(w.Context[i], "="); !slices.Contains(own, name) {
			args = append(args, "-c", w.Context[i])
		}
	}
	values := []string{w.Name, w.Set.Core, w.Set.Events, w.Set.Hot, w.Set.Bucket}
	for i, name := range own {
		args = append(args, "-c", name+"="+values[i])
	}
	return args
}
