import { useEffect, useRef, useState } from 'preact/hooks'
import { showMail } from '../../kit/mail-html.ts'

const BOX = {
  position: 'absolute',
  inset: '16px 16px auto',
  height: '160px',
  overflow: 'hidden',
  border: '1px solid var(--line)',
} as const
const SCALE = 0.4
const SCALED = {
  width: `${100 / SCALE}%`,
  height: `${100 / SCALE}%`,
  border: 0,
  background: '#fff',
  colorScheme: 'light',
  transform: `scale(${SCALE})`,
  transformOrigin: '0 0',
}

/** The beginning of a mail as a small picture, in the sandboxed frame that MailFrame uses. It is for the eye only: nothing in
 *  it gets the focus or a click. Empty without `html`. */
export function Thumbnail({ html }: { html: string | undefined }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [loads, setLoads] = useState(0)
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (loads > 0 && page && html !== undefined) showMail(page, { html, images: {}, isRemote: false, scheme: 'light' })
  }, [html, loads])
  return (
    <span class="thumbnail" style={BOX} aria-hidden="true" inert>
      {html !== undefined && (
        <iframe
          ref={frame}
          title="Preview"
          tabIndex={-1}
          scrolling="no"
          sandbox="allow-same-origin"
          referrerpolicy="no-referrer"
          src="/dashboard/preview"
          style={SCALED}
          onLoad={() => setLoads((count) => count + 1)}
        />
      )}
    </span>
  )
}
