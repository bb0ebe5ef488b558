import { useEffect, useRef, useState } from 'preact/hooks'
import { type MailHtml, showMail } from './mail-html.ts'
import { Segments } from './pieces.tsx'
import { toast } from './toast.tsx'

/** A mail as its reader sees it, at the width of a desktop or of a phone. Its HTML is a stranger's:
 *
 *  - It stands in a frame of its own whose policy allows no script, no form and no request (pages.ts); the frame is sandboxed,
 *    without scripts too. Remote images come only when they are asked for, by https.
 *  - Only what is known to be harmless is put there (mail-html.ts), so that nothing has to be stopped there.
 *  - Links say where they lead and go nowhere, whichever button follows them.
 *
 *  `images` are those that come with the mail: Content-ID → data: URL. */
export function MailFrame({ html, images = {} }: { html: string; images?: Record<string, string> }) {
  const [width, setWidth] = useState<Width>('desktop')
  const [isRemote, setRemote] = useState(false)
  const [hasRemote, setHasRemote] = useState(false)
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
      <Frame key={`${isRemote}`} html={html} images={images} isRemote={isRemote} width={width} onShown={setHasRemote} />
    </div>
  )
}

type Width = 'desktop' | 'phone'
const WIDTHS = [
  ['desktop', 'Desktop'],
  ['phone', 'Phone'],
] as const

function Frame({
  html,
  images,
  isRemote,
  width,
  onShown,
}: MailHtml & { width: Width; onShown: (hasRemote: boolean) => void }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  const [height, setHeight] = useState(240)
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (!isReady || !page) return
    onShown(showMail(page, { html, images, isRemote }))
    const measure = () => {
      const { height } = page.documentElement.getBoundingClientRect()
      setHeight(Math.min(MOST_HEIGHT, Math.max(80, Math.ceil(height) + 2)))
    }
    const follow = (event: Event) => {
      const { target } = event
      const link = isElement(target) ? Element.prototype.closest.call(target, 'a, area') : null
      if (link === null) return
      event.preventDefault()
      if (link.hasAttribute('href')) toast(`This link leads to ${link.getAttribute('href')}`)
    }
    const listeners = [
      ['click', follow],
      ['auxclick', follow], // the other buttons
      ['load', measure], // images
    ] as const
    // By the prototype: nothing in the page can stand in its place.
    for (const [type, listener] of listeners) EventTarget.prototype.addEventListener.call(page, type, listener, true)
    measure()
    return () => {
      for (const [type, listener] of listeners)
        EventTarget.prototype.removeEventListener.call(page, type, listener, true)
    }
  }, [html, isReady, width])
  return (
    <iframe
      ref={frame}
      class="mail"
      title="The mail"
      sandbox="allow-same-origin"
      referrerpolicy="no-referrer"
      src={isRemote ? '/dashboard/preview-with-images' : '/dashboard/preview'}
      style={{ height: `${height}px`, width: width === 'desktop' ? '100%' : '375px' }}
      onLoad={() => setReady(true)}
    />
  )
}

/** Longer ones scroll by themselves. */
const MOST_HEIGHT = 4_000

/** Of the frame, whose classes are others than ours. */
const isElement = (target: EventTarget | null): target is Element =>
  target !== null && 'nodeType' in target && target.nodeType === 1
