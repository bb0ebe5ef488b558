import { useEffect, useRef, useState } from 'preact/hooks'
import { Segments } from './pieces.tsx'
import { toast } from './toast.tsx'

/** A mail as its reader sees it, at the width of a desktop or of a phone. Its HTML is a stranger's:
 *
 *  - It stands in a frame of its own whose policy allows no script, no form and no request (pages.ts); the frame is sandboxed,
 *    without scripts too. Remote images come only when they are asked for.
 *  - Before that, what could run, load or lead away is taken out here, so that nothing has to be stopped there.
 *  - Links say where they lead and go nowhere, whichever button follows them.
 *  - Looking through it takes as long as it is, whatever is in it.
 *
 *  `images` are those that come with the mail: Content-ID → data: URL. */
export function MailFrame({ html, images = {} }: { html: string; images?: Record<string, string> }) {
  const [width, setWidth] = useState<Width>('desktop')
  const [isRemote, setRemote] = useState(false)
  const hasRemote = REMOTE.test(html)
  return (
    <div class="stack tight">
      <div class="row">
        <Segments name="Width" options={WIDTHS} chosen={width} onChoose={setWidth} />
        {hasRemote && (
          <label class="choice">
            <input type="checkbox" checked={isRemote} onChange={(event) => setRemote(event.currentTarget.checked)} />
            Load remote images
          </label>
        )}
      </div>
      <Frame key={`${isRemote}`} html={html} images={images} isRemote={isRemote} width={width} />
    </div>
  )
}

type Width = 'desktop' | 'phone'
const WIDTHS = [
  ['desktop', 'Desktop'],
  ['phone', 'Phone'],
] as const

interface Shown {
  html: string
  images: Record<string, string>
  isRemote: boolean
}

function Frame({ html, images, isRemote, width }: Shown & { width: Width }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  const [height, setHeight] = useState(240)
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (!isReady || !page) return
    fill(page, harmless({ html, images, isRemote }))
    const measure = () => {
      const { height } = page.documentElement.getBoundingClientRect()
      setHeight(Math.min(MOST_HEIGHT, Math.max(80, Math.ceil(height) + 2)))
    }
    const follow = (event: Event) => {
      const link = (event.target as Element).closest?.('a, area')
      if (!link) return
      event.preventDefault()
      if (link.hasAttribute('href')) toast(`This link leads to ${link.getAttribute('href')}`)
    }
    page.addEventListener('click', follow)
    page.addEventListener('auxclick', follow) // the other buttons
    page.addEventListener('load', measure, true) // images
    measure()
    return () => {
      page.removeEventListener('click', follow)
      page.removeEventListener('auxclick', follow)
      page.removeEventListener('load', measure, true)
    }
  }, [html, isReady, width])
  return (
    <iframe
      ref={frame}
      class="mail"
      title="The mail"
      sandbox="allow-same-origin"
      src={isRemote ? '/dashboard/preview-with-images' : '/dashboard/preview'}
      style={{ height: `${height}px`, width: width === 'desktop' ? '100%' : '375px' }}
      onLoad={() => setReady(true)}
    />
  )
}

/** Longer ones scroll by themselves. */
const MOST_HEIGHT = 4_000
const REMOTE = /(?:src|srcset|background)\s*=\s*(?:["']\s*)?(?:https?:)?\/\/|url\(\s*(?:["']\s*)?(?:https?:)?\/\//i
/** What runs, loads, leads away or changes the page that it stands in. */
const OUT =
  'script, template, iframe, frame, object, embed, applet, base, link, meta, form > [type=image], audio, video, portal'

/** HTML of a stranger → its elements without what the frame would have to stop. It is taken apart in a template, where nothing
 *  runs or loads. A template knows no body, so that goes by another name meanwhile; so do styles and handlers, which
 *  the policy of our own page would complain of although they are nowhere yet. What the renaming misses is found below. */
function harmless({ html, images, isRemote }: Shown): DocumentFragment {
  const template = document.createElement('template')
  template.innerHTML = html
    .replace(/<(\/?)body(?=[\s>/])/gi, `<$1${BODY}`)
    .replace(/<(\/?)noscript(?=[\s>/])/gi, '<$1div') // which is what it is to those who run none
    .replace(TAG, (tag) => tag.replace(/([\s"'/])(on[a-z]+|style)(?=\s*=)/gi, `$1${RENAMED}$2`))
  const { content } = template
  for (const element of content.querySelectorAll(OUT)) element.remove()
  for (const element of content.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const plain = name.startsWith(RENAMED) ? name.slice(RENAMED.length) : name
      if (mayNot(element, plain)) element.removeAttribute(name)
      else if (LOADS.test(plain)) settle(element, name, value.trim(), images, isRemote)
      else if (plain === 'style' && !isRemote) element.setAttribute(name, withoutRemote(value))
    }
    if (element.tagName === 'STYLE' && !isRemote) element.textContent = withoutRemote(element.textContent ?? '')
  }
  return content
}

/** Elements → the page of the frame, in place of what it showed. They are moved, not written and read again: what is read
 *  twice may be something else the second time. */
function fill(page: Document, content: DocumentFragment): void {
  const moved = page.adoptNode(content)
  const body = page.createElement('body')
  for (const given of moved.querySelectorAll(BODY)) {
    for (const { name, value } of given.attributes) body.setAttribute(name, value)
    given.replaceWith(...given.childNodes)
  }
  body.append(moved)
  page.body.replaceWith(body)
  for (const element of page.querySelectorAll(`[${RENAMED}style]`)) {
    element.setAttribute('style', element.getAttribute(`${RENAMED}style`)!)
  }
}

const BODY = 'mail-body'
const RENAMED = 'data-mail-'
/** With its quoted values, which may hold a `>`; of a bounded length, for the time that hostile ones would take, as would tags
 *  that are opened in tags. */
const TAG = /<[a-z](?:"[^"]{0,2000}"|'[^']{0,2000}'|[^'"<>])*>/gi
const LOADS = /^(?:src|background|poster|href|xlink:href)$/
const mayNot = (element: Element, name: string) =>
  /^(?:on|srcset$|action$|formaction$|ping$|target$)/.test(name) || (name === 'href' && !isLink(element))
const isLink = (element: Element) => element.tagName === 'A' || element.tagName === 'AREA'

function settle(element: Element, name: string, url: string, images: Record<string, string>, isRemote: boolean): void {
  const inside = /^cid:(.+)$/i.exec(url)?.[1]
  const image = inside === undefined ? undefined : images[unescaped(inside)]
  if (image !== undefined) element.setAttribute(name, image)
  else if (isLink(element) ? !/^(?:https?|mailto|tel):/i.test(url) : !mayLoad(url, isRemote))
    element.removeAttribute(name)
}

const mayLoad = (url: string, isRemote: boolean) =>
  url.startsWith('data:image/') || (isRemote && /^https?:\/\//i.test(url))

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const withoutRemote = (css: string) =>
  css.replace(/@import[^;]*;?/gi, '').replace(/url\((?!\s*(?:["']\s*)?data:)[^)]*(?:\)|$)/gi, 'none')
