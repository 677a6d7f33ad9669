package content

// reporterScript posts the height of the document to the page around a viewer frame: {type, height, scripts} on
// DOMContentLoaded, load and every change of size. It omits heights that did not change, are not above 0 or exceed
// 50,000,000.
//
// scripts reports whether the document has scripts of its own, which the policy may have kept from running: elements
// other than this one, event handler attributes, or javascript: links. Data blocks and import maps are no scripts. The
// script stands behind the document, so that it sees all of it. Elements whose names hide the methods of the document
// make it false.
const reporterScript = `(()=>{` +
	`let told=0;` +
	`const d=document,run='script:not([type]),script[type=""],script[type="module"],script[type*="javascript"],` +
	`script[type*="ecmascript"]';` +
	`let scripts=false;try{scripts=d.querySelectorAll(run).length>1||!!d.querySelector('a[href^="javascript:" i]')||` +
	`d.evaluate('boolean(//@*[starts-with(name(),"on")])',d,null,3,null).booleanValue}catch{}` +
	`const tell=()=>{` +
	`const e=d.documentElement,b=d.body;` +
	`const height=Math.ceil(Math.max(e.offsetHeight,b?b.scrollHeight:0));` +
	`if(height===told||!(height>0&&height<=50000000))return;` +
	`told=height;parent.postMessage({type:"vitrine:viewer-height",height,scripts},"*")};` +
	`addEventListener("DOMContentLoaded",tell);addEventListener("load",tell);` +
	`if(window.ResizeObserver){const o=new ResizeObserver(tell);o.observe(d.documentElement);` +
	`if(d.body)o.observe(d.body)}` +
	`})()`

// reporter is appended to HTML in a viewer frame. The bytes before it stay as they were published.
const reporter = "\n<script>" + reporterScript + "</script>\n"
