package content

import "vitrine/shared/platform/script"

// reporterScript posts the height of HTML in a viewer frame.
//
// scripts reports whether the document has scripts of its own, which the policy may have blocked: elements other than
// this one, event handler attributes, or javascript: links. Data blocks and import maps do not count. The script comes
// after the document, so that it sees all of it. Elements whose names hide methods of the document make the result
// false.
var reporterScript = script.Height(
	`const report=tell,run='script:not([type]),script[type=""],script[type="module"],script[type*="javascript"],` +
		`script[type*="ecmascript"]';` +
		`let scripts=false;try{scripts=d.querySelectorAll(run).length>1||!!d.querySelector('a[href^="javascript:" i]')||` +
		`d.evaluate('boolean(//@*[starts-with(name(),"on")])',d,null,3,null).booleanValue}catch{}`)

// reporter is appended to HTML in a viewer frame. It does not change the published bytes before it.
var reporter = "\n<script>" + reporterScript + "</script>\n"
