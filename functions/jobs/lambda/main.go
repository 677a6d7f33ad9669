// Command lambda runs the host of jobs as a Lambda function.
package main

import (
	"vitrine/functions/assembly/function"
	"vitrine/functions/assembly/jobs"
)

func main() {
	function.Work("jobs", jobs.Handler)
}
