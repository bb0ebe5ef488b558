import { type CleanCss, createCleanCss, isLoading, remoteUrl, type Scheme } from './mail-css.ts'

/** Untrusted HTML for the preview frame (mail-frame.tsx). */
export interface MailHtml {
  html: string
  /** Inline images of the message, as data: URLs by Content-ID. */
  images: Record<string, string>
  /** Whether to load remote images. */
  isRemote: boolean
  scheme: Scheme
}

/** Replaces the body of the frame's page with the message. Returns whether the message has remote images.
 *
 *  It parses the HTML into a template, where nothing runs, loads or gets styles, and copies it by allow lists of
 *  elements, attributes and styles. Nothing serializes the copy and parses it again, so mutation XSS cannot occur. It
 *  reads parsed nodes only through prototype methods, so DOM clobbering by `name` or `id` has no effect. It runs in
 *  linear time. A message that nests too deeply is replaced with a notice. */
export function showMail(page: Document, { html, images, isRemote, scheme }: MailHtml): boolean {
  let hasRemote = false
  const css = createCleanCss(isRemote, scheme, () => {
    hasRemote = true
  })
  const resolveImage: ResolveImage = (url) => {
    const inside = /^cid:(.+)$/is.exec(url)?.[1]
    if (inside !== undefined) return images[unescaped(inside)] ?? null
    if (/^data:image\//i.test(url)) return url
    const remote = remoteUrl(url)
    hasRemote ||= remote !== null
    return isRemote ? remote : null
  }
  const made = createElement(page, 'body')
  if (isTooNested(html)) appendText(page, made, TOO_NESTED)
  else {
    const imageRules: string[] = []
    copy(parsed(html, page), made, page, { css, resolveImage, imageRules })
    if (imageRules.length > 0) made.append(sheetOf(page, imageRules.join('')))
  }
  bodyOf(page).replaceWith(made)
  return hasRemote
}

/** URL of an image → the URL to use, or null to remove it. */
type ResolveImage = (url: string) => string | null

interface Tools {
  css: CleanCss
  resolveImage: ResolveImage
  /** Rules for style attributes that load remote images, one per element. */
  imageRules: string[]
}

/** Sanitized CSS → the element that applies it. Rules with remote images become a style sheet in a data: URL, because
 *  Chromium 156 sends the page's address as Referer for images of inline style sheets, despite the policy. */
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

/** Parses in the frame, whose policy allows styles; under the dashboard's policy they would be violations. A template
 *  drops `<body>`, so the tag is renamed. */
function parsed(html: string, page: Document): DocumentFragment {
  const template = createElement(page, 'template') as HTMLTemplateElement
  template.innerHTML = html.replace(/<(\/?)body(?=[\s>/])/gi, `<$1${BODY}`)
  return template.content
}

const BODY = 'mail-body'

/** Copies all nodes into an element of the page. An explicit stack avoids recursion, since messages nest deeply. Nodes
 *  beyond the depth limit become siblings of their parent. */
function copy(from: DocumentFragment, made: Element, page: Document, tools: Tools): void {
  const waiting: [node: Node | null, parent: Element, depth: number][] = [[firstChild(from), made, 0]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, parent, depth] = next
    if (node === null) continue
    waiting.push([nextSibling(node), parent, depth])
    if (nodeType(node) === TEXT) appendText(page, parent, textOf(node))
    else if (nodeType(node) === ELEMENT) {
      const element = copied(node as Element, parent, made, page, tools)
      if (element !== null) waiting.push([firstChild(node), depth < MAX_DEPTH ? element : parent, depth + 1])
    }
  }
}

/** Elements: about sixty nested tables. The browser's layout time grows faster than linearly with the depth. */
const MAX_DEPTH = 240

/** Copies one element; returns the parent for its children, or null to omit them. */
function copied(element: Element, parent: Element, body: Element, page: Document, tools: Tools): Element | null {
  const name = localNameOf(element)
  if (namespaceOf(element) !== HTML) return name === 'style' || OMITTED.has(name) ? null : parent
  if (OMITTED.has(name)) return null
  if (name === 'style') {
    parent.append(sheetOf(page, tools.css.sheet(textOf(element))))
    return null
  }
  if (name === BODY) {
    copyAttributes(element, body, 'body', tools)
    return body
  }
  if (!/^[a-z][a-z0-9]*$/.test(name)) return parent
  const made = createElement(page, REPLACED_BY[name] ?? name)
  copyAttributes(element, made, name, tools)
  parent.append(made)
  return made
}

function copyAttributes(from: Element, to: Element, element: string, { css, resolveImage, imageRules }: Tools): void {
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
    const clean = cleanAttribute(element, name, value, resolveImage)
    if (clean !== null) to.setAttribute(name, clean)
  }
  if (element === 'img') to.setAttribute('referrerpolicy', 'no-referrer')
  if (element === 'a' || element === 'area') to.setAttribute('rel', 'noreferrer noopener')
}

/** The sanitized value of an attribute; null omits the attribute. */
function cleanAttribute(element: string, name: string, value: string, resolveImage: ResolveImage): string | null {
  if (ALLOWED_ATTRIBUTES.has(name) || /^aria-[a-z]+$/.test(name)) return value
  if (name === 'id') return isClobbering(value) ? null : value
  if (name === 'src') return element === 'img' ? resolveImage(value.trim()) : null
  if (name === 'background') return BACKGROUND.has(element) ? resolveImage(value.trim()) : null
  if (name === 'href') return (element === 'a' || element === 'area') && LINK.test(value.trim()) ? value.trim() : null
  if (name === 'type') return element === 'ol' || element === 'ul' || element === 'li' ? value : null
  // Only images refer to the name of a map.
  if (name === 'name') return element === 'map' ? `mail-${value}` : null
  if (name === 'usemap') return element === 'img' ? `#mail-${value.replace(/^#/, '')}` : null
  return null
}

/** Whether the id would shadow a property of window, document or a form. */
function isClobbering(id: string): boolean {
  return id in window || id in document || id in HTMLFormElement.prototype
}

/** Counts unclosed elements. The parser reopens formatting elements in every paragraph, so 50 kB can become millions of
 *  elements; for other elements it scans all open ones at each tag. Mail programs leave far fewer open. */
function isTooNested(html: string): boolean {
  return hasManyOpen(html, FORMATTING, MAX_FORMATTING) || hasManyOpen(html, NESTED, MAX_NESTED)
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
const MAX_NESTED = 1_000
const FORMATTING = /<(\/?)(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?:[\s/][^<>]*)?>/gi
const MAX_FORMATTING = 300
const TOO_NESTED = 'This message is nested too deeply to display. Download it to view its source.'

const HTML = 'http://www.w3.org/1999/xhtml'
const ELEMENT = 1
const TEXT = 3
const LINK = /^(?:https?|mailto|tel):/i
const BACKGROUND = new Set(['body', 'table', 'thead', 'tbody', 'tfoot', 'tr', 'td', 'th'])

/** Elements to omit with their content: active content, loaded resources, navigation and input. Of SVG and MathML, only
 *  nested HTML and text are copied. */
const OMITTED = new Set(
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
const REPLACED_BY: Record<string, string> = {
  form: 'div',
  frameset: 'div',
  noscript: 'div', // scripts do not run, so its content is shown
  button: 'span',
  label: 'span',
  fieldset: 'div',
  legend: 'div',
  marquee: 'div',
}
const ALLOWED_ATTRIBUTES = new Set(
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

/** Reader of a property through the getter of its prototype, which form elements cannot shadow. */
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
