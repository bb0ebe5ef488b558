import { type CleanCss, createCleanCss, isLoading, remoteUrl } from './mail-css.ts'

/** HTML of a stranger, to be shown in a frame of ours (mail-frame.tsx). */
export interface MailHtml {
  html: string
  /** Those that come with the mail: Content-ID → data: URL. */
  images: Record<string, string>
  /** Whether images from elsewhere are wanted. */
  isRemote: boolean
}

/** Puts the mail into the page of the frame, in place of what it showed → whether it names images elsewhere.
 *
 *  It is parsed into a template, where nothing runs, loads or is styled, and copied: elements, attributes and styles that are not
 *  known to be harmless are not made at all. So it does not matter what a second parser would read, nor what properties of
 *  ours an element hides behind a `name` (DOM clobbering): only methods of prototypes touch what was parsed. Takes as long as
 *  the mail is large. */
export function showMail(page: Document, { html, images, isRemote }: MailHtml): boolean {
  let hasRemote = false
  const css = createCleanCss(isRemote, () => {
    hasRemote = true
  })
  const settle: Settle = (url) => {
    const inside = /^cid:(.+)$/is.exec(url)?.[1]
    if (inside !== undefined) return images[unescaped(inside)] ?? null
    if (/^data:image\//i.test(url)) return url
    const remote = remoteUrl(url)
    hasRemote ||= remote !== null
    return isRemote ? remote : null
  }
  const made = createElement(page, 'body')
  if (isKnotted(html)) appendText(page, made, KNOTTED)
  else {
    const imageRules: string[] = []
    copy(parsed(html, page), made, page, { css, settle, imageRules })
    if (imageRules.length > 0) made.append(sheetOf(page, imageRules.join('')))
  }
  bodyOf(page).replaceWith(made)
  return hasRemote
}

/** URL of an image → the one to be used; null for none. */
type Settle = (url: string) => string | null

interface Tools {
  css: CleanCss
  settle: Settle
  /** Of style attributes that load images from elsewhere, each for its element. */
  imageRules: string[]
}

/** Clean CSS → the element that applies it. What loads from elsewhere goes into a sheet with an address of its own: Chromium
 *  sends the address of the page as Referer for images of other sheets, whatever the policy says (tried with 156). */
function sheetOf(page: Document, css: string): HTMLElement {
  if (!isLoading(css)) {
    const style = createElement(page, 'style')
    style.textContent = css
    return style
  }
  const link = createElement(page, 'link')
  link.setAttribute('rel', 'stylesheet')
  link.setAttribute('href', `data:text/css;charset=utf-8,${encodeURIComponent(css.toWellFormed())}`)
  return link
}

/** In the frame, whose policy allows styles: that of our own page would complain of those that are nowhere yet. A template
 *  knows no body, so that goes by another name. */
function parsed(html: string, page: Document): DocumentFragment {
  const template = createElement(page, 'template') as HTMLTemplateElement
  template.innerHTML = html.replace(/<(\/?)body(?=[\s>/])/gi, `<$1${BODY}`)
  return template.content
}

const BODY = 'mail-body'

/** All of it into an element of the page. With a stack of its own, since mails are nested deeply; what is nested deeper
 *  than any mail needs stands beside its parent. */
function copy(from: DocumentFragment, made: Element, page: Document, tools: Tools): void {
  const waiting: [node: Node | null, parent: Element, depth: number][] = [[firstChild(from), made, 0]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, parent, depth] = next
    if (node === null) continue
    waiting.push([nextSibling(node), parent, depth])
    if (nodeType(node) === TEXT) appendText(page, parent, textOf(node))
    else if (nodeType(node) === ELEMENT) {
      const element = copied(node as Element, parent, made, page, tools)
      if (element !== null) waiting.push([firstChild(node), depth < DEEPEST ? element : parent, depth + 1])
    }
  }
}

/** Sixty tables within each other: browsers take longer for each level than for the one before. */
const DEEPEST = 240

/** An element → where its children go: its copy, its parent, or null when they are left out with it. */
function copied(element: Element, parent: Element, body: Element, page: Document, tools: Tools): Element | null {
  const name = localNameOf(element)
  if (namespaceOf(element) !== HTML) return name === 'style' || LEFT_OUT.has(name) ? null : parent
  if (LEFT_OUT.has(name)) return null
  if (name === 'style') {
    parent.append(sheetOf(page, tools.css.sheet(textOf(element))))
    return null
  }
  if (name === BODY) {
    copyAttributes(element, body, 'body', tools)
    return body
  }
  if (!/^[a-z][a-z0-9]*$/.test(name)) return parent
  const made = createElement(page, DRAWN_AS[name] ?? name)
  copyAttributes(element, made, name, tools)
  parent.append(made)
  return made
}

function copyAttributes(from: Element, to: Element, element: string, { css, settle, imageRules }: Tools): void {
  for (const name of attributeNames(from)) {
    const value = attributeOf(from, name)
    if (name === 'style') {
      const { plain, remote } = css.attribute(value)
      if (plain !== '') to.setAttribute('style', plain)
      if (remote === '') continue
      to.setAttribute('data-mail-image', String(imageRules.length))
      imageRules.push(`[data-mail-image="${imageRules.length}"]{${remote}}`)
      continue
    }
    const clean = cleanAttribute(element, name, value, settle)
    if (clean !== null) to.setAttribute(name, clean)
  }
  if (element === 'img') to.setAttribute('referrerpolicy', 'no-referrer')
  if (element === 'a' || element === 'area') to.setAttribute('rel', 'noreferrer noopener')
}

/** Null for one that is left out. */
function cleanAttribute(element: string, name: string, value: string, settle: Settle): string | null {
  if (PLAIN.has(name) || /^aria-[a-z]+$/.test(name)) return value
  if (name === 'id') return isClobbering(value) ? null : value
  if (name === 'src') return element === 'img' ? settle(value.trim()) : null
  if (name === 'background') return BACKGROUND.has(element) ? settle(value.trim()) : null
  if (name === 'href') return (element === 'a' || element === 'area') && LINK.test(value.trim()) ? value.trim() : null
  if (name === 'type') return element === 'ol' || element === 'ul' || element === 'li' ? value : null
  // A map has a name that only images look for.
  if (name === 'name') return element === 'map' ? `mail-${value}` : null
  if (name === 'usemap') return element === 'img' ? `#mail-${value.replace(/^#/, '')}` : null
  return null
}

/** Whether the id is the name of something that our code or a browser's would look for in its place. */
function isClobbering(id: string): boolean {
  return id in window || id in document || id in HTMLFormElement.prototype
}

/** Elements that are opened and not closed again. Formatting is opened anew in every paragraph: a mail of 50 kB becomes
 *  millions of elements. For others the parser looks through all that are open, each time. No mail program leaves so many
 *  open. */
function isKnotted(html: string): boolean {
  return hasManyOpen(html, FORMATTING, MOST_FORMATTING) || hasManyOpen(html, NESTED, MOST_NESTED)
}

function hasManyOpen(html: string, tags: RegExp, most: number): boolean {
  let open = 0
  for (const [, isEnd] of html.matchAll(tags)) {
    open += isEnd === '/' ? -1 : 1
    if (open > most) return true
    if (open < 0) open = 0
  }
  return false
}

const NESTED =
  /<(\/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|dt|dd|tr|td|th|tbody|thead|tfoot|option)[\s/>])[a-z][a-z0-9:-]{0,40}(?:[\s/][^<>]*)?>/gi
const MOST_NESTED = 1_000
const FORMATTING = /<(\/?)(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?:[\s/][^<>]*)?>/gi
const MOST_FORMATTING = 300
const KNOTTED = 'This mail is nested too deeply to be shown. Download it to look at its source.'

const HTML = 'http://www.w3.org/1999/xhtml'
const ELEMENT = 1
const TEXT = 3
const LINK = /^(?:https?|mailto|tel):/i
const BACKGROUND = new Set(['body', 'table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th'])

/** What runs, loads or leads away, and what takes input: with all that is in it. Of SVG and MathML only the HTML and
 *  the text within is kept. */
const LEFT_OUT = new Set(
  [
    'script',
    'template',
    'iframe',
    'frame',
    'noframes',
    'object',
    'embed',
    'applet',
    'noembed',
    'param',
    'portal',
    'fencedframe',
  ]
    .concat([
      'base',
      'link',
      'meta',
      'title',
      'audio',
      'video',
      'source',
      'track',
      'bgsound',
      'canvas',
      'slot',
      'dialog',
    ])
    .concat([
      'input',
      'select',
      'textarea',
      'datalist',
      'output',
      'progress',
      'meter',
      'isindex',
      'keygen',
      'plaintext',
      'xmp',
    ]),
)
const DRAWN_AS: Record<string, string> = {
  form: 'div',
  frameset: 'div',
  noscript: 'div', // which is what it is to those who run none
  button: 'span',
  label: 'span',
  fieldset: 'div',
  legend: 'div',
  marquee: 'div',
}
const PLAIN = new Set(
  [
    'align',
    'alt',
    'bgcolor',
    'border',
    'bordercolor',
    'cellpadding',
    'cellspacing',
    'class',
    'clear',
    'color',
    'cols',
    'colspan',
  ]
    .concat([
      'compact',
      'coords',
      'dir',
      'face',
      'frame',
      'height',
      'hidden',
      'hspace',
      'lang',
      'link',
      'alink',
      'vlink',
      'text',
    ])
    .concat([
      'noshade',
      'nowrap',
      'open',
      'role',
      'rowspan',
      'rules',
      'scope',
      'shape',
      'size',
      'span',
      'start',
      'summary',
    ])
    .concat(['title', 'valign', 'value', 'vspace', 'width', 'leftmargin', 'topmargin', 'marginwidth', 'marginheight']),
)

function createElement(page: Document, name: string): HTMLElement {
  return Document.prototype.createElement.call(page, name)
}

function appendText(page: Document, to: Element, text: string): void {
  to.append(Document.prototype.createTextNode.call(page, text))
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Reads a property of what was parsed by the getter of its prototype, which no element of a form stands in front of. */
function getter<T, V>(prototype: object, name: string): (of: T) => V {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name)!
  return (of) => get!.call(of) as V
}

const firstChild = getter<Node, Node | null>(Node.prototype, 'firstChild')
const nextSibling = getter<Node, Node | null>(Node.prototype, 'nextSibling')
const nodeType = getter<Node, number>(Node.prototype, 'nodeType')
const namespaceOf = getter<Element, string | null>(Element.prototype, 'namespaceURI')
const localNameOf = getter<Element, string>(Element.prototype, 'localName')
const textContent = getter<Node, string | null>(Node.prototype, 'textContent')
const textOf = (node: Node) => textContent(node) ?? ''
const bodyOf = getter<Document, HTMLElement>(Document.prototype, 'body')
const attributeNames = (element: Element): string[] => Element.prototype.getAttributeNames.call(element)
const attributeOf = (element: Element, name: string) => Element.prototype.getAttribute.call(element, name) ?? ''
