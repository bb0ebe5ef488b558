import { CopyButton } from '../../dashboard/ui/kit/pieces.tsx'
import { type Highlighted, partsOf } from './highlight.ts'
import { withBreaks } from './prose.tsx'

/** Code in colours, as text nodes, with a caption and a button that copies `copied`. */
export function Code({
  text,
  copied,
  language,
  label,
  caption = label,
}: {
  text: string
  copied: string
  language: Highlighted
  /** For screen readers. */
  label: string
  caption?: string
}) {
  return (
    <figure class="code-box" aria-label={label}>
      <figcaption>
        <span class="break">{withBreaks(caption)}</span>
        <CopyButton text={copied} label={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls needs the keyboard */}
      <pre tabIndex={0}>
        <code>
          {partsOf(text, language).map(([kind, part], at) =>
            kind === '' ? (
              part
            ) : (
              <span key={at} class={`code-${kind}`}>
                {part}
              </span>
            ),
          )}
        </code>
      </pre>
    </figure>
  )
}
