import { useEffect, useRef, useState } from 'preact/hooks'
import { get, type Json } from '../../kit/api.ts'
import { CloseButton, Dialog } from '../../kit/dialog.tsx'
import { useLoad } from '../../kit/load.ts'
import { Choice, Empty, ErrorNotice } from '../../kit/pieces.tsx'
import type { CodeLanguage } from './code-mirror.ts'
import type { Draft } from './draft.ts'
import type { Texts } from './use-preview.ts'

/** Dialog with the differences of two versions. `draft` has the unsaved texts, which can be compared too. */
export function CompareVersions({
  template,
  draft,
  versions,
  version,
  onClose,
}: {
  template: Json
  draft: Draft | null
  versions: readonly number[]
  version: number
  onClose: () => void
}) {
  const newest = draft === null ? String(template.version) : DRAFT
  const isNewest = String(version) === newest
  const [before, setBefore] = useState(String(isNewest ? Math.max(version - 1, versions.at(-1) ?? 1) : version))
  const [after, setAfter] = useState(isNewest ? String(version) : newest)
  const options: [string, string][] = versions.map((each) => [String(each), `Version ${each}`])
  if (draft !== null) options.unshift([DRAFT, 'Unsaved changes'])
  const [older, newer] = [useTexts(template, draft, before), useTexts(template, draft, after)]
  return (
    <Dialog name="Compare versions" className="wide" onClose={onClose}>
      <div class="row">
        <Choice name="From" value={before} options={options} onChange={setBefore} />
        <span class="muted">to</span>
        <Choice name="To" value={after} options={options} onChange={setAfter} />
      </div>
      <ErrorNotice error={older.error ?? newer.error} />
      {older.data && newer.data && <Differences key={`${before} ${after}`} before={older.data} after={newer.data} />}
      <CloseButton label="Close" onClose={onClose} />
    </Dialog>
  )
}

const DRAFT = 'draft'

function useTexts(template: Json, draft: Draft | null, chosen: string) {
  const path = `/v1/templates/${template.id}`
  return useLoad<Json>(
    async (signal) => (chosen === DRAFT ? draft && writtenIn(draft) : get(path, { version: chosen }, signal)),
    [path, chosen],
  )
}

/** The draft without the bodies that it does not use. */
function writtenIn(draft: Draft): Json {
  const used = (texts: Texts) => ({ ...texts, ...(texts.source === 'html' ? { mjml: '' } : { html: '' }) })
  const locales = Object.entries(draft.locales).map(([locale, texts]) => [locale, used(texts)] as const)
  return { ...draft, ...used(draft), locales: Object.fromEntries(locales) }
}

function Differences({ before, after }: { before: Json; after: Json }) {
  const [older, newer] = [textsIn(before), textsIn(after)]
  const labels = [...new Set([...older.keys(), ...newer.keys()])]
  const changed = labels.filter((label) => (older.get(label) ?? '') !== (newer.get(label) ?? ''))
  if (changed.length === 0) return <Empty name="No differences" />
  return (
    <>
      {changed.map((label) => (
        <section key={label} class="stack tight">
          <h3>{label}</h3>
          <Diff
            label={label}
            language={/^(?:HTML|MJML)/.test(label) ? 'html' : 'text'}
            before={older.get(label) ?? ''}
            after={newer.get(label) ?? ''}
          />
        </section>
      ))}
    </>
  )
}

/** Version or draft → its texts by label: `Subject`, `HTML (de)`, `Layout`. The HTML follows from the MJML, if there is any. */
function textsIn({ layout, locales, ...main }: Json): Map<string, string> {
  const texts = new Map<string, string>([['Layout', layout ?? '']])
  for (const [locale, of] of [['', main] as const, ...Object.entries<Json>(locales)]) {
    for (const [name, label] of TEXTS) {
      const text = name === 'html' && (of.mjml ?? '') !== '' ? '' : (of[name] ?? '')
      texts.set(locale === '' ? label : `${label} (${locale})`, text)
    }
  }
  return texts
}

const TEXTS = [
  ['subject', 'Subject'],
  ['mjml', 'MJML'],
  ['html', 'HTML'],
  ['text', 'Plain text'],
] as const

function Diff({
  label,
  language,
  before,
  after,
}: {
  label: string
  language: CodeLanguage
  before: string
  after: string
}) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let remove = () => {}
    let isGone = false
    void import('./code-mirror.ts').then(({ createDiff }) => {
      if (isGone || box.current === null) return
      remove = createDiff(box.current, { language, before, after, label: `Changes of ${label}` })
    })
    return () => {
      isGone = true
      remove()
    }
  }, [])
  return <div class="diff mono" ref={box} />
}
