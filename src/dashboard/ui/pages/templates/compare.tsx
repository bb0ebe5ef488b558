import { useEffect, useRef, useState } from 'preact/hooks'
import { get, type Json } from '../../kit/api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useLoad } from '../../kit/load.ts'
import { Choice, Empty, ErrorNotice } from '../../kit/pieces.tsx'
import type { CodeLanguage } from './code-mirror.ts'
import type { Draft } from './draft.ts'

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
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
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

/** The draft without the body that it does not use. */
const writtenIn = (draft: Draft): Json => ({ ...draft, ...(draft.source === 'html' ? { mjml: '' } : { html: '' }) })

function Differences({ before, after }: { before: Json; after: Json }) {
  // The HTML of both follows from their MJML.
  const isCompiled = isMjml(before) && isMjml(after)
  const shown = TEXTS.filter(([name]) => name !== (isCompiled ? 'html' : ''))
  const changed = shown.filter(([name]) => (before[name] ?? '') !== (after[name] ?? ''))
  if (changed.length === 0) return <Empty name="No differences" />
  return (
    <>
      {changed.map(([name, label, language]) => (
        <section key={name} class="stack tight">
          <h3>{label}</h3>
          <Diff label={label} language={language} before={before[name] ?? ''} after={after[name] ?? ''} />
        </section>
      ))}
    </>
  )
}

const isMjml = ({ mjml }: Json) => (mjml ?? '') !== ''

const TEXTS = [
  ['subject', 'Subject', 'text'],
  ['mjml', 'MJML', 'html'],
  ['html', 'HTML', 'html'],
  ['text', 'Plain text', 'text'],
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
