package script

// Height returns the script by which a document in a viewer frame posts its height to the page around it. The message
// is {type, height, scripts}, on DOMContentLoaded, load and every change of size. The script skips messages that say what
// the last one said, and heights that exceed 50,000,000. An empty document has the height 1, so that it tells of its scripts.
// declarations have to define scripts, which is posted, and report, which has to call tell. They may use d, the document, on,
// which adds a listener to the window, and post, which posts a message of a type to the page around.
func Height(declarations string) string {
	return `(()=>{` +
		`let told,said=false;` +
		`const d=document,on=addEventListener,post=(type,more)=>parent.postMessage({type:"vitrine:"+type,...more},"*");` +
		`const tell=()=>{` +
		`const e=d.documentElement,b=d.body;` +
		`const height=Math.ceil(Math.max(1,e.offsetHeight,b?b.scrollHeight:0));` +
		`if(height===told&&scripts===said||!(height>0&&height<=5e7))return;` +
		`told=height;said=scripts;post("viewer-height",{height,scripts})};` +
		declarations +
		`on("DOMContentLoaded",report);on("load",report);` +
		`const o=new ResizeObserver(report),body=()=>d.body&&o.observe(d.body);` +
		`o.observe(d.documentElement);body();on("DOMContentLoaded",body)` +
		`})()`
}

// Place is for the declarations of Height. It defines prefix, the path of the artifact at its host, and place, which posts
// where in the artifact the document is: {type, path, query, hash, title}, the path without prefix, or empty for the list
// of all files. It posts that after each navigation, and skips what it posted last and what is outside the artifact. It
// posts where the target of a fragment is, too: {type, top}, in pixels from the top of the document, because browsers do
// not scroll the page around a frame of another site to it. After load that waits until the frame is as tall as the
// document.
const Place = `const l=location,prefix=(origin==="null"?/^(\/[^/]*){0,2}/:/^\/\.vitrine\/(r|t\/[^/]+)|/)` +
	`.exec(l.pathname)[0]+"/";let posted;` +
	`const place=()=>{const at={path:l.pathname.slice(prefix.length),query:l.search,hash:l.hash,` +
	"title:`${d.title}`},text=JSON.stringify(at);" +
	`if((l.pathname+"/").startsWith(prefix)&&text!==posted)post("place",at);posted=text};` +
	`for(const moved of ["load","hashchange","popstate","pageshow"])on(moved,place);` +
	`const seek=after=>setTimeout(()=>{const at=d.querySelector(":target");` +
	`if(at)post("target",{top:at.getBoundingClientRect().top+scrollY})},after);` +
	`on("load",()=>seek(200));on("hashchange",()=>seek(0));` +
	`on("click",e=>{if(!e.defaultPrevented&&e.target.closest?.("a")?.hash)seek(0)});`
