import { CopyButton } from '../../dashboard/ui/kit/pieces.tsx'
import type { Language } from './examples/languages.ts'
import { withBreaks } from './prose.tsx'

type Shown = Language | 'json' | 'plain'

/** Longer text would need many elements. */
const MOST_CHARACTERS = 50_000

/** Words of each language that its examples use. */
const WORDS: Record<Exclude<Shown, 'plain'>, string> = {
  json: 'true|false|null',
  curl: 'curl',
  typescript: 'import|from|const|new|await|for|of|if|throw|true|false|null',
  python: 'import|try|with|as|except|raise|for|in|True|False|None',
  php: 'if|throw|new|function|return|echo|true|false|null',
  go: 'package|import|func|if|defer|nil|return',
  ruby: 'require|do|end|unless|abort|true|false|nil',
}

const TEXTS = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/.source

/** Text → its parts with their kind: quoted texts, words of the language and numbers. An example or JSON, in which every
 *  quotation mark is closed, takes linear time. Other text, `plain`, and long text stay in one part. */
export function partsOf(text: string, language: Shown): [kind: 'text' | 'word' | 'number' | '', part: string][] {
  if (language === 'plain' || text.length > MOST_CHARACTERS) return [['', text]]
  // A shell has no escapes in single quotes.
  const texts = language === 'curl' ? /"(?:\\.|[^"\\])*"|'[^']*'/.source : TEXTS
  const pattern = new RegExp(`(${texts})|\\b(${WORDS[language]})\\b|(?<![\\w.])(\\d+(?:\\.\\d+)?)\\b`, 'g')
  const parts: [kind: 'text' | 'word' | 'number' | '', part: string][] = []
  let at = 0
  for (const { 0: found, 1: quoted, 2: word, index } of text.matchAll(pattern)) {
    if (index > at) parts.push(['', text.slice(at, index)])
    parts.push([quoted !== undefined ? 'text' : word !== undefined ? 'word' : 'number', found])
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
