import { useEffect, useRef, useState } from 'preact/hooks'
import type { Scheme } from './mail-css.ts'
import { type MailHtml, showMail } from './mail-html.ts'
import { Segments } from './pieces.tsx'
import { toast } from './toast.tsx'

/** Shows a message at the width of the page, of most mail clients or of a phone, with the mail client's light or dark
 *  theme. Its HTML is untrusted:
 *
 *  - It is in a sandboxed frame whose policy allows no scripts, forms or requests (pages.ts). Remote images load only
 *    on request, over https.
 *  - The frame gets a copy of allowed elements and attributes only (mail-html.ts); the policy is a second defence.
 *  - A click on a link, with any mouse button, shows its target and does not open it.
 *
 *  `images` are the inline images of the message, as data: URLs by Content-ID. */
export function MailFrame({ html, images = {} }: { html: string; images?: Record<string, string> }) {
  const [width, setWidth] = useState<Width>('full')
  const [scheme, setScheme] = useState<Scheme>('light')
  const [isRemote, setRemote] = useState(false)
  const [hasRemote, setHasRemote] = useState(false)
  return (
    <div class="stack tight">
      <div class="row">
        <Segments name="Width" options={WIDTHS} chosen={width} onChoose={setWidth} />
        <Segments name="Theme of the mail client" options={SCHEMES} chosen={scheme} onChoose={setScheme} />
        {hasRemote && (
          <label class="choice">
            <input type="checkbox" checked={isRemote} onChange={(event) => setRemote(event.currentTarget.checked)} />
            Load remote images
          </label>
        )}
      </div>
      <Frame
        key={`${isRemote}`}
        html={html}
        images={images}
        isRemote={isRemote}
        width={width}
        scheme={scheme}
        onShown={setHasRemote}
      />
    </div>
  )
}

type Width = 'full' | '600' | '390'
const WIDTH_CSS: Record<Width, string> = { full: '100%', 600: '600px', 390: '390px' }
const WIDTHS = [
  ['full', 'Full'],
  ['600', '600 px'],
  ['390', '390 px'],
] as const
const SCHEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

function Frame({
  html,
  images,
  isRemote,
  width,
  scheme,
  onShown,
}: MailHtml & { width: Width; onShown: (hasRemote: boolean) => void }) {
  const frame = useRef<HTMLIFrameElement>(null)
  /** More than one if the reader reloads the frame. */
  const [loads, setLoads] = useState(0)
  const [height, setHeight] = useState(240)
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (loads === 0 || !page) return
    onShown(showMail(page, { html, images, isRemote, scheme }))
    const measure = () => {
      const { height } = page.documentElement.getBoundingClientRect()
      setHeight(Math.min(MAX_HEIGHT, Math.max(80, Math.ceil(height) + 2)))
    }
    const follow = (event: Event) => {
      const { target } = event
      const link = isElement(target) ? Element.prototype.closest.call(target, 'a, area') : null
      if (link === null) return
      event.preventDefault()
      if (link.hasAttribute('href')) toast(`Link target: ${link.getAttribute('href')}`)
    }
    const listeners = [
      ['click', follow],
      ['auxclick', follow], // the other buttons
      ['load', measure], // images
    ] as const
    // Uses the prototype's methods, which the message cannot shadow.
    for (const [type, listener] of listeners) EventTarget.prototype.addEventListener.call(page, type, listener, true)
    measure()
    return () => {
      for (const [type, listener] of listeners)
        EventTarget.prototype.removeEventListener.call(page, type, listener, true)
    }
  }, [html, loads, width, scheme])
  return (
    <iframe
      ref={frame}
      class="mail"
      title="Message content"
      sandbox="allow-same-origin"
      referrerpolicy="no-referrer"
      src={isRemote ? '/dashboard/preview-with-images' : '/dashboard/preview'}
      style={{ height: `${height}px`, width: WIDTH_CSS[width] }}
      onLoad={() => setLoads((count) => count + 1)}
    />
  )
}

/** Pixels. Longer messages scroll inside the frame. */
const MAX_HEIGHT = 4_000

/** `instanceof` fails for elements of the frame, which have classes of their own. */
const isElement = (target: EventTarget | null): target is Element =>
  target !== null && 'nodeType' in target && target.nodeType === 1
