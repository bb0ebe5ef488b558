import { useMemo, useState } from 'preact/hooks'
import type { TemplateKind } from '../../../../../model/template.ts'
import { type Json, post } from '../../kit/api.ts'
import { useLoad } from '../../kit/load.ts'
import { MailFrame } from '../../kit/mail-frame.tsx'
import { Empty, ErrorNotice, Tabs } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { Findings } from '../message-analysis.tsx'
import { DomainChoice, useDomains } from './domains.tsx'
import type { Draft } from './draft.ts'
import { bodyOf, type Previewed, type Texts } from './use-preview.ts'
import { Versions } from './versions.tsx'

type Tab = 'preview' | 'text' | 'analysis' | 'versions'

/** The rendered template, its analysis and its versions. */
export function PreviewPane({
  preview: { rendered, faults, other, missing, isBehind },
  kind,
  template,
  texts,
  draft,
  isUnsaved,
  onOldVersion,
  onMissing,
}: {
  preview: Previewed
  kind: TemplateKind
  template: Json | null
  /** The texts in the language that the editor shows. */
  texts: Texts
  draft: Draft
  isUnsaved: boolean
  onOldVersion: (version: Json) => void
  /** Adds values for variables to the sample. */
  onMissing: (names: string[]) => void
}) {
  const [tab, setTab] = useState<Tab>('preview')
  const isStale = other !== '' || Object.keys(faults).length > 0
  const tabs: [Tab, string][] = [
    ['preview', 'Preview'],
    ['text', 'Plain text'],
  ]
  if (kind === 'message') tabs.push(['analysis', 'Analysis'])
  if (template !== null) tabs.push(['versions', 'Versions'])
  return (
    <section class="stack tight" aria-label="Preview">
      <Tabs<Tab> name="Preview" tabs={tabs} chosen={tab} onChoose={setTab}>
        {tab === 'versions' ? (
          <Versions
            key={template.version}
            template={template}
            draft={isUnsaved ? draft : null}
            onOldVersion={onOldVersion}
          />
        ) : (
          <div class="stack">
            {isStale && (
              <p class="notice warn" role="status">
                {other !== '' ? other : staleText(rendered !== null, Object.values(faults)[0]?.message)}
              </p>
            )}
            <Missing names={missing} onAdd={onMissing} />
            {rendered === null && isBehind && !isStale && bodyOf(texts).trim() !== '' ? (
              <div class="card preview-skeleton" role="progressbar" aria-label="Loading preview" />
            ) : rendered === null ? (
              <Empty name="Nothing to preview yet">
                <p>Write HTML, MJML or plain text to see a preview.</p>
              </Empty>
            ) : (
              <Shown tab={tab} rendered={rendered} isPart={kind !== 'message'} />
            )}
          </div>
        )}
      </Tabs>
    </section>
  )
}

/** Variables without a value in the sample. */
function Missing({ names, onAdd }: { names: string[]; onAdd: (names: string[]) => void }) {
  if (names.length === 0) return null
  return (
    <p class="notice row apart" role="status">
      <span class="break">
        The sample has no value for <code>{names.join(', ')}</code>.
      </span>
      <button type="button" class="tiny" onClick={() => onAdd(names)}>
        Add to sample
      </button>
    </p>
  )
}

function staleText(hasPreview: boolean, message = 'fix the error.'): string {
  return hasPreview ? 'Preview from before the error' : `Preview unavailable: ${message}`
}

function Shown({ tab, rendered, isPart }: { tab: Tab; rendered: Json; isPart: boolean }) {
  const { html, text, subject } = rendered
  const frame = useMemo(() => html !== null && <MailFrame html={html} />, [html])
  if (tab === 'analysis') return <Analysis rendered={rendered} />
  return (
    <div class="card stack">
      {!isPart && (
        <h2 class="break" data-subject>
          {subject ?? <span class="muted">(subject set per message)</span>}
        </h2>
      )}
      {tab === 'preview' && (frame || <Empty name="No HTML part" />)}
      {tab === 'text' &&
        (text === null ? (
          <Empty name="No plain text">
            {!isPart && <p>Postrider generates it from the HTML when it sends a message.</p>}
          </Empty>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
          <pre class="wrap" tabIndex={0}>
            {text}
          </pre>
        ))}
    </div>
  )
}

function Analysis({ rendered }: { rendered: Json }) {
  const domains = useDomains()
  const { subject, html, text } = rendered
  const { domain } = domains
  const { data, error, reload } = useLoad(
    async (signal) => {
      if (domain === undefined) return null
      const mail = { from: `hello@${domain.name}`, subject: subject ?? '', html, text }
      return post('/v1/messages/analyze', mail, { domain: domain.id, signal })
    },
    [domain?.id, subject, html, text],
  )
  if (domains.isNone) {
    return (
      <Empty name="No domains yet">
        <p>The analysis depends on the sending domain.</p>
        <a href={href('/domains')}>Add a domain</a>
      </Empty>
    )
  }
  return (
    <div class="stack">
      <DomainChoice {...domains} />
      <ErrorNotice error={error} onRetry={reload} />
      {data && <Findings analysis={data} />}
    </div>
  )
}
