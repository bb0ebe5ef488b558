import { CopyButton } from '../../dashboard/ui/kit/pieces.tsx'
import type { Language } from './examples/languages.ts'
import { withBreaks } from './prose.tsx'

type Shown = Language | 'json' | 'plain'
type Kind = 'text' | 'word' | 'number' | ''

/** Longer text would need many elements. */
const MOST_CHARACTERS = 50_000

/** Words of each language that its examples use. */
const WORDS: Record<Shown, string> = {
  plain: '',
  json: 'true false null',
  curl: 'curl',
  typescript: 'import from const new await for of if throw true false null',
  python: 'import try with as except raise for in True False None',
  php: 'if throw new function return echo true false null',
  go: 'package import func if defer nil return',
  ruby: 'require do end unless abort true false nil',
}

/** Quoted texts, of which the last may lack its end, names and numbers. */
const PARTS =
  /("(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|`(?:\\[\s\S]|[^`\\])*`?)|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)/g
/** A shell has no escapes in single quotes. */
const PARTS_OF_SHELL = /("(?:\\[\s\S]|[^"\\])*"?|'[^']*'?)|([A-Za-z_]\w*)|(\d+(?:\.\d+)?)/g

/** Text → its parts with their kind: quoted texts, words of the language and numbers. Text that is `plain`, and long
 *  text, stays in one part. */
export function partsOf(text: string, language: Shown): [kind: Kind, part: string][] {
  if (language === 'plain' || text.length > MOST_CHARACTERS) return [['', text]]
  const words = new Set(WORDS[language].split(' '))
  const parts: [kind: Kind, part: string][] = []
  let at = 0
  for (const { 0: found, 1: quoted, 2: name, index } of text.matchAll(language === 'curl' ? PARTS_OF_SHELL : PARTS)) {
    if (name !== undefined && !words.has(name)) continue
    if (index > at) parts.push(['', text.slice(at, index)])
    parts.push([quoted !== undefined ? 'text' : name !== undefined ? 'word' : 'number', found])
    at = index + found.length
  }
  return [...parts, ['', text.slice(at)]]
}

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
  language: Shown
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
