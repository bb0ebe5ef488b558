import { FaultsOf, Field } from '../../kit/form.tsx'
import { Choice, Tabs } from '../../kit/pieces.tsx'
import { CodeField } from './code-field.tsx'
import type { Draft } from './draft.ts'
import type { TextFault, TextName } from './faults.ts'

export type FieldTab = 'html' | 'text' | 'sample'

/** Fields of a template: name, alias, subject, and a code editor for HTML, plain text or sample. */
export function Fields({
  draft,
  faults,
  tab,
  onTab,
  onChange,
}: {
  draft: Draft
  faults: Partial<Record<TextName | 'sample', TextFault>>
  tab: FieldTab
  onTab: (tab: FieldTab) => void
  onChange: (part: Partial<Draft>) => void
}) {
  const { source } = draft
  const nameOf = (name: FieldTab) => (name === 'html' ? source : name)
  // A fault of the html that Postrider compiled is one of its MJML.
  const faultOf = (name: FieldTab) => faults[nameOf(name)] ?? faults[name]
  const labelOf = (name: FieldTab) => `${LABELS[nameOf(name)]}${faultOf(name) ? ' (error)' : ''}`
  return (
    <>
      <NameFields draft={draft} onChange={onChange} />
      <FaultsOf.Provider value={faults.subject ? { subject: faults.subject.message } : {}}>
        <Field name="subject" label="Subject" hint="Leave empty to set the subject per message.">
          {(control) => (
            <input
              {...control}
              placeholder="Welcome, {{ user.name }}"
              value={draft.subject}
              onInput={(event) => onChange({ subject: event.currentTarget.value })}
            />
          )}
        </Field>
      </FaultsOf.Provider>
      <Tabs name="Body" tabs={TABS.map((name) => [name, labelOf(name)] as const)} chosen={tab} onChoose={onTab}>
        {tab === 'html' && (
          <Choice
            name="Source"
            value={source}
            options={SOURCES}
            onChange={(chosen) => onChange({ source: chosen, ...(draft.mjml === '' && { mjml: FIRST_MJML }) })}
          />
        )}
        <CodeField
          key={nameOf(tab)}
          label={LABELS[nameOf(tab)]}
          language={tab === 'sample' ? 'json' : tab}
          value={draft[nameOf(tab)]}
          fault={faultOf(tab)}
          onInput={(text) => onChange({ [nameOf(tab)]: text })}
        />
        {nameOf(tab) !== 'html' && <p class="muted small">{ABOUT[nameOf(tab) as keyof typeof ABOUT]}</p>}
      </Tabs>
    </>
  )
}

function NameFields({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  return (
    <div class="columns">
      <Field name="name" label="Name">
        {(control) => (
          <input
            {...control}
            required
            maxLength={100}
            value={draft.name}
            onInput={(event) => onChange({ name: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field name="alias" label="Alias" hint="Use it in API calls instead of the ID.">
        {(control) => (
          <input
            {...control}
            class="mono"
            placeholder="welcome"
            spellcheck={false}
            autoCapitalize="off"
            value={draft.alias}
            onInput={(event) => onChange({ alias: event.currentTarget.value })}
          />
        )}
      </Field>
    </div>
  )
}

const TABS = ['html', 'text', 'sample'] as const
const SOURCES = [
  ['html', 'HTML'],
  ['mjml', 'MJML'],
] as const
const LABELS = { html: 'HTML', mjml: 'MJML', text: 'Plain text', sample: 'Sample' }
const FIRST_MJML = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hello</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`
const ABOUT = {
  mjml: 'Postrider compiles it to HTML when you save. A template has one source: saving HTML removes the MJML.',
  text: 'If empty, Postrider generates it from the HTML when it sends a message.',
  sample: 'A JSON object of values for the preview and the analysis, saved with the template. Messages never use it.',
}
