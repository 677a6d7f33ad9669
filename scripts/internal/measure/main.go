// Command measure prints figures of form for the Go code of a tree, each with its goal, or the places that count
// against one figure.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	list := flag.String("list", "", "`FIGURE` whose offenders are listed")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	if err := run(root, *list, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(root, list string, out io.Writer) error {
	t, err := readTree(os.DirFS(root))
	if err != nil {
		return err
	}
	all := figures(t)
	if list == "" {
		return printTable(out, all)
	}
	var names []string
	for _, f := range all {
		if f.name == list {
			printOffenders(out, f)
			return nil
		}
		names = append(names, f.name)
	}
	return fmt.Errorf("there is no figure %q; there are %s", list, strings.Join(names, ", "))
}

func printTable(out io.Writer, all []figure) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tVALUE\tGOAL\t\tWHAT")
	for _, f := range all {
		verdict := "missed"
		if f.met {
			verdict = "met"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.name, f.value, f.goal, verdict, f.title)
	}
	return w.Flush()
}

func printOffenders(out io.Writer, f figure) {
	for _, o := range f.offenders {
		fmt.Fprintf(out, "%s: %s\n", o.place, o.what)
	}
}
